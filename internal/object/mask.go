package object

import (
	"maps"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// LastApplied is kubectl's annotation with a copy of the whole object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Mask says which values of one object must not be shown.
type Mask struct {
	secret bool
	paths  *pathSet // nil for none
	// fits tells of an item, or an entry, whether it is the one that a path names.
	fits func(trailStep, fieldpath.PathElement) bool
}

// Mask returns what to hide of the object: data and stringData of Secrets, kubectl's copy of the object, and the
// values at Sensitive paths with everything below them.
func (o Object) Mask() Mask {
	return Mask{secret: o.Ref().IsSecret(), paths: newPathSet(o.Sensitive), fits: trailStep.mayBe}
}

// hides reports whether the value at a trail must not be shown: it is, holds, or stands in the place of a secret of either
// version.
func (m Mask) hides(trail []trailStep) bool {
	if len(trail) == 0 {
		return false
	}
	return m.secret && (trail[0].name == "data" || trail[0].name == "stringData") ||
		len(trail) == 3 && trail[1].name == "annotations" && trail[2].name == LastApplied || m.paths != nil && m.paths.hide(trail, m.fits)
}

// prune returns a copy of body without what the server adds to every object and people never declare.
func prune(body map[string]any) map[string]any {
	out := maps.Clone(body)
	delete(out, "status")
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	meta = maps.Clone(meta)
	for _, k := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"} {
		delete(meta, k)
	}
	out["metadata"] = meta
	return out
}
