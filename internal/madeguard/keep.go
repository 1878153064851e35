package madeguard

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/object"
)

// Then is what a release that is gone back to was made with, by instance: digests of all that was kept, and the marks of each text,
// which a release of before there were any does not have.
type Then struct {
	Made  map[string]string
	Marks map[string][]chance.Mark
}

// since are the texts of a release that were made anew since, and what may be of them.
type since struct {
	gone     []chance.Superseded
	doubtful []chance.Text
	// unmarked are the instances of which nobody can tell which texts those are.
	unmarked map[string]bool
}

func (t Then) since(kept map[string]chance.Answers) since {
	out := since{unmarked: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(t.Made)) {
		switch marks, noted := t.Marks[name]; {
		case noted:
			gone, doubtful := kept[name].Since(marks)
			out.gone, out.doubtful = append(out.gone, gone...), append(out.doubtful, doubtful...)
		case t.Made[name] != "" && !kept[name].Began(t.Made[name]):
			out.unmarked[name] = true
		}
	}
	return out
}

// Later is a release after the one that is gone back to: its name, and the marks of what it was made with.
type Later struct {
	Name  string
	Marks map[string][]chance.Mark
}

// Keep puts what is kept now into the objects of a release where they hold what was made anew since: in a field of its own, in
// a bigger text and in base64. now are the objects as they were declared last: what is the same in them is not looked through; later are the
// releases since, the first one first. It returns the objects that are others by that, and says which those are.
func Keep(objects []object.Object, kept map[string]chance.Answers, then Then, now map[object.Ref]object.Object, later []Later) ([]object.Object, diag.Findings) {
	as := map[object.Ref]object.Object{}
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(then.Marks)) {
		gone, _ := kept[name].Since(then.Marks[name])
		s := since{gone: slices.DeleteFunc(gone, func(g chance.Superseded) bool { return g.Now == "" })}
		var changed []string
		for _, o := range objects {
			if before, done := as[o.Ref()]; done {
				o = before
			}
			if body, differs := s.walked(o.Body, now[o.Ref()].Body); differs {
				o.Body, _ = body.(map[string]any)
				as[o.Ref()], changed = o, append(changed, o.Ref().String())
			}
		}
		if len(changed) > 0 {
			findings = append(findings, chance.Stays(name, s.in(name, later), changed))
		}
	}
	return slices.SortedFunc(maps.Values(as), func(a, b object.Object) int { return a.Ref().Compare(b.Ref()) }), findings
}

// in is the name of the first release that does not have all of what is gone, "" where that is not known.
func (s since) in(instance string, later []Later) string {
	for _, l := range later {
		lacks := slices.ContainsFunc(s.gone, func(g chance.Superseded) bool {
			return !slices.ContainsFunc(l.Marks[instance], func(m chance.Mark) bool { return m.Digest == g.Digest })
		})
		if lacks && len(l.Marks[instance]) > 0 {
			return l.Name
		}
	}
	return ""
}

// walked is a node of then with what is kept now in it.
func (s since) walked(then, now any) (any, bool) {
	changed := false
	switch x := then.(type) {
	case map[string]any:
		y, _ := now.(map[string]any)
		out := maps.Clone(x)
		for key, v := range x {
			if as, differs := s.walked(v, y[key]); differs {
				out[key], changed = as, true
			}
		}
		return out, changed
	case []any:
		y, _ := now.([]any)
		out := slices.Clone(x)
		for i, v := range x {
			if as, differs := s.walked(v, counterpart(y, v, i)); differs {
				out[i], changed = as, true
			}
		}
		return out, changed
	case string:
		if now == any(x) {
			return x, false
		}
		return s.renewed(x, inBase64)
	}
	return then, false
}

// counterpart is the item of a list that is another list's item: that of its name, without one that of its place; nil for none.
func counterpart(list []any, item any, i int) any {
	if name := nameOf(item); name != nil {
		i = slices.IndexFunc(list, func(other any) bool { return nameOf(other) == name })
	}
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// inBase64 is how often a text is looked for in base64 in base64.
const inBase64 = 3

// encoded are the runs of a text that may be base64.
var encoded = lazyregexp.New(`[A-Za-z0-9+/]{8,}={0,2}`)

// renewed is a text with what is kept now in the place of what is gone, also in base64.
func (s since) renewed(text string, depth int) (string, bool) {
	changed := false
	for from := 0; ; {
		g, at := s.find(text, from)
		if at < 0 {
			break
		}
		text = text[:at] + g.Now + text[at+g.Length:]
		from, changed = at+len(g.Now), true
	}
	if depth == 0 || changed {
		return text, changed
	}
	text = encoded.ReplaceAllStringFunc(text, func(run string) string {
		plain, err := base64.StdEncoding.DecodeString(run)
		if err != nil {
			return run
		}
		as, differs := s.renewed(string(plain), depth-1)
		if !differs {
			return run
		}
		changed = true
		return base64.StdEncoding.EncodeToString([]byte(as))
	})
	return text, changed
}

// find is the first thing from a place of a text on that is gone, and where it is; -1 for none.
func (s since) find(text string, from int) (chance.Superseded, int) {
	if trimmed := strings.TrimSpace(text); from == 0 {
		if i := slices.IndexFunc(s.gone, func(g chance.Superseded) bool {
			return g.Whole && g.Length == len(trimmed) && g.Digest == chance.TextDigest(trimmed)
		}); i >= 0 {
			return s.gone[i], strings.Index(text, trimmed)
		}
	}
	best, first := chance.Superseded{}, -1
	for length, of := range s.lengths() {
		for at := from; at+length <= len(text) && (first < 0 || at < first); at++ {
			if i, there := of[chance.TextDigest(text[at:at+length])]; there {
				best, first = s.gone[i], at
			}
		}
	}
	return best, first
}

// lengths are what is gone and may stand in a bigger text, by its length and digest.
func (s since) lengths() map[int]map[string]int {
	out := map[int]map[string]int{}
	for i, g := range s.gone {
		if g.Whole {
			continue
		}
		if out[g.Length] == nil {
			out[g.Length] = map[string]int{}
		}
		out[g.Length][g.Digest] = i
	}
	return out
}

// holds reports whether a text holds something that is gone, also in base64.
func (s since) holds(text string, depth int) bool {
	if _, at := s.find(text, 0); at >= 0 {
		return true
	}
	return depth > 0 && slices.ContainsFunc(encoded.FindAllString(text, -1), func(run string) bool {
		plain, err := base64.StdEncoding.DecodeString(run)
		return err == nil && s.holds(string(plain), depth-1)
	})
}
