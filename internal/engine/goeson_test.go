package engine

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/testserver"
)

const threeWaves = `    eu: {group: one, kubeContext: eu}
    us: {group: two, kubeContext: us}
    ap: {group: three, kubeContext: ap}
  rollout: {waves: [{groups: [one]}, {groups: [two]}, {groups: [three]}]}
`

// savedRun is a saved plan of a bundle on three clusters, one in each wave, and how often it was carried out.
type savedRun struct {
	*served
	file []byte
}

// save saves the plan of a request's, and gives the file another seal where nobody is to vouch for it.
func (s *served) save(fp *Prepared, err error, sealed bool) *savedRun {
	s.t.Helper()
	var file bytes.Buffer
	if err == nil {
		_, _, err = s.SavePlan(fp, &file)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	fp.Close()
	text := file.String()
	if !sealed {
		text = unsealed(text)
	}
	return &savedRun{s, []byte(text)}
}

func (r *savedRun) load() (*Prepared, error) {
	return r.LoadPlan(r.t.Context(), bytes.NewReader(r.file), Request{Input: filesOf(r.dir), RunOptions: RunOptions{Wait: true, Access: r.request().Access}})
}

// run carries the file out and returns how it ended on each cluster.
func (r *savedRun) run() (string, error) {
	fp, err := r.load()
	if err != nil {
		return "", err
	}
	out, err := r.Apply(r.t.Context(), fp, Request{RunOptions: RunOptions{Wait: true}})
	var rows []string
	for _, c := range out.Clusters {
		rows = append(rows, c.Cluster+" "+string(c.Result))
	}
	return strings.Join(rows, ", "), err
}

func refuses(on string) testserver.Fault {
	return testserver.Before(func(r *http.Request) bool {
		return testserver.Writing("configmaps")(r) && strings.Contains(r.URL.Path, "/configmaps/"+on) && !strings.Contains(r.URL.RawQuery, "dryRun")
	}, testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`))
}

// A saved plan whose run stopped at a wave goes on when the same file is carried out again, sealed or not, of a release and of a
// rollback: what is done is left as it is, the wave that failed is ended, the others get what was shown, in one release. Where
// another run was meanwhile it is refused, and nothing is written anywhere.
func TestSavedPlanGoesOn(t *testing.T) {
	t.Parallel()
	for name, sealed := range map[string]bool{"sealed": true, "unsealed": false} {
		for _, verb := range []string{"apply", "rollback"} {
			t.Run(name+" "+verb, func(t *testing.T) {
				t.Parallel()
				s := newServed(t, threeWaves, nil, "eu", "us", "ap")
				s.applied(s.request())
				s.write("app.yaml", strings.Replace(someMap, "one", "two", 1)+"---\n"+strings.Replace(someMap, "name: a", "name: b", 1))
				var saved *savedRun
				if verb == "apply" {
					fp, err := s.Plan(t.Context(), s.request())
					saved = s.save(fp, err, sealed)
				} else {
					s.applied(s.request())
					req := s.request()
					docs(&req).Files, req.Bundle = nil, "shop"
					fp, err := s.Plan(t.Context(), req.For(Rollback))
					saved = s.save(fp, err, sealed)
				}
				s.servers["us"].Fault(refuses("a"))
				if got, err := saved.run(); err == nil || got != "eu succeeded, us failed, ap notStarted" {
					t.Fatalf("the first run: %s, %v", got, err)
				}
				s.servers["us"].Fault(nil)
				before := len(s.wrote("eu"))
				if got, err := saved.run(); err != nil || got != "eu unchanged, us succeeded, ap succeeded" {
					t.Fatalf("the second run: %s, %v", got, err)
				}
				if wrote := s.wrote("eu"); len(wrote) > before {
					t.Errorf("written where it was done: %q", wrote[before:])
				}
				l, err := s.List(t.Context(), s.request())
				if err != nil {
					t.Fatal(err)
				}
				var numbers []int
				for _, c := range l.Clusters {
					numbers = append(numbers, c.Bundles[0].Release)
				}
				if slices.Sort(numbers); numbers[0] != numbers[2] {
					t.Errorf("more than one release: %v", numbers)
				}
				if got, err := saved.run(); err != nil || got != "eu unchanged, us unchanged, ap unchanged" {
					t.Errorf("the third run: %s, %v", got, err)
				}
			})
		}
	}
}

const someMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: one}\n"

// What happened between two runs of one file: drift where it is done is said and left; another run, an edited file, and objects
// that somebody changed where it was not done, are refused, and nothing is written.
func TestSavedPlanGoesOnNoFurther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *served, saved *savedRun)
		want      string
	}{
		"drift where it is done": {func(s *served, _ *savedRun) {
			s.servers["eu"].Put("/api/v1/namespaces/default/configmaps/a", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "a", "namespace": "default"}, "data": map[string]any{"k": "theirs"}})
		}, ""},
		"another run where it is done": {func(s *served, _ *savedRun) {
			s.write("app.yaml", strings.Replace(someMap, "one", "three", 1))
			req := s.request()
			req.Clusters.Clusters, req.SkipWaves = []string{"eu"}, true
			s.applied(req)
			s.write("app.yaml", strings.Replace(someMap, "one", "two", 1))
		}, "it is at revision 3 now, the plan was made at 1"},
		"another run where it was not": {func(s *served, _ *savedRun) {
			s.write("app.yaml", strings.Replace(someMap, "one", "three", 1))
			req := s.request()
			req.Clusters.Clusters, req.SkipWaves = []string{"ap"}, true
			s.applied(req)
			s.write("app.yaml", strings.Replace(someMap, "one", "two", 1))
		}, "it is at revision 2 now, the plan was made at 1"},
		"an edited file": {func(s *served, saved *savedRun) {
			saved.file = []byte(unsealed(edit(s.t, string(saved.file), func(fp *fleetplan.FleetPlan) {
				fp.Cluster("ap").Plan.Changes = nil
			})))
		}, "it is at revision 2 now, the plan was made at 1"},
		"an object where it was not": {func(s *served, _ *savedRun) {
			s.servers["ap"].Put("/api/v1/namespaces/default/configmaps/b", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "b", "namespace": "default"}})
		}, "ConfigMap default/b has appeared since"},
		"an object where it failed": {func(s *served, _ *savedRun) {
			s.servers["us"].Put("/api/v1/namespaces/default/configmaps/b", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "b", "namespace": "default"}})
		}, "ConfigMap default/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServed(t, threeWaves, nil, "eu", "us", "ap")
			s.applied(s.request())
			two := strings.Replace(someMap, "one", "two", 1) + "---\n" + strings.Replace(someMap, "name: a", "name: b", 1)
			s.write("app.yaml", two)
			fp, err := s.Plan(t.Context(), s.request())
			saved := s.save(fp, err, true)
			s.servers["us"].Fault(refuses("b"))
			if got, err := saved.run(); err == nil || got != "eu succeeded, us failed, ap notStarted" {
				t.Fatalf("the first run: %s, %v", got, err)
			}
			s.servers["us"].Fault(nil)
			c.meanwhile(s, saved)
			s.write("app.yaml", two)
			before := len(s.wrote("eu")) + len(s.wrote("us")) + len(s.wrote("ap"))
			if c.want != "" {
				_, err := saved.run()
				refusedFor(t, err, c.want)
				if now := len(s.wrote("eu")) + len(s.wrote("us")) + len(s.wrote("ap")); now != before {
					t.Errorf("%d requests were written", now-before)
				}
				return
			}
			if fp, err := saved.load(); err != nil || !slices.Contains(fp.Findings.Whats(), "this saved plan was begun before, and goes on: us") {
				t.Errorf("%v, %v", err, fp.Findings)
			}
			if got, err := saved.run(); err != nil || got != "eu unchanged, us succeeded, ap succeeded" {
				t.Errorf("the second run: %s, %v", got, err)
			}
			if k := s.servers["eu"].Object("/api/v1/namespaces/default/configmaps/a")["data"].(map[string]any)["k"]; k != "theirs" {
				t.Errorf("written where it was done: %v", k)
			}
		})
	}
}

// A saved plan that was to end at a wave is done when it has, and one that was interrupted before a wave goes on there.
func TestSavedPlanThatEndedEarly(t *testing.T) {
	t.Parallel()
	s := newServed(t, threeWaves, nil, "eu", "us", "ap")
	req := s.request()
	req.UntilWave = 1
	fp, err := s.Plan(t.Context(), req)
	saved := s.save(fp, err, true)
	for _, want := range []string{"eu succeeded, us notStarted, ap notStarted", "eu unchanged, us notStarted, ap notStarted"} {
		if got, err := saved.run(); err != nil || got != want {
			t.Errorf("until the first wave: %s, %v, want %s", got, err, want)
		}
	}
	fp, err = s.Plan(t.Context(), s.request())
	saved = s.save(fp, err, true)
	if fp, err = saved.load(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventClusterStart && ev.Cluster == "us" {
			close(stop)
		}
	}
	out, err := s.Apply(t.Context(), fp, Request{RunOptions: RunOptions{Wait: true, Stop: stop}})
	if err == nil || out.Clusters[1].Result != fleetplan.Succeeded || out.Clusters[2].Result != fleetplan.NotStarted {
		t.Fatalf("interrupted: %v %+v", err, out)
	}
	s.OnEvent = nil
	if got, err := saved.run(); err != nil || got != "eu unchanged, us unchanged, ap succeeded" {
		t.Errorf("after it: %s, %v", got, err)
	}
}
