package cuelang

import (
	"bytes"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/diag"
)

const (
	// maxValue is the size of one text, bytes or list that an expression may make; cost is about what an item of a list takes.
	maxValue = 64 << 20
	itemCost = 64
	// maxRepeat is the count that CUE itself allows: a larger one makes an error and nothing else.
	maxRepeat = 1_000_000
	// someText, someItems and sometimes are what is assumed of a text, a list and a count that are not known where one is repeated.
	someText  = 1 << 10
	someItems = 4
	sometimes = 10_000
	// maxSteps and maxDepth bound the estimate of one file, or package.
	maxSteps = 1_000_000
	maxDepth = 10_000
)

// oversized is where a file makes a text, bytes or a list of more than maxValue by repeating another: CUE bounds how often,
// and not what comes of it. It is an estimate, from literals through references: what it cannot follow has a size that is
// assumed where it is repeated, and none elsewhere.
func oversized(filename string, src []byte) (token.Pos, bool) {
	if !repeats(src) {
		return token.NoPos, false
	}
	f, err := parser.ParseFile(filename, src)
	if err != nil {
		return token.NoPos, false // whoever reads it says so
	}
	e := newEstimate()
	e.files([]*ast.File{f}, nil)
	return e.at, e.at.IsValid()
}

// multiplying are the functions whose result may be much larger than what they are given.
var multiplying = []string{"Repeat", "Replace", "ReplaceAll", "ReplaceAllLiteral", "Join", "Indent", "Lsh", "FormatFloat"}

const (
	tooLarge   = "this makes a value of more than 64 MiB"
	repeatLess = "repeat less: no object of Kubernetes has more than a few MiB"
)

// repeats reports whether a source may repeat something: a multiplication has an operand before its sign, on the same line,
// and a default has none.
func repeats(src []byte) bool {
	for _, name := range multiplying {
		if bytes.Contains(src, []byte(name)) {
			return true
		}
	}
	for i, c := range src {
		if c != '*' {
			continue
		}
		before := bytes.TrimRight(src[:i], " \t\r")
		if len(before) > 0 && !bytes.ContainsRune([]byte("|:(,[{=&*\n"), rune(before[len(before)-1])) {
			return true
		}
	}
	return false
}

// checkSize is the finding of a file that makes too much of little.
func checkSize(filename string, src []byte) diag.Findings {
	at, found := oversized(filename, src)
	if !found {
		return nil
	}
	f := diag.Errorf("value-too-large", "%s", tooLarge)
	f.Pos = Pos(at)
	f.Fix = repeatLess
	return diag.Findings{f}
}

// Build makes a value of an instance, unless a file of it makes too much of little by what other files
// of it, or packages that it imports, declare: each file by itself is CheckSource's.
func Build(ctx *cue.Context, inst *build.Instance) (cue.Value, error) {
	if at, found := oversizedPackage(inst); found {
		return cue.Value{}, errors.Newf(at, "%s: %s", tooLarge, repeatLess)
	}
	return ctx.BuildInstance(inst), nil
}

// oversizedPackage is oversized of the files of an instance together, with what they refer to in others.
func oversizedPackage(inst *build.Instance) (token.Pos, bool) {
	if !slices.ContainsFunc(inst.Files, multiplies) {
		return token.NoPos, false
	}
	e := newEstimate()
	e.files(inst.Files, inst.Imports)
	return e.at, e.at.IsValid()
}

// multiplies reports whether a file may repeat something.
func multiplies(f *ast.File) (found bool) {
	ast.Walk(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || n.Op == token.MUL || n.Op == token.ADD
		case *ast.Interpolation:
			found = true
		case *ast.SelectorExpr:
			name, _, _ := ast.LabelName(n.Sel)
			found = found || slices.Contains(multiplying, name)
		}
		return !found
	}, nil)
	return found
}
