package cluster_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testserver"
)

// Which cluster answers is asked again when that was not asked a moment ago, and a session on the same connection for somebody else knows
// the answer.
func TestVerify(t *testing.T) {
	srv := testserver.Start(t)
	var ahead atomic.Int64
	cfg := config(srv.Kubeconfig(t), "test")
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	s := connectTo(t, cfg)
	asked := func() int {
		n := 0
		for _, r := range srv.Requests() {
			if strings.Contains(r, "kube-system") {
				n++
			}
		}
		return n
	}
	verify := func(want int) error {
		t.Helper()
		err := s.Verify(t.Context())
		if got := asked(); got != want {
			t.Errorf("asked %d times, want %d", got, want)
		}
		return err
	}
	if err := verify(1); err != nil { // Connect has just asked
		t.Fatal(err)
	}
	ahead.Add(int64(time.Minute))
	for range 2 {
		if err := verify(2); err != nil {
			t.Fatal(err)
		}
	}
	srv.Fault(srv.OtherUIDs())
	ahead.Add(int64(time.Minute))
	if err := verify(3); err == nil || !strings.Contains(err.Error(), "another cluster answers now") {
		t.Errorf("another cluster: %v", err)
	}
	srv.Fault(testserver.Cut)
	if err := s.Verify(t.Context()); err == nil || strings.Contains(err.Error(), "another cluster") {
		t.Errorf("no answer: %v", err)
	}
}
