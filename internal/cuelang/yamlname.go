package cuelang

import (
	"strconv"
	"strings"

	"cuelang.org/go/cue/errors"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// cueError is CUE's interface under a name that hides no method.
type cueError = errors.Error

// yamlError is what the YAML library says of a file, which it begins with the file's name and the line: a name may have anything in it.
type yamlError struct {
	cueError
	file, said string
	line       int // 0 for none
}

// yamlSaid is what follows the name: a fault on the first line has no line.
var yamlSaid = lazyregexp.New(`^:(?:(\d+):)? ((?s:.*))$`)

// ofFile is an error that has no position with the file that its text begins with; any other error as it is.
func ofFile(name string, err error) error {
	all := errors.Errors(err)
	if len(all) != 1 || len(errors.Positions(err)) > 0 {
		return err
	}
	rest, named := strings.CutPrefix(err.Error(), name)
	m := yamlSaid.FindStringSubmatch(rest)
	if !named || m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	return &yamlError{cueError: all[0], file: name, line: line, said: m[2]}
}

// describe tells a finding what the error is: line and kind.
func (e *yamlError) describe(f *diag.Finding, s Show) {
	if file := s.file(e.file); file != "" {
		f.Pos = diag.Pos{File: file, Line: YAMLLine(e.line, e.said)}
	}
	text := firstLine(s.Redact(withoutBytes(strings.TrimSpace(e.said)))) // masked before anything is cut off
	f.What = YAMLFault(text)
}
