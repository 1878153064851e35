// Package maskguard says what a plan does not show because a secret equals it that has no business there: somebody else's, or one of its own
// instance where nothing is secret.
//
// maskguard must not know what is secret, nor who shows a plan.
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
	text   string
	weight int
}

// at is a place of an object, of which text is shown.
func at(r object.Ref, path, text string) place {
	p := place{text: r.String() + " " + text, weight: len(weights)}
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

// Hidden warns of instances in whose objects, as a plan writes them (bodies), something is hidden that equals a secret which they do not
// take themselves: whoever writes that one may have chosen it so that this is not seen. So it does of those in which an image, a label or a name is
// hidden, because it holds a secret of the instance itself: a word of an ordinary kind, which somebody keeps as a secret.
func Hidden(p *plan.Plan, bodies map[object.Ref]object.Object, m plan.Masker) diag.Findings {
	places, own := map[string][]place{}, map[string][]place{}
	for _, ch := range p.Changes {
		body, here := bodies[ch.Ref]
		if !here || ch.Action == plan.Delete || ch.Action == plan.Release || ch.Action == plan.Unchanged {
			continue
		}
		name := func(name string) string { return m.Name(ch.Instance, name) }
		others := func(key string) bool { return m.Redact(key) != key && m.Own(ch.Instance, key) == key }
		paths := append(hidden(object.Object{Body: body.Body}, ch.Instance, m), keys("", "", map[string]any(body.Body), others)...)
		for _, path := range append(paths, removed(ch.Fields, others)...) {
			places[ch.Instance] = append(places[ch.Instance], at(ch.Ref, path, pathmask.Mask(path, m.Redact, name)))
		}
		for _, path := range words(ch.Ref, body, ch.Instance, m) {
			own[ch.Instance] = append(own[ch.Instance], at(ch.Ref, path, pathmask.Mask(path, m.Redact, name)))
		}
	}
	var out diag.Findings
	for _, instance := range slices.Sorted(maps.Keys(places)) {
		hides := places[instance]
		f := diag.Warnf("hidden-by-others", "in %d places something is hidden that equals a secret which this instance does not take", len(hides))
		f.Instance = instance
		f.Because("whoever writes that secret, here or on another cluster, could have chosen it so that a change is not seen: " + list(hides))
		f.Fix = "look at them in the files that declare them"
		out = append(out, f)
	}
	for _, instance := range slices.Sorted(maps.Keys(own)) {
		hides := own[instance]
		f := diag.Warnf("hidden-by-own", "in %s an image, a label or a name is hidden, which holds a secret of this instance", diag.Counted(len(hides), "place"))
		f.Instance = instance
		f.Because("a change of it is not seen: " + list(hides))
		f.Fix = "what everybody may know (the name of a user, of a host) is better no reference: write it into the values, or keep it in a ConfigMap"
		out = append(out, f)
	}
	return out
}

// words are the paths at which no secret stands, and where one of the instance's own is hidden all the same.
func words(r object.Ref, o object.Object, instance string, m plan.Masker) []string {
	if r.Grants() {
		return nil // there it is shown
	}
	mask := func(text string) string { return m.Own(instance, text) }
	all := object.Object{Body: o.Body}.MarkSecrets(mask, mask, func(string) bool { return false })
	return slices.DeleteFunc(all.Sensitive, func(path string) bool { return !neversecret.At(r.Group, r.Kind, path) })
}

// Shower shows texts, whatever somebody kept as a secret (Leave), and whatever others take (Show, redact.Redactor).
type Shower interface {
	Leave(texts ...string)
	Show(instance string, texts ...string)
}

// Declared leaves shown what an object that was declared or kept is called, what it has where nothing is secret, and what it runs as far as it
// does not say itself that it is secret.
func Declared(o object.Object, to Shower) {
	to.Show(o.Instance, names(o.Ref())...)
	never, runs, _ := o.Open()
	to.Leave(append(runs, never...)...)
	to.Show(of(o.Ref(), o.Instance), never...)
}

// Base are objects that were kept, which declared ones are compared with. Where those are rendered from files they say themselves which images
// hold a secret: what was kept says nothing of images then.
func Base(kept map[object.Ref]object.Object, rendered bool) map[object.Ref]object.Object {
	for ref, o := range kept {
		if rendered {
			o.Sensitive = slices.DeleteFunc(slices.Clone(o.Sensitive), func(path string) bool { return neversecret.Kept(ref.Group, ref.Kind, neversecret.Steps(path)) })
			kept[ref] = o
		}
	}
	return kept
}

// names are how an object is called, alone and with its kind, as plans and events call it: that is never masked for others' secrets.
func names(r object.Ref) []string {
	out := []string{r.Name, r.String(), r.Slash()}
	if r.Namespace != "" {
		out = append(out, r.Namespace, r.Namespace+"/"+r.Name)
	}
	return out
}

// of is the instance whose own secrets hide something in an object at places that are never secret, "" where not even they do.
func of(r object.Ref, instance string) string {
	if r.Grants() {
		return ""
	}
	return instance
}

// Show leaves shown what the objects of a plan are called, and what stands in its fields, declared and live, at places that are never secret.
func Show(p *plan.Plan, to Shower) {
	for _, ch := range p.Changes {
		to.Show(ch.Instance, names(ch.Ref)...)
		for _, f := range ch.Fields {
			steps := neversecret.Steps(f.Path)
			if neversecret.Place(ch.Ref.Group, ch.Ref.Kind, steps) {
				if to.Leave(f.New); !neversecret.Kept(ch.Ref.Group, ch.Ref.Kind, steps) { // what an image was may have been secret
					to.Leave(f.Old)
				}
				to.Show(of(ch.Ref, ch.Instance), f.Path)
			}
			for _, text := range []string{f.Old, f.New} {
				var value any
				if json.Unmarshal([]byte(text), &value) == nil {
					never(ch.Ref, steps, value, func(text string) { to.Show(of(ch.Ref, ch.Instance), text) })
				}
			}
		}
	}
}

// never tells the texts in a value at a path that stand where nothing is secret.
func never(r object.Ref, path []string, value any, tell func(text string)) {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			never(r, append(slices.Clip(path), name), item, tell)
		}
	case []any:
		for _, item := range v {
			never(r, append(slices.Clip(path), ""), item, tell)
		}
	case string:
		if neversecret.Place(r.Group, r.Kind, path) {
			tell(v)
		}
	}
}

// hidden are the paths of what is hidden in an object, but by secrets of its own instance.
func hidden(o object.Object, instance string, m plan.Masker) []string {
	own := func(text string) string { return m.Own(instance, text) }
	all := o.MarkSecrets(func(text string) string { return m.Value(instance, text) }, own, func(string) bool { return false })
	if len(all.Sensitive) == 0 {
		return nil
	}
	mine := o.MarkSecrets(own, own, func(string) bool { return false })
	return slices.DeleteFunc(all.Sensitive, func(path string) bool { return slices.Contains(mine.Sensitive, path) })
}

// keys are the paths of what hides as a key that somebody chose, below a field of an object.
func keys(path, field string, value any, hides func(key string) bool) (out []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := object.JoinPath(path, name)
			if pathmask.Keys(field) && hides(name) {
				out = append(out, at)
			}
			out = append(out, keys(at, name, v[name], hides)...)
		}
	case []any:
		for i, item := range v {
			out = append(out, keys(path+"["+strconv.Itoa(i)+"]", "", item, hides)...)
		}
	}
	return out
}

// removed are the paths of fields that go, and of which a key that somebody chose hides.
func removed(fields []plan.FieldChange, hides func(key string) bool) (out []string) {
	for _, f := range fields {
		steps := neversecret.Steps(f.Path)
		for i := 1; i < len(steps) && f.New == "" && !f.Added; i++ {
			if pathmask.Keys(steps[i-1]) && hides(steps[i]) {
				out = append(out, f.Path)
				break
			}
		}
	}
	return out
}

// Holds reports whether an object is a Secret, or a value known to be secret turns up in it.
func Holds(o object.Object, by *redact.Redactor) bool {
	if o.Secret() {
		return true
	}
	data, err := json.Marshal(o.Body)
	return err != nil || by.Value(o.Instance, string(data)) != string(data)
}

// KeysHoldSecret reports whether a value known to be secret is, or may be, a key of an object's managed fields.
func KeysHoldSecret(o object.Object, by *redact.Redactor) bool {
	return by.Knows() && KeysHold(map[string]any(o.Body), func(text string) bool {
		return by.Value(o.Instance, text) != text || by.Redact(text) != text
	})
}

// KeysHold reports whether something secret is a key of a map in an object's body, an item of a list, or in an item of a list, by which that may be
// known: managed fields hold those.
func KeysHold(body any, secret func(text string) bool) bool {
	switch v := body.(type) {
	case map[string]any:
		for key, item := range v {
			if secret(key) || KeysHold(item, secret) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			known := []any{item}
			if fields, is := item.(map[string]any); is {
				known = slices.Collect(maps.Values(fields))
			}
			if slices.ContainsFunc(known, func(value any) bool { return isText(value) && secret(fmt.Sprint(value)) }) || KeysHold(item, secret) {
				return true
			}
		}
	}
	return false
}

func isText(value any) bool {
	switch value.(type) {
	case string, int64, float64:
		return true
	}
	return false
}
