package helm

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// TestFunctionsThatMultiply: a call whose answer would be one argument times another is refused before it is made, and text
// that grows with every step is refused when it is too large. What is small is as it was.
func TestFunctionsThatMultiply(t *testing.T) {
	for text, want := range map[string]string{
		`{{ replace "x" (repeat 100000 "y") (repeat 200000 "x") }}`:                                                              "replace would make",
		`{{ regexReplaceAll "" (repeat 20000 "x") (repeat 200000 "y") }}`:                                                        "regexReplaceAll would make",
		`{{ regexReplaceAllLiteral "x" (repeat 20000 "x") (repeat 200000 "y") }}`:                                                "regexReplaceAllLiteral would make",
		`{{ mustRegexReplaceAll ".*" (repeat 200000 "x") (repeat 200000 "$0") }}`:                                                "mustRegexReplaceAll would make",
		`{{ join (repeat 100000 "y") (until 100000) }}`:                                                                          "join would make",
		`{{ wrapWith 1 (repeat 100000 "y") (repeat 100000 "x ") }}`:                                                              "wrapWith would make",
		`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = print $l $l }}{{ end }}`:                                            "print would make",
		`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = cat $l $l }}{{ end }}`:                                              "cat would make",
		`{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`:                                                 "concat would make",
		`{{ replace "x" "yy" "axb" }} {{ regexReplaceAll "a(.)" "ab-ac" "${1}x" }} {{ join "," (list 1 2) }} {{ print 1 2 }}`:    "",
		`{{ regexReplaceAllLiteral "a" "ab" "$1" }} {{ cat "a" 1 }} {{ concat (list 1) (list 2) }} {{ wrapWith 2 "-" "a b c" }}`: "",
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
