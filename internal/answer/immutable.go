package answer

import "strings"

// LooksImmutable guesses from an API server's words that a field cannot be changed, for a hint: only a dry run knows.
func LooksImmutable(reason string) bool {
	return strings.Contains(reason, "immutable") || strings.Contains(reason, "Forbidden: updates to") || strings.Contains(reason, "may not change once set")
}
