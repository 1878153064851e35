package neversecret

import (
	"strings"
	"testing"
)

// TestText: of JSON each text is masked by itself, at its place, and what stands around it hides nothing but for the instance's own secrets.
func TestText(t *testing.T) {
	mask := func(text string) string {
		return strings.NewReplacer(`["a"]`, "***", "s3cret", "***", "4711", "***", "own", "***").Replace(text)
	}
	own := func(text string) string { return strings.NewReplacer(`"own":1`, "***").Replace(text) }
	key := func(field, name string) string {
		if field == "data" {
			return mask(name)
		}
		return name
	}
	for _, c := range []struct{ kind, path, text, want string }{
		{"apps/Deployment", "spec args", `["a"]`, `["a"]`},
		{"apps/Deployment", "spec args", `["a","x s3cret",4711,47110,true,null]`, `["a","x ***","***","***0",true,null]`},
		{"apps/Deployment", "spec port", `4711`, `***`},
		{"apps/Deployment", "spec x", `no JSON s3cret`, `no JSON ***`},
		{"apps/Deployment", "spec x", `{"image":"s3cret","x":"<s3cret>"}`, `{"image":"s3cret","x":"<***>"}`},
		{"apps/Deployment", "spec data", `{"s3cret":1,"s3cret4711":"s3cret"}`, `{"***":1,"******":"***"}`},
		{"apps/Deployment", "spec x", `{"own":1}`, `{***}`},
		{"rbac.authorization.k8s.io/Role", "rules", `[{"verbs":["s3cret"]}]`, `[{"verbs":["s3cret"]}]`},
		{"apps/Deployment", "spec x", `"a \u003c b"`, `"a \u003c b"`},
	} {
		group, kind, _ := strings.Cut(c.kind, "/")
		if got := Text(group, kind, strings.Fields(c.path), c.text, mask, own, key); got != c.want {
			t.Errorf("%s at %s is shown as %s, want %s", c.text, c.path, got, c.want)
		}
	}
}
