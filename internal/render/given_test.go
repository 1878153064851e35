package render_test

import (
	"strings"
	"testing"

	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/render"
)

// TestGivenBy: a value of a rendered object is found in the user's values by its content and by the end of its path, and not
// at all where several could be meant.
func TestGivenBy(t *testing.T) {
	const values = `{
		replicas: "three"
		image: {tag: "one", pullPolicy: "Sometimes"}
		sidecar: {tag: "one"}
		resources: {limitz: {cpu: "1"}}
		ports: [{port: 80000}, {port: 1}]
		twice: {a: "same", b: "same"}
	}`
	parsed, err := parser.ParseExpr("values.cue", values)
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuelang.FromSyntax(parsed)
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"spec": map[string]any{
		"replicas": "three", "policy": "Sometimes", "resources": map[string]any{"limitz": map[string]any{"cpu": "1"}},
		"ports": []any{map[string]any{"number": int64(80000)}}, "name": "same", "tag": "one", "own": "of the chart",
		"containers": []any{map[string]any{"image": map[string]any{"tag": "one"}}},
	}}
	for path, want := range map[string]string{
		"spec replicas":               "values.replicas values.cue:2:",
		"spec policy":                 "values.image.pullPolicy values.cue:3:",
		"spec resources limitz":       "values.resources.limitz values.cue:5:",
		"spec ports 0 number":         "values.ports.0.port values.cue:6:",
		"spec name":                   "",
		"spec tag":                    "",
		"spec containers 0 image tag": "values.image.tag values.cue:3:",
		"spec own":                    "",
		"spec missing":                "",
	} {
		at, pos := render.GivenBy(x, body, strings.Fields(path))
		if got := at + " " + pos.String(); (want == "") != (at == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if at, _ := render.GivenBy(nil, body, []string{"spec", "replicas"}); at != "" {
		t.Error("no values give something")
	}
}
