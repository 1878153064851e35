package maskguard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// named is how many places a warning names.
const named = 10

// weights are the fields that say what runs, where it comes from, who is reached, and who may do what, those first that weigh more: at a place in one of
// them a change that is not seen does most.
var weights = [][]string{
	{"command", "args", "exec"},
	{"image", "images"},
	{"host", "hosts", "hostnames", "backend", "backends", "backendRefs", "defaultBackend", "externalName", "clientConfig", "service"},
	{"roleRef", "rules", "subjects", "webhooks", "validations"},
}

// place is where something is hidden.
type place struct {
	path   string
	text   string
	weight int
	// from are the references whose value is hidden there, as far as they are known.
	from []string
}

// Namer knows what the values are called that an instance takes and that stand in a text (redact.Redactor.Sources).
type Namer interface {
	Sources(instance, text string) []string
}

// at is a place of an object, at a path of which text is shown.
func at(r object.Ref, path, text string) place {
	p := place{path: path, text: r.String() + " " + text, weight: len(weights)}
	steps := neversecret.Steps(path)
	if len(steps) > 0 && slices.Contains([]string{"metadata", "data", "stringData", "binaryData"}, steps[0]) {
		return p // what is a key there may be called anything
	}
	for _, step := range steps {
		if i := slices.IndexFunc(weights, func(fields []string) bool { return slices.Contains(fields, step) }); i >= 0 {
			p.weight = min(p.weight, i)
		}
	}
	return p
}

// list are the places that weigh most, in words, and how many more there are.
func list(places []place) string {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.weight, b.weight) })
	var texts []string
	for _, p := range places[:min(len(places), named)] {
		texts = append(texts, p.text)
	}
	out := strings.Join(texts, ", ")
	if more := len(places) - named; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// Hidden warns of instances in whose objects, as a plan writes them (bodies) and as they were declared before (base, asked where a field is hidden that
// was), something is hidden that equals a secret which they do not take themselves: whoever writes that one may have chosen it so that this is not seen.
// So it does of those in which an image, a label, a name or a port is hidden, because it holds a secret of the instance itself: a word of an ordinary
// kind, which somebody keeps as a secret.
func Hidden(p *plan.Plan, bodies map[object.Ref]object.Object, base func() map[object.Ref]object.Object, m plan.Masker) diag.Findings {
	places, own := map[string][]place{}, map[string][]place{}
	for _, ch := range p.Changes {
		body, here := bodies[ch.Ref]
		if !here || ch.Action == plan.Delete || ch.Action == plan.Release || ch.Action == plan.Unchanged {
			continue
		}
		h := hides{ch.Ref, ch.Instance, m}
		others, mine := h.in(body, ch.Fields)
		if was := h.hiddenBefore(ch.Fields); len(was) > 0 {
			others = append(others, h.before(base()[ch.Ref], was, others)...)
		}
		places[ch.Instance], own[ch.Instance] = append(places[ch.Instance], others...), append(own[ch.Instance], mine...)
	}
	var out diag.Findings
	for _, instance := range slices.Sorted(maps.Keys(places)) {
		hides := places[instance]
		if len(hides) == 0 {
			continue
		}
		f := diag.Warnf("hidden-by-others", "something is hidden that equals a secret which this instance does not take") // no number: that may be secret, too
		f.Instance = instance
		f.Because("whoever writes that secret, here or on another cluster, could have chosen it so that a change is not seen: " + list(hides))
		f.Fix = "look at them in the files that declare them"
		out = append(out, f)
	}
	for _, instance := range slices.Sorted(maps.Keys(own)) {
		hides := own[instance]
		if len(hides) == 0 {
			continue
		}
		f := diag.Warnf("hidden-by-own", "an image, a label, a name or a port is hidden, which holds a secret of this instance")
		f.Instance = instance
		f.Because("a change of it is not seen: " + list(hides))
		var from []string
		for _, p := range hides {
			from = append(from, p.from...)
		}
		f.Fix = "what everybody may know (the name of a user, of a host) is better no reference: write it into the values, or keep it in a ConfigMap"
		if slices.Sort(from); len(from) > 0 {
			f.Fix += "; it is the value of " + strings.Join(slices.Compact(from), " and of ")
		}
		out = append(out, f)
	}
	return out
}

// hides says what a plan hides of one object of an instance, and whose secret does that.
type hides struct {
	ref      object.Ref
	instance string
	m        plan.Masker
}

// in are the places of an object, and of fields that go, where a secret of others hides something, and those where one of the instance's own does so and
// none stands.
func (h hides) in(o object.Object, fields []plan.FieldChange) (others, own []place) {
	told := map[string][][]string{} // where, of keys and of what items are called
	if data, err := json.Marshal(o.Body); err != nil || h.any(string(data)) != string(data) {
		h.walk(o.Body, h.marks(o), "", nil, func(s spot) {
			byOthers, byOwn := h.hidden(s)
			if byOthers {
				others = append(others, h.at(s.path))
				if n := len(s.steps); s.key || s.steps[n-1] == "" {
					told[s.text] = append(told[s.text], s.steps)
				} else if n > 1 && s.steps[n-2] == "" {
					told[s.text] = append(told[s.text], s.steps[:n-1])
				}
			}
			if byOwn && (neversecret.Named(h.ref.Group, h.ref.Kind, s.steps) || object.Names(s.steps)) {
				p := h.at(s.path)
				if namer, knows := h.m.(Namer); knows {
					p.from = namer.Sources(h.instance, s.text)
				}
				own = append(own, p)
			}
		})
	}
	for _, f := range fields {
		if h.hidesPath(f, told) {
			others = append(others, h.at(f.Path))
		}
	}
	return once(others), once(own)
}

// hiddenBefore are the steps of the fields of which the value before is hidden, in part or whole, but for those of Secrets, which are hidden anyway.
func (h hides) hiddenBefore(fields []plan.FieldChange) (paths [][]string) {
	for _, f := range fields {
		if f.Hidden && !f.Added && !h.ref.IsSecret() || strings.Contains(f.Old, redact.Mask) {
			paths = append(paths, neversecret.Steps(f.Path))
		}
	}
	return paths
}

// before are the places of an object as it was declared before, in fields that change (paths), where a secret of others hides something, without those
// that are told already. What the release that was kept hides itself is none: that was told when it was written.
func (h hides) before(was object.Object, paths [][]string, told []place) (others []place) {
	h.walk(was.Body, h.marks(was), "", nil, func(s spot) {
		changes := slices.ContainsFunc(paths, func(path []string) bool { return len(path) <= len(s.steps) && slices.Equal(path, s.steps[:len(path)]) })
		if !changes || slices.ContainsFunc(told, func(p place) bool { return p.path == s.path }) {
			return
		}
		if byOthers, _ := h.hidden(s); byOthers {
			others = append(others, h.at(s.path))
		}
	})
	return once(others)
}

// once are places without those of a path before: of an entry that is hidden whole.
func once(places []place) []place {
	return slices.CompactFunc(places, func(a, b place) bool { return a.path == b.path })
}

// marks are an object's values without those that are hidden whole: as it is marked itself, as all secrets mark it, and as the instance's own do.
func (h hides) marks(o object.Object) [3]any {
	by := func(mask, key func(string) string) object.Object {
		return object.Object{Body: o.Body}.MarkSecrets(mask, h.own, func(name string) bool { return h.m.Redact(name) != name && key(name) != name })
	}
	out := [3]any{}
	for i, marked := range []object.Object{o, by(func(text string) string { return h.m.Value(h.instance, text) }, h.m.Redact), by(h.own, h.own)} {
		out[i] = marked.Masked(object.AsNamed, object.AsNamed, object.AsNamed, object.AsNamed)
	}
	return out
}

// at is the place of a path, in which nothing secret is shown.
func (h hides) at(path string) place {
	return at(h.ref, path, pathmask.Mask(path, h.m.Redact, h.name))
}

func (h hides) name(text string) string { return h.m.Name(h.instance, text) }
func (h hides) own(text string) string  { return h.m.Own(h.instance, text) }
func (h hides) any(text string) string  { return plan.Masked(h.m, h.instance, text) }

// spot is a text, a number or a key of an object.
type spot struct {
	path  string
	steps []string
	text  string
	// key: it is one, below the step before. number: it is hidden whole or not at all.
	key, number bool
	// marks are whether it is marked as hides.marks says.
	marks [3]bool
}

// walk tells each of them in a value, in order, with the same value without what is marked. An item that has a name which is shown is called by it.
func (h hides) walk(value any, marks [3]any, path string, steps []string, tell func(spot)) {
	s := spot{path: path, steps: steps}
	for i, shown := range marks {
		s.marks[i] = shown == redact.Mask
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at, below := object.JoinPath(path, name), append(slices.Clip(steps), name)
			tell(spot{path: at, steps: below, text: name, key: true})
			h.walk(v[name], each(marks, func(shown any) any { fields, _ := shown.(map[string]any); return fields[name] }), at, below, tell)
		}
	case []any:
		for i, item := range v {
			called := strconv.Itoa(i)
			if fields, _ := item.(map[string]any); fields != nil {
				if name, _ := fields["name"].(string); name != "" && h.any(name) == name {
					called = "name=" + strconv.Quote(name)
				}
			}
			h.walk(item, each(marks, func(shown any) any {
				items, _ := shown.([]any)
				if i < len(items) {
					return items[i]
				}
				return nil
			}), path+"["+called+"]", append(slices.Clip(steps), ""), tell)
		}
	case string:
		s.text = v
		tell(s)
	case int, int64, float64, json.Number:
		text, _ := json.Marshal(v)
		s.text, s.number = string(text), true
		tell(s)
	}
}

func each(marks [3]any, below func(shown any) any) (out [3]any) {
	for i, shown := range marks {
		out[i] = below(shown)
	}
	return out
}

// hidden reports whether something is hidden there that would be shown without the secrets of others, and whether the instance's own hide something.
// What authenticates in an address is hidden anyway.
func (h hides) hidden(s spot) (byOthers, byOwn bool) {
	plain := redact.Addresses(s.text)
	switch {
	case s.key && len(s.steps) > 1 && pathmask.Keys(s.steps[len(s.steps)-2]):
		return h.hidesKey(s.text), h.m.Redact(s.text) != plain && h.own(s.text) != plain
	case s.key || object.Names(s.steps):
		return false, h.name(s.text) != plain
	}
	shown := func(mask, own func(string) string, marked bool) string {
		text := neversecret.Mask(h.ref.Group, h.ref.Kind, s.steps, mask, own)(s.text)
		if s.marks[0] && marked || s.number && text != s.text {
			return redact.Mask
		}
		return text
	}
	all, mine, none := shown(h.any, h.own, s.marks[1]), shown(h.own, h.own, s.marks[2]), shown(redact.Addresses, redact.Addresses, plain != s.text)
	released := s.marks[0] && !s.marks[1] // whatever is secret, the release that was kept says so
	return all != mine && !released, mine != none
}

// hidesKey reports whether a secret of others hides something in a key that somebody chose.
func (h hides) hidesKey(key string) bool {
	rest := h.own(key)
	return h.m.Redact(key) != key && (rest == key || h.m.Redact(rest) != rest)
}

// hidesPath reports whether a secret of others hides a part of a field's path that is not told there already.
func (h hides) hidesPath(f plan.FieldChange, told map[string][][]string) (hidden bool) {
	if h.ref.Grants() && neversecret.At(h.ref.Group, h.ref.Kind, f.Path) {
		return false
	}
	steps := neversecret.Steps(f.Path)
	pathmask.Mask(f.Path, func(part string) string {
		here := func(at []string) bool { return len(at) <= len(steps) && slices.Equal(at, steps[:len(at)]) }
		hidden = hidden || h.hidesKey(part) && !slices.ContainsFunc(told[strings.Trim(part, `"`)], here)
		return part
	}, object.AsNamed)
	return hidden
}
