package cluster

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

func TestConflictManager(t *testing.T) {
	manager, sub := answer.ConflictManager(`conflict with "hpa" with subresource "scale" using apps/v1`)
	if manager != "hpa" || sub != "scale" {
		t.Errorf("%q %q", manager, sub)
	}
	if manager, sub := answer.ConflictManager(`conflict with "kubectl-edit" using v1 at 2026-01-01T00:00:00Z`); manager != "kubectl-edit" || sub != "" {
		t.Errorf("%q %q", manager, sub)
	}
}

// A secret that is the key of an item is in no path of a conflict, whether the field is one of ours or cannot be found; what
// the schema names stays.
func TestConflictsNameNoSecretKeys(t *testing.T) {
	mask := func(s string) string { return strings.NewReplacer("hunter2", "***", "spec", "***").Replace(s) }
	client, err := kubeapi.Open(kubeapi.Config{Access: fleet.Access{Override: fleet.Override{Server: "https://one.example"}}, Redact: mask})
	if err != nil {
		t.Fatal(err)
	}
	p := &previewer{s: &Session{Client: client}}
	body := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "hunter2", "image": "a"}}}}
	err = apierrors.NewApplyConflict([]metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: `.spec.containers[name="hunter2"].image`, Message: `conflict with "edit" using v1`},
		{Type: metav1.CauseTypeFieldManagerConflict, Field: `.spec.volumes[name="a]hunter2"].x`, Message: `conflict with "edit" using v1`},
	}, "conflicts")
	got := p.conflicts(PreviewRequest{Body: object.Object{Body: body}}, nil, err).Conflicts
	if len(got) != 2 || got[0].Path != "spec.containers[***].image" || got[1].Path != `spec.volumes[name="a]***"].x` {
		t.Errorf("%+v", got)
	}
}
