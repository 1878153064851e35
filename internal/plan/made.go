package plan

import (
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// ShowMade shows fields whose values are made up when the plan is applied as such: bodies are the objects as they are written by
// this run, shown those with such values, with what is said in their place. named are objects whose names are made up too. It
// returns all objects as they are shown.
func (p *Plan) ShowMade(bodies, shown map[object.Ref]object.Object, named []object.Ref, redact func(string) string) map[object.Ref]object.Object {
	for i := range p.Changes {
		ch := &p.Changes[i]
		if slices.Contains(named, ch.Ref) {
			ch.Why = strings.TrimPrefix(ch.Why+"; its name is made up when it is applied", "; ")
		}
		as, made := shown[ch.Ref]
		if !made || len(ch.Fields) == 0 {
			continue
		}
		ch.Fields = slices.Clone(ch.Fields)
		for _, d := range object.Diff(bodies[ch.Ref].Body, as.Body, object.Mask{}) {
			old, _ := diag.JSON(d.Old)
			now, _ := diag.JSON(d.New)
			for j, f := range ch.Fields {
				switch {
				case f.Hidden || f.New == "":
				case f.Path == d.Path:
					ch.Fields[j].New = redact(now)
				case strings.HasPrefix(d.Path, f.Path): // it is a part of what is shown whole
					ch.Fields[j].New = strings.ReplaceAll(f.New, old, now)
				}
			}
		}
	}
	out := maps.Clone(bodies)
	maps.Copy(out, shown)
	return out
}
