package object

import (
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Ignore are the fields of one object that are left to others.
type Ignore struct {
	// Paths are in the documents' grammar; Managers are globs over field managers, whose fields are theirs.
	Paths    []string `json:"paths,omitempty"`
	Managers []string `json:"managers,omitempty"`
}

// Equal reports whether two say the same; nil ignores nothing.
func (g *Ignore) Equal(o *Ignore) bool {
	if g == nil || o == nil {
		return g == o
	}
	return slices.Equal(g.Paths, o.Paths) && slices.Equal(g.Managers, o.Managers)
}

// Leaves reports whether a field (a path of names) that a manager owns is left to it; nil leaves nothing.
func (g *Ignore) Leaves(field, manager string) bool {
	if g == nil {
		return false
	}
	at, err := v1alpha1.ParsePath(field)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(g.Managers, func(glob string) bool { return matches(glob, manager) }) ||
		slices.ContainsFunc(g.Paths, func(p string) bool {
			want, err := v1alpha1.ParsePath(p)
			return err == nil && len(want) <= len(at) && slices.Equal(want, at[:len(want)])
		})
}

func matches(glob, manager string) bool {
	ok, err := path.Match(glob, manager)
	return ok && err == nil
}

// Entry is our Apply entry in an object's managed fields, as a record keeps it.
type Entry struct {
	APIVersion string `json:"apiVersion"`
	Time       string `json:"time,omitempty"`
	Fields     string `json:"fields"` // FieldsV1
}

// EntryOf reads a manager's Apply entry; nil when there is none.
func EntryOf(entries []metav1.ManagedFieldsEntry, manager string) *Entry {
	e, ok := applyEntry(entries, manager)
	if !ok || e.FieldsV1 == nil {
		return nil
	}
	out := &Entry{APIVersion: e.APIVersion, Fields: string(e.FieldsV1.GetRawBytes())}
	if e.Time != nil {
		out.Time = e.Time.UTC().Format(time.RFC3339)
	}
	return out
}

// LeftToOthers reports whether our entry differs from the one recorded in nothing but fields that are left to others: those
// at ignored paths, and those that an ignored manager owns now. The time of an entry does not move when another manager
// takes fields away.
func LeftToOthers(before *Entry, entries []metav1.ManagedFieldsEntry, manager string, g *Ignore) bool {
	now := EntryOf(entries, manager)
	if before == nil || now == nil || g == nil || before.APIVersion != now.APIVersion || before.Time != now.Time {
		return false
	}
	was, is := &fieldpath.Set{}, &fieldpath.Set{}
	if was.FromJSON(strings.NewReader(before.Fields)) != nil || is.FromJSON(strings.NewReader(now.Fields)) != nil {
		return false
	}
	theirs := g.owned(entries, manager)
	return g.without(was, theirs).Equals(g.without(is, theirs))
}

func (g *Ignore) without(set, theirs *fieldpath.Set) *fieldpath.Set {
	return set.Difference(g.at(set)).Difference(theirs)
}

// Spare is a set without the fields that are left to others; manager is ours. nil leaves nothing.
func (g *Ignore) Spare(set *fieldpath.Set, entries []metav1.ManagedFieldsEntry, manager string) *fieldpath.Set {
	if g == nil {
		return set
	}
	return g.without(set, g.owned(entries, manager))
}

// at is the part of a set that lies at ignored paths.
func (g *Ignore) at(set *fieldpath.Set) *fieldpath.Set {
	var paths []v1alpha1.Path
	for _, p := range g.Paths {
		if parsed, err := v1alpha1.ParsePath(p); err == nil {
			paths = append(paths, parsed)
		}
	}
	out := &fieldpath.Set{}
	set.Iterate(func(p fieldpath.Path) {
		if slices.ContainsFunc(paths, func(want v1alpha1.Path) bool { return below(p, want) }) {
			out.Insert(p.Copy())
		}
	})
	return out
}

// below reports whether a field path is at a document's path or below it.
func below(p fieldpath.Path, want v1alpha1.Path) bool {
	if len(p) < len(want) {
		return false
	}
	for i, step := range want {
		el := p[i]
		switch {
		case step.Key != "":
			if el.Key == nil || !slices.ContainsFunc(*el.Key, func(f value.Field) bool {
				return f.Name == step.Key && textOf(f.Value.Unstructured()) == step.Value
			}) {
				return false
			}
		case el.FieldName == nil || *el.FieldName != step.Name:
			return false
		}
	}
	return true
}

// owned is what ignored managers own, subresources apart.
func (g *Ignore) owned(entries []metav1.ManagedFieldsEntry, manager string) *fieldpath.Set {
	return union(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager != manager && e.Manager != HandoverManager && slices.ContainsFunc(g.Managers, func(glob string) bool { return matches(glob, e.Manager) })
	})
}

// union is what the chosen entries own together.
func union(entries []metav1.ManagedFieldsEntry, take func(metav1.ManagedFieldsEntry) bool) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, e := range entries {
		if e.Subresource != "" && !strings.EqualFold(e.Subresource, "scale") || !take(e) {
			continue
		}
		if set, err := fieldSet(e); err == nil {
			out = out.Union(set)
		}
	}
	return out
}

// OmitFields is what is applied over a live object: the declaration without the fields that are left to others. An ignored
// field of which we are an owner is written with its live value, because a field dropped by its only owner would go.
// folded are managers whose entries become ours before (see FoldManagers). Neither body nor live is changed.
func (g *Ignore) OmitFields(body, live map[string]any, entries []metav1.ManagedFieldsEntry, manager string, folded []string) map[string]any {
	ours := union(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply
	})
	becoming := union(entries, func(e metav1.ManagedFieldsEntry) bool {
		return slices.Contains(folded, e.Manager) || len(folded) > 0 && e.Manager == "before-first-apply"
	})
	theirs := g.owned(entries, manager)
	keep := g.at(ours.Union(becoming)).Union(theirs.Intersection(becoming)).Difference(theirs.Difference(becoming))
	out := runtime.DeepCopyJSON(body)
	for _, p := range g.Paths {
		if want, err := v1alpha1.ParsePath(p); err == nil {
			dropStep(out, want)
		}
	}
	theirs.Leaves().Iterate(func(p fieldpath.Path) { drop(out, p) })
	keep.Leaves().Iterate(func(p fieldpath.Path) {
		if v, ok := lookup(live, p); ok {
			put(out, p, runtime.DeepCopyJSONValue(v))
		}
	})
	return identified(out, body)
}

// VetIgnore finds rules that can never mean what they say.
func VetIgnore(rules []v1alpha1.IgnoreRule) diag.Findings {
	var out diag.Findings
	for _, r := range rules {
		for _, p := range r.Paths {
			if why := unusable(p); why != "" {
				f := diag.Errorf("ignore-path", "the field %s cannot be left to others", p)
				f.Why, f.Pos = why, diag.Pos(r.Pos)
				f.Fix = "name fields of the spec, data, labels or annotations, items of lists by key: containers[name=app].image"
				out = append(out, f)
			}
		}
		if len(r.Paths)+len(r.Managers) == 0 {
			f := diag.Errorf("ignore-path", "an ignore rule names neither paths nor managers")
			f.Pos, f.Fix = diag.Pos(r.Pos), "add paths or managers"
			out = append(out, f)
		}
	}
	return out
}

// unusable is why a path cannot be ignored, "" when it can.
func unusable(text string) string {
	p, err := v1alpha1.ParsePath(text)
	switch {
	case err != nil:
		return err.Error()
	case slices.ContainsFunc(p, func(s v1alpha1.Step) bool { return s.Index }):
		return "an index names another item when the list changes"
	case p[0].Name == "apiVersion", p[0].Name == "kind", p[0].Name == "metadata" && len(p) == 1,
		p[0].Name == "metadata" && (p[1].Name == "name" || p[1].Name == "namespace"):
		return "it is what names the object"
	}
	return ""
}
