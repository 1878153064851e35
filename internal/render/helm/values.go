package helm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/valueschema"
)

// exact is the largest integer a float holds exactly.
const exact = 1 << 53

// values are the user's as Helm would read them from a file: numbers are floats there, also whole ones. Those a float
// cannot hold stay integers.
func values(req render.Request) (map[string]any, error) {
	x, err := userValues(req).Any()
	if err != nil {
		f := diag.Errorf("values", "%v", err)
		if out, ok := errors.AsType[*v1alpha1.RangeError](err); ok {
			f.Pos = diag.Pos(out.Pos)
		}
		return nil, diag.Findings{f}.Err()
	}
	m, _ := asYAML(x).(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m, nil
}

func asYAML(v any) any {
	switch v := v.(type) {
	case int64:
		if v >= -exact && v <= exact {
			return float64(v)
		}
	case map[string]any:
		for k, x := range v {
			v[k] = asYAML(x)
		}
	case []any:
		for i, x := range v {
			v[i] = asYAML(x)
		}
	}
	return v
}

// checkSchema checks the merged values with the schemas of the chart and its dependencies. path is where vals are.
func (j *job) checkSchema(c *chart.Chart, vals map[string]any, path []string) diag.Findings {
	var found diag.Findings
	if c.Schema != nil {
		found = j.checkOne(c, vals, path)
	}
	for _, sub := range c.Dependencies() {
		raw := vals[sub.Name()]
		if raw == nil {
			continue
		}
		at := append(path[:len(path):len(path)], sub.Name())
		m, ok := raw.(map[string]any)
		if !ok {
			found = append(found, j.valueFinding(at, fmt.Sprintf("the values of chart %s must be a struct", sub.Name())))
			continue
		}
		found = append(found, j.checkSchema(sub, m, at)...)
	}
	return found
}

func (j *job) checkOne(c *chart.Chart, vals map[string]any, path []string) (found diag.Findings) {
	broken := func(why any) diag.Findings {
		f := diag.Errorf("chart-schema", "the values schema of chart %s cannot be used", c.Name())
		f.Why, f.Fix = fmt.Sprint(why), "set skipSchema: true to render without it"
		f.Pos = diag.Pos{File: j.file(c.ChartFullPath() + "/values.schema.json")}
		return diag.Findings{f}
	}
	defer func() {
		if r := recover(); r != nil {
			found = broken(r)
		}
	}()
	schema, err := valueschema.Compile(c.Schema)
	if err != nil {
		return broken(err)
	}
	var invalid *jsonschema.ValidationError
	switch err := schema.Validate(vals); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return j.invalid(c, schema, invalid, path)
	default:
		return broken(err)
	}
}

// invalid is one finding for each place that breaks the schema.
func (j *job) invalid(c *chart.Chart, schema *jsonschema.Schema, e *jsonschema.ValidationError, path []string) diag.Findings {
	var found diag.Findings
	seen := map[string]bool{}
	english := message.NewPrinter(language.English)
	var leaves func(*jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			leaves(c)
		}
		if len(e.Causes) > 0 {
			return
		}
		at := append(path[:len(path):len(path)], e.InstanceLocation...)
		add := func(f diag.Finding) {
			if f.Why = "the schema of chart " + c.Name() + " says so"; f.Fix == "" {
				f.Fix = "correct the value; skipSchema: true in helm renders without the check"
			}
			if key := f.Path + f.What; !seen[key] {
				seen[key] = true
				found = append(found, f)
			}
		}
		switch broken := e.ErrorKind.(type) {
		case *kind.AdditionalProperties:
			for _, name := range broken.Properties {
				f := j.valueFinding(append(at[:len(at):len(at)], name), fmt.Sprintf("additional property '%s' not allowed", name))
				f.Code, f.Fix = "unknown-field", diag.DidYouMean(name, slices.Sorted(maps.Keys(valueschema.Properties(schema, e.InstanceLocation))))
				add(f)
			}
		case *kind.Required:
			for _, name := range broken.Missing {
				add(j.missing(at, name))
			}
		default:
			add(j.valueFinding(at, valueschema.Broken(e.ErrorKind, english)))
		}
	}
	leaves(e)
	return found
}

// missing is the finding about a property that has to be there. null takes the chart's default away.
func (j *job) missing(at []string, name string) diag.Finding {
	own := append(at[:len(at):len(at)], name)
	f := j.valueFinding(own, fmt.Sprintf("missing property '%s'", name))
	if f.Code = "missing-field"; userValues(j.req).Lookup(own...) != nil {
		f.Fix = "null removes the chart's default: leave the line out, or give a value"
	}
	return f
}

// valueFinding is an error about a value, at the user's line where the user gave it or something around it.
func (j *job) valueFinding(at []string, what string) diag.Finding {
	f := diag.Errorf("values", "%s", what)
	f.Path = strings.Join(append([]string{"values"}, at...), ".")
	for n := len(at); n > 0; n-- {
		if x := userValues(j.req).Lookup(at[:n]...); x != nil {
			f.Pos = render.ShownAt(x.Pos)
			break
		}
	}
	return f
}
