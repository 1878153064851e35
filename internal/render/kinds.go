package render

import (
	"context"

	"hawser.dev/hawser/api/v1alpha1"
)

// Typer is a Renderer whose sources say of which kinds their values are.
type Typer interface {
	Renderer
	// Kinds are, for each of some paths of the values, the plain kinds that the source takes there instead of a text: KindBool, KindInt,
	// KindFloat. There are none where a text may stand, where something else must, and where nothing is said.
	Kinds(ctx context.Context, req Request, paths []v1alpha1.Path) [][]v1alpha1.Kind
}
