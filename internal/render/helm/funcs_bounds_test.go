package helm

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// TestFunctionsThatMultiply: a call whose answer would be one argument times another is refused before it is made, and text
// that grows with every step is refused when it is too large. What is small is as it was.
func TestFunctionsThatMultiply(t *testing.T) {
	for text, want := range map[string]string{
		`{{ replace "x" (repeat 100000 "y") (repeat 200000 "x") }}`:                                                                              "replace would make",
		`{{ regexReplaceAll "" (repeat 20000 "x") (repeat 200000 "y") }}`:                                                                        "regexReplaceAll would make",
		`{{ regexReplaceAllLiteral "x" (repeat 20000 "x") (repeat 200000 "y") }}`:                                                                "regexReplaceAllLiteral would make",
		`{{ mustRegexReplaceAll ".*" (repeat 200000 "x") (repeat 200000 "$0") }}`:                                                                "mustRegexReplaceAll would make",
		`{{ join (repeat 100000 "y") (until 100000) }}`:                                                                                          "join would make",
		`{{ wrapWith 1 (repeat 100000 "y") (repeat 100000 "x ") }}`:                                                                              "wrapWith would make",
		`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = print $l $l }}{{ end }}`:                                                            "print would make",
		`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = cat $l $l }}{{ end }}`:                                                              "cat would make",
		`{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`:                                                                 "concat would make",
		`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = printf "%s%s" $l $l }}{{ end }}`:                                                    "printf would make",
		`{{ printf (repeat 1000 "%[1]s") (repeat 1000000 "x") | len }}`:                                                                          "printf would make",
		`{{ printf (repeat 1000 "%[1]999999d") 1 | len }}`:                                                                                       "printf would make",
		`{{ printf (repeat 1000 "%*d") 999999 1 | len }}`:                                                                                        "printf would make",
		`{{ $l := "x" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ toYaml $l | len }}`:                                                 "toYaml would make",
		`{{ $d := dict }}{{ $b := repeat 500000 "x" }}{{ range until 9999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ toJson $d | len }}`:       "toJson would make",
		`{{ $d := dict }}{{ $b := repeat 500000 "x" }}{{ range until 9999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ toPrettyJson $d | len }}`: "toPrettyJson would make",
		`{{ $d := dict }}{{ $b := repeat 500000 "x" }}{{ range until 9999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ toString $d | len }}`:     "toString would make",
		`{{ $d := dict }}{{ $b := repeat 500000 "x" }}{{ range until 9999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ printf "%v" $d | len }}`:  "printf would make",
		`{{ (fromYaml (printf "b: &b %s\nl: [%s]" (repeat 500000 "x") (repeat 9999 "*b,"))).Error | fail }}`:                                     "stand for more than 16 MiB",
		`{{ printf "%5d-%s-%[2]s" 1 "a" }} {{ toYaml (dict "a" 1) | quote }} {{ (fromYaml "a: &a 1\nb: *a").b }} {{ quote 1 "a" }}`:              "",
		`{{ replace "x" "yy" "axb" }} {{ regexReplaceAll "a(.)" "ab-ac" "${1}x" }} {{ join "," (list 1 2) }} {{ print 1 2 }}`:                    "",
		`{{ regexReplaceAllLiteral "a" "ab" "$1" }} {{ cat "a" 1 }} {{ concat (list 1) (list 2) }} {{ wrapWith 2 "-" "a b c" }}`:                 "",
	} {
		watch := cuelang.Watch(cuelang.WatchLimits{OwnBytes: 448 << 20}, func(f diag.Finding) { panic(fmt.Sprint(text, f)) })
		req := request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
			"chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + strings.ReplaceAll(text, "\n", " ") + "}\n"})
		_, err := New(Options{Watch: watch}).Render(t.Context(), req)
		if want == "" && err != nil && strings.Contains(err.Error(), "would make") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestExpressionsAreBounded: every function that takes an expression refuses one that is too long, and is otherwise as it was.
func TestExpressionsAreBounded(t *testing.T) {
	orig := sprig.TxtFuncMap()
	ours := regexes(orig)
	for name, was := range orig {
		if !strings.HasPrefix(name, "regex") && !strings.HasPrefix(name, "mustRegex") || name == "regexQuoteMeta" {
			continue
		}
		f, ok := ours[name]
		if !ok {
			t.Errorf("%s is not bounded", name)
			continue
		}
		call := func(f any, regex string) (any, error) {
			args := []reflect.Value{reflect.ValueOf(regex), reflect.ValueOf("axbxc")}
			switch reflect.TypeOf(f).NumIn() {
			case 3:
				last := reflect.ValueOf(-1)
				if reflect.TypeOf(f).In(2).Kind() == reflect.String {
					last = reflect.ValueOf("<$0>")
				}
				args = append(args, last)
			}
			out := reflect.ValueOf(f).Call(args)
			if len(out) > 1 && !out[1].IsNil() {
				return out[0].Interface(), out[1].Interface().(error)
			}
			return out[0].Interface(), nil
		}
		got, err := call(f, "x(.)")
		want, _ := call(was, "x(.)")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
		if _, err := call(f, strings.Repeat("x", 5000)); err == nil || !strings.Contains(err.Error(), name+": the expression has more than 4096 bytes") {
			t.Errorf("%s of a long expression: %v", name, err)
		}
	}
}
