package diag

import (
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Quotable is a file of which lines are quoted in messages: CUE, templates, and documents of YAML and JSON that say what they are.
// Of anything else (a .env that somebody named as a manifest, a file of values) position and mistake are told, and no line.
type Quotable struct {
	yaml, none bool
	lines      []string
	hidden     map[int]bool // by the line that a document begins with
	secret     map[int]bool // by line
}

// NewQuotable is a file of that name and content.
func NewQuotable(name string, data []byte) *Quotable {
	ext := strings.ToLower(filepath.Ext(name))
	q := &Quotable{lines: strings.Split(string(data), "\n"), hidden: map[int]bool{}, secret: map[int]bool{}, yaml: slices.Contains([]string{".yaml", ".yml", ".json"}, ext)}
	q.none = !q.yaml && ext != ".cue" && ext != ".tpl" && filepath.Base(name) != "NOTES.txt"
	if filepath.Base(name) == "hawser.yaml" {
		q.yaml = false // says by its name what it is
	}
	return q
}

// Line is a line of the file, counted from 1; false where there is none, or where it is not quoted: in the declaration of a Secret,
// in a kubeconfig, in what is no document, or where secret says so, which is asked once for each line: many messages may be about a long one.
func (q *Quotable) Line(n int, secret func(line string) bool) (string, bool) {
	if n < 1 || n > len(q.lines) || q.none || q.yaml && q.isHidden(n-1) {
		return "", false
	}
	text := strings.TrimRight(q.lines[n-1], "\r")
	hidden, known := q.secret[n]
	if !known {
		hidden = secret(text)
		q.secret[n] = hidden
	}
	if hidden {
		return "", false
	}
	return text, true
}

var (
	// document is a line that says what a document is; kindSecret one that says that it holds secrets.
	document   = lazyregexp.New(`(?:^|[{,]\s*|^\s+)["']?(?:apiVersion|kind|bundle|fleet|runtime)["']?\s*:`)
	kindSecret = lazyregexp.New(`\bkind["']?\s*:\s*["']?(?:Secret|SecretList|Config)\b`)
)

// isHidden reports whether a line of YAML or JSON stands in a document that declares a Secret, or in none: one that cannot be
// parsed has no object to tell by.
func (q *Quotable) isHidden(at int) bool {
	first, last := at, at
	for first > 0 && !strings.HasPrefix(q.lines[first], "---") {
		first--
	}
	if hidden, known := q.hidden[first]; known {
		return hidden
	}
	for last++; last < len(q.lines) && !strings.HasPrefix(q.lines[last], "---"); last++ {
	}
	lines := q.lines[first:last]
	q.hidden[first] = slices.ContainsFunc(lines, kindSecret.MatchString) || !slices.ContainsFunc(lines, document.MatchString)
	return q.hidden[first]
}
