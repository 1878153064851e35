package nextstep

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// named is a command about a bundle as texts name it, and what stands behind it; again is the apply that goes on with a release.
var (
	named = lazyregexp.New(`\bhawser (?:approve|resume|pause|abort|rollback|history|status|drift) ([a-z0-9]+(?:[.-][a-z0-9]+)*)`)
	again = lazyregexp.New(`\bwith: hawser apply$`)
)

// prose are the words that go on with a sentence behind a command's name, where no bundle is named.
var prose = []string{"a", "adds", "and", "asks", "diff", "ends", "gives", "goes", "is", "keeps", "leaves", "lets", "lists", "makes", "names", "of", "or", "show", "shows", "takes", "tells",
	"then", "waits", "with", "without"}

// Completed is a text in which commands about a bundle have the flags that reach the clusters the text is about ("--fleet fleet.yaml"), as
// far as they have none: rooms that know no flags say "hawser approve shop". Without flags it is the text.
func Completed(text, access string) string {
	if access == "" {
		return text
	}
	first, _, _ := strings.Cut(access, " ")
	if again.MatchString(text) {
		text += " -f FILE " + access
	}
	var out strings.Builder
	at := 0
	for _, m := range named.FindAllStringSubmatchIndex(text, -1) {
		rest, end := text[m[1]:], m[1]
		if i := strings.IndexAny(rest, ";\n"); i >= 0 {
			rest = rest[:i]
		}
		if slices.Contains(prose, text[m[2]:m[3]]) || strings.Contains(rest, first+" ") {
			continue
		}
		out.WriteString(text[at:end] + " " + access)
		at = end
	}
	return out.String() + text[at:]
}
