package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// refuses is the address of a port that nobody listens on, and that nobody is given.
const refuses = "https://127.0.0.1:1"

// One cluster refuses connections, one takes them and never answers. The plan shows both as unknown, in time, and is
// no "no change"; an apply is refused before any write; going on without them is a decision that has to be said.
func TestFault03UnreachableAtPlan(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	px := s.interpose("production-us", func(_ http.ResponseWriter, r *http.Request, _ func()) {
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	})
	var eu *clientcmdapi.Cluster
	s.editConfig(func(cfg *clientcmdapi.Config) {
		eu = cfg.Clusters[cfg.Contexts["production-eu"].Cluster].DeepCopy()
		cfg.Clusters[cfg.Contexts["production-eu"].Cluster].Server = refuses
	})

	s.mark()
	r := s.want(3, onFleet("plan")...)
	s.has(r.Stdout, "production-us", "production-eu", "?")
	s.lacks(r.Stdout, "No changes")
	if r.Elapsed > 5*time.Minute {
		t.Errorf("the plan took %s", r.Elapsed)
	}
	px.set(func(http.ResponseWriter, *http.Request, func()) { panic(http.ErrAbortHandler) }) // or it hangs up
	var p struct {
		Clusters []struct {
			Cluster, Unreachable string
			Plan                 *struct{}
		}
	}
	if err := json.Unmarshal([]byte(s.want(3, onFleet("plan", "-o", "json")...).Stdout), &p); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Clusters {
		if answers := c.Cluster == "staging"; (c.Unreachable == "") != answers || (c.Plan != nil) != answers {
			t.Errorf("%s: unreachable %q, plan %v", c.Cluster, c.Unreachable, c.Plan)
		}
	}
	s.has(s.want(5, onFleet("apply", "-y")...).Stderr, "production-eu", "production-us", "--skip-unreachable")
	s.untouched(clusters...)

	// production-eu is back: with the one that stays away skipped on purpose, the others are done; it is not over
	s.editConfig(func(cfg *clientcmdapi.Config) { cfg.Clusters[cfg.Contexts["production-eu"].Cluster] = eu })
	r = s.want(3, onFleet("apply", "-y", "--skip-unreachable")...)
	s.there("staging", "a", "b")
	s.there("production-eu", "a", "b")
	s.has(r.Stdout, "not reached")
	s.want(3, "status", s.bundle, "--fleet", "fleet.yaml")
}

// The cluster dies in the middle of its wave: the wave fails, nothing is deleted anywhere on it, and when it is back
// the next run does what was left, and no more.
func TestFault04DiesMidWave(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle + "-- m/old.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {v: \"1\"}\n")
	var dead atomic.Bool
	var writes atomic.Int32
	px := s.interpose("production-us", nil)
	s.want(0, onFleet("apply", "-y")...)

	s.edit("m/a.yaml", `"1"`, `"2"`)
	s.edit("m/b.yaml", `"1"`, `"2"`)
	s.write("m/old.yaml", "")
	px.set(func(w http.ResponseWriter, r *http.Request, pass func()) {
		if writesOf(r, "configmaps") && writes.Add(1) > 1 {
			dead.Store(true)
		}
		if dead.Load() {
			panic(http.ErrAbortHandler)
		}
		pass()
	})
	s.mark()
	r := s.want(3, onFleet("apply", "-y")...)
	s.has(r.Stdout, "production-us")
	s.there("production-us", "old")
	s.gone("staging", "old")
	s.wantData("production-eu", "b", "v", "2")
	for _, e := range s.writes("production-us") {
		if e.Method == http.MethodDelete && e.Resource != "leases" {
			t.Errorf("the dying cluster was asked to delete: %s %s", e.Method, e.Path)
		}
	}

	px.set(nil)
	s.mark()
	s.want(0, onFleet("apply", "-y")...)
	s.untouched("staging", "production-eu")
	s.wantData("production-us", "a", "v", "2")
	s.wantData("production-us", "b", "v", "2")
	s.gone("production-us", "old")
	var deleted []string
	for _, w := range s.written("production-us") {
		if strings.HasPrefix(w, http.MethodDelete) {
			deleted = append(deleted, w)
		}
	}
	if !slices.Equal(deleted, []string{"DELETE configmaps/old"}) {
		t.Errorf("deleted after healing: %v", deleted)
	}
}

// A selection, a fleet or a placement that suddenly has no cluster deletes nothing.
func TestFault05NoClusters(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	s.mark()
	for _, selection := range [][]string{{"--group", "nothing"}, {"--cluster", "x-*"}, {"-l", "region=nowhere"}, {"--cluster", ""}, {"--group="}, {"-l", ""}} {
		r := s.want(1, onFleet(append([]string{"apply", "-y"}, selection...)...)...)
		s.has(r.Stderr, "no cluster")
		r = s.want(1, append([]string{"delete", s.bundle, "-y", "--fleet", "fleet.yaml"}, selection...)...)
		s.has(r.Stderr, "no cluster")
	}
	// what wrote the fleet file found no cluster: the current context is not meant
	for _, empty := range []string{"clusters: {}", "clusters: []", "clusters:"} {
		s.write("none.yaml", s.fill("fleet:\n  apiVersion: v1alpha1\n  name: $B\n  "+empty+"\n"))
		r := s.want(1, "apply", "-y", "-f", "shop.yaml", "--fleet", "none.yaml")
		s.has(r.Stderr, "Error: ", "none.yaml:4", "clusters")
	}
	s.untouched(clusters...)
	for _, c := range clusters {
		s.there(c, "a", "b")
	}
}

// The instance's placement fits no cluster any more: a name that nothing has is a mistake, and going everywhere needs the
// number.
func TestFault05PlacedNowhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	s.edit("shop.yaml", "namespace: $NS}", "namespace: $NS, placement: {groups: [nothing]}}")
	s.mark()
	s.has(s.want(1, onFleet("apply", "-y")...).Stderr, `no group of the fleet is named "nothing"`)
	s.edit("shop.yaml", "groups: [nothing]", "clusterSelector: {matchLabels: {no: where}}")
	s.has(s.want(5, onFleet("apply", "-y")...).Stderr, "--confirm-delete=")
	s.untouched(clusters...)
	for _, c := range clusters {
		s.there(c, "a", "b")
	}
}

// What is rendered is suddenly empty, or cannot be rendered for one of the clusters: nothing is deleted, anywhere.
func TestFault06RendersNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	s.mark()

	s.write("m/a.yaml", "# nothing\n")
	s.write("m/b.yaml", "---\n---\n")
	r := s.run(onFleet("apply", "-y")...)
	if r.Code != 5 && r.Code != 1 {
		t.Fatalf("nothing rendered: want a refusal, got %s", r)
	}
	s.untouched(clusters...)
	s.has(s.want(0, onFleet("apply", "-y", "--confirm-delete", "6")...).Stdout, "deleted") // meant after all
	for _, c := range clusters {
		s.gone(c, "a", "b")
	}
}

func TestFault06FailsForOneCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	s.mark()
	s.write("shop.cue", s.fill(`
_c: {name: string} @hawser(cluster)
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: {
		if _c.name != "production-us" {
			all: {manifests: paths: ["./m"], namespace: "$NS"}
		}
		if _c.name == "production-us" {
			all: {manifests: paths: ["./missing"], namespace: "$NS"}
		}
	}
}
`))
	r := s.want(1, "apply", "-y", "-f", "shop.cue", "--fleet", "fleet.yaml")
	s.has(r.Stderr, "production-us", "missing")
	s.untouched(clusters...)
	for _, c := range clusters {
		s.there(c, "a", "b")
	}
}

// Two clusters of a wave fail at the same instant: the next one of the wave, and of the next wave, gets no write.
func TestFault08FailuresAtTheSameInstant(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		waves string
		code  int
	}{
		"same wave, none allowed": {"- {clusters: ['*'], maxParallel: 2}", 1},
		"next wave, one allowed":  {"- {clusters: [staging, production-eu], maxParallel: 2, maxFailures: 1}\n    - {clusters: [production-us]}", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(faultFleet + faultBundle)
			s.edit("fleet.yaml", "- {groups: [staging]}\n    - {groups: [production], maxParallel: 10}", tt.waves)
			var both sync.WaitGroup
			both.Add(2)
			for _, c := range clusters[:2] {
				failed := sync.OnceFunc(both.Done)
				s.interpose(c, func(w http.ResponseWriter, r *http.Request, pass func()) {
					if writesOf(r, "configmaps") {
						failed()
						both.Wait()
						status(w, 422, "Invalid", "not today")
						return
					}
					pass()
				})
			}
			s.mark()
			r := s.want(tt.code, onFleet("apply", "-y")...)
			s.has(r.Stdout, "not started", "not today")
			s.untouched("production-us")
		})
	}
}
