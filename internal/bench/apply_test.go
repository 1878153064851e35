//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"
)

// many is the number of objects of rows 1 to 3; kinds is the number of kinds they have.
const many, kinds = 1000, 1

// TestOneCluster is rows 1, 2 and 3: a thousand objects on one API server, new, unchanged, and five of them changed.
func TestOneCluster(t *testing.T) {
	f := fleetOf(t, 3)
	one := f.Names()[:1]
	u := newUser(t, f.Kubeconfig())
	u.manifests("objects", configMaps(many, 0))
	u.manifests("five", configMaps(many, 5))
	u.manifests("five-more", configMaps(many, 10))
	var floors, firsts, agains, fives, diffs []time.Duration
	var first, again, five, diff requests
	var cpu []time.Duration
	for range reps() {
		ns := namespaceIn(t, f, one, "floor")
		floors = append(floors, floor(t, f, one, ns, configMaps(many, 0)))
		empty(t, f, one, ns)

		ns = namespaceIn(t, f, one, "product")
		apply := func(dir string, times *[]time.Duration, more ...string) requests {
			u.write("bundle.yaml", plainBundle(ns, dir, ns))
			return audited(t, f, one, func() {
				args := append([]string{"apply", "-f", "bundle.yaml", "--kube-context", one[0], "--yes"}, more...)
				r := u.hawser(args...)
				*times = append(*times, r.Wall)
				if times == &firsts {
					cpu = append(cpu, r.CPU)
				}
			})
		}
		first = apply("objects", &firsts)
		again = apply("objects", &agains)
		five = apply("five", &fives)
		diff = apply("five-more", &diffs, "--diff")
		empty(t, f, one, ns)
	}
	against(t, 1, "first apply of 1,000 ConfigMaps, wall", firsts, floors, 1.3)
	noted(t, 1, "its processor time", spread(cpu))
	counted(t, 1, "its PATCHes", fmt.Sprint(first.patches(false)), fmt.Sprint(many), first.patches(false) == many)
	counted(t, 1, "its requests", fmt.Sprint(len(first)), fmt.Sprintf("%d + K + 20 (K = %d)", many, kinds), len(first) <= many+kinds+20)
	t.Logf("requests that are no PATCHes of objects:%s", first.others())

	against(t, 2, "the same unchanged, wall", agains, floors, 0.25)
	counted(t, 2, "its writes", fmt.Sprint(again.writes()), "0", again.writes() == 0)
	counted(t, 2, "its requests", fmt.Sprint(len(again)), fmt.Sprintf("K + 5 (K = %d)", kinds), len(again) <= kinds+5)
	t.Logf("all requests of the unchanged run:%s", again.others())

	noted(t, 3, "1,000 objects, 5 changed, wall", spread(fives))
	counted(t, 3, "its PATCHes, dry-runs", fmt.Sprintf("%d, %d", five.patches(false), five.patches(true)), "5, 0",
		five.patches(false) == 5 && five.patches(true) == 0)
	noted(t, 3, "5 more changed, fields shown, wall", spread(diffs))
	counted(t, 3, "its PATCHes, dry-runs", fmt.Sprintf("%d, %d", diff.patches(false), diff.patches(true)), "5, 5",
		diff.patches(false) == 5 && diff.patches(true) == 5)
	t.Logf("requests of the changed run that are no PATCHes of objects:%s", five.others())
}
