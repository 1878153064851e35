package document

import (
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// Attribute is one runtime attribute of the files: @timoni(runtime:TYPE:VAR), @hawser(runtime:TYPE:VAR), or
// @hawser(cluster) with an empty Var.
type Attribute struct {
	// Var is the runtime value's name; Type is string, number or bool.
	Var, Type string
	// Text is the attribute as written, Field the label it stands on.
	Text, Field string
	Pos         diag.Pos
}

// Cluster reports whether the attribute injects the cluster's facts as one struct.
func (a Attribute) Cluster() bool { return a.Var == "" }

// Attributes lists the attributes of the bundle's files, in order. Those of fleet files are not injected and not listed.
func (p *Program) Attributes() []Attribute { return append([]Attribute(nil), p.attrs...) }

// parseAttribute reads an attribute; ok is false for attributes that are not ours. The text of err follows
// "failed to parse attribute".
func parseAttribute(a *ast.Attribute) (out Attribute, ok bool, err error) {
	key, body := a.Split()
	if key != "timoni" && key != "hawser" {
		return out, false, nil
	}
	out = Attribute{Text: "@" + key + "(" + body + ")", Pos: cuelang.Pos(a.Pos())}
	if key == "hawser" && strings.TrimSpace(body) == "cluster" {
		return out, true, nil
	}
	parts := strings.Split(body, ":")
	for i, s := range parts {
		parts[i] = strings.TrimSpace(s)
	}
	if len(parts) != 3 || parts[0] != "runtime" {
		if key == "timoni" && parts[0] != "runtime" {
			// Attributes of other purposes are left to Timoni.
			return out, false, nil
		}
		return out, true, cuelang.Errorf(a.Pos(), nil, "expected runtime:TYPE:NAME")
	}
	out.Type, out.Var = parts[1], parts[2]
	switch out.Type {
	case "string", "number", "bool":
	default:
		return out, true, cuelang.Errorf(a.Pos(), nil, "unknown type %q, it must be string, number or bool", out.Type)
	}
	if out.Var == "" || strings.ContainsAny(out.Var, " \t\r\n\"'`()") {
		return out, true, cuelang.Errorf(a.Pos(), nil, "expected the name of a runtime value")
	}
	return out, true, nil
}

// attributeOf is the field's first attribute of ours, as in Timoni.
func attributeOf(f *ast.Field) (Attribute, *ast.Attribute, error) {
	for _, a := range f.Attrs {
		out, ours, err := parseAttribute(a)
		if !ours {
			continue
		}
		out.Field = labelText(f.Label)
		return out, a, err
	}
	return Attribute{}, nil, nil
}

func labelText(l ast.Label) string {
	if name, _, err := ast.LabelName(l); err == nil {
		return name
	}
	if b, err := format.Node(l); err == nil {
		return string(b)
	}
	return ""
}

// listAttributes finds the attributes of the bundles' CUE files and checks their form.
func (p *Program) listAttributes() diag.Findings {
	var fs diag.Findings
	for _, s := range p.files {
		if s.syntax != syntaxCUE {
			continue
		}
		f, err := parser.ParseFile(s.name, s.data)
		if err != nil {
			continue // reported by parse
		}
		ast.Walk(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			a, at, err := attributeOf(field)
			if err != nil {
				fs = append(fs, attributeFailure(a, err))
			} else if at != nil {
				p.attrs = append(p.attrs, a)
			}
			return true
		}, nil)
		p.versionUsed = p.versionUsed || readsVersion(f)
	}
	return fs
}

func attributeFailure(a Attribute, err error) diag.Finding {
	n := diag.Errorf("attribute", "failed to parse attribute '%s'", a.Text)
	n.Pos, n.Why = a.Pos, errorText(err)
	return n
}

func errorText(err error) string {
	if e, ok := err.(*cuelang.Error); ok {
		return e.Text
	}
	return err.Error()
}

// runtimeLiteral is a runtime value as CUE data of the attribute's type. Errors never show the value: number and bool
// are checked to be one literal, so that a value is never read as CUE source.
func runtimeLiteral(typ, value string, pos token.Pos) (ast.Expr, error) {
	switch typ {
	case "string":
		if strings.ToValidUTF8(value, "") != value {
			return nil, cuelang.Errorf(pos, nil, "the value must be valid UTF-8")
		}
		return withPos(ast.NewLit(token.STRING, literal.String.Quote(value)), pos), nil
	case "number":
		return numberLiteral(value, pos)
	case "bool":
		if value != "true" && value != "false" {
			return nil, cuelang.Errorf(pos, nil, "the value must be 'true' or 'false'")
		}
		return withPos(ast.NewBool(value == "true"), pos), nil
	}
	return nil, cuelang.Errorf(pos, nil, "unknown type %q, it must be string, number or bool", typ)
}

func numberLiteral(value string, pos token.Pos) (ast.Expr, error) {
	notNumber := cuelang.Errorf(pos, nil, "the value must be a number")
	digits, negative := strings.CutPrefix(value, "-")
	if !negative {
		digits = strings.TrimPrefix(value, "+")
	}
	var info literal.NumInfo
	if digits == "" || digits[0] == '-' || digits[0] == '+' || literal.ParseNum(digits, &info) != nil {
		return nil, notNumber
	}
	tok := token.FLOAT
	if info.IsInt() {
		tok = token.INT
	}
	lit := withPos(ast.NewLit(tok, digits), pos)
	if negative {
		return &ast.UnaryExpr{OpPos: pos, Op: token.SUB, X: lit}, nil
	}
	return lit, nil
}

func withPos(x ast.Expr, pos token.Pos) ast.Expr {
	ast.SetPos(x, pos)
	return x
}

// kind of a plain expression, as far as syntax tells.
type kind string

const (
	kindUnknown kind = ""
	kindString  kind = "string"
	kindNumber  kind = "number"
	kindBool    kind = "bool"
	kindNull    kind = "null"
	kindOther   kind = "struct or list"
)

// plain tells whether an expression is a plain value, which an injected value replaces like a default: a literal, an
// interpolation, arithmetic, or a reference that resolves to a plain field. Everything else (types, bounds, `|`, `&`,
// definitions, calls) is a constraint and is kept.
func plain(x ast.Expr) (kind, bool) { return plainExpr(x, map[ast.Node]bool{}) }

func plainExpr(x ast.Expr, seen map[ast.Node]bool) (kind, bool) {
	if x == nil || seen[x] {
		return kindUnknown, false
	}
	seen[x] = true
	defer delete(seen, x)
	switch x := x.(type) {
	case *ast.BasicLit:
		return literalKind(x), true
	case *ast.Interpolation:
		return kindString, true
	case *ast.ParenExpr:
		return plainExpr(x.X, seen)
	case *ast.StructLit, *ast.ListLit:
		return kindOther, true
	case *ast.UnaryExpr:
		k, ok := plainExpr(x.X, seen)
		return k, ok && (x.Op == token.SUB || x.Op == token.ADD || x.Op == token.NOT)
	case *ast.BinaryExpr:
		return plainBinary(x, seen)
	case *ast.Ident:
		return plainIdent(x, seen)
	case *ast.SelectorExpr, *ast.IndexExpr:
		if target := resolveSelector(x, map[ast.Node]bool{}); target != nil {
			return plainExpr(target, seen)
		}
	}
	return kindUnknown, false
}

func literalKind(x *ast.BasicLit) kind {
	switch x.Kind {
	case token.STRING:
		return kindString
	case token.INT, token.FLOAT:
		return kindNumber
	case token.TRUE, token.FALSE:
		return kindBool
	case token.NULL:
		return kindNull
	}
	return kindUnknown
}

func plainBinary(x *ast.BinaryExpr, seen map[ast.Node]bool) (kind, bool) {
	a, okA := plainExpr(x.X, seen)
	_, okB := plainExpr(x.Y, seen)
	if !okA || !okB {
		return kindUnknown, false
	}
	switch x.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		return a, true
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR, token.MAT, token.NMAT:
		return kindBool, true
	}
	return kindUnknown, false // & and | are constraints
}

func plainIdent(x *ast.Ident, seen map[ast.Node]bool) (kind, bool) {
	if strings.HasPrefix(x.Name, "#") || strings.HasPrefix(x.Name, "_#") {
		return kindUnknown, false
	}
	if x.Node == nil {
		switch x.Name {
		case "true", "false":
			return kindBool, true
		case "null":
			return kindNull, true
		}
		return kindUnknown, false
	}
	target := resolveIdent(x)
	if target == nil {
		return kindUnknown, false
	}
	return plainExpr(target, seen)
}

// resolveIdent is the expression an identifier of the same file stands for.
func resolveIdent(x *ast.Ident) ast.Expr {
	switch n := x.Node.(type) {
	case *ast.LetClause:
		return n.Expr
	case *ast.Alias:
		return n.Expr
	case *ast.Field:
		return n.Value
	case *ast.ImportSpec:
		return nil
	case ast.Expr:
		return n
	}
	return nil
}

// resolveSelector follows a.b and a["b"] through struct literals of the same file.
func resolveSelector(x ast.Expr, seen map[ast.Node]bool) ast.Expr {
	if seen[x] {
		return nil
	}
	seen[x] = true
	switch x := x.(type) {
	case *ast.Ident:
		if x.Node == nil {
			return nil
		}
		return resolveSelector(resolveIdent(x), seen)
	case *ast.ParenExpr:
		return resolveSelector(x.X, seen)
	case *ast.SelectorExpr:
		return fieldOf(resolveSelector(x.X, seen), labelText(x.Sel))
	case *ast.IndexExpr:
		if name, ok := cuelang.StringLit(x.Index); ok {
			return fieldOf(resolveSelector(x.X, seen), name)
		}
		return nil
	}
	return x
}

func fieldOf(x ast.Expr, name string) ast.Expr {
	s, ok := x.(*ast.StructLit)
	if !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "_#") {
		return nil
	}
	var out ast.Expr
	for _, d := range s.Elts {
		f, isField := d.(*ast.Field)
		if !isField || labelText(f.Label) != name {
			continue
		}
		if out != nil || f.Constraint != token.ILLEGAL {
			return nil // given twice: a conjunction
		}
		out = f.Value
	}
	return out
}
