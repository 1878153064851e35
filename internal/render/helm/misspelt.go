package helm

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// plainName is a key that a template may read as a field.
var plainName = lazyregexp.New(`^[A-Za-z_]\w*$`)

// misspelt warns of values whose name nothing in the chart has, and which resembles one that stands there. It warns only
// where the chart shows that it reads the fields of that map one by one: the name that was perhaps meant is read as a field by a
// template, and no template takes the map as a whole (range, toYaml, with). What belongs to a dependency is not looked at.
func (j *job) misspelt() diag.Findings {
	c := j.chart.chart
	w := &chartWords{known: j.chartText(), templates: ""}
	eachTemplate(c, func(_, body string) { w.templates += body + "\n" })
	var found diag.Findings
	var look func(x *v1alpha1.Value, have map[string]any, at []string)
	look = func(x *v1alpha1.Value, have map[string]any, at []string) {
		if x == nil || len(have) == 0 || w.whole(at) {
			return
		}
		for _, f := range x.Fields {
			if len(at) == 0 && (f.Name == "global" || dependency(c, f.Name)) {
				continue
			}
			below := append(slices.Clone(at), f.Name)
			if value, there := have[f.Name]; there {
				inner, _ := value.(map[string]any)
				look(f.Value, inner, below)
				continue
			}
			if meant := diag.Nearest(f.Name, keysOf(have)); plainName.MatchString(f.Name) && w.field(meant) && !w.knows(f.Name) {
				n := j.valueFinding(below, "the chart has no value "+strings.Join(below, "."))
				n.Severity, n.Code = diag.Warning, "unknown-value"
				n.Pos = diag.Pos(f.Pos)
				n.Why = "neither its values.yaml nor its schema nor a template names it"
				n.Fix = diag.DidYouMean(f.Name, []string{meant})
				found = append(found, n)
			}
		}
	}
	look(userValues(j.req), c.Values, nil)
	return found
}

// chartWords are what a chart's texts say.
type chartWords struct {
	// known is all that may name a value, templates what reads it.
	known, templates string
}

// knows reports whether a name stands anywhere.
func (w *chartWords) knows(name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(w.known)
}

// field reports whether a template reads a field of that name.
func (w *chartWords) field(name string) bool {
	return plainName.MatchString(name) && regexp.MustCompile(`\.`+name+`\b`).MatchString(w.templates)
}

// whole reports whether a template takes the map at a path as a whole: what stands there is more than its fields.
func (w *chartWords) whole(at []string) bool {
	name := "Values"
	if len(at) > 0 {
		name = at[len(at)-1]
	}
	return !plainName.MatchString(name) || regexp.MustCompile(`\.`+name+`([^.\w]|\.[^A-Za-z_]|$)`).MatchString(w.templates)
}

// chartText is every text of a chart and its dependencies in which a value may be named: templates, values.yaml with its
// comments, and schemas.
func (j *job) chartText() string {
	var b strings.Builder
	var all func(c *chart.Chart)
	all = func(c *chart.Chart) {
		for _, f := range c.Templates {
			b.Write(f.Data)
		}
		b.Write(c.Schema)
		for _, f := range c.Raw {
			if name := path.Base(f.Name); name == valuesFile || strings.HasSuffix(name, ".md") {
				b.Write(f.Data)
			}
		}
		for _, d := range c.Dependencies() {
			all(d)
		}
	}
	all(j.chart.chart)
	return b.String()
}

// dependency reports whether a chart has a dependency of that name or alias.
func dependency(c *chart.Chart, name string) bool {
	for _, d := range c.Dependencies() {
		if d.Name() == name {
			return true
		}
	}
	return c.Metadata != nil && slices.ContainsFunc(c.Metadata.Dependencies, func(d *chart.Dependency) bool {
		return d.Name == name || d.Alias == name
	})
}

// goesBy reports whether the values of a dependency stand under a name in those of the chart: its own, or an alias of it.
func goesBy(c, dependency *chart.Chart, name string) bool {
	own, aliased := dependency.Name() == name, false
	for _, d := range c.Metadata.Dependencies {
		switch {
		case d.Name != dependency.Name():
		case cmp.Or(d.Alias, d.Name) == name:
			return true
		default:
			aliased = true
		}
	}
	return own && !aliased
}

func keysOf(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
