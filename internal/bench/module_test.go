//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"
)

// instances of the fixture module, on three clusters.
const instances = 20

// TestModules is row 4: twenty instances of a CUE module of five objects on three clusters, not waited for.
func TestModules(t *testing.T) {
	f := fleetOf(t, 3)
	clusters := f.Names()
	u := newUser(t, f.Kubeconfig())
	u.module()
	u.write("fleet.yaml", fleetFile(clusters, 0))
	objects := configMaps(instances*5, 0)
	var floors []time.Duration
	type kind struct {
		own           bool
		inputs        int
		budget        time.Duration
		first, again  []time.Duration
		renders, none int
		last          requests
	}
	kinds := []*kind{{inputs: instances, budget: time.Second}, {own: true, inputs: 3 * instances, budget: 1300 * time.Millisecond}}
	for range reps() {
		ns := namespaceIn(t, f, clusters, "floor")
		floors = append(floors, floor(t, f, clusters, ns, objects))
		empty(t, f, clusters, ns)
		for _, k := range kinds {
			ns := fmt.Sprintf("module-%x-%d", time.Now().UnixMilli()&0xffffffff, lastNamespace.Add(1))
			u.write("bundle.yaml", moduleBundle(ns, ns, instances, k.own))
			args := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--yes", "--wait=false", "-o", "json"}
			first := u.hawser(args...)
			k.first, k.renders = append(k.first, first.Wall), first.renders(t)
			k.last = audited(t, f, clusters, func() {
				again := u.hawser(args...)
				k.again, k.none = append(k.again, again.Wall), again.renders(t)
			})
			empty(t, f, clusters, ns)
		}
	}
	noted(t, 4, "bare loop of 300 ConfigMaps on the same 3 clusters", spread(floors))
	for _, k := range kinds {
		what := fmt.Sprintf("20 instances x 3 clusters, %d distinct inputs: ", k.inputs)
		within(t, 4, what+"first", k.first, k.budget)
		counted(t, 4, what+"renders", fmt.Sprint(k.renders), fmt.Sprint(k.inputs), k.renders == k.inputs)
		within(t, 4, what+"unchanged", k.again, 300*time.Millisecond)
		counted(t, 4, what+"renders unchanged", fmt.Sprint(k.none), "0", k.none == 0)
		counted(t, 4, what+"writes unchanged", fmt.Sprint(k.last.writes()), "0", k.last.writes() == 0)
		t.Logf("all requests of the unchanged run:%s", k.last.others())
	}
}
