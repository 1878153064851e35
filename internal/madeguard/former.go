package madeguard

import (
	"maps"
	"slices"
	"strings"

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
// place (then) is from before a rotation; so is a Secret that is taken back from another bundle, which made its values anew. A Secret that comes back is warned of where what is kept has changed since (made are
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
		displaces = displaces || takenBack(ch) && outdates(ch, then[ch.Ref].Body, kept[ch.Instance], made[ch.Instance])
		if displaces || !there && ch.Ref.IsSecret() && changed[ch.Instance] {
			out = append(out, chance.Former(ch.Ref.String(), ch.Instance, displaces))
		}
	}
	return out
}

// TakesBack reports whether a plan takes something over that another bundle has, or had last.
func TakesBack(p *plan.Plan) bool { return slices.ContainsFunc(p.Changes, takenBack) }

func takenBack(ch plan.Change) bool {
	return (ch.Code == plan.CodeMoved || ch.Code == plan.CodeAdopted) && ch.Action != plan.Release && len(ch.FromManagers) > 0 && object.OwnerOf(ch.FromManagers[0]) != ""
}

// outdates reports whether a Secret that is taken back would get another value where its instance (made is the digest of what it had
// then) had something made up: what that was is known where it is kept still, else any value may be it.
func outdates(ch plan.Change, then map[string]any, kept chance.Answers, made string) bool {
	if !ch.Ref.IsSecret() || made == "" {
		return false
	}
	known := finder(kept)
	return !ch.Checked || slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool {
		key, isValue := strings.CutPrefix(f.Path, "data.")
		for _, part := range []string{"data", "stringData"} {
			values, _ := then[part].(map[string]any)
			if text, there := values[strings.Trim(key, `"`)].(string); isValue && there && (kept.Digest() != made || known.Value("", text) != text) {
				return true
			}
		}
		return false
	})
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
