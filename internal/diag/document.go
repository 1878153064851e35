package diag

import (
	"strings"
	"unicode"
)

// DocumentVersion is the `v` of every document and event that `-o json` prints. docs/json.md says what changed with each.
const DocumentVersion = 2

// Words writes a lowerCamelCase value of such a document as people read it: "notStarted" is "not started".
func Words(value string) string {
	var b strings.Builder
	for _, c := range value {
		if unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
