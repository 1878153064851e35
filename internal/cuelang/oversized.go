package cuelang

import (
	"bytes"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
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
	// maxSteps and maxDepth bound the estimate of one file.
	maxSteps = 1_000_000
	maxDepth = 10_000
)

// oversized is where a file makes a text, bytes or a list of more than maxValue by repeating another: CUE bounds how often,
// and not what comes of it. It is an estimate, from literals through references: what it cannot follow has no size.
func oversized(filename string, src []byte) (token.Pos, bool) {
	if !repeats(src) {
		return token.NoPos, false
	}
	f, err := parser.ParseFile(filename, src)
	if err != nil {
		return token.NoPos, false // whoever reads it says so
	}
	e := estimate{sizes: map[ast.Node]size{}, steps: maxSteps}
	e.decls(f.Decls, nil)
	return e.at, e.at.IsValid()
}

// repeats reports whether a source may repeat something: a multiplication has an operand before its sign, on the same line,
// and a default has none.
func repeats(src []byte) bool {
	if bytes.Contains(src, []byte("Repeat")) || bytes.Contains(src, []byte("Replace")) {
		return true
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

// size is what is known of a value: the bytes of a text or list, with the largest of its items; the number that it is.
type size struct{ bytes, item, number float64 }

func (s size) or(t size) size {
	return size{max(s.bytes, t.bytes), max(s.item, t.item), max(s.number, t.number)}
}

// scope is where names are looked up.
type scope struct {
	parent *scope
	names  map[string][]meaning
}

// meaning is an expression where it stands. An item stands for each one of a list.
type meaning struct {
	x    ast.Expr
	in   *scope
	item bool
}

type estimate struct {
	sizes map[ast.Node]size // of expressions; zero while one is looked at
	steps int
	depth int
	at    token.Pos // the first that is too large
}

// scopeOf is the scope that declarations make.
func scopeOf(decls []ast.Decl, parent *scope) *scope {
	s := &scope{parent, map[string][]meaning{}}
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.LetClause:
			s.add(d.Ident.Name, d.Expr)
		case *ast.Field:
			label, value := d.Label, d.Value
			if a, ok := label.(*ast.Alias); ok {
				s.add(a.Ident.Name, value)
				if l, ok := a.Expr.(ast.Label); ok {
					label = l
				}
			}
			if name, _, err := ast.LabelName(label); err == nil {
				s.add(name, value)
			}
			if d.Alias != nil && d.Alias.Field != nil {
				s.add(d.Alias.Field.Name, value)
			}
		}
	}
	return s
}

func (s *scope) add(name string, x ast.Expr) {
	s.names[name] = append(s.names[name], meaning{x, s, false})
}

// decls looks at all declarations.
func (e *estimate) decls(decls []ast.Decl, parent *scope) *scope {
	s := scopeOf(decls, parent)
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.LetClause:
			e.of(d.Expr, s)
		case *ast.Field:
			e.of(d.Value, s)
		case *ast.EmbedDecl:
			e.of(d.Expr, s)
		case *ast.Comprehension:
			e.of(d, s)
		}
	}
	return s
}

// of is the size of an expression. An expression always stands in the same scope.
func (e *estimate) of(x ast.Node, in *scope) size {
	if was, ok := e.sizes[x]; ok || x == nil || !e.step() {
		return was
	}
	defer func() { e.depth-- }()
	e.sizes[x] = size{}
	s := e.look(x, in)
	if s.bytes > maxValue && !e.at.IsValid() {
		e.at = x.Pos()
	}
	e.sizes[x] = s
	return s
}

// step goes one deeper, as long as that is allowed.
func (e *estimate) step() bool {
	if e.steps <= 0 || e.depth >= maxDepth {
		return false
	}
	e.steps--
	e.depth++
	return true
}

func (e *estimate) look(x ast.Node, in *scope) (s size) {
	switch x := x.(type) {
	case *ast.BasicLit:
		return literalSize(x)
	case *ast.Interpolation:
		for _, part := range x.Elts {
			s.bytes += e.of(part, in).bytes
		}
	case *ast.ParenExpr:
		return e.of(x.X, in)
	case *ast.UnaryExpr:
		return e.of(x.X, in)
	case *ast.Alias:
		return e.of(x.Expr, in)
	case *ast.StructLit:
		e.decls(x.Elts, in)
	case *ast.ListLit:
		for _, item := range x.Elts {
			i := e.of(item, in)
			s = size{s.bytes + i.bytes + itemCost, max(s.item, i.bytes), max(s.number, i.number)}
		}
	case *ast.Ellipsis:
		return e.of(x.Type, in)
	case *ast.Comprehension:
		for _, clause := range x.Clauses {
			switch c := clause.(type) {
			case *ast.ForClause:
				e.of(c.Source, in)
				inner := &scope{in, map[string][]meaning{}}
				if c.Value != nil {
					inner.names[c.Value.Name] = []meaning{{c.Source, in, true}}
				}
				in = inner
			case *ast.LetClause:
				e.of(c.Expr, in)
				in = &scope{in, map[string][]meaning{c.Ident.Name: {{c.Expr, in, false}}}}
			case *ast.IfClause:
				e.of(c.Condition, in)
			}
		}
		return e.of(x.Value, in)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		for _, m := range e.meanings(x.(ast.Expr), in) {
			v := e.of(m.x, m.in)
			if m.item {
				v = size{v.item, 0, v.number}
			}
			s = s.or(v)
		}
	case *ast.BinaryExpr:
		return e.binary(x, e.of(x.X, in), e.of(x.Y, in))
	case *ast.CallExpr:
		return e.call(x, in)
	}
	return s
}

func (e *estimate) binary(x *ast.BinaryExpr, a, b size) size {
	switch x.Op {
	case token.MUL:
		return repeated(a, b).or(repeated(b, a)).or(size{number: a.number * b.number})
	case token.ADD:
		return size{a.bytes + b.bytes, 0, a.number + b.number}
	case token.OR, token.AND:
		return a.or(b)
	case token.SUB:
		return size{number: a.number}
	}
	return size{}
}

// repeated is a text or list so many times.
func repeated(a, times size) size {
	if times.number > maxRepeat {
		return size{}
	}
	return size{a.bytes * times.number, a.item, 0}
}

// call is what a function makes, where that may be much larger than what it is given.
func (e *estimate) call(x *ast.CallExpr, in *scope) size {
	var given []size
	for _, a := range x.Args {
		given = append(given, e.of(a, in))
	}
	f, ok := x.Fun.(*ast.SelectorExpr)
	if !ok {
		return size{}
	}
	name, _, _ := ast.LabelName(f.Sel)
	switch {
	case name == "Repeat" && len(given) == 2:
		return repeated(given[0], given[1])
	case name == "Replace" && len(given) == 4: // every place between two characters may be one that is replaced
		return size{bytes: given[0].bytes + (given[0].bytes+1)*given[2].bytes}
	case name == "Join" && len(given) == 2:
		return size{bytes: given[0].bytes + given[0].bytes/itemCost*given[1].bytes}
	}
	return size{}
}

// meanings are the expressions that a reference may stand for.
func (e *estimate) meanings(x ast.Expr, in *scope) []meaning {
	switch x := x.(type) {
	case *ast.Ident:
		for s := in; s != nil; s = s.parent {
			if m := s.names[x.Name]; m != nil {
				return m
			}
		}
	case *ast.SelectorExpr:
		if name, _, err := ast.LabelName(x.Sel); err == nil {
			return e.members(x.X, in, name)
		}
	case *ast.IndexExpr:
		if lit, ok := x.Index.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, _ := StringLit(lit)
			return e.members(x.X, in, name)
		}
		return []meaning{{x.X, in, true}}
	}
	return nil
}

// members are the fields of a name in the structs that an expression may stand for.
func (e *estimate) members(x ast.Expr, in *scope, name string) (out []meaning) {
	if !e.step() {
		return nil
	}
	defer func() { e.depth-- }()
	switch x := x.(type) {
	case *ast.StructLit:
		return scopeOf(x.Elts, in).names[name]
	case *ast.ParenExpr:
		return e.members(x.X, in, name)
	case *ast.BinaryExpr:
		return append(e.members(x.X, in, name), e.members(x.Y, in, name)...)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		for _, m := range e.meanings(x, in) {
			out = append(out, e.members(m.x, m.in, name)...)
		}
	}
	return out
}

func literalSize(x *ast.BasicLit) size {
	switch x.Kind {
	case token.STRING:
		return size{bytes: float64(len(x.Value))}
	case token.INT:
		var n literal.NumInfo
		if literal.ParseNum(x.Value, &n) == nil {
			number, _ := strconv.ParseFloat(n.String(), 64)
			return size{number: number}
		}
	}
	return size{}
}

// checkSize is the finding of a file that makes too much of little.
func checkSize(filename string, src []byte) diag.Findings {
	at, found := oversized(filename, src)
	if !found {
		return nil
	}
	f := diag.Errorf("value-too-large", "this makes a value of more than %d MiB", maxValue>>20)
	f.Pos = Pos(at)
	f.Fix = "repeat less: no object of Kubernetes has more than a few MiB"
	return diag.Findings{f}
}
