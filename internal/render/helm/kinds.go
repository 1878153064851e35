package helm

import (
	"context"
	"maps"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/valueschema"
)

var _ render.Typer = (*Renderer)(nil)

// Kinds are those that the schemas of the chart and of the dependency that a value is for name; where they name none, a boolean where the chart's own
// value is one.
func (r *Renderer) Kinds(ctx context.Context, req render.Request, paths []v1alpha1.Path) [][]v1alpha1.Kind {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	out := make([][]v1alpha1.Kind, len(paths))
	ch, err := r.read(ctx, req)
	if err != nil {
		return out
	}
	for i, path := range paths {
		named := typesNamed{}
		if !source(req).SkipSchema {
			named.inChart(ch, ch.chart, path)
		}
		if own, _, _, ok := defaultIn(ch.chart, "", path); ok && len(named) == 0 {
			_, named["boolean"] = own.(bool)
		}
		if named["string"] {
			continue
		}
		if named["boolean"] {
			out[i] = append(out[i], v1alpha1.KindBool)
		}
		if named["integer"] || named["number"] {
			out[i] = append(out[i], v1alpha1.KindInt)
		}
		if named["number"] {
			out[i] = append(out[i], v1alpha1.KindFloat)
		}
	}
	return out
}

// typesNamed are types of JSON that schemas name for a value.
type typesNamed map[string]bool

// inChart adds what the schemas of a chart and of the dependency that the value at a path is for name.
func (t typesNamed) inChart(l *loaded, c *chart.Chart, path v1alpha1.Path) {
	if s := l.schemas.Of(c, c.Schema); s != nil {
		maps.Copy(t, valueschema.Types(s, path))
	}
	for _, sub := range c.Dependencies() {
		switch {
		case len(path) < 2:
		case path[0].Name == "global": // every dependency has them
			t.inChart(l, sub, path)
		case goesBy(c, sub, path[0].Name):
			t.inChart(l, sub, path[1:])
		}
	}
}
