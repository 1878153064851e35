package engine

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/testserver"
)

// A correction that is to go on without clusters of which nobody knows (--skip-unreachable) does where the last release has not
// ended: the others of the same wave are put right, and the run says which was left out and why. Without the flag nothing is
// written anywhere, nor where records may not be read: that is refused with the right, as an apply is.
func TestCorrectionWithoutUnknown(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {group: one, kubeContext: eu}\n    us: {group: one, kubeContext: us}\n  rollout: {waves: [{groups: [one]}]}\n", nil, "eu", "us")
	s.applied(s.request())
	s.write("app.yaml", strings.Replace(someMap, "one", "two", 1))
	died := atomic.Bool{} // at the first write of an object
	s.servers["us"].Fault(testserver.Before(func(r *http.Request) bool {
		return died.Load() || testserver.Writing("configmaps")(r) && !died.Swap(true)
	}, testserver.Cut))
	req := s.request()
	req.Clusters.Clusters, req.StalledAfter, req.Timeout = []string{"us"}, time.Second, time.Second
	if fp, err := s.Plan(t.Context(), req); err != nil {
		t.Fatal(err)
	} else if _, err := s.Apply(t.Context(), fp, req); err == nil {
		t.Fatal("it did not die")
	}
	s.servers["us"].Fault(nil)
	gone := httptest.NewRecorder()
	s.servers["eu"].ServeHTTP(gone, httptest.NewRequest(http.MethodDelete, "/api/v1/namespaces/default/configmaps/a", nil))
	if s.has("eu") {
		t.Fatal(gone.Body.String())
	}
	req = s.request()
	docs(&req).Files, req.Bundle = nil, "shop"
	for _, skip := range []bool{false, true} {
		req.SkipUnreachable = skip
		fp, err := s.Plan(t.Context(), req.For(Correct))
		if err != nil {
			t.Fatalf("skip=%t: %v", skip, err)
		}
		out, err := s.Apply(t.Context(), fp, req)
		if !skip {
			refusedFor(t, err, "us", "revision 2 has not ended here", "--skip-unreachable")
			continue
		}
		if !errors.Is(err, fleetplan.ErrPartial) || out.Clusters[0].Result != fleetplan.Succeeded || out.Clusters[1].Result != fleetplan.Unreachable ||
			!strings.Contains(out.Clusters[1].Reason, "revision 2") || out.Stopped != "" || !s.has("eu") {
			t.Errorf("%v, %+v", err, out)
		}
	}
	s.servers["us"].Fault(testserver.Before(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/hawser-system/secrets") },
		testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)))
	if _, err := s.Plan(t.Context(), req.For(Correct)); err == nil || !strings.Contains(err.Error(), "cluster us: you may not get secrets") {
		t.Errorf("without the right to read records: %v", err)
	}
}
