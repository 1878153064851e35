package cuelang

import (
	"bytes"
	"fmt"
	"strings"

	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/diag"
)

// Bounds of what a YAML file may stand for when its aliases are written out: no more bytes than a file may have.
const (
	maxWrittenBytes = 16 << 20
	maxWrittenNodes = 1_000_000
)

// What is said of aliases that are too much, and what to do.
const (
	tooMuchByAliases = "aliases of this file, written out, stand for more than"
	fewerAliases     = "give the text once, where it is needed, and not in every entry"
)

// CheckAliases refuses YAML whose aliases stand for more than a file may hold, with file, line and column. Whoever gives
// YAML to a library that writes aliases out asks this first. It does not check syntax.
func CheckAliases(filename string, src []byte) diag.Findings {
	fs := FindingsFor(checkAliases(filename, src), Show{Code: "yaml"})
	for i := range fs {
		fs[i].Fix = fewerAliases
	}
	return fs
}

func checkAliases(filename string, src []byte) error {
	line, what := aliases(src)
	if what == "" {
		return nil
	}
	file := token.NewFile(filename, -1, len(src))
	file.SetLinesForContent(src)
	starts := file.Lines()
	return errors.Newf(file.Pos(starts[min(max(line, 1), len(starts))-1], token.NoRelPos), "%s", what)
}

// aliases is the line of the alias that is too much, and why; nothing when all is well, or when the text is no YAML, which
// its reader says.
func aliases(src []byte) (line int, what string) {
	if !marked(src, '&') || !marked(src, '*') {
		return 0, ""
	}
	defer func() {
		if recover() != nil { // the YAML library, on hostile input
			line, what = 0, ""
		}
	}()
	w := writing{known: map[*yaml.Node]written{}, active: map[*yaml.Node]bool{}}
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return 0, ""
		}
		if w.add(w.of(&doc)); w.tooMuch() != "" {
			return w.line, w.tooMuch()
		}
	}
}

// before are the bytes that may stand before one: spaces, signs, and the last ones of YAML's other line ends (U+0085, U+2028, U+2029), of a byte
// order mark and of a sign in UTF-16.
const before = " \t\r\n[{,:?\x85\xa8\xa9\xbf\xfe\xff\x00"

// marked reports whether a sign stands where an anchor or an alias may begin.
func marked(src []byte, sign byte) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(src[at:], sign)
		if next < 0 {
			return false
		}
		if at += next; at == 0 || strings.IndexByte(before, src[at-1]) >= 0 {
			return true
		}
	}
}

// written is how much a node is when its aliases are written out: all of it, and what of that came by aliases.
type written struct{ bytes, nodes, aliasBytes, aliasNodes int }

func (w *written) add(more written) {
	w.bytes = min(w.bytes+more.bytes, maxWrittenBytes+1)
	w.nodes = min(w.nodes+more.nodes, maxWrittenNodes+1)
	w.aliasBytes = min(w.aliasBytes+more.aliasBytes, maxWrittenBytes+1)
	w.aliasNodes = min(w.aliasNodes+more.aliasNodes, maxWrittenNodes+1)
}

// tooMuch says what is too much, "" when nothing is.
func (w written) tooMuch() string {
	switch {
	case w.aliasBytes > maxWrittenBytes:
		return fmt.Sprintf("%s %d MiB", tooMuchByAliases, maxWrittenBytes>>20)
	case w.aliasNodes > maxWrittenNodes:
		return fmt.Sprintf("%s %d values", tooMuchByAliases, maxWrittenNodes)
	}
	return ""
}

// writing adds up one file; line is that of the first alias with which something is too much.
type writing struct {
	written
	known  map[*yaml.Node]written
	active map[*yaml.Node]bool
	last   int
	line   int
}

func (w *writing) of(n *yaml.Node) written {
	if n.Kind == yaml.AliasNode {
		return w.alias(n)
	}
	if sum, ok := w.known[n]; ok {
		return sum
	}
	sum := written{bytes: len(n.Value), nodes: 1}
	if n.Anchor != "" {
		w.active[n] = true
		defer func() {
			delete(w.active, n)
			w.known[n] = sum
		}()
	}
	for _, c := range n.Content {
		sum.add(w.of(c))
		if w.line == 0 && sum.tooMuch() != "" {
			w.line = w.last
		}
	}
	return sum
}

// alias is what an alias stands for; one within its own anchor stands for nothing: the file's reader refuses it.
func (w *writing) alias(n *yaml.Node) written {
	if n.Alias == nil || w.active[n.Alias] {
		return written{}
	}
	sum := w.of(n.Alias)
	sum.aliasBytes, sum.aliasNodes, w.last = sum.bytes, sum.nodes, n.Line
	return sum
}
