package cue

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// injection is what @tag attributes may ask for. The rules are those of the CUE loader: a tag given by key is unified
// with the field's value; a variable is used where no key was; unknown variables fail, so that a module cannot ask for
// the time or the host.
type injection struct {
	keys map[string]string
	vars map[string]string
	// shorthands are plain tags such as "debug".
	shorthands []string
}

// inject changes the files; a key no attribute asks for is fine.
func (in injection) inject(files []*ast.File) errors.Error {
	var errs errors.Error
	for _, f := range files {
		ast.Walk(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ListLit:
				errs = errors.Append(errs, misplaced(n, "@tag not allowed within lists"))
				return false
			case *ast.Comprehension:
				errs = errors.Append(errs, misplaced(n, "@tag not allowed within comprehension"))
				return false
			case *ast.Field:
				if _, _, err := ast.LabelName(x.Label); err != nil || x.Constraint != token.ILLEGAL {
					errs = errors.Append(errs, misplaced(n, "@tag not allowed within field constraint"))
					return false
				}
				for _, a := range x.Attrs {
					if a.Name() == "tag" {
						errs = errors.Append(errs, in.field(x, a))
					}
				}
			}
			return true
		}, nil)
	}
	return errs
}

// field injects one attribute's value into its field.
func (in injection) field(f *ast.Field, a *ast.Attribute) errors.Error {
	t, err := parseTag(a)
	if err != nil {
		return err
	}
	value, ok := in.keys[t.key]
	if !ok {
		for _, s := range in.shorthands {
			if slices.Contains(t.shorthands, s) {
				value, ok = s, true
			}
		}
	}
	if !ok && t.variable != "" {
		if value, ok = in.vars[t.variable]; !ok {
			return errors.Newf(a.Pos(), "tag variable %q not found: only moduleVersion and kubeVersion exist", t.variable)
		}
		f.Value = ast.NewBinExpr(token.AND, f.Value, ast.NewString(value))
		return nil
	}
	if !ok {
		return nil
	}
	lit, err := t.literal(value, a.Pos())
	if err != nil {
		return err
	}
	f.Value = ast.NewBinExpr(token.AND, f.Value, lit)
	return nil
}

// tag is a parsed @tag(key,[type=T],[short=a|b],[var=V]).
type tag struct {
	key, kind, variable string
	shorthands          []string
}

func parseTag(a *ast.Attribute) (tag, errors.Error) {
	_, body := a.Split()
	parts := strings.Split(body, ",")
	t := tag{key: strings.TrimSpace(parts[0]), kind: "string"}
	if !ast.IsValidIdent(t.key) {
		return t, errors.Newf(a.Pos(), "invalid identifier %q", t.key)
	}
	for _, p := range parts[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch name {
		case "type":
			if !slices.Contains([]string{"string", "int", "number", "bool"}, value) {
				return t, errors.Newf(a.Pos(), "invalid type %q", value)
			}
			t.kind = value
		case "short":
			t.shorthands = strings.Split(value, "|")
		case "var":
			t.variable = value
		}
	}
	return t, nil
}

func (t tag) literal(value string, pos token.Pos) (ast.Expr, errors.Error) {
	switch t.kind {
	case "bool":
		if value == "true" || value == "false" {
			return ast.NewBool(value == "true"), nil
		}
		return nil, errors.Newf(pos, "tag %s needs a bool", t.key)
	case "int", "number":
		return nil, errors.Newf(pos, "tag %s needs a number, but only strings are given", t.key)
	}
	return ast.NewString(value), nil
}

// misplaced finds tags where the loader does not look, and says so.
func misplaced(n ast.Node, msg string) (errs errors.Error) {
	ast.Walk(n, nil, func(n ast.Node) {
		f, ok := n.(*ast.Field)
		if !ok {
			return
		}
		for _, a := range f.Attrs {
			if a.Name() == "tag" {
				errs = errors.Append(errs, errors.Newf(a.Pos(), "%s", msg))
			}
		}
	})
	return errs
}
