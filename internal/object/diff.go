package object

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FieldDiff is one field that differs between two versions of an object.
type FieldDiff struct {
	// Path is dotted; keyed list items stand in brackets by their key: spec.template.spec.containers[api].image.
	Path string
	// Old and New are JSON values; HasOld and HasNew tell an absent value from null. Both are nil when Hidden.
	Old, New       any
	HasOld, HasNew bool
	// Hidden: the value must not be shown.
	Hidden bool

	trail []trailStep
}

// trailStep is one step of a path: a field by name, or a list item (position is set then), as it was and, in other, as it
// is now; an item that is new stands in item.
type trailStep struct {
	name string
	// at is a field's place among those beside it, in order; only where one body is walked.
	at          int
	item, other any
	position    string
}

// Diff compares two versions of an object, field by field, in path order. What the server adds to every object
// (status, managed fields, resourceVersion, ...) is left out. Items of lists are matched by their key where they have
// one (name, port and protocol, mountPath, ...), else by position; lists of plain values are one field.
func Diff(old, new map[string]any, mask Mask) []FieldDiff {
	d := differ{mask: mask}
	d.maps("", nil, prune(old), prune(new))
	return d.out
}

type differ struct {
	mask  Mask
	out   []FieldDiff
	spent int // on paths
}

// maxPaths is what the paths of one object's differences may take: what differs in more fields is told by larger parts of it.
const maxPaths = 16 << 20

func (d *differ) maps(path string, trail []trailStep, old, new map[string]any) {
	keys := slices.Collect(maps.Keys(old))
	for k := range new {
		if _, ok := old[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if len(trail) >= whole && d.full() {
			return
		}
		o, hasOld := old[k]
		n, hasNew := new[k]
		d.values(JoinPath(path, k), step(trail, trailStep{name: k}), o, n, hasOld, hasNew)
	}
}

// step returns trail with one more step, never sharing the backing array.
func step(trail []trailStep, st trailStep) []trailStep { return append(slices.Clip(trail), st) }

func (d *differ) values(path string, trail []trailStep, old, new any, hasOld, hasNew bool) {
	if hasOld && hasNew && equalJSON(old, new) {
		return
	}
	if len(trail) != whole {
		d.differing(path, trail, old, new, hasOld, hasNew)
		return
	}
	before := len(d.out)
	if !d.full() {
		d.differing(path, trail, old, new, hasOld, hasNew)
	}
	if d.full() {
		d.out = d.out[:before]
		d.leaf(path, trail, old, new, hasOld, hasNew)
	}
}

func (d *differ) differing(path string, trail []trailStep, old, new any, hasOld, hasNew bool) {
	oldMap, okOld := old.(map[string]any)
	newMap, okNew := new.(map[string]any)
	// Absent next to a structure is compared as empty, so that each added or dropped field is named by itself.
	if okOld && okNew || len(oldMap) > 0 && !hasNew || len(newMap) > 0 && !hasOld {
		d.maps(path, trail, oldMap, newMap)
		return
	}
	oldList, okOld := old.([]any)
	newList, okNew := new.([]any)
	if (okOld || !hasOld) && (okNew || !hasNew) && (okOld || okNew) {
		if key := listKey(trail, oldList, newList); key != nil {
			d.keyed(path, trail, key, oldList, newList)
			return
		}
		if len(oldList) == len(newList) && allMaps(oldList) && allMaps(newList) {
			for i, item := range oldList {
				at := strconv.Itoa(i)
				st := step(trail, trailStep{name: at, item: item, other: newList[i], position: at})
				d.values(path+"["+at+"]", st, item, newList[i], true, true)
			}
			return
		}
	}
	d.leaf(path, trail, old, new, hasOld, hasNew)
}

// whole are the levels from which on a part is told as a whole where its fields are too many. Above the masks have a say.
const whole = 3

// full: the part at a trail is told as a whole; over: nothing is said of what stands in one that is.
func (d *differ) full() bool { return d.spent > maxPaths }

func (d *differ) over(trail []trailStep) bool { return len(trail) > whole && d.full() }

func (d *differ) leaf(path string, trail []trailStep, old, new any, hasOld, hasNew bool) {
	if d.over(trail) {
		return
	}
	const ofStep = 80
	d.spent += len(path) + ofStep*len(trail)
	f := FieldDiff{Path: path, Old: old, New: new, HasOld: hasOld, HasNew: hasNew, trail: trail}
	if d.mask.hides(trail) {
		f.Old, f.New = d.mask.rest(old, trail), d.mask.rest(new, trail)
		if f.Hidden = !tells(f.Old) && !tells(f.New) || equalJSON(f.Old, f.New); f.Hidden {
			f.Old, f.New = nil, nil
		}
	}
	d.out = append(d.out, f)
}

// keyed compares lists whose items have a key: old order first, then what is new.
func (d *differ) keyed(path string, trail []trailStep, fields []string, old, new []any) {
	newAt := map[string]int{}
	for i, item := range new {
		newAt[keyOf(item, fields)] = i
	}
	seen := map[string]bool{}
	for i, item := range old {
		k := keyOf(item, fields)
		seen[k] = true
		st := trailStep{name: k, item: item, position: strconv.Itoa(i)}
		j, both := newAt[k]
		if both {
			st.other = new[j]
		}
		steps := step(trail, st)
		p := path + "[" + d.shownKey(steps, fields) + "]"
		if both {
			d.values(p, steps, item, new[j], true, true)
		} else {
			d.leaf(p, steps, item, nil, true, false)
		}
	}
	for i, item := range new {
		if k := keyOf(item, fields); !seen[k] {
			steps := step(trail, trailStep{name: k, item: item, position: strconv.Itoa(i)})
			d.leaf(path+"["+d.shownKey(steps, fields)+"]", steps, nil, item, false, true)
		}
	}
}

// shownKey is the key of the item at the end of a trail as a path shows it.
func (d *differ) shownKey(trail []trailStep, fields []string) string {
	if slices.ContainsFunc(fields, func(f string) bool { return d.mask.hides(step(trail, trailStep{name: f})) }) {
		return "***"
	}
	return bracketed(trail[len(trail)-1].name)
}

// bracketed is the key of an item as it stands in the brackets of a path: in double quotes where it has brackets or quotes.
func bracketed(key string) string {
	if strings.ContainsAny(key, `[]"`) {
		return strconv.Quote(key)
	}
	return key
}

// listKeys are the fields that tell items of a list apart, most telling first. Source: the x-kubernetes-list-map-keys
// of Kubernetes' own types.
var listKeys = [][]string{
	{"name"}, {"containerPort", "protocol"}, {"port", "protocol"}, {"mountPath"}, {"devicePath"}, {"type"}, {"key"},
	{"topologyKey"}, {"ip"}, {"uid"}, {"id"}, {"host"},
}

// listKey returns the fields that tell the items of two lists apart, nil when they have no key.
func listKey(trail []trailStep, old, new []any) []string {
	for _, fields := range listKeys {
		if uniqueBy(old, fields) && uniqueBy(new, fields) && len(old)+len(new) > 0 {
			// ports of containers and services are keyed by number even when they have names
			if fields[0] == "name" && len(trail) > 0 && trail[len(trail)-1].name == "ports" {
				continue
			}
			return fields
		}
	}
	return nil
}

func allMaps(list []any) bool {
	return !slices.ContainsFunc(list, func(item any) bool { _, ok := item.(map[string]any); return !ok })
}

func uniqueBy(list []any, fields []string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		k := keyOf(item, fields)
		if k == "" || seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// keyOf is an item's key, "" when it has none. The protocol is shown only when it is not TCP.
func keyOf(item any, fields []string) string {
	m, ok := item.(map[string]any)
	if !ok {
		return ""
	}
	var parts []string
	for _, f := range fields {
		v, ok := m[f]
		switch {
		case f == "protocol" && (!ok || v == "TCP"):
			continue
		case !ok:
			return ""
		}
		if _, isMap := v.(map[string]any); isMap {
			return ""
		}
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, "/")
}

// JoinPath adds a field to a path; names with characters of the path grammar stand in double quotes.
func JoinPath(path, name string) string {
	if name == "" || strings.ContainsAny(name, `.[]="`+" \t\n") {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
