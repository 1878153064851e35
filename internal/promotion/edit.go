package promotion

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// Edit replaces one text that stands in a file by another: at a position, or behind the field's name that stands there.
type Edit struct {
	At              diag.Pos
	Field, Was, Now string
}

// Apply makes edits in the text of their file; one that does not stand where it is said is given back.
func Apply(text []byte, edits []Edit) (out []byte, failed []Edit) {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Or(b.At.Line-a.At.Line, b.At.Column-a.At.Column) }) // the last first
	for i, e := range edits {
		if i > 0 && e == edits[i-1] {
			continue
		}
		from, to, ok := spot(text, e)
		if !ok {
			failed = append(failed, e)
			continue
		}
		text = slices.Concat(text[:from], []byte(spelled(text[from:to], e.Now)), text[to:])
	}
	return text, failed
}

// spot is where the text of an edit stands.
func spot(text []byte, e Edit) (from, to int, ok bool) {
	if e.At.Line < 1 {
		return 0, 0, false
	}
	for range e.At.Line - 1 {
		n := bytes.IndexByte(text[from:], '\n')
		if n < 0 {
			return 0, 0, false
		}
		from += n + 1
	}
	if from += e.At.Column - 1; e.At.Column < 1 || from >= len(text) {
		return 0, 0, false
	}
	if label := regexp.MustCompile(`^["']?` + regexp.QuoteMeta(e.Field) + `["']?[ \t]*:[ \t]*`).Find(text[from:]); e.Field != "" && label != nil {
		from += len(label)
	}
	if from >= len(text) {
		return 0, 0, false
	}
	return scalar(text, from, e)
}

// scalar is the text of an edit that begins here: a string in double quotes, in YAML also in single ones or bare.
func scalar(text []byte, from int, e Edit) (int, int, bool) {
	rest := text[from:]
	cue := strings.HasSuffix(e.At.File, ".cue")
	switch {
	case rest[0] == '"':
		end := bytes.IndexAny(rest[1:], "\"\n")
		if end < 0 || rest[1+end] != '"' {
			return 0, 0, false
		}
		s, err := strconv.Unquote(string(rest[:end+2]))
		return from, from + end + 2, err == nil && s == e.Was
	case cue:
		return 0, 0, false
	case rest[0] == '\'':
		quoted := "'" + e.Was + "'"
		return from, from + len(quoted), bytes.HasPrefix(rest, []byte(quoted)) && !strings.Contains(e.Was, "'")
	}
	end := from + len(e.Was)
	// of a text that is empty there is nothing to see without quotes
	return from, end, e.Was != "" && bytes.HasPrefix(rest, []byte(e.Was)) && (end == len(text) || bytes.IndexByte([]byte(" \t\r\n,]}"), text[end]) >= 0)
}

// bare are texts that YAML reads as texts without quotes.
var bare = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/@:+-]*$`)

// spelled is a text as the literal that it stands for was spelled.
func spelled(old []byte, text string) string {
	switch {
	case old[0] == '"' || strings.ContainsRune(text, '\''):
		return strconv.Quote(text)
	case old[0] == '\'':
		return "'" + text + "'"
	}
	_, number := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	_, hex := strconv.ParseInt(text, 0, 64)
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if !bare.MatchString(text) || strings.HasSuffix(text, ":") || number == nil || hex == nil || slices.Contains(words, strings.ToLower(text)) || dated.MatchString(text) {
		return strconv.Quote(text)
	}
	return text
}

// dated are texts that YAML may read as a time.
var dated = lazyregexp.New(`^\d{4}-\d|^\d+(:\d+)+$`)
