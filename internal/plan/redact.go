package plan

import (
	"regexp"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Redact masks secret values in everything a plan says to people: reasons, fields and findings. What names objects, and what
// the plan is carried out by, stays as it is.
func Redact(p *Plan, mask func(string) string) {
	p.Changes = slices.Clone(p.Changes)
	for i := range p.Changes {
		ch := &p.Changes[i]
		ch.Why, ch.Loss, ch.Deferred, ch.From, ch.TakenBy = mask(ch.Why), mask(ch.Loss), mask(ch.Deferred), mask(ch.From), mask(ch.TakenBy)
		if ch.Content != nil {
			ch.Content = object.RedactBody(ch.Content, mask)
		}
		ch.Fields = slices.Clone(ch.Fields)
		for j := range ch.Fields {
			f := &ch.Fields[j]
			f.Path, f.Old, f.New = RedactPath(f.Path, mask), mask(f.Old), mask(f.New)
			f.Manager, f.Origin = mask(f.Manager), mask(f.Origin)
		}
	}
	p.Brake = mask(p.Brake)
	p.Findings = RedactFindings(p.Findings, mask)
}

// RedactFindings masks secret values in the texts of findings.
func RedactFindings(fs diag.Findings, mask func(string) string) diag.Findings {
	out := slices.Clone(fs)
	for i := range out {
		f := &out[i]
		f.What, f.Why, f.Fix, f.Path = mask(f.What), mask(f.Why), mask(f.Fix), RedactPath(f.Path, mask)
	}
	return out
}

// chosen are the parts of a path that somebody chose: keys of list items and names of entries in quotes. The others are the
// schema's.
var chosen = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|\[[^\]]*\]|"(?:[^"\\]|\\.)*"`)

// RedactPath masks secret values in a path of fields: the keys of items and names in quotes. What the schema names stays.
func RedactPath(path string, mask func(string) string) string {
	return chosen.ReplaceAllStringFunc(path, func(part string) string {
		n := len(part) - 1
		return part[:1] + mask(part[1:n]) + part[n:]
	})
}
