//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"
)

// TestIsolate: what child processes cost, beside the same command without them in turns: at most 30 ms for a first render,
// nothing for an unchanged apply.
func TestIsolate(t *testing.T) {
	f := fleetOf(t, 1)
	u := newUser(t, f.Kubeconfig())
	u.module()
	u.write("fleet.yaml", fleetFile(f.Names(), 0))
	times := map[string][]time.Duration{}
	for range max(reps(), 5) {
		for _, flag := range []string{"", "--isolate"} {
			ns := fmt.Sprintf("isolate-%x-%d", time.Now().UnixMilli()&0xffffffff, lastNamespace.Add(1))
			u.write("bundle.yaml", moduleBundle(ns, ns, 1, false))
			args := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--yes", "--wait=false"}
			if flag != "" {
				args = append(args, flag)
			}
			times["first"+flag] = append(times["first"+flag], u.hawser(args...).Wall)
			for range 3 {
				times["unchanged"+flag] = append(times["unchanged"+flag], u.hawser(args...).Wall)
			}
			empty(t, f, f.Names(), ns)
		}
	}
	for what, budget := range map[string]time.Duration{"first": 30 * time.Millisecond, "unchanged": 5 * time.Millisecond} {
		with, without := times[what+"--isolate"], times[what]
		more := median(with) - median(without)
		timed(t, 10, "--isolate, one instance of a module: "+what, fmt.Sprintf("%d ms more (%s; without %s)", more.Milliseconds(), spread(with), spread(without)), budget.String()+" more", more <= budget)
	}
}
