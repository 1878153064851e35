package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/object"
)

// Unrecorded is what is declared otherwise than recorded, so that it will probably be written; without hooks, and without
// namespaces that are made only when they are missing, but where nothing is recorded.
func Unrecorded(desired []Desired, recorded []InventoryEntry) []Desired {
	digests := map[object.Ref]string{}
	for _, o := range recorded {
		digests[o.Ref] = o.Digest
	}
	return slices.DeleteFunc(slices.Clone(desired), func(d Desired) bool {
		return digests[d.Ref] == d.Digest || d.Hook != nil || d.OwnNamespace && len(recorded) > 0
	})
}

// Versions are the groups and versions of what is declared, sorted; without kinds that come with it.
func Versions(desired []Desired, defined map[schema.GroupKind]object.DefinedKind) []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, d := range desired {
		if _, comes := defined[d.Ref.GroupKind()]; !comes {
			out = append(out, schema.GroupVersion{Group: d.Ref.Group, Version: d.Version})
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(out)
}

// Places are the namespaces of what is declared and of the records, sorted; "" is the cluster.
func Places(desired []Desired) []string {
	out := []string{object.SystemNamespace}
	for _, d := range desired {
		out = append(out, d.Ref.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
