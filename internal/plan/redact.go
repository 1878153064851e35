package plan

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/redact"
)

// Masker hides secret values, more of them in what belongs to an instance that takes them (redact.Redactor).
type Masker interface {
	// Sweep is for sentences of our own, Redact for texts of others.
	Sweep(text string) string
	Redact(text string) string
	// Said is for what others say about an instance, Told for sentences of our own about it, Value for a value of one of its objects, Name for the name of one.
	Said(instance, text string) string
	Told(instance, text string) string
	Value(instance, text string) string
	Name(instance, text string) string
	// Own is Value without what others take.
	Own(instance, text string) string
	// ShowMasked shows what Value left of a field, whatever is secret around it.
	ShowMasked(instance, path string, values ...any)
}

// Masked is what a plan shows of a text, where a secret may stand, in an object of an instance: what Value leaves of it when first what hides in any text
// of others is hidden (Redact), as FieldChanges and Describe do. Whatever asks what a plan hides asks this.
func Masked(m Masker, instance, text string) string { return m.Value(instance, m.Redact(text)) }

// Redact masks secret values in everything a plan says to people: reasons, fields and findings. What names objects, and what
// the plan is carried out by, stays as it is. Values are masked text by text, and what is left of them is shown from then on.
func Redact(p *Plan, m Masker) {
	p.Changes = slices.Clone(p.Changes)
	for i := range p.Changes {
		ch := &p.Changes[i]
		ch.Why, ch.Deferred = m.Told(ch.Instance, ch.Why), m.Told(ch.Instance, ch.Deferred)
		ch.Loss, ch.From, ch.TakenBy = m.Sweep(ch.Loss), m.Sweep(ch.From), m.Sweep(ch.TakenBy)
		value, own := func(text string) string { return Masked(m, ch.Instance, text) }, func(text string) string { return m.Own(ch.Instance, text) }
		name := func(name string) string { return m.Name(ch.Instance, name) }
		if ch.Content != nil {
			ch.Content = object.RedactBody(ch.Content, value, own, name, m.Redact)
			m.ShowMasked(ch.Instance, "", map[string]any(ch.Content))
		}
		ch.Fields = slices.Clone(ch.Fields)
		for j := range ch.Fields {
			f := &ch.Fields[j]
			steps, key := neversecret.Steps(f.Path), pathmask.Key(m.Redact, name)
			mask := func(text string) string {
				return neversecret.Text(ch.Ref.Group, ch.Ref.Kind, steps, text, value, own, key)
			}
			f.Old, f.New, f.Manager, f.Origin = mask(f.Old), mask(f.New), m.Sweep(f.Manager), m.Sweep(f.Origin)
			if !ch.Ref.Grants() || !neversecret.At(ch.Ref.Group, ch.Ref.Kind, f.Path) { // there its keys are who and what
				f.Path = pathmask.Mask(f.Path, m.Redact, name)
			}
			m.ShowMasked(ch.Instance, f.Path, f.Old, f.New)
		}
	}
	p.Brake, p.Findings = m.Sweep(p.Brake), append(RedactFindings(p.Findings, m), namedBySecrets(p.Changes, m).OnCluster(p.Cluster)...)
}

// namedBySecrets warns of objects whose names hold a secret of their instance: names are not hidden.
func namedBySecrets(changes []Change, m Masker) diag.Findings {
	var out diag.Findings
	for _, ch := range changes {
		if ch.Action == Delete || ch.Action == Release {
			continue
		}
		for field, name := range map[string]string{"name": ch.Ref.Name, "namespace": ch.Ref.Namespace} {
			if m.Name(ch.Instance, name) == name {
				continue
			}
			f := diag.Warnf("secret-in-name", "the %s of the object holds a secret value", field)
			f.Object, f.Instance = m.Name(ch.Instance, ch.Ref.String()), ch.Instance
			f.Because("names are in every list, event and log, also in those of the cluster: they are not hidden")
			f.Fix = "name it by something else, and put the value into a Secret"
			out = append(out, f)
		}
	}
	return out.Sorted()
}

// RedactFindings masks secret values in the texts of findings.
func RedactFindings(fs diag.Findings, m Masker) diag.Findings {
	out := slices.Clone(fs)
	for i := range out {
		f := &out[i]
		said := m.Said
		if f.Told() {
			said = m.Told
		}
		f.What, f.Why, f.Fix = f.Masked(func(text string) string { return m.Said(f.Instance, text) }), said(f.Instance, f.Why), m.Told(f.Instance, f.Fix)
		name := func(name string) string { return m.Name(f.Instance, name) }
		f.Path, f.Object = pathmask.Mask(f.Path, m.Redact, name), name(f.Object)
	}
	return out
}

// HidesNothing reports that all that a change writes over what is there is shown: the API server told what it would be, and that was compared with
// the live object itself, as who writes a kept release writes what is kept beside it, too. mask is what hides in a value of an instance.
func (c Change) HidesNothing(mask func(instance, text string) string) bool {
	return c.Action == Update && c.Checked && c.AgainstLive && !slices.ContainsFunc(c.Fields, func(f FieldChange) bool {
		text := f.Path + "\n" + f.Old + "\n" + f.New
		return f.Hidden || strings.Contains(text, redact.Mask) || mask(c.Instance, text) != text
	})
}
