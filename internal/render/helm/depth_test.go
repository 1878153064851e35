package helm

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"hawser.dev/hawser/internal/render"
)

// textOf is what a template of a chart gives as data.a of a ConfigMap.
func textOf(t *testing.T, values, text string) (string, error) {
	t.Helper()
	req := request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "chart/values.yaml": values,
		"chart/templates/_x.tpl": `{{ define "kind" }}{{ kindOf . }}{{ end }}`,
		"chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: >-\n    " + text + "\n"})
	res, err := New(Options{}).Render(t.Context(), req)
	if err != nil {
		return "", err
	}
	return dataOf(t, res), nil
}

func dataOf(t *testing.T, res render.Result) string {
	t.Helper()
	data, _ := res.Objects[0].Body["data"].(map[string]any)
	text, _ := data["a"].(string)
	return strings.TrimSpace(text)
}

// TestValuesThatHoldThemselves: a map that holds itself ends no process, whatever goes through it, and is refused there alone: what
// gives it on works as Helm's.
func TestValuesThatHoldThemselves(t *testing.T) {
	const cyclic = `{{ $d := dict "n" 1 }}{{ $_ := set $d "a" (list $d) }}`
	for text, want := range map[string]string{
		cyclic + `{{ $d }}`:                                                                "what is printed",
		cyclic + `{{- $d.a -}}`:                                                            "what is printed",
		cyclic + `{{ tpl "{{ . }}" $d }}`:                                                  "what is printed",
		cyclic + `{{ eq $d $d }}`:                                                          "non-comparable type map[string]interface {}",
		cyclic + `{{ ne $d.a $d.a }}`:                                                      "non-comparable type []interface {}",
		cyclic + `{{ dict $d 1 }}`:                                                         "dict is given",
		cyclic + `{{ merge $d $d }}`:                                                       "merge is given",
		cyclic + `{{ mergeOverwrite (dict "a" (dict)) $d }}`:                               "mergeOverwrite is given",
		cyclic + `{{ merge (dict "b" 1) $d | kindOf }}`:                                    "map",
		cyclic + `{{ include "kind" $d }}`:                                                 "map",
		cyclic + `{{ range $d.a }}{{ .n }}{{ end }}`:                                       "1",
		cyclic + `{{ kindOf (index (index $d.a 0).a 0) }}`:                                 "map",
		`{{ $_ := set $.Values "a" $.Values }}{{ .Values }}`:                               "what is printed",
		`{{ $_ := set $.Values "a" $.Values }}{{ toYaml . }}`:                              "toYaml is given",
		`{{ $_ := set $.Values "a" $ }}{{ .Values.a.Release.Name | kindOf }}`:              "string",
		`{{ $d := dict }}{{ range until 1000000 }}{{ $d = dict "a" $d }}{{ end }}{{ $d }}`: "what is printed",
		`{{ kindOf (fromToml (printf "a=%s" (repeat 4000000 "["))).Error }}`:               "string",
		`{{ (fromToml "a=[{b=1.5}]").a }}`:                                                 "map[b:1.5]",
		`{{ toToml (dict "a" 1) | trim }} {{ toYamlPretty (dict "a" (list 1)) | quote }}`:  "a = 1",
		`{{ $d := dict }}{{ range until 10000 }}{{ $d = list $d }}{{ end }}{{ int $d }}`:   "int is given",
		`{{ $l := "x" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ $l }}`:        "would make more than 16 MiB",
		`{{ $n := dict }}{{ $m := dict "j" $n }}{{ kindOf (merge (dict "a" $n "b" $n) (dict "a" (dict "k" $m) "b" $n)) }}`:                         "map",
		`{{ .Values.b }} {{ 1 }} {{ "}}" }} {{ .Values.none }} {{ .Capabilities.KubeVersion }} {{ list 1 "a" }} {{- /* }} */ -}} {{ dict "a" 1 }}`: "{x: 1}",
	} {
		got, err := textOf(t, "b: {x: 1}\n", text)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) && !(want == "{x: 1}" && strings.HasPrefix(got, "map[x:1] 1 }}  v1.") && strings.HasSuffix(got, "[1 a]map[a:1]")) {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// TestEveryFunctionIsGivenOne: no function of Helm overflows the stack for a map that holds itself, wherever it stands among the arguments.
func TestEveryFunctionIsGivenOne(t *testing.T) {
	names := slices.Sorted(maps.Keys(sprig.TxtFuncMap()))
	names = append(names, "toToml", "mustToToml", "toYamlPretty", "toYaml", "mustToYaml", "fromYaml", "fromYamlArray", "lookup", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "html", "js", "urlquery",
		"print", "printf", "println", "len", "index", "slice", "call")
	for _, fn := range names {
		if fn == "env" || fn == "expandenv" {
			continue
		}
		for _, args := range []string{"$d", "$d $d", `"a" $d`, `$d "a"`, "1 $d", "$d 1", `"%v" $d`, `"a" "a" $d`, `"a" $d $d`, `$d "a" $d`, "1 1 $d",
			`"a" "a" "a" $d`, `"a" $d $d 1`, `(list $d)`, `(list $d) (list $d)`, `"," (list $d)`, `$d (list $d)`, `(list 1) $d`} {
			text := `{{ $d := dict "a" "x" }}{{ $_ := set $d "b" $d }}{{ kindOf (` + fn + " " + args + `) }}`
			if tmpl, err := template.New("").Funcs(sprig.TxtFuncMap()).Funcs(functions(nil, &answers{})).Parse(text); err == nil {
				_ = tmpl.Execute(io.Discard, nil) // what counts is that it comes back
			} else {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestTextsThatCannotBeRead: what a text holds that is no YAML or TOML is in no error that a chart may put into an object.
func TestTextsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		`{{ (fromYaml "*CANARY8-x9").Error | quote }}`:              "error converting YAML to JSON: yaml: ",
		`{{ index (fromYamlArray "*CANARY8-x9") 0 | quote }}`:       "error converting YAML to JSON: yaml: ",
		`{{ (fromYaml "a: !CANARY8 b\nb: [").Error | quote }}`:      "error converting YAML to JSON: yaml: ",
		`{{ (fromToml "a = CANARY8-x9").Error | quote }}`:           "toml: ",
		`{{ (fromToml "CANARY8 = 1\nCANARY8 = 2").Error | quote }}`: "toml: ",
		`{{ (fromJson "CANARY8-x9").Error | quote }}`:               "invalid character",
		`{{ (fromYaml "- a").Error | quote }}`:                      "cannot unmarshal array into Go value of type map",
	} {
		got, err := textOf(t, "", text)
		if err != nil || strings.Contains(got, "CANARY") || !strings.Contains(got, want) {
			t.Errorf("%s: %s %v", text, got, err)
		}
	}
}
