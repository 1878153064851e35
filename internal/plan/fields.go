package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
)

// FieldChanges are the differences between two versions of an object as a plan shows them: compact JSON, each value passed
// through redact, text by text, and nothing of the values that o's mask hides. At places that are never secret Redact alone hides something. before
// may be nil: all is new then, and no news field by field.
func FieldChanges(o object.Object, before, after map[string]any, redact func(string) string, by object.Setters) []FieldChange {
	if before == nil {
		return nil
	}
	var out []FieldChange
	for _, d := range object.Diff(before, after, o.Mask()) {
		fc := FieldChange{Path: d.Path, Hidden: d.Hidden, Added: d.Hidden && !d.HasOld, Removed: d.Hidden && !d.HasNew}
		if steps := neversecret.Steps(d.Path); !d.Hidden {
			fc.Old, fc.New = fieldValue(o.Ref(), steps, d.Old, d.HasOld, redact), fieldValue(o.Ref(), steps, d.New, d.HasNew, redact)
		}
		fc.Manager, fc.Since = by.Of(d)
		out = append(out, fc)
	}
	return out
}

func fieldValue(r object.Ref, path []string, v any, there bool, redact func(string) string) string {
	if text, err := diag.JSON(v); err == nil && there {
		return neversecret.Text(r.Group, r.Kind, path, text, redact, object.AsNamed, pathmask.Key(redact, object.AsNamed))
	}
	return ""
}

// Untold reports whether a change writes another declaration of an object over the last one, and nobody has said yet which
// fields that are: no dry run was wanted.
func (c Change) Untold() bool {
	return c.Action == Update && c.Code == CodeChanged && c.Hook == nil && len(c.Fields) == 0 && !c.Checked
}

// Tell gives the changes that nobody was asked about the fields in which the declarations differ: what was declared (base,
// by object) and what is now (bodies). Fields left to others are left out. The fields that others changed in the cluster are
// not known this way; a change whose fields are not known stays as it is.
func (p *Plan) Tell(base, bodies map[object.Ref]object.Object, redact func(string) string) {
	for i, c := range p.Changes {
		if before, after := base[c.Ref], bodies[c.Ref]; before.Body != nil && after.Body != nil && c.Untold() {
			after.Sensitive = append(after.Sensitive[:len(after.Sensitive):len(after.Sensitive)], before.Sensitive...)
			p.Changes[i].Fields = Unasked(FieldChanges(after, object.WithoutPaths(before.Body, c.OmitFields), object.WithoutPaths(after.Body, c.OmitFields), redact, object.Setters{}))
		}
	}
}

// Gone reports whether a field has no value any more.
func (f FieldChange) Gone() bool { return f.New == "" && !f.Stays && (!f.Hidden || f.Removed) }

// Unasked are fields in which declarations differ, where no server was asked: it may keep one that is declared no longer, or fill it in.
func Unasked(fields []FieldChange) []FieldChange {
	for i, f := range fields {
		fields[i].Undeclared, fields[i].Removed = f.Gone(), f.Removed && !f.Gone()
	}
	return fields
}

// Written is what a change applies over a live object: body without what is ceded and what is left to others. manager is ours.
func (c Change) Written(body, live map[string]any, manager string) map[string]any {
	body = object.WithoutPaths(body, c.OmitFields)
	if c.Ignore == nil || live == nil {
		return body
	}
	return c.Ignore.OmitFields(body, live, (&unstructured.Unstructured{Object: live}).GetManagedFields(), manager, c.FromManagers)
}
