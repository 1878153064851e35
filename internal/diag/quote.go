package diag

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Quotable is a file of which lines are quoted in messages.
type Quotable struct {
	yaml   bool
	lines  []string
	secret map[int]bool // by the line that a document begins with
}

// NewQuotable is a file of that name and content.
func NewQuotable(name string, data []byte) *Quotable {
	return &Quotable{lines: strings.Split(string(data), "\n"), secret: map[int]bool{},
		yaml: slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))}
}

// Line is a line of the file, counted from 1; false where there is none, or where it stands in the declaration of a Secret.
func (q *Quotable) Line(n int) (string, bool) {
	if n < 1 || n > len(q.lines) || q.yaml && q.inSecret(n-1) {
		return "", false
	}
	return strings.TrimRight(q.lines[n-1], "\r"), true
}

var kindSecret = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret\b`)

// inSecret reports whether a line of YAML or JSON stands in a document that declares a Secret: one that cannot be
// parsed has no object to tell by.
func (q *Quotable) inSecret(at int) bool {
	first, last := at, at
	for first > 0 && !strings.HasPrefix(q.lines[first], "---") {
		first--
	}
	if secret, known := q.secret[first]; known {
		return secret
	}
	for last++; last < len(q.lines) && !strings.HasPrefix(q.lines[last], "---"); last++ {
	}
	q.secret[first] = slices.ContainsFunc(q.lines[first:last], kindSecret.MatchString)
	return q.secret[first]
}
