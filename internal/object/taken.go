package object

import (
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Taken is a declared field that is not ours any more.
type Taken struct {
	Path string `json:"path"`
	// By is the manager that owns it now and Since when (RFC 3339); "" when nobody does, because it was removed.
	By    string `json:"by,omitempty"`
	Since string `json:"since,omitempty"`
}

// Taken are the declared fields that a manager's Apply entry does not have, with who owns each of them now. before is the
// entry as it was recorded: what was not in it, nobody took; nil when it is not known. Without an entry nothing can be told.
func (o Object) Taken(entries []metav1.ManagedFieldsEntry, manager string, before *Entry) []Taken {
	entry, ok := applyEntry(entries, manager)
	own, err := fieldSet(entry)
	if !ok || err != nil {
		return nil
	}
	w := taking{own: own, by: SettersOf(entries, manager), keys: differ{mask: o.Mask()}}
	if before != nil {
		e := metav1.ManagedFieldsEntry{FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawBytes([]byte(before.Fields))
		if w.was, err = fieldSet(e); err != nil {
			w.was = nil
		}
	}
	w.node("", nil, o.Body)
	return w.out
}

type taking struct {
	own, was *fieldpath.Set
	by       Setters
	keys     differ
	out      []Taken
}

// TakenBy is who owns all of the fields now, "" when that is nobody or not one alone.
func TakenBy(fields []Taken) string {
	by := ""
	for i, f := range fields {
		if i > 0 && f.By != by {
			return ""
		}
		by = f.By
	}
	return by
}

// unclaimed are fields that name an object or that the API server sets: no entry has them.
var unclaimed = []string{"apiVersion", "kind", "status", "metadata.name", "metadata.namespace", "metadata.creationTimestamp"}

func (w *taking) node(path string, trail []trailStep, v any) {
	if slices.Contains(unclaimed, path) || v == nil {
		return
	}
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			w.node(JoinPath(path, k), step(trail, trailStep{name: k}), m[k])
		}
		return
	}
	list, _ := v.([]any)
	if key := listKey(trail, nil, list); key != nil {
		for i, item := range list {
			steps := step(trail, trailStep{name: keyOf(item, key), item: item, position: strconv.Itoa(i)})
			if at := path + "[" + w.keys.shownKey(steps, key) + "]"; owns(w.own, steps) {
				w.node(at, steps, item)
			} else {
				w.leaf(at, steps)
			}
		}
		return
	}
	w.leaf(path, trail)
}

func (w *taking) leaf(path string, trail []trailStep) {
	if owns(w.own, trail) || w.was != nil && !owns(w.was, trail) {
		return
	}
	t := Taken{Path: path}
	by, since := w.by.Of(FieldDiff{trail: trail})
	if path == "spec.replicas" && (Autoscales(by) || slices.Contains(systemManagers, by)) {
		return // an autoscaler's, rightly
	}
	if by != HandoverManager {
		t.By, t.Since = by, since
	}
	w.out = append(w.out, t)
}
