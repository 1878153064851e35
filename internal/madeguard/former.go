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

// Renamed are kept values by the names that instances had in a release: what nothing else of then
// is kept for goes by the name of then, where it holds all that was made then.
func Renamed(kept map[string]chance.Answers, then Then) map[string]chance.Answers {
	out := maps.Clone(kept)
	for _, name := range slices.Sorted(maps.Keys(then.Made)) {
		if !out[name].IsZero() {
			continue
		}
		for _, now := range slices.Sorted(maps.Keys(kept)) {
			a, there := out[now]
			gone, _ := a.Since(then.Marks[name])
			if there && then.Made[now] == "" && (a.Digest() == then.Made[name] || len(then.Marks[name]) > 0 && len(gone) == 0) {
				out[name] = a
				delete(out, now)
				break
			}
		}
	}
	return out
}

// Former refuses to go back to made-up values that are no longer kept: where an object as it is declared now (now) holds
// something that is kept, for its instance or for one that has another name by now, and a release has in its
// place (then) what was made anew since, and Keep could not put in what is kept. A value that is kept of both goes back, as an apply of that release's
// files would have it. So does nothing of a Secret that is taken back from another bundle, which made its values anew. A Secret that comes back is warned of where it holds what was made anew since.
func Former(p *plan.Plan, kept map[string]chance.Answers, was Then, now, then map[object.Ref]object.Object) diag.Findings {
	s := was.since(kept)
	known := s.finders(kept, was)
	var out diag.Findings
	for _, ch := range p.Changes {
		if !ch.Action.Writes() || ch.Action == plan.Delete {
			continue
		}
		_, there := now[ch.Ref]
		why := s.displaced(now[ch.Ref].Body, then[ch.Ref].Body, known)
		if why == "" && takenBack(ch) && outdates(ch, then[ch.Ref].Body, kept[ch.Instance], was.Made[ch.Instance]) {
			why = "the other bundle made its passwords and certificates anew: those of now are in use"
		}
		comes := !there && ch.Ref.IsSecret() && (s.unmarked[ch.Instance] || len(s.gone) > 0 && s.anywhere(then[ch.Ref].Body))
		if why != "" || comes {
			out = append(out, chance.Former(ch.Ref.String(), ch.Instance, why))
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

// finders find what is kept: all of it, and each text of the instances of which no marks were noted.
type finders struct {
	all      *redact.Redactor
	unmarked []*redact.Redactor
}

func (s since) finders(kept map[string]chance.Answers, was Then) finders {
	out := finders{all: redact.New()}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		for _, value := range kept[name].Generated() {
			out.all.AddGenerated("", value)
			if s.unmarked[name] || was.Made[name] == "" && len(s.unmarked) > 0 {
				out.unmarked = append(out.unmarked, redact.Whole(value))
			}
		}
	}
	return out
}

// displaced is why a field that holds something kept must not hold what it did then, "" for no reason in any field.
func (s since) displaced(now, then any, known finders) (why string) {
	switch x := now.(type) {
	case map[string]any:
		y, _ := then.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if was, there := y[key]; there && why == "" {
				why = s.displaced(x[key], was, known)
			}
		}
	case []any:
		y, _ := then.([]any)
		for i, v := range x {
			if was := counterpart(y, v, i); was != nil && why == "" {
				why = s.displaced(v, was, known)
			}
		}
	case string:
		if was, text := then.(string); text && was != x && known.all.Value("", x) != x {
			why = s.outdated(x, was, known)
		}
	}
	return why
}

// outdated is why a text that holds something kept must not become what it was.
func (s since) outdated(now, was string, known finders) string {
	if s.holds(was, inBase64) {
		return "it was made anew since, and which of the values of now takes its place is not known: the one of then is kept no more"
	}
	for _, t := range s.doubtful {
		one := redact.Whole(t.Value)
		if one.Value("", was) != was && one.Value("", now) == now {
			return "it was made of another value, and some of those were made anew since: it may not fit them"
		}
	}
	lost, held, had := false, 0, 0
	for _, one := range known.unmarked {
		in, before := one.Value("", now) != now, one.Value("", was) != was
		if in {
			held++
		}
		if before {
			had++
		}
		lost = lost || in && !before
	}
	if lost && had < held {
		return "the release is of before each made-up value was noted: it may hold one of before it was made anew, which is not in use any more"
	}
	return ""
}

// anywhere reports whether any text of an object holds something that is gone.
func (s since) anywhere(node any) bool {
	switch x := node.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(x)), s.anywhere)
	case []any:
		return slices.ContainsFunc(x, s.anywhere)
	case string:
		return s.holds(x, inBase64)
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
