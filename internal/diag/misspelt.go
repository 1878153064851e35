package diag

import (
	"slices"
	"strconv"
	"strings"
)

// unknownField is the code of a finding about a field that does not exist.
const unknownField = "unknown-field"

// fromAbsence are codes of findings that a field may have because another one beside it is not there.
var fromAbsence = []string{"missing-field", "not-supported", "invalid-chart"}

// UnknownField is the finding about a field that does not exist among those that are known, with the one that may be meant.
func UnknownField(path, name string, pos Pos, known []string) Finding {
	f := Errorf(unknownField, "unknown field %q", name)
	f.Path, f.Pos = path, pos
	if f.Fix = DidYouMean(name, known); f.Fix == "" {
		f.Fix = "known here: " + strings.Join(known, ", ")
	}
	return f
}

// Unknown reports whether a finding is about a field that does not exist.
func (fs Findings) Unknown() bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Code == unknownField })
}

// OnlyUnknown are the findings about fields that do not exist.
func (fs Findings) OnlyUnknown() Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return f.Code != unknownField })
}

// WithoutConsequences are the findings without those that follow from a misspelt field, which is told with the right one:
// what is said about the struct it stands in and those above it, and what the fields beside it lack.
func (fs Findings) WithoutConsequences() Findings {
	var structs []string
	for _, f := range fs {
		if f.Code == unknownField && strings.HasPrefix(f.Fix, didYouMean) {
			structs = append(structs, f.within())
		}
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool {
		return f.Code != unknownField && slices.ContainsFunc(structs, func(at string) bool {
			beside, ok := strings.CutPrefix(f.Path, at+".")
			return f.Path == at || strings.HasPrefix(at, f.Path+".") ||
				ok && !strings.Contains(beside, ".") && slices.Contains(fromAbsence, f.Code)
		})
	})
}

// within is the data path of the struct that an unknown field stands in.
func (f Finding) within() string {
	at := f.Path
	if name, ok := strings.CutPrefix(f.What, "unknown field "); ok {
		at = strings.TrimSuffix(at, name) // a name that a path has in quotes
		if plain, err := strconv.Unquote(name); err == nil {
			at = strings.TrimSuffix(at, plain)
		}
	}
	return strings.TrimSuffix(at, ".")
}
