package helm

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/valueschema"
)

// shapes says where the user gives a plain value for what is a struct in the chart's defaults or in those of its
// dependencies, or the other way round: Helm then takes one of them whole, and templates seldom expect it. A text where
// the chart has true or false is an error: it is true in every template, whatever it says.
func (j *job) shapes(user map[string]any) diag.Findings {
	c := j.chart.chart
	defaults := c.Values
	if len(c.Dependencies()) > 0 {
		c = clone(c)
		own, err := values(j.req) // what follows writes into it
		if err == nil && chartutil.ProcessDependencies(c, own) == nil {
			if all, err := util.CoalesceValues(c, map[string]any{}); err == nil {
				defaults = all
			}
		}
	}
	return j.shapesIn(c, user, defaults, nil)
}

func (j *job) shapesIn(c *chart.Chart, user, defaults map[string]any, at []string) diag.Findings {
	var found diag.Findings
	for _, name := range slices.Sorted(maps.Keys(user)) {
		x, y := user[name], defaults[name]
		if x == nil || y == nil {
			continue
		}
		path := append(at[:len(at):len(at)], name)
		given, isMap := table(x)
		want, wantMap := table(y)
		text, isText := x.(string)
		_, wantBool := y.(bool)
		switch {
		case isText && wantBool:
			if !takesText(c, path, text) {
				found = append(found, j.notBoolean(path, text))
			}
		case isMap && wantMap:
			found = append(found, j.shapesIn(c, given, want, path)...)
		case isMap != wantMap:
			f := j.valueFinding(path, "the value is a struct, the chart's own is not")
			if wantMap {
				f.What = "the chart's own value is a struct, this one is not"
			}
			f.Severity = diag.Warning
			found = append(found, f)
		}
	}
	return found
}

// notBoolean is the finding about a text that takes the place of a boolean: the user's own text is not quoted, unless it
// is a word for true or false. In a file of values for charts, and where a value is not known yet, it is a warning: what
// Helm makes of such a text is what is wanted there.
func (j *job) notBoolean(path []string, text string) diag.Finding {
	f := j.valueFinding(path, "the value is a text, the chart's own is true or false")
	f.Why = "every text but an empty one counts as true in a template"
	if x := userValues(j.req).Lookup(path...); x != nil && x.Foreign {
		f.Severity = diag.Warning
	}
	switch strings.ToLower(text) {
	case "no", "off", "n", "false":
		f.Fix = "write false, without quotes"
	case "yes", "on", "y", "true":
		f.Fix = "write true, without quotes"
	default:
		if f.Severity == diag.Error {
			f.Fix = "write true or false; where the chart does take a text, give it from a file of values for charts, {from: {file: values.yaml, path: ...}}"
		}
		return f
	}
	f.What = strconv.Quote(text) + " is a text here, the chart's own value is true or false"
	return f
}

// takesText reports whether a schema, that of the chart or of the dependency that the value is for, says that the value at
// a path may be this text.
func takesText(c *chart.Chart, path []string, text string) bool {
	if c.Schema != nil {
		if s, err := valueschema.Compile(c.Schema); err == nil && valueschema.NamesText(s, path, text) {
			return true
		}
	}
	for _, sub := range c.Dependencies() {
		if len(path) > 1 && sub.Name() == path[0] && takesText(sub, path[1:], text) {
			return true
		}
	}
	return false
}

// blamed is a failed render of values whose shape is not the chart's: the user's own line, with what followed from it.
func blamed(found diag.Findings, err error) error {
	out := slices.Clone(found)
	followed := diag.From(err, "chart").Errors()
	for i := range out {
		out[i].Severity = diag.Error
		out[i].Fix = "give it the chart's shape, as its values.yaml has it"
		if len(followed) > 0 {
			out[i].Why = followed[0].String()
		}
	}
	return append(out, followed[min(1, len(followed)):]...).Err()
}

// table is a value as a map, whatever Helm calls its type.
func table(x any) (map[string]any, bool) {
	if v, ok := x.(common.Values); ok {
		return v, true
	}
	m, ok := x.(map[string]any)
	return m, ok
}
