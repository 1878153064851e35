// Package objectset compares sets of objects as renders give them.
//
// objectset must not know where the objects come from, nor what a cluster has.
package objectset

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/object"
)

// Same reports equal objects, in the same order.
func Same(a, b []object.Object) bool { return slices.Equal(Digests(a), Digests(b)) }

// Digests are those of each object and of when it runs as a hook.
func Digests(objs []object.Object) []string {
	out := make([]string, len(objs))
	for i, o := range objs {
		out[i] = fmt.Sprint(o.Digest(), o.Hook)
	}
	return out
}

// With are objs; where they lack any of others, those others, as they are among objs where they are. It reports whether none of needed is missing.
// Hooks of one name that run at different times are several.
func With(objs, others []object.Object, needed Refs) (out []object.Object, there bool) {
	type key struct {
		object.Ref
		hook string
	}
	as := func(o object.Object) key { return key{o.Ref(), fmt.Sprint(o.Hook)} }
	among := map[key]object.Object{}
	for _, o := range objs {
		among[as(o)] = o
	}
	lacks, there := false, true
	for _, o := range others {
		own, is := among[as(o)]
		if !is {
			own, lacks, there = o, true, there && !needed[o.Ref()]
		}
		out = append(out, own)
	}
	if !lacks {
		return objs, true
	}
	return out, there
}

// Refs name objects.
type Refs map[object.Ref]bool

// Within reports whether others name all of these, too.
func (r Refs) Within(others Refs) bool {
	for ref := range r {
		if !others[ref] {
			return false
		}
	}
	return true
}

// Differing are the objects that are others in b, or in one of the two alone.
func Differing(a, b []object.Object) Refs {
	out, was := Refs{}, map[object.Ref]string{}
	for i, d := range Digests(a) {
		was[a[i].Ref()], out[a[i].Ref()] = d, true
	}
	for i, d := range Digests(b) {
		out[b[i].Ref()] = was[b[i].Ref()] != d
	}
	maps.DeleteFunc(out, func(_ object.Ref, differs bool) bool { return !differs })
	return out
}

// Held are the entries of a Secret, as base64.
func Held(secret object.Object) map[string]string {
	held := map[string]string{}
	data, _ := secret.Body["data"].(map[string]any)
	for k, v := range data {
		held[k], _ = v.(string)
	}
	plain, _ := secret.Body["stringData"].(map[string]any)
	for k, v := range plain {
		text, _ := v.(string)
		held[k] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return held
}
