package madeguard

import (
	"slices"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// left refuses to make values anew for an instance while objects that are there keep the former ones: those that are
// annotated one-off, and fields that are left to others. Where nobody asked for new values, only what others get too counts.
func left(p *plan.Plan, in plan.Input, instance string, v Values, bodies map[object.Ref]object.Object) diag.Findings {
	fresh, asked := v.Now.Beyond(v.Settled.Kept[instance]), v.Rotate.Has(instance)
	known := redact.New()
	if fresh.Secret() {
		known = finder(fresh)
	}
	var out diag.Findings
	for _, d := range in.Desired {
		if d.Instance != instance || !there(in, d) || replaced(p, d) {
			continue
		}
		body := bodies[d.Ref].Body
		all := count(body, known)
		var f diag.Finding
		switch {
		case d.Hook != nil:
			if !fresh.Secret() || all == 0 || d.Ref.Finishes() || !asked && !spreads(in, d.Ref, known, bodies) {
				continue
			}
			f = chance.OfHook(d.Ref.String(), instance)
		case d.Once && v.Open && asked && d.Ref.IsSecret():
			f = chance.OneOff(d.Ref.String(), instance, true)
		case d.Once && takes(v, body) != "":
			f = chance.OneOff(d.Ref.String(), takes(v, body), true)
			f.Instance = instance
		case d.Once && fresh.Secret() && asked && (all > 0 || d.Ref.IsSecret() && !recorded(in, d)), d.Once && all > 0 && spreads(in, d.Ref, known, bodies):
			f = chance.OneOff(d.Ref.String(), instance, asked)
		case d.Ignore != nil && asked && count(d.Ignore.OmitFields(body, nil, nil, "", nil), known) < all:
			f = chance.Ignored(d.Ref.String(), instance)
		default:
			continue
		}
		f.Pos = d.Pos
		out = append(out, f)
	}
	return out
}

// takes is the instance of which values are made anew that an object will hold one of, "" for none.
func takes(v Values, body map[string]any) string {
	for _, f := range v.Takes {
		if f.Object.Kind == "Secret" && v.Rotate.Has(f.Instance) && bind.Holds(body, []bind.From{f}) {
			return f.Instance
		}
	}
	return ""
}

// there reports whether an object is in the cluster, of a hook whether the record has it: those are not looked at unless they
// run.
func there(in plan.Input, d plan.Desired) bool {
	return d.Hook == nil && in.Live[d.Ref].Found ||
		d.Hook != nil && slices.ContainsFunc(in.Inventory, func(o plan.InventoryEntry) bool { return o.Ref == d.Ref && o.Hook != nil })
}

// replaced reports whether an object that is there is written whole: made anew or taken over.
func replaced(p *plan.Plan, d plan.Desired) bool {
	return slices.ContainsFunc(p.Changes, func(ch plan.Change) bool {
		return ch.Ref == d.Ref && ch.Action != plan.Update && (ch.Action != plan.Unchanged || d.Hook == nil)
	})
}

// recorded reports whether the record has an object as it is declared.
func recorded(in plan.Input, d plan.Desired) bool {
	return slices.ContainsFunc(in.Inventory, func(o plan.InventoryEntry) bool { return o.Ref == d.Ref && o.Digest == d.Digest })
}

// spreads reports whether another object, which is not annotated one-off, holds something of what was made anew.
func spreads(in plan.Input, ref object.Ref, known *redact.Redactor, bodies map[object.Ref]object.Object) bool {
	return slices.ContainsFunc(in.Desired, func(d plan.Desired) bool {
		return d.Ref != ref && !d.Once && count(bodies[d.Ref].Body, known) > 0
	})
}

// finder finds what was made up in texts.
func finder(made chance.Answers) *redact.Redactor {
	known := redact.New()
	for _, value := range made.Generated() {
		known.AddGenerated("", value)
	}
	return known
}

// count is how many fields of an object hold something that is known.
func count(node any, known *redact.Redactor) int {
	n := 0
	switch x := node.(type) {
	case map[string]any:
		for _, v := range x {
			n += count(v, known)
		}
	case []any:
		for _, v := range x {
			n += count(v, known)
		}
	case string:
		if known.Value("", x) != x {
			n = 1
		}
	}
	return n
}
