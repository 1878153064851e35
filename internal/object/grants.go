package object

import (
	"maps"
	"slices"
)

// Grants reports whether objects of the kind give rights, or decide about what others write.
func (r Ref) Grants() bool {
	return r.Group == "rbac.authorization.k8s.io" || r.Group == admission || r.IsAPIService()
}

// openFields are the fields of pods that say what runs there, and as whom; below openParts everything does.
var (
	openFields = map[string]bool{"image": true, "serviceAccountName": true, "serviceAccount": true, "nodeName": true}
	openParts  = map[string]bool{"securityContext": true, "hostPath": true}
)

// open reports whether a field is no secret, whatever somebody says: what gives rights, and as whom a pod runs.
func (r Ref) open(trail []trailStep) bool {
	if len(trail) == 0 || trail[0].name == "metadata" {
		return false
	}
	last := trail[len(trail)-1].name
	if r.Grants() {
		return last != "url"
	}
	return r.IsWorkload() && (openFields[last] || slices.ContainsFunc(trail, func(st trailStep) bool { return openParts[st.name] }))
}

// Claimed is an object that was kept, with what it says itself is secret in it: of its own texts and numbers, and nothing of what
// gives rights. Whoever writes where it is kept hides nothing else by that.
func (o Object) Claimed() Object {
	if len(o.Sensitive) == 0 {
		return o
	}
	ref, p, used := o.Ref(), newPathSet(o.Sensitive), map[int]bool{}
	p.scalars(o.Body, nil, p.start(), func(trail []trailStep, _ string, path int) {
		was, seen := used[path]
		used[path] = (was || !seen) && !ref.open(trail)
	})
	o.Sensitive = nil
	for _, i := range slices.Sorted(maps.Keys(used)) {
		if used[i] {
			o.Sensitive = append(o.Sensitive, p.paths[i])
		}
	}
	return o
}

// Granting are the texts of an object that gives rights which tell what it gives, and to whom.
func (o Object) Granting() []string {
	ref := o.Ref()
	if !ref.Grants() {
		return nil
	}
	var out []string
	scalars(o.Body, nil, func(trail []trailStep, text string) {
		if ref.open(trail) {
			out = append(out, text)
		}
	})
	return append(out, ref.Name)
}
