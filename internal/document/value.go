package document

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Value is the computed value of the bundles for a cluster as CUE text, as `vet --print-value` shows it: `bundle: {...}`
// or `bundles: {...}`, hidden fields and definitions left out, the documents' schema applied (so that a version left
// open shows its default). The text holds runtime values, secret ones too: who prints it redacts it.
func (p *Program) Value(f fleet.Facts) (string, diag.Findings) {
	if p.plain != nil {
		return "", nil
	}
	in := newInjection(f)
	schema, err := schemaFile()
	if err != nil {
		return "", diag.From(err, "schema")
	}
	root, err := p.build(p.files, in, schema)
	if err == nil && !root.Exists() {
		err = root.Err()
	}
	if err != nil {
		return "", append(in.findings, p.cueFindings(in, err)...).Sorted()
	}
	found := bundleValues(root)
	if fs := append(in.findings, p.validate(in, root, found)...); fs.HasErrors() {
		return "", fs.Sorted()
	}
	var decls []ast.Decl
	var bundles []ast.Decl
	for _, b := range found {
		x := withoutHidden(b.value.Syntax(cue.Docs(false), cue.Attributes(false), cue.Optional(false), cue.Definitions(false),
			cue.Hidden(false)))
		if b.name == "" {
			decls = append(decls, &ast.Field{Label: ast.NewIdent(rootBundle), Value: x})
			continue
		}
		bundles = append(bundles, &ast.Field{Label: ast.NewStringLabel(b.name), Value: x})
	}
	if bundles != nil {
		decls = append(decls, &ast.Field{Label: ast.NewIdent(rootBundles), Value: &ast.StructLit{Elts: bundles}})
	}
	text, err := format.Node(&ast.File{Decls: decls}, format.Simplify())
	if err != nil {
		return "", diag.From(err, "print-value")
	}
	return strings.TrimSpace(string(text)) + "\n", nil
}

// withoutHidden drops what Syntax leaves of hidden fields and definitions.
func withoutHidden(n ast.Node) ast.Expr {
	x, ok := n.(ast.Expr)
	if f, isFile := n.(*ast.File); isFile {
		x, ok = &ast.StructLit{Elts: f.Decls}, true
	}
	if !ok {
		return ast.NewNull()
	}
	ast.Walk(x, func(n ast.Node) bool {
		s, isStruct := n.(*ast.StructLit)
		if !isStruct {
			return true
		}
		kept := s.Elts[:0:0]
		for _, d := range s.Elts {
			if f, isField := d.(*ast.Field); isField {
				if id, isIdent := f.Label.(*ast.Ident); isIdent && (strings.HasPrefix(id.Name, "_") || strings.HasPrefix(id.Name, "#")) {
					continue
				}
			}
			kept = append(kept, d)
		}
		s.Elts = kept
		return true
	}, nil)
	return x
}

// schemaFile is the documents' schema as one more file of the program's package.
func schemaFile() (*ast.File, error) {
	f, err := parser.ParseFile("hawser"+cuelang.SchemaSuffix, v1alpha1.BundleSchema+"\nbundle?: #Bundle\nbundles?: [string]: #Bundle\n")
	if err != nil {
		return nil, err
	}
	return inPackage(f), nil
}

// Vet finds what is no error for build and apply, yet worth saying when files are checked: bundles without instances,
// and comparisons with names or groups that no cluster of the fleet has.
func (p *Program) Vet(specs []v1alpha1.BundleSpec) diag.Findings {
	var fs diag.Findings
	for _, s := range specs {
		if len(s.Instances) == 0 {
			n := diag.Errorf("no-instances", "no instances found in bundle %s", s.Name)
			if len(p.files) > 0 {
				n.Pos = diag.Pos{File: p.files[0].name}
			}
			fs = append(fs, n)
		}
	}
	return append(fs, p.lint()...).Sorted()
}
