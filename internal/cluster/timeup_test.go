package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// TestReadyWhenTheTimeIsUp: what the watch has told of an object until the time was over counts, though its turn comes after that: one
// that is ready is not told as not ready in time, and one that is not is told with what it lacks; a run that somebody ended knows nothing.
func TestReadyWhenTheTimeIsUp(t *testing.T) {
	srv := testserver.Start(t)
	s, err := Connect(t.Context(), Config{Config: kubeapi.Config{Name: "test", Access: fleet.Access{KubeconfigPaths: []string{srv.Kubeconfig(t)}, Context: "test"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	streams := s.Streams(t.Context(), object.LabelOwner+"=owner")
	defer streams.Close()
	for _, c := range []struct {
		name   string
		ready  int
		cause  error
		state  health.State
		reason string
	}{
		{"ready", 1, errTimeUp, health.Ready, ""},
		{"bad", 0, errTimeUp, health.Progressing, "not seen yet"},
		{"ended", 1, context.Canceled, health.Progressing, "not seen yet"},
	} {
		ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: c.name}
		srv.Put("/apis/apps/v1/namespaces/default/deployments/"+c.name, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": c.name, "namespace": "default", "generation": 1, "labels": map[string]any{object.LabelOwner: "owner"}}, "spec": map[string]any{"replicas": 1},
			"status": map[string]any{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": c.ready, "availableReplicas": c.ready,
				"conditions": []any{map[string]any{"type": "Available", "status": map[int]string{0: "False", 1: "True"}[c.ready], "message": "too few"}}}})
		k, _ := s.ByGroupKind(ref.GroupKind())
		stream, leave := streams.Join(ref, k, false, func() {})
		defer leave()
		for obj, _, _ := stream.Look(c.name); obj == nil; obj, _, _ = stream.Look(c.name) {
			time.Sleep(10 * time.Millisecond)
		}
		e := newExecutor(s, ExecuteRequest{Plan: &plan.Plan{Owner: "owner"}})
		w := &watching{executor: e, ref: ref, k: k, start: s.Now(), until: s.Now().Add(time.Minute), hopeless: time.Minute,
			last: health.Status{State: health.Progressing, Reason: "not seen yet"}, stream: stream}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		st, cause, err := w.look(ctx)
		if err != nil || st.State != c.state || (cause == nil) != (c.state == health.Ready) || cause != nil && !errors.Is(cause, c.cause) {
			t.Errorf("%s: %+v, %v, %v", c.name, st, cause, err)
		}
		if c.name == "bad" && st.Reason == c.reason || c.name == "ended" && st.Reason != c.reason {
			t.Errorf("%s: %s", c.name, st.Line())
		}
	}
}
