package object

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Setters tells who set the fields of one object, as its managed fields have it.
type Setters struct{ entries []setter }

type setter struct {
	manager string
	since   time.Time
	tree    map[string]any
}

// SettersOf reads an object's managed fields, without the entries of our own manager.
func SettersOf(entries []metav1.ManagedFieldsEntry, manager string) Setters {
	var s Setters
	for _, e := range entries {
		if e.Manager == manager {
			continue
		}
		st := setter{manager: e.Manager, tree: fieldTree(e)}
		if e.Time != nil {
			st.since = e.Time.Time
		}
		s.entries = append(s.entries, st)
	}
	return s
}

// Of returns the manager (not ours) that owns the field of a difference and since when; of several the latest. "" when
// nobody else owns it.
func (s Setters) Of(d FieldDiff) (manager string, since time.Time) {
	for _, e := range s.entries {
		if owns(e.tree, d.trail) && (manager == "" || e.since.After(since)) {
			manager, since = e.manager, e.since
		}
	}
	return manager, since
}

// owns walks a fieldsV1 tree: "f:name" for fields, `k:{"name":"api"}` for keyed items, `v:"x"` for members of sets,
// "i:3" for positions. An empty tree on the way means that the whole value below is owned.
// Source: the FieldsV1 format of k8s.io/apimachinery and structured-merge-diff's fieldpath serialisation.
func owns(tree map[string]any, trail []trailStep) bool {
	node := tree
	for i, st := range trail {
		if len(node) == 0 {
			return i > 0
		}
		next, ok := child(node, st)
		if !ok {
			return false
		}
		node = next
	}
	return true
}

func child(node map[string]any, st trailStep) (map[string]any, bool) {
	if st.item == nil {
		next, ok := node["f:"+st.name].(map[string]any)
		return next, ok
	}
	for key, v := range node {
		kind, text, ok := strings.Cut(key, ":")
		if !ok || kind != "k" && kind != "v" {
			continue
		}
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			continue
		}
		if kind == "v" && equalJSON(want, st.item) || kind == "k" && itemHas(st.item, want) {
			next, ok := v.(map[string]any)
			return next, ok
		}
	}
	return nil, false
}

// itemHas reports whether a list item carries all key fields; a missing protocol is TCP, as the API server defaults it.
func itemHas(item, key any) bool {
	fields, ok := key.(map[string]any)
	have, ok2 := item.(map[string]any)
	if !ok || !ok2 {
		return false
	}
	for k, want := range fields {
		v, there := have[k]
		if !there && k == "protocol" {
			v, there = "TCP", true
		}
		if !there || !equalJSON(v, want) {
			return false
		}
	}
	return true
}

// equalJSON compares two JSON values, numbers by value whatever their Go type.
func equalJSON(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
