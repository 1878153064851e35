package cuelang

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// maxOtherPlaces is how many further positions a finding lists.
const maxOtherPlaces = 3

// Findings turns an error of the CUE library into findings, one per message: the user's file and line, the data path
// and the text passed through redact (nil = as is). File names below the directory base are shown relative to it,
// others as they were given to CUE. Repetitions are dropped, the order is stable, and of a failed disjunction the
// first message that says something about a non-default branch is kept. nil gives nil.
func Findings(err error, redact func(string) string, base string) diag.Findings {
	return FindingsFor(err, Show{Redact: redact, Base: base})
}

// Show says how FindingsFor presents CUE errors.
type Show struct {
	// Redact is applied to every text; nil leaves it as it is.
	Redact func(string) string
	// Base is the directory file names are shown relative to; "" leaves them as they are.
	Base string
	// At is the place that stands for a position, nil the position itself.
	At func(token.Pos) token.Pos
	// Rename turns a file name (after Base) into what the user knows it by; "" hides the position. nil keeps it.
	Rename func(file string) string
	// Behind reports that positions in the file (its name as CUE has it) are constraints rather than the user's own
	// text: they come after better ones. nil means none.
	Behind func(file string) bool
	// Code of the findings, "cue" when empty.
	Code string
}

// FindingsFor is Findings with all choices open.
func FindingsFor(err error, s Show) diag.Findings {
	if err == nil {
		return nil
	}
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	if s.Code == "" {
		s.Code = "cue"
	}
	var out diag.Findings
	for _, e := range branches(errors.Errors(err)) {
		out = append(out, s.finding(e))
	}
	return out.Sorted()
}

func (s Show) finding(e errors.Error) diag.Finding {
	path := strings.Join(e.Path(), ".")
	text := firstLine(s.Redact(Said(e))) // masked before anything is cut off
	if rest, ok := strings.CutPrefix(text, s.Redact(path)+": "); ok && path != "" {
		text = rest
	}
	f := diag.Finding{Severity: diag.Error, Code: s.Code, What: text, Path: s.Redact(path)}
	places := s.places(errors.Positions(e))
	if len(places) > 0 {
		f.Pos = places[0]
		var also []string
		for _, p := range places[1:min(len(places), maxOtherPlaces+1)] {
			also = append(also, p.String())
		}
		if len(also) > 0 {
			f.Why = "see " + strings.Join(also, ", ")
		}
	}
	f.Fix = jsonFix(text)
	if y, ok := e.(*yamlError); ok {
		y.describe(&f, s)
		return f
	}
	if m := textPos.FindStringSubmatch(text); m != nil && len(places) == 0 {
		line, _ := strconv.Atoi(m[2])
		if file := s.file(m[1]); file != "" {
			f.Pos = diag.Pos{File: file, Line: YAMLLine(line, m[3])}
		}
		f.What = YAMLFault(m[3])
	}
	return f
}

// textPos is how the YAML reader gives positions: in the text, and of a fault on the first line none but the file.
var textPos = lazyregexp.New(`^([^:\s]+\.(?:ya?ml|json)):(?:(\d+):)? (.*)$`)

// places are the positions of an error as the user knows them, best first: the user's own files, then constraints,
// then vendored packages.
func (s Show) places(all []token.Pos) []diag.Pos {
	var ranked [3][]diag.Pos
	for _, p := range all {
		if s.At != nil {
			p = s.At(p)
		}
		place := diag.Pos{File: s.file(p.Filename()), Line: p.Line(), Column: p.Column()}
		if !p.IsValid() || place.File == "" {
			continue
		}
		rank := 0
		switch {
		case strings.Contains(p.Filename(), "cue.mod/"):
			rank = 2
		case s.Behind != nil && s.Behind(p.Filename()):
			rank = 1
		}
		if !slices.Contains(ranked[rank], place) {
			ranked[rank] = append(ranked[rank], place)
		}
	}
	return slices.Concat(ranked[:]...)
}

func (s Show) file(name string) string {
	if name == "" || strings.HasSuffix(name, SchemaSuffix) {
		return ""
	}
	if s.Base != "" {
		if rel, err := filepath.Rel(s.Base, name); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
	}
	if s.Rename != nil {
		name = s.Rename(name)
	}
	return name
}

// bytesLiterals are CUE's bytes, as it writes them: parts of binary values, which nobody knows again.
var bytesLiterals = lazyregexp.New(`(^|[\s(\[{,:|&=<>!~+*/-])(?s:\'{3}.*?\'{3}|#\'.*?\'#|\'(?:[^\'\\\n]|\\.)*\')([\s)\]},:|&]|$)`)

// withoutBytes is a text without what bytes literals hold.
func withoutBytes(text string) string {
	text = ownQuotes.Replace(text)
	text = parserTokens.ReplaceAllString(text, "$1 \x00$2\x00")
	text = parserEnds.ReplaceAllString(text, "$1 \x00$2\x00")
	text = parserSigns.ReplaceAllString(text, "$1 \x00$2\x00")
	text = operators.ReplaceAllString(text, "$1\x00$2\x00$3")
	return strings.ReplaceAll(bytesLiterals.ReplaceAllString(text, "$1'***'$2"), "\x00", "'")
}

// ownQuotes are sentences of the evaluator's that have something in quotes, and nothing of anybody's in them.
var ownQuotes = func() *strings.Replacer {
	var pairs []string
	for _, sentence := range []string{"'**' is not supported in patterns", "identifiers starting with '__' are reserved", "illegal '_' in number",
		"illegal token '..'; expected '.'", "attribute missing ')'", "attribute missing ']'", "attribute missing '}'", "unmatched ')'",
		"use 'else' with single 'if' or 'try' clause", "use 'otherwise' for comprehensions with multiple clauses or 'for' clauses"} {
		pairs = append(pairs, sentence, strings.ReplaceAll(sentence, "'", "\x00"))
	}
	return strings.NewReplacer(pairs...)
}()

// parserTokens are the names of tokens in what a parser says: expected label or '}', found 'EOF'; parserEnds the second of two that
// a YAML library expected: did not find expected ',' or '}'; parserSigns the sign that
// it stumbled over: missing ',' in list literal, invalid character '}' looking for a value.
var (
	parserTokens = lazyregexp.New(`\b((?:expected|found)(?: [a-z]+){0,5}) '(EOF|ATTRIBUTE|IDENT|INT|FLOAT|STRING|newline|import|package|for|in|if|let|null|true|false|[^\w\s']{1,3})'`)
	parserEnds   = lazyregexp.New(`\b(expected \x00[^\w\s\x00]\x00 or) '([\]}])'`)
	parserSigns  = lazyregexp.New(`\b(missing|unexpected|(?:invalid|illegal) character(?: U\+[0-9A-F]{4,6})?) '([^\w\s']{1,3}|\\[^\w\s])'`)
)

// operators are those in what the evaluator says of operands: invalid operands 1 and 'x' to '+' (type int and bytes), invalid left-hand
// value to '&' (type ...), invalid operand x ('+' requires concrete value), operand x of '!' not concrete (was string).
var operators = lazyregexp.New(`( (?:to|of) |\()'([^\w\s']{1,3}|div|mod|quo|rem)'( \(types? | requires concrete value\)| not concrete \(was )`)

// Said is what an error of the evaluator says, without the pieces of values in it that nobody knows again.
func Said(e errors.Error) string { return withoutBytes(withoutPieces(whole(e))) }

// whole is the error's own text.
func whole(e errors.Error) string { return strings.TrimSpace(errors.String(e)) }

// message is the error's own text without positions.
func message(e errors.Error) string { return firstLine(whole(e)) }

func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ":")
}

// branches replaces the messages of a failed disjunction (a header and one message per branch, at or below the
// header's path) by the one that helps most.
func branches(all []errors.Error) []errors.Error {
	var out []errors.Error
	for i := 0; i < len(all); i++ {
		if !isHeader(all[i]) {
			out = append(out, all[i])
			continue
		}
		head := all[i].Path()
		var below []errors.Error
		for i+1 < len(all) && under(all[i+1].Path(), head) {
			i++
			if !isHeader(all[i]) {
				below = append(below, all[i])
			}
		}
		if e := noneOf(below); e != nil {
			out = append(out, e)
		} else if best := bestBranch(below); best != nil {
			out = append(out, best)
		} else {
			out = append(out, all[min(i, len(all)-1)])
		}
	}
	return out
}

// noneOf says it in one sentence when a value conflicts with every branch of a disjunction of plain values.
func noneOf(below []errors.Error) errors.Error {
	if len(below) < 2 {
		return nil
	}
	var branches []string
	value := ""
	for i, e := range below {
		a, b, ok := conflict(message(e))
		if !ok || !slices.Equal(e.Path(), below[0].Path()) {
			return nil
		}
		if i == 0 {
			// The value is the side both of the first two messages have.
			a2, b2, _ := conflict(message(below[1]))
			if value = a; a != a2 && a != b2 {
				value = b
			}
		}
		switch value {
		case a:
			branches = append(branches, b)
		case b:
			branches = append(branches, a)
		default:
			return nil
		}
	}
	return &Error{
		Pos: below[0].Position(), Also: below[0].InputPositions(), At: below[0].Path(),
		Text: "value " + value + " is none of " + strings.Join(branches, ", "),
	}
}

var conflicting = lazyregexp.New(`^(?:.*: )?conflicting values (\S+) and (\S+)(?: \(.*\))?$`)

// conflict returns the two sides of a message on conflicting values, for values without spaces.
func conflict(text string) (a, b string, ok bool) {
	m := conflicting.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

func isHeader(e errors.Error) bool {
	format, _ := e.Msg()
	return strings.Contains(format, "errors in empty disjunction")
}

func under(path, head []string) bool {
	return len(path) >= len(head) && slices.Equal(path[:len(head)], head)
}

// bestBranch prefers the deepest message, then one that is no mere mismatch with a literal (the default of a
// disjunction usually is one).
func bestBranch(es []errors.Error) errors.Error {
	var best errors.Error
	score := func(e errors.Error) int {
		n := 4 * len(e.Path())
		text := message(e)
		if !strings.Contains(text, "incompatible list lengths") {
			n += 2
		}
		if !strings.Contains(text, "conflicting values") {
			n++
		}
		return n
	}
	for _, e := range es {
		if best == nil || score(e) > score(best) {
			best = e
		}
	}
	return best
}
