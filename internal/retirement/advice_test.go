package retirement

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// What helps on the way to a cluster that is retired is what `fleet retire` has: no other cluster is accepted or guessed.
func TestAdvised(t *testing.T) {
	context := diag.Errorf(fleet.CodeUnknownContext, "there is no context")
	context.Fix = `did you mean "prod-eu"? There is: prod-eu, staging`
	for name, c := range map[string]struct {
		f    diag.Finding
		want string
	}{
		"another cluster": {fleet.WrongCluster("us", "hawser.lock knows it with", fleet.Identity{UID: "a"}, fleet.Identity{UID: "b"}), "name a context of us itself with --kube-context"},
		"untold":          {fleet.WrongCluster("us", "hawser.lock knows it with", fleet.Identity{UID: "a"}, fleet.Identity{Server: "s"}), "grant get on the namespace kube-system"},
		"no such context": {context, "name a context of us with --kube-context, or, if it is gone for good, forget it with --keep; there is: prod-eu, staging"},
		"something else":  {diag.Finding{Code: "other", Fix: "do it"}, "do it"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Advised(diag.Findings{c.f}, "us")[0]
			if got.What != c.f.What || !strings.HasPrefix(got.Fix, c.want) || strings.Contains(got.Fix, "--accept-cluster") || strings.Contains(got.Fix, "did you mean") {
				t.Errorf("%q", got.Fix)
			}
		})
	}
}
