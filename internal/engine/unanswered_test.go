package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/testserver"
)

// answers lets the object that values are taken of be answered with a code, from the third time on (those before are the plan's), times times.
func (s *served) answers(code, times int) *atomic.Int32 {
	asked := new(atomic.Int32)
	reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusInternalServerError: "InternalError"}[code]
	s.servers["a"].Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != madePath {
			return false
		}
		n := int(asked.Add(1)) - 2
		if n > 0 && n <= times {
			testserver.Status(w, code, reason, "the server says "+reason)
			return true
		}
		return false
	})
	return asked
}

// While the API server that is to give a value fails, the value is waited for; it is taken when the server answers again.
func TestValueOfAServerThatFailsForAWhile(t *testing.T) {
	t.Parallel()
	s := servedTakers(t, map[string]string{"one": "uri"})
	asked := s.answers(http.StatusInternalServerError, 7)
	o := s.begins()
	if w := until(t, o, "one takes its data.uri, which"); w == nil || !strings.Contains(w.Why, "could not be read: get ConfigMap default/made: the server says InternalError") {
		t.Fatalf("it waits for %+v", w)
	}
	s.servers["a"].Put(madePath, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "made"}, "data": map[string]any{"uri": "x"}})
	out, err := ended(t, o)
	if err != nil || asked.Load() < 9 {
		t.Errorf("%v %+v after %d looks", err, out, asked.Load())
	}
}

// A server that fails until the time is over is named, and no right is; a right that is missing is named at once.
func TestValueThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code      int
		want, not string
		wait      bool
	}{
		"a server that fails": {http.StatusInternalServerError, "the API server does not answer as it should", "grant the right", true},
		"no right":            {http.StatusForbidden, "grant the right to get it", "does not answer", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servedTakers(t, map[string]string{"one": "uri"})
			s.answers(c.code, 1000)
			req := s.request()
			if req.Timeout = time.Minute; c.wait {
				req.Timeout = 5 * time.Second
			}
			fp, err := s.Plan(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			out, err := s.Apply(t.Context(), fp, req)
			if took := time.Since(begun); err == nil || c.wait != (took > 4*time.Second) || took > 20*time.Second {
				t.Fatalf("after %s: %v %+v", took, err, out)
			}
			var text strings.Builder
			if err := report.Outcome(&text, out, report.Hints{}, report.Style{Width: 400}); err != nil {
				t.Fatal(err)
			}
			if got := text.String(); !strings.Contains(got, c.want) || strings.Contains(got, c.not) || !strings.Contains(got, "instance one was not begun") {
				t.Errorf("it says\n%s", got)
			}
		})
	}
}

// Who interrupts the wait for a value is told so once, and not that the value is not there: nobody knows that.
func TestInterruptedWaitForAValue(t *testing.T) {
	t.Parallel()
	s := servedTakers(t, map[string]string{"one": "uri"})
	stop := make(chan struct{})
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventWaiting && ev.Instance == "one" {
			close(stop)
		}
	}
	req := s.request()
	req.Stop = stop
	fp, err := s.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Begin(t.Context(), fp, req)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ended(t, o)
	row := out.Clusters[0]
	if err == nil || row.Result != fleetplan.Interrupted || row.Reason != "interrupted while waiting; not begun: one" || len(row.Problems) > 0 {
		t.Errorf("%v %+v", err, out)
	}
	want := []string{"instance one was not begun: a value that it takes had not come (ConfigMap default/made: one takes its data.uri)"}
	if got := unbegun(row.NotBegun); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var text strings.Builder
	if err := report.Outcome(&text, out, report.Hints{}, report.Style{Width: 400}); err != nil {
		t.Fatal(err)
	}
	for _, once := range []string{"interrupted while waiting", "ConfigMap default/made"} {
		if strings.Count(text.String(), once) != 1 {
			t.Errorf("%q does not stand once in\n%s", once, text.String())
		}
	}
	if rel := s.releases(); !slices.Equal(rel, []string{"1 failed on default"}) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, records: %v", err, rel)
	}
}
