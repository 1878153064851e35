package document

import (
	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/internal/cuelang"
)

// packageName is the one package all files are put into, whatever their own clause says, so that they may refer to
// each other.
const packageName = "hawser"

// build makes one value of the sources, in a context of its own. in may be nil: then nothing is injected. schema is
// a further file, nil for none.
func (p *Program) build(sources []*source, in *injection, schema *ast.File) (cue.Value, error) {
	files, loads, err := p.syntax(sources, in)
	if err != nil {
		return cue.Value{}, err
	}
	if schema != nil {
		files = append(files, schema)
	}
	if !loads {
		inst := build.NewContext().NewInstance(p.module.Dir, nil)
		for _, f := range files {
			if err := inst.AddSyntax(f); err != nil {
				return cue.Value{}, err
			}
		}
		if err := inst.Complete(); err != nil {
			return cue.Value{}, err
		}
		return cuelang.Build(cuecontext.New(), inst)
	}
	return p.module.Build(files)
}

// syntax makes the files of one evaluation: CUE is parsed anew, because the compiler writes into syntax trees.
func (p *Program) syntax(sources []*source, in *injection) (files []*ast.File, loads bool, err error) {
	for _, s := range sources {
		if s.syntax != syntaxCUE {
			for _, tree := range s.trees() {
				var copied ast.Expr
				if in != nil {
					copied = in.resolve(tree, nil)
				} else {
					copied = cuelang.Clone(tree)
				}
				data, _ := copied.(*ast.StructLit)
				files = append(files, inPackage(&ast.File{Filename: s.name, Decls: data.Elts}))
			}
			continue
		}
		f, err := parser.ParseFile(s.name, s.data)
		if err != nil {
			return nil, false, err
		}
		addObject(f)
		if in != nil {
			in.file(f)
		}
		loads = loads || s.loads
		files = append(files, inPackage(f))
	}
	return files, loads, nil
}

// inPackage puts a file into packageName.
func inPackage(f *ast.File) *ast.File {
	decls := make([]ast.Decl, 0, len(f.Decls)+1)
	placed := false
	for _, d := range f.Decls {
		switch d.(type) {
		case *ast.Package:
			continue
		case *ast.Attribute, *ast.CommentGroup:
		default:
			if !placed {
				decls = append(decls, &ast.Package{Name: ast.NewIdent(packageName)})
				placed = true
			}
		}
		decls = append(decls, d)
	}
	if !placed {
		decls = append(decls, &ast.Package{Name: ast.NewIdent(packageName)})
	}
	f.Decls = decls
	return f
}

// addObject gives a Kubernetes-style CUE file the root its kind stands for.
func addObject(f *ast.File) {
	kind, ok := objectStyle(f)
	if !ok {
		return
	}
	top := map[string]*ast.Field{}
	for _, d := range f.Decls {
		if field, isField := d.(*ast.Field); isField {
			top[cuelang.LabelText(field.Label)] = field
		}
	}
	ref := func(name string) *ast.Ident {
		id := ast.NewIdent(name)
		if field := top[name]; field != nil {
			id.Node, id.Scope = field.Value, f
		}
		return id
	}
	name := &ast.SelectorExpr{X: ref("metadata"), Sel: ast.NewIdent("name")}
	body := &ast.StructLit{Elts: []ast.Decl{
		&ast.EmbedDecl{Expr: ref("spec")},
		&ast.Field{Label: ast.NewIdent("apiVersion"), Value: ast.NewString("v1alpha1")},
		&ast.Field{Label: ast.NewIdent("name"), Value: name},
	}}
	if kind == "Fleet" {
		f.Decls = append(f.Decls, &ast.Field{Label: ast.NewIdent(rootFleet), Value: body})
		return
	}
	inner := &ast.StructLit{Elts: []ast.Decl{&ast.Field{Label: &ast.ParenExpr{X: name}, Value: body}}}
	f.Decls = append(f.Decls, &ast.Field{Label: ast.NewIdent(rootBundles), Value: inner})
}
