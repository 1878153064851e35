package document

import (
	"strings"

	"cuelang.org/go/cue/ast"
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
		out.Field = cuelang.LabelText(f.Label)
		return out, a, err
	}
	return Attribute{}, nil, nil
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
		if x, ok := cuelang.Number(value, pos); ok {
			return x, nil
		}
		return nil, cuelang.Errorf(pos, nil, "the value must be a number")
	case "bool":
		if value != "true" && value != "false" {
			return nil, cuelang.Errorf(pos, nil, "the value must be 'true' or 'false'")
		}
		return withPos(ast.NewBool(value == "true"), pos), nil
	}
	return nil, cuelang.Errorf(pos, nil, "unknown type %q, it must be string, number or bool", typ)
}

func withPos(x ast.Expr, pos token.Pos) ast.Expr {
	ast.SetPos(x, pos)
	return x
}
