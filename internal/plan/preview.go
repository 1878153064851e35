package plan

import (
	"slices"

	"hawser.dev/hawser/internal/object"
)

// previewRounds bounds Previewed: the first answer may lead to another request, which is tried once.
const previewRounds = 2

// Previewed fills in.Previews with the API server's answers to the changes that need one. ask sends what a change would
// send, as a dry run; beside those that need it, it is given all changes of the plan, which tell what is made along with
// them. When an answer makes the plan take fields back or leave them to others, that request is tried too: what a plan
// shows is what the API server has accepted.
func Previewed(in *Input, ask func(needs, all []Change) map[object.Ref]Preview) {
	for range previewRounds {
		needs := NeedsPreview(*in)
		if len(needs) == 0 {
			return
		}
		if in.Previews == nil {
			in.Previews = map[object.Ref]Preview{}
		}
		now := Compute(*in)
		for ref, p := range ask(needs, now.Changes) {
			p = now.putOff(p)
			if before, again := in.Previews[ref]; again && len(p.Conflicts) == 0 {
				p.Conflicts = before.Conflicts // they led to this request
			}
			in.Previews[ref] = p
		}
	}
}

// NeedsPreview returns the provisional changes on which the API server has to be asked before the plan is final, those
// answered already apart: objects that moved always, changed ones when field changes are shown, when others own fields
// of them, when something changed that the kind may refuse to change, or when the answer may lead to a recreation or an
// adoption that was allowed, or after a run that ended in the middle; adoptions; new objects with ServerCheck.
func NeedsPreview(in Input) []Change {
	own := make(map[object.Ref]InventoryEntry, len(in.Inventory))
	for _, o := range in.Inventory {
		own[o.Ref] = o
	}
	fixed := make(map[object.Ref]string, len(in.Desired))
	for _, d := range in.Desired {
		fixed[d.Ref] = d.Fixed
	}
	var out []Change
	for _, ch := range Compute(in).Changes {
		if p, asked := in.Previews[ch.Ref]; ch.Hook != nil || asked && !p.another(ch) {
			continue
		}
		switch o := in.Options; ch.Action {
		case Update:
			if o.RollingBack || ch.Ignore != nil || ch.Was != nil || ch.Code != CodeChanged || in.Open || rewritten(own[ch.Ref], in.Live[ch.Ref]) || o.Diff || o.Recreate || o.Adopt ||
				in.Live[ch.Ref].Shared || fixed[ch.Ref] != own[ch.Ref].Fixed {
				out = append(out, ch)
			}
		case Adopt:
			out = append(out, ch)
		case Create:
			if o.ServerCheck && ch.Code != CodeTerminating {
				out = append(out, ch)
			}
		}
	}
	return out
}

// another reports whether a change would send another request than the one that was tried.
func (p Preview) another(ch Change) bool {
	return len(p.Conflicts) > 0 && (ch.Action == Update || ch.Action == Adopt) && (p.Force != ch.Force || !slices.Equal(p.OmitFields, ch.OmitFields))
}
