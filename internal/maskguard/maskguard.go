// Package maskguard says what a plan does not show because a secret equals it that has no business there: somebody else's, or one of its own
// instance where nothing is secret.
//
// maskguard must not know what is secret, nor who shows a plan.
package maskguard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

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
