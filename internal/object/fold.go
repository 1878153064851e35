package object

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/internal/lazyregexp"
)

// FoldManagers moves the entries of other managers into our Apply entry, Update and Apply alike, so that what they
// owned and we do not declare goes with our next apply. Entries of subresources (status, scale) stay, and finalizers and
// owner references become nobody's: those are agreements with controllers, and only they end them. changed is false
// when none of the managers has an entry. entries is not changed.
func FoldManagers(entries []metav1.ManagedFieldsEntry, from []string, manager, apiVersion string) (out []metav1.ManagedFieldsEntry, changed bool, err error) {
	union := &fieldpath.Set{}
	ours := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion, FieldsType: "FieldsV1"}
	for _, e := range entries {
		own := e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply
		fold := slices.Contains(from, e.Manager) || e.Manager == "before-first-apply" || e.Manager == manager
		if e.Subresource != "" || !fold {
			out = append(out, e)
			continue
		}
		set, err := fieldSet(e)
		if err != nil {
			return nil, false, err
		}
		if !own {
			set = ownable(set)
		}
		union = union.Union(set)
		changed = changed || !own
		if e.Time != nil && (ours.Time == nil || ours.Time.Before(e.Time)) {
			ours.Time = e.Time
		}
		if own {
			ours.APIVersion = e.APIVersion
		}
	}
	if !changed {
		return entries, false, nil
	}
	if ours.FieldsV1, err = fieldsOf(union); err != nil {
		return nil, false, err
	}
	return append(out, ours), true, nil
}

// ownable is a set of fields without those that nobody takes over from another: agreements with controllers, and the labels by
// which a Job finds its pods with the selector of them, which the API server makes up and lets nobody take away.
func ownable(set *fieldpath.Set) *fieldpath.Set {
	out, job := &fieldpath.Set{}, set.Has(fieldpath.MakePathOrDie("spec", "template", "metadata", "labels", "controller-uid"))
	set.Iterate(func(p fieldpath.Path) {
		if at := p.String(); !strings.HasPrefix(at, ".metadata.finalizers") && !strings.HasPrefix(at, ".metadata.ownerReferences") && !(job && ofJob.MatchString(at)) {
			out.Insert(p.Copy())
		}
	})
	return out
}

// ofJob are what the API server makes up of a Job (k8s.io/api/batch/v1), and the maps that hold it.
var ofJob = lazyregexp.New(`^\.spec\.(selector\b.*|template\.metadata\.labels(\.(batch\.kubernetes\.io/)?(controller-uid|job-name))?)$`)

// Served are managed fields without API versions that are served no more: their entries have apiVersion instead. versions are those
// of the kind that are served, without the group.
func Served(entries []metav1.ManagedFieldsEntry, versions []string, apiVersion string) []metav1.ManagedFieldsEntry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		if !slices.Contains(versions, e.APIVersion[strings.LastIndex(e.APIVersion, "/")+1:]) {
			entries[i].APIVersion = apiVersion
		}
	}
	return OneApply(entries)
}

// OneApply merges entries that a repair made alike: one entry per manager, operation, API version and subresource. An
// entry whose fields cannot be read stays as it is.
func OneApply(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for _, e := range entries {
		i := slices.IndexFunc(out, func(o metav1.ManagedFieldsEntry) bool {
			return o.Manager == e.Manager && o.Operation == e.Operation && o.APIVersion == e.APIVersion && o.Subresource == e.Subresource
		})
		if i < 0 {
			out = append(out, e)
			continue
		}
		a, errA := fieldSet(out[i])
		b, errB := fieldSet(e)
		if errA != nil || errB != nil {
			out = append(out, e)
			continue
		}
		if fields, err := fieldsOf(a.Union(b)); err == nil {
			out[i].FieldsV1 = fields
		}
	}
	return out
}

func fieldSet(e metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if e.FieldsV1 == nil {
		return set, nil
	}
	return set, set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes()))
}

func fieldsOf(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	f := &metav1.FieldsV1{}
	f.SetRawBytes(raw)
	return f, nil
}
