package plan

import (
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"hawser.dev/hawser/internal/object"
)

// Body is the content of an object as it is shown: what is secret in it is "***".
type Body map[string]any

// UnmarshalJSON reads whole numbers as such, whatever their size.
func (b *Body) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return err
	}
	*b = m
	return nil
}

// makes reports whether a change makes an object that is not there, so that there is nothing to compare it with.
func (c Change) makes() bool { return c.Action == Create || c.Hook != nil && c.Action == Recreate }

// Describe gives the changes that make objects the content of those, with what is secret masked.
func (p *Plan) Describe(bodies map[object.Ref]object.Object, redact func(string) string) {
	for i, c := range p.Changes {
		if body, here := bodies[c.Ref]; here && c.makes() {
			p.Changes[i].Content = body.Masked(redact, object.AsNamed, object.AsNamed, object.AsNamed)
		}
	}
}

// Telling is what a plan says of objects besides what happens to them: the fields of changed ones that nobody was asked
// about, those of what is made in place of others, and all of what is made.
type Telling struct{ Changed, Replacing, Made bool }

// Say tells that. bodies are the objects as they are declared now; base, asked only where it matters, tells how they were
// declared last.
func (p *Plan) Say(t Telling, bodies map[object.Ref]object.Object, base func() map[object.Ref]object.Object, redact func(string) string) {
	if t.Changed && slices.ContainsFunc(p.Changes, Change.Untold) || t.Replacing && p.Pairs() {
		was := base()
		if t.Changed {
			p.Tell(was, bodies, redact)
		}
		p.TellPairs(was, bodies, redact)
	}
	if t.Made {
		p.Describe(bodies, redact)
	}
}
