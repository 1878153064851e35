// Package maskguard says what a plan does not show because somebody else's secret equals it.
//
// maskguard must not know what is secret, nor who shows a plan.
package maskguard

import (
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
)

// named is how many places a warning names.
const named = 3

// Others warns of instances in whose objects, as a plan writes them (bodies), something is hidden that equals a secret which they do not
// take themselves: whoever writes that one may have chosen it so that this is not seen.
func Others(p *plan.Plan, bodies map[object.Ref]object.Object, m plan.Masker) diag.Findings {
	places := map[string][]string{}
	for _, ch := range p.Changes {
		body, here := bodies[ch.Ref]
		if !here || ch.Action == plan.Delete || ch.Action == plan.Release || ch.Action == plan.Unchanged {
			continue
		}
		name := func(name string) string { return m.Name(ch.Instance, name) }
		for _, path := range hidden(object.Object{Body: body.Body}, ch.Instance, m) {
			places[ch.Instance] = append(places[ch.Instance], ch.Ref.String()+" "+pathmask.Mask(path, m.Redact, name))
		}
	}
	var out diag.Findings
	for _, instance := range slices.Sorted(maps.Keys(places)) {
		at := places[instance]
		f := diag.Warnf("hidden-by-others", "in %d places something is hidden that equals a secret which this instance does not take", len(at))
		f.Instance = instance
		f.Because("whoever writes that secret, here or on another cluster, could have chosen it so that a change is not seen: " + strings.Join(at[:min(len(at), named)], ", "))
		f.Fix = "look at them in the files that declare them"
		out = append(out, f)
	}
	return out
}

// Shown are the values of a plan's fields, declared and live, at places that are never secret.
func Shown(p *plan.Plan) []string {
	var out []string
	for _, ch := range p.Changes {
		for _, f := range ch.Fields {
			if neversecret.At(ch.Ref.Group, ch.Ref.Kind, f.Path) {
				out = append(out, f.Old, f.New)
			}
		}
	}
	return out
}

// hidden are the paths of what is hidden in an object, but by secrets of its own instance.
func hidden(o object.Object, instance string, m plan.Masker) []string {
	own := func(text string) string { return m.Own(instance, text) }
	all := o.MarkSecrets(func(text string) string { return m.Value(instance, text) }, own, func(string) bool { return false })
	if len(all.Sensitive) == 0 {
		return nil
	}
	mine := o.MarkSecrets(own, own, func(string) bool { return false })
	return slices.DeleteFunc(all.Sensitive, func(path string) bool { return slices.Contains(mine.Sensitive, path) })
}
