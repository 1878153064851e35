package madeguard

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// Renamed are kept values by the names that instances had in a release (made are the digests of then): what nothing else of then
// is kept for goes by the name of then, where it is the same.
func Renamed(kept map[string]chance.Answers, made map[string]string) map[string]chance.Answers {
	out := maps.Clone(kept)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if !out[name].IsZero() {
			continue
		}
		for _, now := range slices.Sorted(maps.Keys(kept)) {
			if a, there := out[now]; there && made[now] == "" && a.Digest() == made[name] {
				out[name] = a
				delete(out, now)
				break
			}
		}
	}
	return out
}

// Former refuses to go back to made-up values that are no longer in use: where an object as it is declared now (now) holds
// something that is kept, for its instance or for one that has another name by now, a release that has something else in its
// place (then) is from before a rotation. A Secret that comes back is warned of where what is kept has changed since (made are
// the digests of then), as it may hold some.
func Former(p *plan.Plan, kept map[string]chance.Answers, made map[string]string, now, then map[object.Ref]object.Object) diag.Findings {
	var since []*redact.Redactor
	changed := map[string]bool{} // by instance of then
	for name, a := range kept {
		if a.Secret() && made[name] != a.Digest() {
			since, changed[name] = append(since, finder(a)), true
		}
	}
	for name, digest := range made {
		changed[name] = changed[name] || digest != "" && kept[name].IsZero()
	}
	var out diag.Findings
	for _, ch := range p.Changes {
		if !ch.Action.Writes() || ch.Action == plan.Delete {
			continue
		}
		_, there := now[ch.Ref]
		displaces := slices.ContainsFunc(since, func(known *redact.Redactor) bool { return displaced(now[ch.Ref].Body, then[ch.Ref].Body, known) })
		if displaces || !there && ch.Ref.IsSecret() && changed[ch.Instance] {
			out = append(out, chance.Former(ch.Ref.String(), ch.Instance, displaces))
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
