package cuelang

import (
	"fmt"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// Error is an error in the form the CUE library uses, with a data path and a position of our own.
type Error struct {
	Pos     token.Pos
	Also    []token.Pos
	At      []string
	Text    string
	Wrapped error
}

var _ errors.Error = (*Error)(nil)

// Errorf makes an error at a position and data path.
func Errorf(pos token.Pos, path []string, format string, args ...any) *Error {
	return &Error{Pos: pos, At: path, Text: fmt.Sprintf(format, args...)}
}

// Error is the text with its data path and the further positions.
func (e *Error) Error() string {
	text := e.Text
	if len(e.At) > 0 {
		text = dotted(e.At) + ": " + text
	}
	for _, p := range e.Also {
		text += " (see " + p.String() + ")"
	}
	return text
}

// Position is the primary position.
func (e *Error) Position() token.Pos { return e.Pos }

// InputPositions are the further positions.
func (e *Error) InputPositions() []token.Pos { return e.Also }

// Path is the data path.
func (e *Error) Path() []string { return e.At }

// Msg is the text without the path.
func (e *Error) Msg() (format string, args []any) { return "%s", []any{e.Text} }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Wrapped }

// PathOf is a value's data path as names; list items are their index.
func PathOf(v cue.Value) []string {
	var out []string
	for _, s := range v.Path().Selectors() {
		switch {
		case s.LabelType() == cue.StringLabel:
			out = append(out, s.Unquoted())
		case s.Type() == cue.IndexLabel:
			out = append(out, strconv.Itoa(s.Index()))
		default:
			out = append(out, s.String())
		}
	}
	return out
}
