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
		hidden = secret(text) || q.inSecret(n-1, secret)
		q.secret[n] = hidden
	}
	if hidden {
		return "", false
	}
	return text, true
}

// longestText is how many lines of a text are looked at for what it is the text of.
const longestText = 200

// inSecret reports whether a line stands in a text of several lines that is a secret, by what it begins with: a key, or the name of the field (password: |).
// Lines that are indented wrongly, which is what messages are about, belong to it where they look like no field.
func (q *Quotable) inSecret(at int, secret func(line string) bool) bool {
	own := q.lines[at]
	least, fields := indentation(own), strings.Contains(own, ":")
	for i := at - 1; i >= 0 && i >= at-longestText; i-- {
		line := strings.TrimSpace(q.lines[i])
		switch {
		case line == "":
		case strings.Contains(line, "-----BEGIN "):
			return !strings.Contains(line, "CERTIFICATE") && !strings.Contains(line, "PUBLIC ")
		case strings.Contains(line, "-----END "), line == `"""`, line == "'''":
			return false
		case opensText(line):
			field := strings.TrimRight(opened.ReplaceAllString(line, ":"), `"'# `)
			return field != "" && (least > indentation(q.lines[i]) || !fields) && secret(field+" x0x0x0")
		default:
			least, fields = min(least, indentation(q.lines[i])), fields || strings.Contains(line, ": ") || strings.HasSuffix(line, ":")
		}
	}
	return false
}

// opened is what a text of several lines begins with in YAML: | or >, behind a tag or an anchor, before a comment.
var opened = lazyregexp.New(`[:-](?:\s+[!&]\S*)*\s+[|>][-+0-9]*(?:\s+#.*)?$`)

// opensText reports whether a line ends with what a text of several lines begins with: | and > of YAML, the quotes of CUE behind a field.
func opensText(line string) bool {
	if strings.HasSuffix(line, `"""`) || strings.HasSuffix(line, "'''") {
		return strings.Contains(line, ":")
	}
	return strings.ContainsAny(line, "|>") && opened.MatchString(line)
}

// indentation is how many blanks a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

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
