package diag

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// verb is where a format takes somebody else's text.
var verb = lazyregexp.New(`%[-+# 0]*[0-9]*(?:\.[0-9]+)?[a-zA-Z]|%%`)

// Equal reports whether two findings say the same, whatever their sentences were made of.
func (f Finding) Equal(other Finding) bool {
	f.sentence, other.sentence, f.told, other.told = "", "", "", ""
	return f == other
}

// Because gives the finding a Why that is a sentence of our own: no server and no library said any of it.
func (f *Finding) Because(why string) { f.Why, f.told = why, why }

// Told reports whether the Why is a sentence of our own, as Because gave it.
func (f Finding) Told() bool { return f.told != "" && f.told == f.Why }

// Masked is What with mask applied to what was put into its sentence: the sentence is ours, whatever a secret is called. Where
// it is not certain which part is which, all of it is masked.
func (f Finding) Masked(mask func(string) string) string {
	whole := mask(f.What)
	if whole == f.What || f.sentence == "" {
		return whole
	}
	var out strings.Builder
	rest := f.What
	for i, part := range verb.Split(f.sentence, -1) {
		if part == "" {
			continue
		}
		at := strings.Index(rest, part)
		if at < 0 || i == 0 && at > 0 || strings.Count(f.What, part) != 1 {
			return whole
		}
		out.WriteString(mask(rest[:at]) + part)
		rest = rest[at+len(part):]
	}
	if rest != "" && verb.FindStringIndex(f.sentence) == nil {
		return whole // more was written behind it
	}
	return out.String() + mask(rest)
}

// Sentences are what What was made of, and the Why that Because gave: for who hands a finding to another process. WithSentences
// is the finding with them.
func (f Finding) Sentences() (what, why string) { return f.sentence, f.told }

// WithSentences is the finding with what Sentences told of it.
func (f Finding) WithSentences(what, why string) Finding {
	f.sentence, f.told = what, why
	return f
}
