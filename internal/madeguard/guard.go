// Package madeguard refuses plans that would put made-up values over others that are in use. What is kept goes by the names
// of instances; here the objects are asked, which a rename or a move takes along.
//
// A pure room: madeguard must not know where values are kept, nor what is done about a refusal but by what it names.
package madeguard

import (
	"encoding/json"
	"slices"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// MadeAnew refuses to put an instance's made-up values over those that objects were made with: where nothing was kept and
// the record is lost too, and where the objects were another instance's or another bundle's and its values did not come
// along. made is what the instance has in this plan. One that had values before may take over objects that hold none of them.
func MadeAnew(p *plan.Plan, in plan.Input, instance string, s chance.Settled, made chance.Answers, bodies map[object.Ref]object.Object) diag.Findings {
	fresh, came, along := s.Kept[instance].IsZero(), s.Came[instance], false
	for _, ch := range p.Changes {
		if ch.Instance != instance || ch.Code != plan.CodeMoved || ch.Action == plan.Release {
			continue
		}
		from := ""
		if len(ch.FromManagers) > 0 {
			from = object.OwnerOf(ch.FromManagers[0])
		}
		if from != "" && (from == came.Owner || from == s.Kept[instance].From) {
			along = true
		} else if fresh || holds(bodies, ch.Ref, made) {
			return diag.Findings{chance.MovedHere(ch.Ref.String(), instance)}
		}
	}
	declares := func(ref object.Ref) bool {
		return slices.ContainsFunc(in.Desired, func(d plan.Desired) bool { return d.Ref == ref && d.Instance == instance && !d.OwnNamespace })
	}
	for _, o := range in.Owned {
		switch was := o.Instance; {
		case in.Rebuilt && !in.Recorded && was == instance && fresh:
			return diag.Findings{chance.Lost(instance, object.SystemNamespace)}
		case was == instance || !declares(o.Ref):
		case was == came.Instance:
			along = true
		case s.Kept[was].Secret() && made.Digest() != s.Kept[was].Digest() && (fresh || holds(bodies, o.Ref, made)):
			return diag.Findings{chance.Moved(o.Ref.String(), was, instance)}
		}
	}
	if came.Doubt && !along {
		return diag.Findings{chance.Doubtful(instance, came.Instance)}
	}
	return nil
}

// holds reports whether an object that is to be written holds something of what was made up. What is taken from the record
// is not at hand.
func holds(bodies map[object.Ref]object.Object, ref object.Ref, made chance.Answers) bool {
	text, err := json.Marshal(bodies[ref].Body)
	if err != nil || bodies[ref].Body == nil {
		return ref.IsSecret()
	}
	known := redact.New()
	for _, value := range made.Generated() {
		known.AddGenerated("", value)
	}
	return known.Value("", string(text)) != string(text)
}

// LeftBehind refuses to delete a bundle with what was made up for an instance whose Secrets go to an instance of another
// bundle that has another name: nobody would keep it. made are the digests of what is kept for the instances.
func LeftBehind(p *plan.Plan, beside plan.Beside, made map[string]string) diag.Findings {
	for _, ch := range p.Changes {
		to := beside.Declares[ch.Ref]
		if ch.Action == plan.Release && ch.Code == plan.CodeMoved && ch.Ref.IsSecret() && made[ch.Instance] != "" && to.Instance != ch.Instance {
			return diag.Findings{chance.LeftBehind(ch.Ref.String(), ch.Instance, to.Bundle, to.Instance)}
		}
	}
	return nil
}
