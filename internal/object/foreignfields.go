package object

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ForeignField is a field of an object whose value a write or a deletion of ours would undo.
type ForeignField struct {
	// Path is for people. By is the manager that owns the field, "" when nobody else does.
	Path, By string
	// Value is the digest of what it holds, "" when it is absent. It is not keyed: it stays in the process.
	Value string

	at string // the path with nothing masked
}

// Overwritten are the fields in which a live object differs from what is declared of it: what an apply with force would
// undo. declared is what would be written, manager is ours; nil for no live object.
func (o Object) Overwritten(live, declared map[string]any, manager string) []ForeignField {
	if live == nil {
		return nil
	}
	before := Restrict(live, declared)
	shown, out := Diff(before, declared, o.Mask()), []ForeignField{}
	by := SettersOf((&unstructured.Unstructured{Object: live}).GetManagedFields(), manager)
	for i, d := range Diff(before, declared, Mask{}) { // the same fields, with the values
		f := ForeignField{Path: shown[i].Path, at: d.Path}
		f.By, _ = by.Of(d)
		if d.HasOld {
			f.Value = DigestJSON(d.Old)
		}
		out = append(out, f)
	}
	return out
}

// ForeignFields are the fields of a live object that others than the manager (ours) own, with what they hold: what a deletion
// would destroy. Those of the status, of Kubernetes' own controllers, and what is left to others are not among them.
func ForeignFields(live map[string]any, manager string, left *Ignore) []ForeignField {
	entries, out := (&unstructured.Unstructured{Object: live}).GetManagedFields(), []ForeignField{}
	for _, e := range entries {
		set, err := fieldSet(e)
		if err != nil || e.Manager == manager || e.Manager == aggregator || e.Manager == HandoverManager || e.Subresource == "status" || slices.Contains(systemManagers, e.Manager) {
			continue
		}
		if left != nil {
			set = left.without(set, left.owned([]metav1.ManagedFieldsEntry{e}, manager))
		}
		set.Leaves().Iterate(func(p fieldpath.Path) {
			if len(p) > 0 && p[0].FieldName != nil && *p[0].FieldName == "status" {
				return
			}
			f := ForeignField{Path: strings.TrimPrefix(p.String(), "."), By: e.Manager, at: p.String()}
			if v, ok := lookup(live, p); ok {
				f.Value = DigestJSON(v)
			}
			out = append(out, f)
		})
	}
	return out
}

// key tells a field with its value from others, whoever owns it.
func (f ForeignField) key() string { return f.at + "\x00" + f.Value }

// Since says what became of the field since somebody looked: "data.a was changed by alice since".
func (f ForeignField) Since() string {
	what := f.Path + " was changed"
	if f.Value == "" {
		what = f.Path + " was removed"
	}
	if f.By != "" && f.Value != "" {
		what += " by " + f.By
	}
	return what + " since"
}

// Unforeseen is the first field of now that was not there, or held something else, nil for none: less is foreseen.
func Unforeseen(was, now []ForeignField) *ForeignField {
	known := map[string]bool{}
	for _, f := range was {
		known[f.key()] = true
	}
	if i := slices.IndexFunc(now, func(f ForeignField) bool { return !known[f.key()] }); i >= 0 {
		return &now[i]
	}
	return nil
}

// DigestForeign is the digest of fields with what they hold; who owns them and their order count for nothing. It tells a short
// value to whoever guesses: it is keyed before it leaves the process.
func DigestForeign(fields []ForeignField) string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key()
	}
	slices.Sort(keys)
	h := sha256.New()
	for _, k := range slices.Compact(keys) {
		_, _ = io.WriteString(h, k+"\x00")
	}
	return hex.EncodeToString(h.Sum(nil))
}
