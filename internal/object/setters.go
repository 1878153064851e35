package object

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Setters tells who set the fields of one object, as its managed fields have it.
type Setters struct{ entries []setter }

type setter struct {
	manager string
	since   time.Time
	fields  *fieldpath.Set
}

// SettersOf reads an object's managed fields, without the entries of our own manager.
func SettersOf(entries []metav1.ManagedFieldsEntry, manager string) Setters {
	var s Setters
	for _, e := range entries {
		if e.Manager == manager {
			continue
		}
		set, err := fieldSet(e)
		if err != nil {
			continue
		}
		st := setter{manager: e.Manager, fields: set}
		if e.Time != nil {
			st.since = e.Time.Time
		}
		s.entries = append(s.entries, st)
	}
	return s
}

// Of returns the manager (not ours) that owns the field of a difference and since when (RFC 3339, "" where that is not known); of several
// the latest. "" when nobody else owns it.
func (s Setters) Of(d FieldDiff) (manager, since string) {
	var latest time.Time
	for _, e := range s.entries {
		if owns(e.fields, d.trail) && (manager == "" || e.since.After(latest)) {
			manager, latest = e.manager, e.since
		}
	}
	if !latest.IsZero() {
		since = latest.UTC().Format(time.RFC3339)
	}
	return manager, since
}

// owns reports whether a set of fields has the one at a trail: itself, something above it that is owned as a whole, or
// something below it.
func owns(set *fieldpath.Set, trail []trailStep) bool {
	for _, st := range trail {
		member, below := st.in(set)
		if below == nil || below.Empty() {
			return member
		}
		set = below
	}
	return true
}

// in finds a step among the members and the children of a set.
func (st trailStep) in(set *fieldpath.Set) (member bool, below *fieldpath.Set) {
	if st.item == nil {
		el := fieldpath.FieldNameElement(st.name)
		below, _ = set.Children.Get(el)
		return set.Members.Has(el), below
	}
	set.Members.Iterate(func(el fieldpath.PathElement) { member = member || st.named(el) })
	set.Children.Iterate(func(el fieldpath.PathElement) {
		if st.named(el) {
			below, _ = set.Children.Get(el)
		}
	})
	return member, below
}

// named reports whether a path element names the item of the step.
func (st trailStep) named(el fieldpath.PathElement) bool {
	switch {
	case el.Key != nil:
		return hasKey(st.item, *el.Key)
	case el.Value != nil:
		return value.Equals(value.NewValueInterface(st.item), *el.Value)
	case el.Index != nil:
		return st.position == strconv.Itoa(*el.Index)
	}
	return false
}

// equalJSON compares two JSON values, numbers by value whatever their Go type.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return maps.EqualFunc(x, y, equalJSON)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return slices.EqualFunc(x, y, equalJSON)
		}
	case string:
		y, ok := b.(string)
		if ok {
			return x == y
		}
	}
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
