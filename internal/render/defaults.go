package render

import (
	"context"
	"slices"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/source"
)

// Defaulter is a Renderer whose sources have values of their own.
type Defaulter interface {
	Renderer
	// Default is the value that the source itself has at a path of its values, and where it says so, whatever the instance
	// gives; nil when it has none, or when that depends on what is given.
	Default(ctx context.Context, req Request, path v1alpha1.Path) (ast.Expr, diag.Pos)
}

// Explain completes explanations of values that no document sets with what the package itself says, as far as its content
// can be had.
func Explain(ctx context.Context, list []place.Explanation, instances []v1alpha1.Instance, kubeVersion string,
	sources *source.Resolver, renderers map[string]Renderer,
) {
	for i := range list {
		x := &list[i]
		at := slices.IndexFunc(instances, func(in v1alpha1.Instance) bool { return in.Name == x.Instance })
		path, err := v1alpha1.ParsePath(x.Path)
		if at < 0 || err != nil || x.Value != "" {
			continue
		}
		use, err := sources.Get(ctx, instances[at])
		if d, ok := renderers[use.Kind].(Defaulter); ok && err == nil {
			x.ByPackage(d.Default(ctx, Request{Instance: instances[at], Content: use.Content, KubeVersion: kubeVersion, Package: "main"}, path))
		}
	}
}
