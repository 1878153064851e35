package render

import (
	"context"
	"slices"

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
	Default(ctx context.Context, req Request, path v1alpha1.Path) (*v1alpha1.Value, diag.Pos)
}

// Explain completes explanations with what the package itself says, as far as its content can be had.
// All the values of an instance are not asked for.
func Explain(ctx context.Context, list []place.Explanation, instances []v1alpha1.Instance, kubeVersion string,
	sources *source.Resolver, renderers map[string]Renderer,
) {
	for i := range list {
		x := &list[i]
		at := slices.IndexFunc(instances, func(in v1alpha1.Instance) bool { return in.Name == x.Instance })
		path, err := v1alpha1.ParsePath(x.Path)
		if at < 0 || err != nil {
			continue
		}
		use, err := sources.Get(ctx, instances[at])
		d, ok := renderers[use.Kind].(Defaulter)
		if x.Unread = err != nil || !ok; x.Unread {
			continue
		}
		req := Request{Instance: instances[at], Content: use.Content, KubeVersion: kubeVersion, Package: "main"}
		value, pos := d.Default(ctx, req, path)
		if x.ByPackage(value, pos); value == nil && len(path) > 0 {
			beside, _ := d.Default(ctx, req, path[:len(path)-1])
			x.Beside(beside, path[len(path)-1].Name)
		}
	}
}
