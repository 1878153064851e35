package helm

import (
	"path"
	"slices"
	"strconv"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/render"
)

const (
	valuesIn = `\(?\s*\$?\.Values((?:\.\w+\)?)+)\s*\)?`
	textIn   = `("(?:[^"\\]|\\.)*"|` + "`[^`]*`)"
)

var (
	// requiredOf and requiredAfter are `required "text" .Values.a.b` and `.Values.a.b | required "text"`.
	requiredOf    = lazyregexp.New(`\brequired\s+` + textIn + `\s+` + valuesIn)
	requiredAfter = lazyregexp.New(valuesIn + `\s*\|\s*required\s+` + textIn)
	anyValue      = lazyregexp.New(`\$?\.Values((?:\.\w+)+)`)
	// nilValue is the engine's text about a field of a value that is not there.
	nilValue = lazyregexp.New(`at <\$?\.Values((?:\.\w+)+)>:\s*nil pointer evaluating`)
)

// wanted turns an error of the engine about a value that is not there into one at the user's values, where the template
// itself says which value it is; ok is false where it does not. f is the error at the template.
func (j *job) wanted(text string, f diag.Finding) (diag.Finding, bool) {
	at, why := j.requiredPath(text, f), f.Why
	if at == nil {
		if at = j.absent(text); at == nil {
			return f, false
		}
		why = "the template reads a field of it"
	}
	out := j.valueFinding(at, "the chart needs a value that is not given")
	if x := userValues(j.req).Lookup(at...); x != nil {
		out.What = "the chart needs a value, and this one is empty"
	}
	if x := userValues(j.req); !out.Pos.IsValid() && x != nil {
		out.Pos = render.ShownAt(x.Pos)
	}
	out.Code, out.Why = f.Code, why
	if f.Pos.IsValid() {
		out.Why += " (" + f.Pos.String() + ")"
	}
	out.Fix = "set " + out.Path
	return out, true
}

// requiredPath is the value that a call of required failed on: the one whose call has this text, or the only one in the
// line that failed.
func (j *job) requiredPath(text string, f diag.Finding) []string {
	if !strings.HasPrefix(text, "execution error at (") {
		return nil
	}
	first := place.FindStringSubmatch(text)
	if first == nil {
		return nil
	}
	below, line := subcharts(first[1]), ""
	var found [][]string
	add := func(dotted string) {
		p := valuesPath(below, dotted)
		if j.isEmpty(p) && !slices.ContainsFunc(found, func(x []string) bool { return slices.Equal(x, p) }) {
			found = append(found, p)
		}
	}
	eachTemplate(j.chart.chart, func(name, body string) {
		for _, m := range requiredOf.FindAllStringSubmatch(body, -1) {
			if says(m[1], f.Why) {
				add(m[2])
			}
		}
		for _, m := range requiredAfter.FindAllStringSubmatch(body, -1) {
			if says(m[2], f.Why) {
				add(m[1])
			}
		}
		if n, _ := strconv.Atoi(first[2]); name == first[1] && n > 0 {
			if lines := strings.Split(body, "\n"); n <= len(lines) {
				line = lines[n-1]
			}
		}
	})
	if len(found) == 0 && strings.Contains(line, "required") {
		for _, m := range anyValue.FindAllStringSubmatch(line, -1) {
			add(m[1])
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// absent is the value that is not there although a template reads a field of it: the longest part of the path that neither
// the user nor the chart gives.
func (j *job) absent(text string) []string {
	all := nilValue.FindAllStringSubmatch(text, -1)
	first := place.FindStringSubmatch(text)
	if len(all) == 0 || first == nil {
		return nil
	}
	at := valuesPath(subcharts(first[1]), all[len(all)-1][1])
	for n := 1; n < len(at); n++ {
		if j.isEmpty(at[:n]) {
			return at[:n]
		}
	}
	return nil
}

// isEmpty reports whether neither the user nor the chart's own defaults give a value, or an empty text.
func (j *job) isEmpty(at []string) bool {
	user, err := values(j.req)
	if err != nil {
		return false
	}
	for _, m := range []map[string]any{user, j.chart.chart.Values} {
		var x any = m
		for _, name := range at {
			below, _ := x.(map[string]any)
			x = below[name]
		}
		if x != nil {
			return x == ""
		}
	}
	return true
}

// subcharts are the names of the charts on the way to a template: none for one of the chart itself.
func subcharts(template string) []string {
	var out []string
	parts := strings.Split(template, "/")
	for i := 1; i+1 < len(parts) && parts[i] == "charts"; i += 2 {
		out = append(out, parts[i+1])
	}
	return out
}

// valuesPath is where a value of a subchart is in the values of all; global ones are at the top.
func valuesPath(below []string, dotted string) []string {
	at := strings.Split(strings.TrimPrefix(strings.ReplaceAll(dotted, ")", ""), "."), ".") // (.Values.a).b is .Values.a.b
	if at[0] == "global" {
		return at
	}
	return slices.Concat(below, at)
}

func says(literal, why string) bool {
	text, err := strconv.Unquote(literal)
	return err == nil && shorten(strings.TrimSpace(text)) == why
}

func eachTemplate(c *chart.Chart, do func(name, body string)) {
	for _, f := range c.Templates {
		do(path.Join(c.ChartFullPath(), f.Name), string(f.Data))
	}
	for _, d := range c.Dependencies() {
		eachTemplate(d, do)
	}
}
