package helm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

// exact is the largest integer a float holds exactly.
const exact = 1 << 53

// values are the user's as Helm would read them from a file: numbers are floats there, also whole ones. Those a float
// cannot hold stay integers.
func values(req render.Request) (map[string]any, error) {
	x, err := cuelang.ToJSON(userValues(req))
	if err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "values"}).Err()
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

// refusing is a loader of schemas that loads nothing: a render reads no network and no file outside its chart.
type refusing struct{}

func (refusing) Load(url string) (any, error) {
	// As in Helm, a URN that nobody knows allows everything.
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, fmt.Errorf("%s is outside the schema: references to other files and hosts are not followed", url)
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
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Schema))
	if err != nil {
		return broken(err)
	}
	const name = "chart:///values.schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(refusing{})
	if err := compiler.AddResource(name, doc); err != nil {
		return broken(err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return broken(strings.ReplaceAll(err.Error(), name, "values.schema.json"))
	}
	var invalid *jsonschema.ValidationError
	switch err := schema.Validate(vals); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return j.invalid(c, invalid, path)
	default:
		return broken(err)
	}
}

// invalid is one finding for each place that breaks the schema.
func (j *job) invalid(c *chart.Chart, e *jsonschema.ValidationError, path []string) diag.Findings {
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
		f := j.valueFinding(at, e.ErrorKind.LocalizedString(english))
		f.Why = "the schema of chart " + c.Name() + " says so"
		if key := f.Path + f.What; !seen[key] {
			seen[key] = true
			found = append(found, f)
		}
	}
	leaves(e)
	return found
}

// valueFinding is an error about a value, at the user's line where the user gave it or something around it.
func (j *job) valueFinding(at []string, what string) diag.Finding {
	f := diag.Errorf("values", "%s", what)
	f.Path = strings.Join(append([]string{"values"}, at...), ".")
	for n := len(at); n > 0; n-- {
		if x := cuelang.Lookup(userValues(j.req), at[:n]...); x != nil {
			p := x.Pos().Position()
			f.Pos = diag.Pos{File: render.DisplayPath(p.Filename), Line: p.Line, Column: p.Column}
			break
		}
	}
	return f
}
