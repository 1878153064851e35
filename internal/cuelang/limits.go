package cuelang

import (
	"bytes"
	"unicode/utf8"

	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/diag"
)

// Limits bound what is read and what is decoded; a zero field means the default.
type Limits struct {
	// SourceBytes is the size of one source file, Files the number of files of one load.
	SourceBytes int
	Files       int
	// Nesting is the depth of brackets, of fields within fields (a: b: c: 1) and of signs in front of one another, Chain the
	// number of tokens between two separators (a parser recurses on all of them).
	Nesting int
	Chain   int
	// OutputBytes is the size of one decoded value as JSON.
	OutputBytes int
}

// DefaultLimits are generous for people and small for machines.
func DefaultLimits() Limits {
	return Limits{SourceBytes: 16 << 20, Files: 5000, Nesting: 500, Chain: 20000, OutputBytes: 64 << 20}
}

// WithDefaults fills the fields that are zero.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		have *int
		def  int
	}{
		{&l.SourceBytes, d.SourceBytes}, {&l.Files, d.Files}, {&l.Nesting, d.Nesting}, {&l.Chain, d.Chain},
		{&l.OutputBytes, d.OutputBytes},
	} {
		if *f.have <= 0 {
			*f.have = f.def
		}
	}
	return l
}

// CheckSource checks one CUE source before it is parsed: size, UTF-8, NUL bytes, nesting, and the size of values that it
// makes by repeating others. It does not check syntax.
func CheckSource(filename string, src []byte, l Limits) diag.Findings {
	l = l.WithDefaults()
	if len(src) > l.SourceBytes {
		f := diag.Errorf("source-too-large", "file has %d bytes, at most %d are read", len(src), l.SourceBytes)
		f.Pos = diag.Pos{File: filename}
		return diag.Findings{f}
	}
	if fs := CheckText(filename, src); len(fs) > 0 {
		return fs
	}
	if pos, what := tooDeep(filename, src, l); what != "" {
		f := diag.Errorf("source-too-deep", "%s", what)
		f.Pos = diag.Pos{File: filename, Line: pos.Line(), Column: pos.Column()}
		return diag.Findings{f}
	}
	return checkSize(filename, src)
}

// CheckText checks that a file is text: UTF-8 without NUL bytes. The finding has file, line and column.
func CheckText(filename string, src []byte) diag.Findings {
	return FindingsFor(plainText(filename, src), Show{Code: "not-text"})
}

// plainText refuses what no text file holds: NUL bytes and invalid UTF-8 (UTF-16 files are both).
func plainText(filename string, src []byte) error {
	at := bytes.IndexByte(src, 0)
	what := "NUL byte: this is not a text file in UTF-8"
	if at < 0 {
		if utf8.Valid(src) {
			return nil
		}
		at, what = invalidAt(src), "invalid UTF-8"
	}
	file := token.NewFile(filename, -1, len(src))
	file.SetLinesForContent(src)
	return errors.Newf(file.Pos(at, token.NoRelPos), "%s", what)
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

// tooDeep scans tokens and returns where nesting or chaining passes the limits.
func tooDeep(filename string, src []byte, l Limits) (pos token.Pos, what string) {
	file := token.NewFile(filename, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Pos, string, []any) {}, 0)
	var open []bool // true: this bracket is the start of an interpolation
	fields := []int{0}
	entries := []int{0} // separators since each bracket was opened
	below := 0          // the sum of fields: colons since the last separator, by bracket
	signs, chain := 0, 0
	for {
		at, tok, _ := s.Scan()
		for len(fields) > len(open)+1 {
			below -= fields[len(fields)-1]
			fields = fields[:len(fields)-1]
		}
		for len(fields) < len(open)+1 {
			fields = append(fields, 0)
		}
		entries = append(entries[:min(len(entries), len(fields))], make([]int, max(0, len(fields)-len(entries)))...)
		switch top := len(fields) - 1; tok {
		case token.COLON:
			fields[top]++
			below++
		case token.COMMA:
			below -= fields[top]
			fields[top] = 0
			if entries[top]++; entries[top] > maxEntries {
				return at, "too many entries in one list or struct"
			}
		}
		switch tok {
		case token.EOF:
			return token.NoPos, ""
		case token.INTERPOLATION:
			open = append(open, true)
			chain++
			// The scanner reports the bracket itself next.
			if _, t, _ := s.Scan(); t == token.EOF {
				return token.NoPos, ""
			}
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, false)
			chain = 0
		case token.RPAREN, token.RBRACE, token.RBRACK:
			open = closed(&s, open)
		case token.COMMA, token.COLON, token.COMMENT:
			chain = 0
		case token.SUB, token.ADD, token.NOT, token.MUL, token.ARROW:
			signs++
			chain++
		default:
			signs = 0
			chain++
		}
		if len(open)+signs+below > l.Nesting {
			return at, "nested too deeply"
		}
		if chain > l.Chain {
			return at, "one expression is too long"
		}
	}
}

// closed pops the innermost bracket and resumes the string an interpolation stands in.
func closed(s *scanner.Scanner, open []bool) []bool {
	if len(open) == 0 {
		return open
	}
	top := open[len(open)-1]
	open = open[:len(open)-1]
	if top {
		if rest := s.ResumeInterpolation(); len(rest) > 0 && rest[len(rest)-1] == '(' {
			open = append(open, true)
			s.Scan()
		}
	}
	return open
}
