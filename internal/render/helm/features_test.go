package helm

import (
	"strings"
	"testing"
)

// features are charts of one feature each. A template is x.yaml; other files are by their path; a template without
// apiVersion is the data of a ConfigMap.
var features = map[string]struct {
	template, values, defaults string
	files                      map[string]string
}{
	"plain":                     {template: `a: b`},
	"values":                    {template: `a: {{ .Values.a }}`, defaults: "a: one\n", values: "a: two\n"},
	"nested values":             {template: `a: {{ .Values.a.b.c | quote }}`, defaults: "a: {b: {c: 1, d: 2}}\n", values: "a: {b: {c: 5}}\n"},
	"null removes":              {template: `a: {{ .Values | toJson | quote }}`, defaults: "a: {b: 1, c: 2}\nd: 3\n", values: "a: {b: null}\nd: null\n"},
	"lists replace":             {template: `a: {{ join "," .Values.l | quote }}`, defaults: "l: [a, b, c]\n", values: "l: [z]\n"},
	"numbers":                   {template: `a: "{{ .Values.i }} {{ .Values.f }} {{ .Values.big }} {{ .Values.i | int }}"`, values: "i: 1000000\nf: 1.50\nbig: 123456789\n"},
	"booleans":                  {template: `a: "{{ .Values.a }} {{ not .Values.b }} {{ ternary 1 2 .Values.a }}"`, values: "a: true\nb: false\n"},
	"default and coalesce":      {template: `a: {{ coalesce .Values.x .Values.y "z" | default "q" | quote }}`, values: "x: ''\n"},
	"if else":                   {template: "{{- if .Values.a }}a: one{{ else if .Values.b }}a: two{{ else }}a: three{{ end }}", values: "b: 1\n"},
	"with":                      {template: "{{- with .Values.a }}a: {{ .b }}{{ else }}a: none{{ end }}", values: "a: {b: 1x}\n"},
	"range list":                {template: "{{- range $i, $x := .Values.l }}\nk{{ $i }}: {{ $x | quote }}\n{{- end }}", values: "l: [a, b]\n"},
	"range map":                 {template: "{{- range $k, $v := .Values.m }}\n{{ $k }}: {{ $v | quote }}\n{{- end }}", values: "m: {z: 1, a: 2, m: x}\n"},
	"range break":               {template: "{{- range .Values.l }}{{ if eq . \"b\" }}{{ break }}{{ end }}\n{{ . }}: x{{- end }}", values: "l: [a, b, c]\n"},
	"variables":                 {template: "{{- $a := .Values.a }}{{ $b := printf \"%s-x\" $a }}a: {{ $b }}", values: "a: q\n"},
	"include":                   {template: `a: {{ include "app.name" . | upper }}`, files: map[string]string{"templates/_h.tpl": `{{ define "app.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}`}},
	"template":                  {template: `a: {{ template "t" .Values.a }}`, values: "a: 7x\n", files: map[string]string{"templates/_h.tpl": `{{ define "t" }}<{{ . }}>{{ end }}`}},
	"tpl":                       {template: `a: {{ tpl .Values.t . | quote }}`, values: "t: '{{ .Release.Name }} {{ include \"x\" . }}'\n", files: map[string]string{"templates/_h.tpl": `{{ define "x" }}y{{ end }}`}},
	"toYaml and nindent":        {template: "a: |\n  {{- toYaml .Values.m | nindent 4 }}", values: "m: {a: [1, {b: c}], s: 'x: y', nil: null, e: ''}\n"},
	"fromYaml":                  {template: `a: {{ (fromYaml .Values.t).b | quote }}`, values: "t: 'b: 12'\n"},
	"fromJson toPrettyJson":     {template: "a: |\n  {{- fromJson .Values.t | toPrettyJson | nindent 4 }}", values: "t: '{\"b\": [1, 2.5], \"c\": null}'\n"},
	"toToml":                    {template: "a: |\n  {{- toToml .Values.m | nindent 4 }}", values: "m: {a: x, b: {c: yy}}\n"},
	"Files.Get":                 {template: `a: {{ .Files.Get "conf/a.txt" | quote }}`, files: map[string]string{"conf/a.txt": "text\nmore\n"}},
	"Files.Glob":                {template: "{{- (.Files.Glob \"conf/*\").AsConfig | nindent 2 }}", files: map[string]string{"conf/a.txt": "1\n", "conf/b.txt": "2"}},
	"Files.Lines":               {template: "{{- range $i, $l := .Files.Lines \"l.txt\" }}\nk{{ $i }}: {{ $l | quote }}{{ end }}", files: map[string]string{"l.txt": "a\nb\n"}},
	"AsSecrets":                 {template: "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  {{- (.Files.Glob \"conf/*\").AsSecrets | nindent 2 }}", files: map[string]string{"conf/a": "x"}},
	"capabilities":              {template: `a: "{{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has "policy/v1" }} {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }} {{ semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}"`},
	"release":                   {template: `a: "{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }} {{ .Release.IsUpgrade }} {{ .Release.Revision }} {{ .Release.Service }}"`},
	"chart":                     {template: `a: "{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.Type }} {{ .Template.Name }} {{ .Template.BasePath }}"`},
	"several documents":         {template: "a: b\n---\n# nothing\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n"},
	"order of kinds":            {template: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: nn}\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"},
	"a last line without end":   {template: "a: |\n  text"},
	"a block that keeps lines":  {template: "a: |+\n  text\n\n"},
	"a block that strips lines": {template: "a: |-\n  text\n\n"},
	"a folded block":            {template: "a: >\n  one\n  two\n\n  three"},
	"a hook's last line":        {template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h, annotations: {helm.sh/hook: pre-install}}\ndata:\n  a: |\n    text"},
	"a block before another":    {template: "a: |\n  text\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: yy}\ndata:\n  b: |+\n    x\n\n"},
	"YAML 1.1":                  {template: "a: \"x\"\nyes_: \"{{ .Values.t }}\"\nn: \"0777\"", defaults: "t: no\n"},
	"octal and hex":             {template: "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\nspec: {a: 0644, b: 0x1f, c: 1e3, d: 12345678901234567890, e: 1_000, f: 1.0}"},
	"anchors":                   {template: "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\nspec: {a: &a {b: 1}, c: *a, d: {<<: *a, e: 2}}"},
	"strings":                   {template: `a: "{{ .Values.s | trunc 3 | trimSuffix "c" | title | replace "A" "x" }} {{ .Values.s | b64enc }} {{ .Values.s | sha256sum | trunc 8 }} {{ snakecase "aB" }} {{ regexReplaceAll "[b-d]" .Values.s "_" }}"`, values: "s: abcdef\n"},
	"lists and dicts":           {template: `a: {{ dict "l" (list 1 2 3 | reverse | uniq) "m" (merge (dict "a" 1) (dict "b" 2)) "p" (pick .Values.m "x") "o" (omit .Values.m "x") "h" (hasKey .Values.m "x") "d" (dig "q" "r" "no" .Values.m) | toJson | quote }}`, values: "m: {x: 1, w: 2, q: {r: s}}\n"},
	"math":                      {template: `a: "{{ add 1 2 }} {{ div 7 2 }} {{ mod 7 2 }} {{ max 1 5 }} {{ round 3.14159 2 }} {{ floor 2.9 }} {{ mulf 1.5 2 }} {{ len .Values.l }} {{ until 3 }} {{ seq 3 }}"`, values: "l: [a]\n"},
	"dates":                     {template: `a: {{ toDate "2006-01-02" "2026-02-03" | date "02.01.2006" | quote }}`},
	"versions":                  {template: `a: "{{ (semver "1.2.3-rc.1").Minor }} {{ semverCompare "^1.2" "1.3.0" }}"`},
	"required given":            {template: `a: {{ required "must be" .Values.a }}`, values: "a: x\n"},
	"schema":                    {template: `a: {{ .Values.a | quote }}`, values: "a: 3\n", files: map[string]string{"values.schema.json": `{"properties": {"a": {"type": "integer", "maximum": 5}}}`}},
	"notes":                     {template: `a: b`, files: map[string]string{"templates/NOTES.txt": "hello {{ .Release.Name }}"}},
	"a CRD":                     {template: `a: b`, files: map[string]string{"crds/c.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"}},
	"a namespace of its own":    {template: "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: elsewhere}\n"},
	"folders of templates":      {template: `a: b`, files: map[string]string{"templates/sub/deep/z.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ base .Template.Name }}}\n"}},
	"a dependency":              {template: `a: b`, values: "sub: {x: 5x}\nglobal: {g: yy}\n", files: map[string]string{"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/values.yaml": "x: 1\n", "charts/sub/templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {x: {{ .Values.x | quote }}, g: {{ .Values.global.g }}}\n"}},
	"a library":                 {template: `a: {{ include "lib.x" . }}`, files: map[string]string{"charts/lib/Chart.yaml": "apiVersion: v2\nname: lib\ntype: library\nversion: 1.0.0\n", "charts/lib/templates/_l.tpl": `{{ define "lib.x" }}from-lib-{{ .Chart.Name }}{{ end }}`}},
	"an alias twice": {template: `a: b`, values: "one: {x: 1x}\ntwo: {enabled: true, x: 2x}\n", files: map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- {name: sub, version: 1.x, alias: one}\n- {name: sub, version: 1.x, alias: two, condition: two.enabled}\n- {name: sub, version: 1.x, alias: three, condition: three.enabled, tags: [off]}\n",
		"values.yaml":            "three: {enabled: false}\ntags: {off: true}\n",
		"charts/sub/Chart.yaml":  "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"charts/sub/values.yaml": "x: 0\n", "charts/sub/templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Chart.Name }}}\nstringData: {x: {{ .Values.x | quote }}, p: {{ .Template.Name }}}\n"}},
	"import-values": {template: `a: {{ printf "%v-%v" .Values.taken.x .Values.port | quote }}`, files: map[string]string{
		"Chart.yaml":            "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- {name: sub, version: 1.0.0, import-values: [{child: inner, parent: taken}, out]}\n",
		"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/values.yaml": "inner: {x: deep}\nexports: {out: {port: 81}}\n"}},
	"a parent's template goes before": {template: `a: {{ include "shared" . }}`, files: map[string]string{"templates/_h.tpl": `{{ define "shared" }}parent{{ end }}`,
		"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/templates/_h.tpl": `{{ define "shared" }}child{{ end }}`,
		"charts/sub/templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ include \"shared\" . }}}\n"}},
	"subcharts of subcharts": {template: `a: {{ .Values.global.g }}`, values: "global: {g: top}\nsub: {deep: {v: set}}\n", files: map[string]string{
		"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/values.yaml": "global: {g: low, h: low}\ndeep: {v: mid}\n",
		"charts/sub/charts/deep/Chart.yaml": "apiVersion: v2\nname: deep\nversion: 1.0.0\n", "charts/sub/charts/deep/values.yaml": "v: own\n",
		"charts/sub/charts/deep/templates/d.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: d}\nstringData: {v: {{ .Values.v }}, g: {{ .Values.global.g }}, h: {{ .Values.global.h }}}\n"}},
	"files of a subchart": {template: `a: b`, files: map[string]string{"x.txt": "parent", "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/x.txt": "child",
		"charts/sub/templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {x: {{ .Files.Get \"x.txt\" }}}\n"}},
	"Subcharts":                 {template: `a: {{ (index .Subcharts "sub").Chart.Version }}`, files: map[string]string{"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 4.5.6\n"}},
	"tpl in tpl":                {template: "a: {{ tpl .Values.t . | quote }}\nb: {{ . | tpl .Values.u | trim | quote }}\nc: |\n  {{- tpl (toYaml .Values.m) $ | nindent 4 }}", values: "t: '{{ tpl .Values.u . }}!'\nu: '{{ include \"x\" (dict \"v\" .Release.Name) }}'\nm: {k: '{{ .Release.Name }}', l: ['{{ 1 }}']}\n", files: map[string]string{"templates/_h.tpl": `{{ define "x" }}<{{ .v }}>{{ end }}`}},
	"a define in tpl":           {template: `a: {{ tpl .Values.t . | trim | quote }}`, values: "t: '{{ define \"y\" }}in {{ . }}{{ end }}{{ include \"y\" \"it\" }}'\n"},
	"tpl of no text":            {template: `a: "{{ tpl (.Values.num | toString) . }}-{{ tpl "" . }}"`, values: "num: 5\n"},
	"dicts that change":         {template: "{{- $d := dict }}{{ range $i, $x := .Values.l }}{{ $_ := set $d $x $i }}{{ end }}{{ $_ := unset $d \"b\" }}a: {{ $d | toJson | quote }}", values: "l: [a, b, c]\n"},
	"mergeOverwrite":            {template: `a: {{ printf "%s %s" (mergeOverwrite (deepCopy .Values.x) .Values.z | toJson) (.Values.x | toJson) | quote }}`, values: "x: {a: 1, b: {c: 2}}\nz: {b: {c: 3, d: null}}\n"},
	"kinds and types":           {template: `a: "{{ kindOf .Values.i }} {{ kindOf .Values.s }} {{ kindIs "map" .Values.m }} {{ typeOf .Values.l }} {{ typeIs "bool" .Values.b }} {{ empty .Values.m }} {{ kindIs "invalid" .Values.none }}"`, values: "i: 1\ns: x\nm: {}\nl: []\nb: false\n"},
	"else with":                 {template: "{{- with .Values.a }}a: {{ . }}{{ else with .Values.b }}a: b-{{ . }}{{ end }}", values: "b: z\n"},
	"range over a number":       {template: "{{- range $i := until 3 }}\nk{{ $i }}: x{{ else }}\na: none{{ end }}{{ range .Values.none }}x{{ else }}\nb: none{{ end }}"},
	"printing":                  {template: `a: {{ printf "%v %d %s %q %5.2f %t %x" .Values.m (int .Values.i) "s" "q" .Values.f .Values.b "hi" | quote }}`, values: "m: {b: 1, a: [x]}\ni: 7\nf: 1.5\nb: true\n"},
	"arrays from texts":         {template: `a: {{ printf "%s %s" (fromYamlArray .Values.t | toJson) (fromJsonArray .Values.j | toRawJson) | quote }}`, values: "t: \"[1, {a: on}]\"\nj: '[\"<a>\", 2]'\n"},
	"broken texts":              {template: `a: {{ printf "%s %s" (fromYaml "a: [").Error (fromJson "{").Error | quote }}`},
	"toYamlPretty":              {template: "a: |\n  {{- toYamlPretty .Values.m | nindent 4 }}", values: "m: {l: [a, {b: c}]}\n"},
	"URLs and paths":            {template: `a: "{{ (urlParse "https://u@h:1/p?q=1").host }} {{ base "/a/b.c" }} {{ dir "a/b" }} {{ ext "x.y" }} {{ clean "a/../b" }} {{ isAbs "/x" }} {{ osBase "a/b" }}"`},
	"regular expressions":       {template: `a: {{ list (regexFindAll "[0-9]+" "a1b22" -1) (regexSplit "-" "a-b" -1) (regexMatch "^a" "ab") (regexReplaceAllLiteral "a" "ab" "$1") (mustRegexFind "b." "abc") | toJson | quote }}`},
	"encodings":                 {template: `a: "{{ b64dec "aGk=" }} {{ b32enc "hi" }} {{ sha1sum "x" }} {{ adler32sum "x" }} {{ "a b" | urlquery }} {{ html "<" }} {{ js "'" }}"`},
	"lists":                     {template: `a: {{ list (first .Values.l) (rest .Values.l) (last .Values.l) (initial .Values.l) (append .Values.l 9) (prepend .Values.l 0) (concat .Values.l (list 5)) (has 2.0 .Values.l) (without .Values.l 1.0) (compact (list 0 1 "")) (slice .Values.l 1 2) (chunk 2 .Values.l) (sortAlpha (list "b" "a")) | toJson | quote }}`, values: "l: [1, 2, 3]\n"},
	"words":                     {template: `a: "{{ camelcase "a_b" }} {{ kebabcase "aB" }} {{ initials "a b" }} {{ wrap 3 "a b c" | replace "\n" "/" }} {{ abbrev 5 "abcdefgh" }} {{ plural "x" "xs" 2 }} {{ nospace "a b" }} {{ swapcase "aB" }} {{ untitle "Ab" }} {{ substr 1 2 "abc" }} {{ contains "b" "abc" }} {{ trimAll "-" "-a-" }} {{ cat 1 "x" }} {{ squote "a" }}"`},
	"a List":                    {template: "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n"},
	"comments and dashes":       {template: "# --- no separator\na: 'x --- y'\n---\n# a comment alone\n--- # with a comment\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"},
	"defaults of two documents": {template: `a: "{{ .Values.x }} {{ .Values.y }}"`, defaults: "x: 1\ny: {a: 1}\n---\ny: {b: 0644}\n"},
	"keys that are no texts":    {template: `a: {{ .Values | toJson | quote }}`, defaults: "1: a\non: b\n0x10: c\n2026-01-02: d\n"},
	"annotations of the chart":  {template: `a: {{ printf "%s %v %s %s" (.Chart.Annotations | toJson) .Chart.Keywords (first .Chart.Maintainers).Name .Chart.Home | quote }}`, files: map[string]string{"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.2.3\nhome: https://example.com\nkeywords: [k]\nmaintainers: [{name: m}]\nannotations: {a/b: c}\n"}},
	"white space":               {template: "{{/* a comment */}}\n\n\na:   b   \n{{- if true }}\nc: d\n{{- end }}\n\n"},
	"Windows lines":             {template: "a: b\r\nc: |\r\n  x\r\n  y\r\n"},
}

// TestEqualsHelmOnFeatures: for charts of one feature each the output is that of `helm template`.
func TestEqualsHelmOnFeatures(t *testing.T) {
	if len(features) < 40 {
		t.Fatalf("%d charts", len(features))
	}
	for name, f := range features {
		t.Run(name, func(t *testing.T) {
			text := f.template
			if !hasKind(text) {
				text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n" + indented(text)
			}
			files := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: \"4.5\"\ntype: application\n",
				"chart/values.yaml": f.defaults, "chart/templates/x.yaml": text, "values.yaml": f.values}
			for p, data := range f.files {
				files["chart/"+p] = data
			}
			compare(t, request(t, files), f.values, false)
		})
	}
}

func hasKind(template string) bool { return strings.HasPrefix(template, "apiVersion:") }

// indented puts two spaces before every line of data.
func indented(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "---") || hasKind(strings.Join(lines[i:], "")) {
			break
		}
		if strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "{{-") {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "")
}
