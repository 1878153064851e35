package helm

import (
	"context"
	"encoding/json"
	"strconv"

	goyaml "go.yaml.in/yaml/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

var _ render.Defaulter = (*Renderer)(nil)

// valuesFile holds the values of a chart.
const valuesFile = "values.yaml"

// Default is the value in the chart's own values.yaml, or in that of the dependency that the path is for.
func (r *Renderer) Default(ctx context.Context, req render.Request, path v1alpha1.Path) (*v1alpha1.Value, diag.Pos) {
	ch, err := r.read(ctx, req)
	if err != nil {
		return nil, diag.Pos{}
	}
	value, dir, rest, ok := defaultIn(ch.chart, "", path)
	if !ok {
		return nil, diag.Pos{}
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, diag.Pos{}
	}
	x := new(v1alpha1.Value)
	if x.UnmarshalJSON(data) != nil {
		return nil, diag.Pos{}
	}
	pos := diag.Pos{File: displayRoot(req, ch) + dir + valuesFile}
	if text, err := req.Content.ReadFile(dir+valuesFile, r.opts.Limits.SourceBytes); err == nil { // not in a packed dependency
		pos.Line, pos.Column = lineOf(text, rest)
	}
	return x, pos
}

// defaultIn is the value at a path of a chart's values, or of a dependency's: the folder that holds its values.yaml, and
// the path there.
func defaultIn(c *chart.Chart, dir string, path v1alpha1.Path) (value any, in string, rest v1alpha1.Path, ok bool) {
	if v, err := path.Lookup(c.Values); err == nil {
		return v, dir, path, true
	}
	for _, sub := range c.Dependencies() {
		if len(path) > 1 && goesBy(c, sub, path[0].Name) {
			return defaultIn(sub, dir+"charts/"+sub.Name()+"/", path[1:])
		}
	}
	return nil, "", nil, false
}

// lineOf is where a path stands in a YAML file; zeros where that cannot be said.
func lineOf(text []byte, path v1alpha1.Path) (line, column int) {
	var doc goyaml.Node
	if goyaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 0, 0
	}
	at, place := doc.Content[0], doc.Content[0]
	for _, step := range path {
		if at.Kind == goyaml.AliasNode {
			at = at.Alias
		}
		next := -1
		switch at.Kind {
		case goyaml.MappingNode:
			for i := 0; i+1 < len(at.Content); i += 2 {
				if at.Content[i].Value == step.Name {
					place, next = at.Content[i], i+1
				}
			}
		case goyaml.SequenceNode:
			if i, err := strconv.Atoi(step.Name); err == nil && step.Key == "" && i < len(at.Content) {
				place, next = at.Content[i], i
			}
		}
		if next < 0 {
			break
		}
		at = at.Content[next]
	}
	return place.Line, place.Column
}
