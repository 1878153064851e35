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
