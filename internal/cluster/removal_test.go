package cluster_test

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
)

// TestDeletePreconditionsOfOwners: what a delete finds in its way is looked at as the plan looks at it: Helm, Flux or another
// bundle may have taken the object since, without a field of ours.
func TestDeletePreconditionsOfOwners(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	for _, c := range []struct{ name, by, patch, want string }{
		{"helm", "helm", `{"metadata":{"annotations":{"meta.helm.sh/release-name":"x","meta.helm.sh/release-namespace":"y"}}}`, "belongs to Helm release y/x since"},
		{"flux", "kustomize-controller", `{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"x","kustomize.toolkit.fluxcd.io/namespace":"y"}}}`, "belongs to Flux Kustomization y/x since"},
		{"bundle", object.Manager("0123456789abcdef"), `{"metadata":{"annotations":{"z":"theirs"}}}`, "since"},
	} {
		for _, recreate := range []bool{false, true} {
			ns := f.Namespace(t, one)
			b := newBundle(t)
			yaml := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\nimmutable: true\ndata: {w: ours}"
			b.apply(t, s, objs(t, ns, yaml)...)
			b.opts.Deleting, b.opts.Recreate = !recreate, recreate
			var desired []object.Object
			if recreate {
				desired = objs(t, ns, strings.Replace(yaml, "ours", "new", 1))
			}
			p, bodies := b.plan(t, s, desired)
			patch(t, c.by, configMaps, ns, "a", c.patch)
			r := b.execute(t.Context(), s, p, bodies)
			if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || !strings.Contains(r.Problems[0].Status.Reason, c.want) || data(t, ns, "a") != "map[w:ours]" {
				t.Errorf("%s, recreate %v: %+v", c.name, recreate, r)
			}
		}
	}
}
