package cuelang

import (
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// size is what is known of a value: the bytes of a text, list or struct; the largest of its items, and how many; the number
// that it is at most; what it may be.
type size struct {
	bytes, item, count, number float64
	text, numeric              bool
}

func (s size) or(t size) size {
	return size{max(s.bytes, t.bytes), max(s.item, t.item), max(s.count, t.count), max(s.number, t.number), s.text || t.text, s.numeric || t.numeric}
}

// add counts so many values in.
func (s size) add(v size, times, cost float64) size {
	v.text = false
	was := s
	s = s.or(v)
	s.bytes, s.item, s.count = was.bytes+times*(v.bytes+cost), max(was.item, v.bytes), was.count+times
	return s
}

// scope is where names are looked up.
type scope struct {
	parent  *scope
	names   map[string][]meaning
	imports []*build.Instance // of the package that it is
	called  map[string]string // imports by the names they are given in it
}

func (s *scope) look(name string) []meaning {
	for ; s != nil; s = s.parent {
		if m := s.names[name]; m != nil {
			return m
		}
	}
	return nil
}

// meaning is an expression where it stands. An item stands for each one of a list.
type meaning struct {
	x    ast.Expr
	in   *scope
	item bool
}

type estimate struct {
	sizes    map[ast.Node]size // of expressions; zero while one is looked at
	packages map[*build.Instance]*scope
	steps    int
	depth    int
	at       token.Pos // the first that is too large
}

func newEstimate() *estimate {
	return &estimate{sizes: map[ast.Node]size{}, packages: map[*build.Instance]*scope{}, steps: maxSteps}
}

// files looks at all declarations of a package.
func (e *estimate) files(files []*ast.File, imports []*build.Instance) {
	s := packageOf(files, imports)
	for _, f := range files {
		e.decls(f.Decls, s)
	}
}

// packageOf is the scope that the files of a package make. What one of them has for itself (let, import) counts in all.
func packageOf(files []*ast.File, imports []*build.Instance) *scope {
	s := &scope{names: map[string][]meaning{}, imports: imports, called: map[string]string{}}
	for _, f := range files {
		s.declare(f.Decls)
		for spec := range f.ImportSpecs() {
			path, err := literal.Unquote(spec.Path.Value)
			if err == nil && spec.Name != nil {
				s.called[spec.Name.Name] = path
			}
		}
	}
	return s
}

// imported is the package that a name stands for, an empty one where it stands for none, or one of CUE's own.
func (e *estimate) imported(in *scope, name string) *scope {
	for ; in != nil; in = in.parent {
		for _, imp := range in.imports {
			path, renamed := in.called[name]
			if renamed && path != imp.ImportPath || !renamed && name != imp.PkgName {
				continue
			}
			if e.packages[imp] == nil {
				e.packages[imp] = packageOf(imp.Files, imp.Imports)
			}
			return e.packages[imp]
		}
	}
	return &scope{}
}

// scopeOf is the scope that declarations make.
func scopeOf(decls []ast.Decl, parent *scope) *scope {
	s := &scope{parent: parent, names: map[string][]meaning{}}
	s.declare(decls)
	return s
}

func (s *scope) declare(decls []ast.Decl) {
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
}

func (s *scope) add(name string, x ast.Expr) {
	s.names[name] = append(s.names[name], meaning{x, s, false})
}

// decls is the size of declarations together, in the scope that they make.
func (e *estimate) decls(decls []ast.Decl, s *scope) (all size) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.LetClause:
			e.of(d.Expr, s)
		case *ast.Field:
			v := e.of(d.Value, s)
			v.number, v.numeric = 0, false
			all = all.add(v, 1, itemCost)
		case *ast.EmbedDecl:
			v := e.of(d.Expr, s)
			all, all.bytes, all.count = all.or(v), all.bytes+v.bytes, all.count+v.count
		case *ast.Comprehension:
			v := e.of(d, s)
			all, all.bytes, all.count = all.or(v), all.bytes+v.bytes, all.count+v.count
		}
	}
	return all
}

// of is the size of an expression. An expression always stands in the same scope.
func (e *estimate) of(x ast.Node, in *scope) size {
	if was, ok := e.sizes[x]; ok || x == nil || !e.step() {
		return was
	}
	defer func() { e.depth-- }()
	e.sizes[x] = size{}
	s := e.look(x, in)
	switch x.(type) {
	case *ast.BinaryExpr, *ast.CallExpr, *ast.Interpolation:
		if s.bytes > maxValue && !e.at.IsValid() {
			e.at = x.Pos()
		}
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
		s.text = true
	case *ast.ParenExpr:
		return e.of(x.X, in)
	case *ast.UnaryExpr:
		return e.of(x.X, in)
	case *ast.Alias:
		return e.of(x.Expr, in)
	case *ast.StructLit:
		return e.decls(x.Elts, scopeOf(x.Elts, in))
	case *ast.ListLit:
		for _, item := range x.Elts {
			v := e.of(item, in)
			if _, many := item.(*ast.Comprehension); many {
				s.bytes, s.item, s.count, s.number = s.bytes+v.bytes+v.count*itemCost, max(s.item, v.item), s.count+v.count, max(s.number, v.number)
				continue
			}
			times := 1.0
			if _, open := item.(*ast.Ellipsis); open {
				times = someItems
			}
			s = s.add(v, times, itemCost)
		}
		s.numeric = false
	case *ast.Ellipsis:
		return e.of(x.Type, in)
	case *ast.Comprehension:
		return e.comprehension(x, in)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		return e.reference(x.(ast.Expr), in)
	case *ast.BinaryExpr:
		return e.binary(x, e.of(x.X, in), e.of(x.Y, in))
	case *ast.CallExpr:
		return e.call(x, in)
	}
	return s
}

// reference is what a name stands for, or a type.
func (e *estimate) reference(x ast.Expr, in *scope) (s size) {
	found := e.meanings(x, in)
	for _, m := range found {
		v := e.of(m.x, m.in)
		if m.item {
			v = size{bytes: v.item, number: v.number}
		}
		s = s.or(v)
	}
	if id, ok := x.(*ast.Ident); ok && found == nil {
		switch id.Name {
		case "string", "bytes":
			return size{text: true}
		case "int", "float", "number", "uint", "int32", "int64", "uint32", "uint64":
			return size{numeric: true}
		}
	}
	return s
}

// comprehension is all that one makes: as often as its sources have items.
func (e *estimate) comprehension(x *ast.Comprehension, in *scope) size {
	times := 1.0
	for _, clause := range x.Clauses {
		switch c := clause.(type) {
		case *ast.ForClause:
			times *= max(1, e.of(c.Source, in).count)
			inner := &scope{parent: in, names: map[string][]meaning{}}
			if c.Key != nil {
				inner.names[c.Key.Name] = []meaning{}
			}
			if c.Value != nil {
				inner.names[c.Value.Name] = []meaning{{c.Source, in, true}}
			}
			in = inner
		case *ast.LetClause:
			e.of(c.Expr, in)
			in = &scope{parent: in, names: map[string][]meaning{c.Ident.Name: {{c.Expr, in, false}}}}
		case *ast.IfClause:
			e.of(c.Condition, in)
		}
	}
	one := e.of(x.Value, in)
	one.item = max(one.item, one.bytes)
	one.bytes, one.count = one.bytes*times, max(1, one.count)*times
	return one
}

func (e *estimate) binary(x *ast.BinaryExpr, a, b size) size {
	switch x.Op {
	case token.MUL:
		s := size{number: a.number * b.number, numeric: a.numeric && b.numeric}
		if !b.text {
			s = s.or(repeated(a, b))
		}
		if !a.text {
			s = s.or(repeated(b, a))
		}
		return s
	case token.ADD:
		return size{bytes: a.bytes + b.bytes, number: a.number + b.number, count: a.count + b.count, text: a.text || b.text, numeric: a.numeric || b.numeric}
	case token.OR, token.AND:
		return a.or(b)
	case token.SUB:
		return size{number: a.number + b.number, numeric: true} // what is taken away may be negative
	case token.QUO:
		return size{number: a.number, numeric: true}
	}
	return size{}
}

// repeated is a text or list so many times. More than maxRepeat times is an error of CUE's, but the number is one that it is at most.
func repeated(a, times size) size {
	if a.bytes == 0 && a.text && !a.numeric {
		a.bytes = someText
	}
	n := times.number
	if n == 0 {
		n = sometimes
	}
	n = min(n, maxRepeat)
	return size{bytes: a.bytes * n, item: a.item, count: a.count * n, text: a.text}
}

// call is what a function makes.
func (e *estimate) call(x *ast.CallExpr, in *scope) size {
	var given []size
	all := size{}
	for _, a := range x.Args {
		v := e.of(a, in)
		given = append(given, v)
		all = size{bytes: all.bytes + v.bytes, item: max(all.item, v.item), count: all.count + v.count, number: max(all.number, v.number)}
	}
	f, ok := x.Fun.(*ast.SelectorExpr)
	if id, builtin := x.Fun.(*ast.Ident); builtin && id.Name != "and" && id.Name != "or" && id.Name != "close" {
		return size{number: max(all.number, all.bytes), numeric: true} // len, div and the like
	}
	if !ok {
		return all
	}
	name, _, _ := ast.LabelName(f.Sel)
	switch {
	case name == "Repeat" && len(given) == 2:
		given[0].text, given[0].numeric = true, false
		s := repeated(given[0], given[1])
		s.text = given[0].count == 0
		return s
	case name == "Range" && len(given) == 3:
		step := given[2].number
		if step == 0 {
			step = 1
		}
		n := (given[0].number + given[1].number) / step
		return size{bytes: n * itemCost, count: n, number: all.number}
	case name == "Replace" && len(given) == 4: // every place between two characters may be one that is replaced
		return size{bytes: given[0].bytes + (given[0].bytes+1)*given[2].bytes, text: true}
	case (name == "ReplaceAll" || name == "ReplaceAllLiteral") && len(given) == 3:
		return size{bytes: given[1].bytes + 2*(given[1].bytes+1)*given[2].bytes, text: true}
	case name == "Join" && len(given) == 2:
		return size{bytes: given[0].bytes + max(given[0].count, 1)*given[1].bytes, text: true}
	case name == "Indent" && len(given) == 3:
		return size{bytes: given[0].bytes * (1 + given[1].bytes + given[2].bytes), text: true}
	case name == "Lsh" && len(given) == 2: // in bits
		return size{bytes: given[1].number / 8, numeric: true}
	case name == "FormatFloat" && len(given) == 4: // so many digits
		return size{bytes: given[2].number, text: true}
	case name == "Split" || name == "SplitAfter" || name == "Runes" || name == "Fields":
		return size{bytes: all.bytes * itemCost, item: all.bytes, count: all.bytes}
	case name == "Atoi" || name == "ParseInt" || name == "ParseUint" || name == "Count" || name == "Index" || name == "Sum" || name == "Max":
		return size{numeric: true, number: all.number}
	}
	all.bytes *= 2 // escapes
	all.text = all.count == 0
	return all
}

// meanings are the expressions that a reference may stand for.
func (e *estimate) meanings(x ast.Expr, in *scope) []meaning {
	switch x := x.(type) {
	case *ast.Ident:
		return in.look(x.Name)
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
	if id, ok := x.(*ast.Ident); ok && len(in.look(id.Name)) == 0 {
		return e.imported(in, id.Name).names[name]
	}
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
		return size{bytes: float64(len(x.Value)), text: true}
	case token.INT, token.FLOAT:
		var n literal.NumInfo
		if literal.ParseNum(x.Value, &n) == nil {
			number, _ := strconv.ParseFloat(n.String(), 64)
			return size{number: number, numeric: true}
		}
	}
	return size{}
}
