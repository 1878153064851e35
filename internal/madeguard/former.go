package madeguard

import (
	"slices"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// Former refuses to go back to made-up values that are no longer in use: where an object as it is declared now (now) holds
// something that is kept for its instance, a release that has something else in its place (then) is from before a rotation.
// A Secret that comes back is warned of where what is kept has changed since (made are the digests of then), as it may hold some.
func Former(p *plan.Plan, kept map[string]chance.Answers, made map[string]string, now, then map[object.Ref]object.Object) diag.Findings {
	var out diag.Findings
	for _, ch := range p.Changes {
		a := kept[ch.Instance]
		if !ch.Action.Writes() || ch.Action == plan.Delete || made[ch.Instance] == a.Digest() || !a.Secret() {
			continue
		}
		switch _, there := now[ch.Ref]; {
		case displaced(now[ch.Ref].Body, then[ch.Ref].Body, finder(a)):
			out = append(out, chance.Former(ch.Ref.String(), ch.Instance, true))
		case !there && ch.Ref.IsSecret():
			out = append(out, chance.Former(ch.Ref.String(), ch.Instance, false))
		}
	}
	return out
}

// displaced reports whether a field that holds something known holds something else then.
func displaced(now, then any, known *redact.Redactor) bool {
	switch x := now.(type) {
	case map[string]any:
		y, _ := then.(map[string]any)
		for key, v := range x {
			if was, there := y[key]; there && displaced(v, was, known) {
				return true
			}
		}
	case []any:
		y, _ := then.([]any)
		for i, v := range x {
			at := i
			if name := nameOf(v); name != nil { // items with a name are found by it
				at = slices.IndexFunc(y, func(was any) bool { return nameOf(was) == name })
			}
			if at >= 0 && at < len(y) && displaced(v, y[at], known) {
				return true
			}
		}
	case string:
		return known.Value("", x) != x && then != any(x)
	}
	return false
}

// nameOf is the name of a list's item, nil for none.
func nameOf(item any) any {
	m, _ := item.(map[string]any)
	if name, ok := m["name"].(string); ok {
		return name
	}
	return nil
}
