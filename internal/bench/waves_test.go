//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testfleet"
)

// perCluster is the number of objects of rows 5 to 7 on each cluster.
const perCluster = 100

// beyondFloor is what a small run may take longer than its floor, for each of its clusters where they are few: all API
// servers share the processors of this machine.
const (
	beyondFloor = 60 * time.Millisecond
	fewClusters = 3
)

// TestSmallWaves is row 5 for few clusters, without the load of many idle ones.
func TestSmallWaves(t *testing.T) {
	f := fleetOf(t, 3)
	waves(t, f, 1)
	waves(t, f, 3)
}

// TestWaves is row 5 for many clusters.
func TestWaves(t *testing.T) {
	for _, n := range []int{10, 30} {
		if n > most() {
			noted(t, 5, fmt.Sprintf("100 objects each on %d clusters at once", n), "not measured: fewer clusters were started")
			continue
		}
		waves(t, fleetOf(t, most()), n)
	}
}

// waves applies a hundred objects each to n clusters at once; the memory of that is row 7.
func waves(t *testing.T, f *testfleet.Fleet, n int) {
	t.Helper()
	u := newUser(t, f.Kubeconfig())
	objects := configMaps(perCluster, 0)
	u.manifests("objects", objects)
	clusters := f.Names()[:n]
	u.write("fleet.yaml", fleetFile(clusters, 0))
	var floors, times []time.Duration
	var memory []int64
	for range reps() {
		ns := namespaceIn(t, f, clusters, "floor")
		floors = append(floors, floor(t, f, clusters, ns, objects))
		empty(t, f, clusters, ns)

		ns = namespaceIn(t, f, clusters, "wave")
		u.write("bundle.yaml", plainBundle(ns, "objects", ns))
		var r ran
		seen := audited(t, f, clusters, func() { r = u.hawser("apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--yes") })
		times, memory = append(times, r.Wall), append(memory, r.RSS)
		if got := seen.patches(false); got != n*perCluster {
			t.Errorf("%d clusters: %d PATCHes, want %d", n, got, n*perCluster)
		}
		empty(t, f, clusters, ns)
	}
	what := fmt.Sprintf("100 objects each on %d clusters at once", n)
	beyond, budget := median(times)-median(floors), beyondFloor*time.Duration(n)
	if n <= fewClusters {
		timed(t, 5, what+", beyond the floor", fmt.Sprintf("%d ms (%s; floor %s)", beyond.Milliseconds(), spread(times), spread(floors)),
			budget.String(), beyond <= budget)
	} else {
		against(t, 5, what, times, floors, 1.3)
		noted(t, 5, "that much beyond its floor", fmt.Sprintf("%d ms", beyond.Milliseconds()))
	}
	noted(t, 7, fmt.Sprintf("greatest memory, %d clusters x 100 objects (the budget, 300 MiB, is for 100 x 100)", n),
		fmt.Sprintf("%.0f MiB", float64(median(memory))/(1<<20)))
}

// TestOneHangs is row 6: of ten clusters one stops answering right after all were looked at.
func TestOneHangs(t *testing.T) {
	const n = 10
	if n > most() {
		noted(t, 6, "one of ten hangs", "not measured: fewer clusters were started")
		return
	}
	f := fleetOf(t, most())
	clusters := f.Names()[:n]
	nine, hanging := clusters[:n-1], clusters[n-1]
	u := newUser(t, f.Kubeconfig())
	u.manifests("objects", configMaps(perCluster, 0))
	u.write("fleet.yaml", fleetFile(clusters, 1))
	var without, with []time.Duration
	for range reps() {
		for _, pause := range []bool{false, true} {
			ns := namespaceIn(t, f, clusters, "hang")
			u.write("bundle.yaml", plainBundle(ns, "objects", ns))
			w := &hangWatch{t: t, f: f, nine: nine, hanging: hanging, pause: pause}
			r := u.watched(w.line, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--yes", "-o", "json")
			if pause && w.paused {
				f.Resume(t, hanging)
			}
			if len(w.ended) < n-1 {
				t.Errorf("only %d of nine succeeded (exit %d):\n%s", len(w.ended), r.Code, tail(r.Stderr))
			}
			if pause {
				with = append(with, w.took())
				if w.early {
					t.Errorf("%s ended before the others: it did not hang", hanging)
				}
				t.Logf("the whole run took %s, exit %d", r.Wall.Round(time.Millisecond), r.Code)
			} else {
				without = append(without, w.took())
			}
			empty(t, f, clusters, ns)
		}
	}
	ratio := float64(median(with)) / float64(max(median(without), 1))
	timed(t, 6, "the other nine while one of ten hangs", fmt.Sprintf("%.2f x (%s; without %s)", ratio, spread(with), spread(without)),
		"1.20 x", ratio <= 1.2)
}

// hangWatch reads a rollout's events: it pauses a cluster when the rollout begins, and lets it go on when the other
// nine are done.
type hangWatch struct {
	t       *testing.T
	f       *testfleet.Fleet
	nine    []string
	hanging string
	pause   bool

	began, last time.Time
	ended       []string
	paused      bool
	// early: the hanging cluster was done before the others, so that nothing hung.
	early bool
}

func (w *hangWatch) line(raw []byte) {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	switch {
	case e.Type == "rollout":
		w.began = e.Time
		if w.pause {
			w.f.Pause(w.t, w.hanging)
			w.paused = true
		}
	case e.Type == "clusterEnd" && e.Cluster == w.hanging:
		w.early = len(w.ended) < len(w.nine)
	case e.Type == "clusterEnd" && slices.Contains(w.nine, e.Cluster) && e.Status == "succeeded":
		w.ended, w.last = append(w.ended, e.Cluster), e.Time
		if len(w.ended) == len(w.nine) && w.paused {
			w.paused = false
			w.f.Resume(w.t, w.hanging)
		}
	}
}

// took is the time from the beginning of the rollout to the end of the last of the nine.
func (w *hangWatch) took() time.Duration { return w.last.Sub(w.began) }
