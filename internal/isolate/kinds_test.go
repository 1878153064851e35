package isolate

import (
	"context"
	"slices"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/render"
)

func (double) Kinds(_ context.Context, req render.Request, paths []v1alpha1.Path) [][]v1alpha1.Kind {
	if req.Instance.Name == "ok" {
		return [][]v1alpha1.Kind{{v1alpha1.KindBool, v1alpha1.KindInt}, nil}
	}
	return make([][]v1alpha1.Kind, 3*len(paths))
}

// TestKinds: a child says of which kinds values are, and what it says of other paths than it was asked about is nothing.
func TestKinds(t *testing.T) {
	r := renderers(pool(t, nil))
	typer, two := r.(render.Typer), []v1alpha1.Path{{{Name: "a"}}, {{Name: "b"}}}
	if kinds := typer.Kinds(t.Context(), of("ok"), two); len(kinds) != 2 || !slices.Equal(kinds[0], []v1alpha1.Kind{v1alpha1.KindBool, v1alpha1.KindInt}) || len(kinds[1]) != 0 {
		t.Error(kinds)
	}
	if kinds := typer.Kinds(t.Context(), of("other"), two); len(kinds) != 0 {
		t.Errorf("an answer about other paths: %v", kinds)
	}
}
