package cue

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

const valuesField = "values"

// baseValues evaluates values.cue alone, as Timoni does: no imports, no other files, its @if does not count.
func (p *pkg) baseValues() (*v1alpha1.Value, error) {
	f, err := p.values.parse()
	if err != nil {
		return nil, err
	}
	v := cuecontext.New().BuildFile(f)
	if err := v.Err(); err != nil {
		return nil, err
	}
	values := v.LookupPath(cue.ParsePath(valuesField))
	if !values.Exists() {
		return nil, nil
	}
	return cuelang.Data(values)
}

// valuesFile is the syntax tree that takes the place of values.cue when the user gives values: the user's over the
// module's, field by field, before any schema. It returns nil when the module's own file stays as it is. Notes are on
// lists that are longer than the module's; from gets to know where the values come from.
func (p *pkg) valuesFile(req render.Request, from *origins) (*ast.File, diag.Findings, error) {
	user := userValues(req)
	if user == nil {
		return nil, nil, nil
	}
	base, err := p.baseValues()
	if err != nil {
		return nil, nil, err
	}
	merged, err := cuelang.Overlay(base, user)
	if err != nil {
		return nil, nil, underValues(err)
	}
	if err := p.textForBoolean(req, base, user); err != nil {
		return nil, nil, err
	}
	notes := longerLists(base, user, valuesField)
	// Evaluations run in parallel and the compiler writes into trees: this one needs its own.
	tree := cuelang.Syntax(p.timoniOrder(merged, user))
	from.place(tree, modulePrefix+"values.cue")
	return &ast.File{Filename: p.values.name, Decls: []ast.Decl{
		&ast.Package{Name: ast.NewIdent(p.name)},
		&ast.Field{Label: ast.NewIdent(valuesField), Value: tree},
	}}, notes, nil
}

// textForBoolean is the error about the first text in place of a boolean default that no schema allows: where the schema
// says what the value is, CUE itself refuses it or not.
func (p *pkg) textForBoolean(req render.Request, base, user *v1alpha1.Value) error {
	at, pos := textOverBoolean(base, user, nil)
	if at == nil {
		return nil
	}
	v, err := p.build(req, func(s source) bool { return s.name != p.values.name }, nil)
	if err != nil {
		return nil // the evaluation says it
	}
	schema := v.LookupPath(cue.ParsePath(valuesField))
	for _, name := range at {
		schema = member(schema, name)
	}
	if schema.Exists() && schema.IncompleteKind() != cue.TopKind {
		return nil
	}
	return cuelang.Errorf(pos, append([]string{valuesField}, at...),
		"a text in place of the module's own true or false: write true or false, without quotes, unless the module's schema allows a text there")
}

// textOverBoolean is the path of the first text that takes the place of a boolean, nil when there is none.
func textOverBoolean(base, user *v1alpha1.Value, at []string) ([]string, token.Pos) {
	if base != nil && base.Kind == v1alpha1.KindBool && (user.Kind == v1alpha1.KindString || user.Kind == v1alpha1.KindBytes) && !user.Foreign {
		return slices.Clone(at), cuelang.TokenPos(user.Pos)
	}
	for _, f := range user.Fields {
		if found, pos := textOverBoolean(base.Lookup(f.Name), f.Value, append(at, f.Name)); found != nil {
			return found, pos
		}
	}
	return nil, token.NoPos
}

// longerLists finds the user's lists that hold more than the module's own, which Timoni refuses.
func longerLists(base, user *v1alpha1.Value, at string) diag.Findings {
	switch {
	case base == nil || base.Kind != user.Kind:
	case len(user.Items) > len(base.Items):
		return diag.Findings{{Severity: diag.Info, Code: "longer-list", Path: at, Pos: diag.Pos(user.Pos),
			What: fmt.Sprintf("the list holds %d items, the module's own %d", len(user.Items), len(base.Items))}}
	case user.Kind == v1alpha1.KindStruct:
		of := map[string]*v1alpha1.Value{}
		for _, f := range base.Fields {
			of[f.Name] = f.Value
		}
		var out diag.Findings
		for _, f := range user.Fields {
			out = append(out, longerLists(of[f.Name], f.Value, at+"."+f.Name)...)
		}
		return out
	}
	return nil
}

// underValues puts the path of an overlay error below the field the user knows.
func underValues(err error) error {
	if e, ok := err.(*cuelang.Error); ok {
		e.At = append([]string{valuesField}, e.At...)
	}
	return err
}

// explain completes the findings of a failed evaluation: unknown fields of the user's values hide behind other errors,
// so they are looked for in the schema alone; and what is said of a line of the values is not said again of the places
// where the value ends up.
func (p *pkg) explain(req render.Request, fs diag.Findings, show cuelang.Show) diag.Findings {
	schema, unknown := p.unknownFields(req, show)
	said := map[string]bool{}
	for _, f := range unknown {
		said[f.Pos.String()] = true
	}
	out := unknown
	for _, ofValues := range []bool{true, false} {
		for _, f := range fs {
			if strings.HasPrefix(f.Path, valuesField+".") != ofValues || said[f.Pos.String()] {
				continue
			}
			if f.Pos.IsValid() {
				said[f.Pos.String()] = true
			}
			if ofValues && f.What == notAllowed {
				f.Code = unknownField
				f.Fix = suggest(schema, f.Path)
			}
			out = append(out, f)
		}
	}
	return out
}

// suggest names the field of the schema a misspelled path may mean.
func suggest(schema cue.Value, path string) string {
	names := strings.Split(path, ".")
	for _, n := range names[1 : len(names)-1] {
		schema = member(schema, n)
	}
	return diag.OneOf(names[len(names)-1], fieldNames(schema))
}

const (
	unknownField = "unknown-field"
	notAllowed   = "field not allowed"
)

// unknownFields compares the user's values with the schema of the module's values, evaluated without any values.
// It keeps silent where the schema is open or depends on the values. The schema is returned too.
func (p *pkg) unknownFields(req render.Request, show cuelang.Show) (schema cue.Value, found diag.Findings) {
	v, err := p.build(req, func(s source) bool {
		return s.name != p.values.name && s.name != modulePrefix+"debug_values.cue"
	}, nil)
	if err != nil {
		return schema, nil
	}
	schema = v.LookupPath(cue.ParsePath(valuesField))
	w := &walker{show: show}
	if user := userValues(req); user != nil {
		w.walk(user, schema, []string{valuesField})
	}
	return schema, w.found
}

type walker struct {
	show  cuelang.Show
	found diag.Findings
}

func (w *walker) walk(x *v1alpha1.Value, schema cue.Value, path []string) {
	if !schema.Exists() {
		return
	}
	switch x.Kind {
	case v1alpha1.KindStruct:
		if schema.IncompleteKind() != cue.StructKind || isDisjunction(schema) {
			return
		}
		for _, f := range x.Fields {
			at := append(path[:len(path):len(path)], f.Name)
			if !schema.Allows(cue.Str(f.Name)) {
				w.report(f, schema, at)
				continue
			}
			w.walk(f.Value, member(schema, f.Name), at)
		}
	case v1alpha1.KindList:
		if schema.IncompleteKind() != cue.ListKind || isDisjunction(schema) {
			return
		}
		item := schema.LookupPath(cue.MakePath(cue.AnyIndex))
		for _, e := range x.Items {
			w.walk(e, item, append(path[:len(path):len(path)], "[]"))
		}
	}
}

func (w *walker) report(f v1alpha1.Field, schema cue.Value, path []string) {
	err := cuelang.Errorf(cuelang.TokenPos(f.Pos), path, notAllowed)
	for _, finding := range cuelang.FindingsFor(err, w.show) {
		finding.Code = unknownField
		finding.Fix = diag.OneOf(f.Name, fieldNames(schema))
		w.found = append(w.found, finding)
	}
}

// member looks a field up, whether it is required, regular, optional or from a pattern.
func member(schema cue.Value, name string) cue.Value {
	sel := cue.Str(name)
	for _, s := range []cue.Selector{sel, sel.Optional(), sel.Required()} {
		if v := schema.LookupPath(cue.MakePath(s)); v.Exists() {
			return v
		}
	}
	return schema.LookupPath(cue.MakePath(cue.AnyString))
}

func isDisjunction(v cue.Value) bool {
	op, _ := v.Expr()
	return op == cue.OrOp
}

func fieldNames(v cue.Value) []string {
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	var out []string
	for it.Next() {
		out = append(out, strings.TrimRight(it.Selector().Unquoted(), "?!"))
	}
	return out
}
