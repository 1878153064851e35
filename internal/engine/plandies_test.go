package engine

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render/helm"
	"hawser.dev/hawser/internal/testserver"
)

// another is the same in another process.
func (s *served) another() *served {
	next := *s
	next.Engine = &Engine{Resolve: s.Resolve, Records: s.Records, Renderers: s.Renderers, Redactor: redact.New(), Version: s.Version, PlanKey: s.PlanKey,
		Fetchers: map[string]module.Fetcher{module.ChartScheme + "file": chartdir.New(cache.Open(cache.Options{Dir: s.t.TempDir()}))}}
	return &next
}

// dies lets a server answer the first n requests, what comes after them is not carried out; no lock stays. With done the last
// one is carried out and not answered. It returns how many came.
func dies(s *testserver.Server, n int64, done bool) *atomic.Int64 {
	var came atomic.Int64
	gone := testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"gone","code":403}`)
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/leases") {
			return false
		}
		switch at := came.Add(1); {
		case at < n:
			return false
		case at == n && done:
			return s.Lost(gone)(w, r)
		}
		return gone(w, r)
	})
	return &came
}

// A saved plan for which values are made up goes on wherever its run died, by the same command: also between keeping them and the record,
// of a first release and of one with a new value beside a kept one, sealed or not. What was kept then is what is delivered.
func TestSavedPlanOfMadeValuesDies(t *testing.T) {
	t.Parallel()
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {p: '{{ .Values.p }}', q: '{{ randAlphaNum 20 }}'%s}\n"
	for _, c := range []struct{ second, done, sealed bool }{{false, false, true}, {false, true, false}, {true, false, false}, {true, true, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			for n, died := int64(1), true; died; n++ {
				s := newServed(t, "", nil, "eu")
				s.Renderers["helm"] = helm.New(helm.Options{Redact: s.Redactor.Redact})
				if err := os.MkdirAll(filepath.Join(s.dir, "chart", "templates"), 0o700); err != nil {
					t.Fatal(err)
				}
				s.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
				values := func(more, text string) {
					s.write("chart/templates/a.yaml", fmt.Sprintf(secret, more))
					s.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    app:\n      namespace: default\n      helm: {chart: ./chart}\n      values: {p: {generate: {length: 24}}"+text+"}\n")
				}
				values("", "")
				first := s.another()
				if c.second {
					first.applied(s.request())
					values(", r: '{{ randAlphaNum 21 }}', s: '{{ .Values.s }}'", ", s: {generate: {length: 25}}")
					first = s.another()
				}
				fp, err := first.Plan(t.Context(), s.request())
				file := first.save(fp, err, c.sealed).file
				carriedOut := func() error {
					next := s.another()
					fp, err := next.LoadPlan(t.Context(), bytes.NewReader(file), Request{Input: filesOf(s.dir), RunOptions: RunOptions{Wait: true, Access: s.request().Access}})
					if err == nil {
						var out *fleetplan.Outcome
						if out, err = next.Apply(t.Context(), fp, Request{RunOptions: RunOptions{Wait: true}}); err != nil {
							err = fmt.Errorf("%w: %+v", err, out.Clusters)
						}
					}
					return err
				}
				came := dies(s.servers["eu"], n, c.done)
				err = carriedOut()
				if died = came.Load() >= n; !died && err != nil {
					t.Fatal(err)
				}
				s.servers["eu"].Fault(nil)
				kept := fmt.Sprint(s.servers["eu"].Object("/api/v1/namespaces/hawser-system/secrets/hawser-" + object.OwnerID("", "", "shop") + "-kept")["data"])
				if err := carriedOut(); err != nil {
					t.Fatalf("died at request %d, and again: %v\n%s", n, err, strings.Join(s.servers["eu"].Requests(), "\n"))
				}
				if now := fmt.Sprint(s.servers["eu"].Object("/api/v1/namespaces/hawser-system/secrets/hawser-" + object.OwnerID("", "", "shop") + "-kept")["data"]); died && kept != now && kept != "<nil>" && !c.second {
					t.Errorf("died at request %d: other values were made up", n)
				}
				if fp, err := s.another().Plan(t.Context(), s.request()); err != nil || !fp.settled() {
					t.Errorf("died at request %d: not settled: %v", n, err)
				}
				if n > 200 {
					t.Fatal("it does not end")
				}
			}
		})
	}
}
