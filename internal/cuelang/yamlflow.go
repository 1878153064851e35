package cuelang

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

const (
	// A file that is longer is not searched for the line, and braces that are nested deeper are not told apart.
	longestSearched, deepestFlow = 128 << 10, 16
	// mostParsed are the bytes that are parsed to find the line of one fault: some tenths of a second.
	mostParsed = 4 << 20

	expectedInFlow, expectedNode = "did not find expected ',' or '", "did not find expected node content"
)

// inFlow reports that braces or brackets of YAML go on where they cannot.
func inFlow(err error) bool {
	return err != nil && (strings.Contains(err.Error(), expectedInFlow) || strings.Contains(err.Error(), expectedNode))
}

// YAMLLine is the line that a YAML library means: its parser counts from 0, its scanner from 1. 0 is none that it names.
func YAMLLine(line int, said string) int {
	for _, parser := range []string{expectedInFlow, expectedNode, "did not find expected key", "did not find expected '-' indicator", "did not find expected <"} {
		if strings.Contains(said, parser) {
			return line + 1
		}
	}
	return line
}

// flowLine is where the braces or brackets begin that are wrong or open at the end of a text, 0 where the library does not
// say. Of those that begin on the first line it says where it gave up instead: so another line is put before it.
func flowLine(name string, text []byte) int {
	for _, end := range []string{"", "\n\"\" \"\""} {
		_, err := FromYAML(name, slices.Concat([]byte("#\n"), text, []byte(end)))
		if err == nil || !strings.Contains(err.Error(), expectedInFlow) {
			continue
		}
		if m := textPos.FindStringSubmatch(firstLine(err.Error())); m != nil {
			line, _ := strconv.Atoi(m[2])
			return line
		}
	}
	return 0
}

type closing int

const (
	closes closing = iota
	broken
	unknown
)

// faultSearch parses the beginnings of one faulty file.
type faultSearch struct {
	name string
	left int // bytes that it may still parse
}

func (s *faultSearch) parse(text []byte) error {
	s.left -= len(text)
	_, err := FromYAML(s.name, text)
	return err
}

// ended says what a text is that somebody would end with the braces and brackets that it has open: unknown too where enough
// was parsed.
func (s *faultSearch) ended(text []byte) closing {
	text = append(bytes.Clone(text), '\n')
	err := s.parse(text)
	for range min(bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("["))+1, deepestFlow) {
		switch {
		case !inFlow(err):
			return closes
		case s.left <= 0:
			return unknown
		case strings.Contains(err.Error(), expectedNode):
			text = append(text, " null"...)
			if err = s.parse(text); err != nil && strings.Contains(err.Error(), expectedNode) {
				return broken
			}
			continue
		case strings.Contains(err.Error(), expectedInFlow+"}"):
			text = append(text, '}')
		default:
			text = append(text, ']')
		}
		err = s.parse(text)
	}
	switch {
	case !inFlow(err):
		return closes
	case bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > deepestFlow:
		return unknown
	}
	return broken
}

// flowFault says where braces or brackets go on as they cannot. The library names the line at which they begin.
func flowFault(f *diag.Finding, name string, data []byte) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	opened := flowLine(name, data)
	f.Pos.Line = max(1, min(cmp.Or(opened, f.Pos.Line), len(lines)))
	if opened == 0 || len(data) > longestSearched {
		return
	}
	s := &faultSearch{name: name, left: mostParsed}
	wrong := opened + sort.Search(len(lines)-opened+1, func(n int) bool { return s.ended(bytes.Join(lines[:opened+n], nil)) == broken })
	if s.left <= 0 {
		return
	}
	over := wrong > len(lines) && s.ended(data) == closes
	if over || wrong > opened && wrong <= len(lines) && isNext(lines[opened-1], lines[wrong-1]) {
		f.Pos.Line, f.What = opened, "a { or a [ that is opened here is not closed"
		return
	}
	if wrong > len(lines) {
		return
	}
	f.Pos.Line = wrong
	f.Fix = "between { and }, and between [ and ], a comma parts the entries"
	if wrong > opened {
		f.Fix += "; they are opened on line " + strconv.Itoa(opened)
	}
	if signs := unquotedSigns(string(lines[wrong-1]), wrong == opened); signs != "" {
		f.Fix = "between { and }, and between [ and ], a text with " + signs + " in it stands in quotes"
	}
}

// isNext reports that a line is a new entry of what the first one is an entry of, or of something around it: indented no further,
// and no end of braces.
func isNext(first, line []byte) bool {
	indent := func(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
	rest := bytes.TrimSpace(line)
	return len(rest) > 0 && bytes.IndexByte([]byte("}],#"), rest[0]) < 0 && indent(line) <= indent(first)
}

var (
	inQuotes = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	// What ends a text between braces, and is not meant to: a?b, ${a}, a[0], and a: b as a value.
	endingSigns = []struct {
		sign string
		in   *lazyregexp.Regexp
	}{
		{"?", lazyregexp.New(`[^\s,{}\[\]]\?`)},
		{"{", lazyregexp.New(`[^\s,:{}\[\]]\{`)},
		{"[", lazyregexp.New(`[^\s,:{}\[\]]\[`)},
		{"a colon and a space", lazyregexp.New(`:\s+[^\s,{}\[\]:]+:\s`)},
	}
)

// unquotedSigns are those on a line that end a text between braces or brackets, which on that line begin or do not.
func unquotedSigns(line string, begin bool) string {
	line = inQuotes.ReplaceAllString(line, "text")
	if at := strings.IndexAny(line, "{["); begin && at >= 0 {
		line = line[at+1:]
	}
	line, _, _ = strings.Cut(line, " #")
	var out []string
	for _, s := range endingSigns {
		if s.in.MatchString(line) {
			out = append(out, s.sign)
		}
	}
	return strings.Join(out, " or ")
}
