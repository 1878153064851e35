package plan

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
)

// First are the deletions that come before anything is written: admission policies, their bindings and webhook
// configurations, which would go on refusing what the release without them has. Those stay in their place, behind the
// writes, that something of their sort is made for in the same plan (what guards the cluster is not to be away in between),
// and those of an instance whose removal begins with hooks.
func (p *Plan) First() []object.Ref {
	var out []object.Ref
	writes := false
	for _, ch := range p.Changes {
		writes = writes || ch.Action.Writes() && ch.Action != Delete && (ch.Hook == nil || !removes(ch))
		if ch.Action == Delete && ch.Hook == nil && ch.Ref.Guards() != "" && !p.follows(ch) {
			out = append(out, ch.Ref)
		}
	}
	if !writes {
		return nil
	}
	return out
}

// follows reports whether the deletion of a guard waits for something: another guard of its sort, or hooks.
func (p *Plan) follows(gone Change) bool {
	return slices.ContainsFunc(p.Changes, func(ch Change) bool {
		if ch.Hook != nil {
			return ch.Instance == gone.Instance && removes(ch)
		}
		makes := ch.Action == Create || ch.Action == Adopt || ch.Action == Unknown
		return makes && ch.Ref.Guards() == gone.Ref.Guards()
	})
}

// removes reports whether a hook runs because its instance goes.
func removes(ch Change) bool {
	return ch.Hook.Event == object.PreDelete || ch.Hook.Event == object.PostDelete
}

// RefusedBy is the guard that a refusal names and that the plan writes over or takes away first, "" for none: then the
// refusal is about what was there before. A webhook is named by itself and not by its configuration.
func (p *Plan) RefusedBy(refusal string) string {
	policy := strings.Contains(refusal, "AdmissionPolicy '")
	webhook := strings.Contains(refusal, `webhook "`)
	if !policy && !webhook {
		return ""
	}
	first := p.First()
	for _, ch := range p.Changes {
		gone := slices.Contains(first, ch.Ref)
		switch sort := ch.Ref.Guards(); {
		case ch.Hook != nil:
		case policy && sort == "AdmissionPolicy" && (gone || ch.Action == Update || ch.Action == Recreate) && strings.Contains(refusal, "'"+ch.Ref.Name+"'"),
			webhook && sort == "WebhookConfiguration" && gone:
			return ch.Ref.String()
		}
	}
	return ""
}

// putOff turns the refusal of a guard that is another one, or gone, when the plan is carried out into no answer.
func (p *Plan) putOff(answer Preview) Preview {
	if answer.Finding == nil {
		return answer
	}
	if by := p.RefusedBy(answer.Finding.Why); by != "" {
		return Preview{Deferred: "refused by " + by + ", which changes or goes before", Foreign: answer.Foreign}
	}
	return answer
}
