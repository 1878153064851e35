package document

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

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
		inst := build.NewContext().NewInstance(p.root, nil)
		for _, f := range files {
			if err := inst.AddSyntax(f); err != nil {
				return cue.Value{}, err
			}
		}
		if err := inst.Complete(); err != nil {
			return cue.Value{}, err
		}
		return cuecontext.New().BuildInstance(inst), nil
	}
	inst, err := p.load(files)
	if err != nil {
		return cue.Value{}, err
	}
	return cuecontext.New(cuecontext.WithInjection(embed.New())).BuildInstance(inst), nil
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
			top[labelText(field.Label)] = field
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

// load runs CUE's module loader over virtual files in the working directory. It reads the module's own files and
// what cue.mod holds, and refuses to fetch anything.
func (p *Program) load(files []*ast.File) (*build.Instance, error) {
	overlay := map[string]load.Source{}
	var args []string
	prefix := p.virtualPrefix()
	for i, f := range files {
		name := prefix + strconv.Itoa(i) + ".cue"
		overlay[filepath.Join(p.root, name)] = load.FromFile(f)
		args = append(args, "./"+name)
	}
	insts := load.Instances(args, &load.Config{
		Dir: p.root, ModuleRoot: p.moduleRoot, Package: "_", Overlay: overlay, Registry: noRegistry{},
	})
	if len(insts) != 1 {
		return nil, fmt.Errorf("expected one CUE instance, got %d", len(insts))
	}
	if err := insts[0].Err; err != nil {
		return nil, err
	}
	// Files given by themselves belong to no module, and only a module's files may embed others.
	insts[0].Module, insts[0].Root, insts[0].Dir = p.moduleName(), p.moduleRoot, p.root
	return insts[0], nil
}

// moduleName is the name the module root gives itself.
func (p *Program) moduleName() string {
	path := filepath.Join(p.moduleRoot, "cue.mod", "module.cue")
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	f, err := modfile.ParseNonStrict(data, path)
	if err != nil {
		return ""
	}
	return f.Module
}

// virtualPrefix is a file name prefix no file in the working directory has.
func (p *Program) virtualPrefix() string {
	for i := 0; ; i++ {
		prefix := "hawser-" + strconv.Itoa(i) + "-"
		if found, err := filepath.Glob(filepath.Join(globQuote(p.root), prefix+"*")); err != nil || len(found) == 0 {
			return prefix
		}
	}
}

func globQuote(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(path)
}

// noRegistry keeps evaluation hermetic: modules come from cue.mod or from the module itself.
type noRegistry struct{}

var errNoRegistry = errors.New("modules are not fetched: put it below cue.mod")

func (noRegistry) ModFile(context.Context, module.Version) (*modfile.File, error) {
	return nil, errNoRegistry
}

func (noRegistry) Fetch(context.Context, module.Version) (module.SourceLoc, error) {
	return module.SourceLoc{}, errNoRegistry
}

func (noRegistry) ModuleVersions(context.Context, string) ([]string, error) {
	return nil, errNoRegistry
}

// imported lists the user's files that are read besides those given: imported packages and embedded files.
func (p *Program) imported() []File {
	if !slices.ContainsFunc(p.all, func(s *source) bool { return s.loads }) {
		return nil
	}
	files, _, err := p.syntax(p.all, nil)
	if err != nil {
		return nil
	}
	inst, err := p.load(files)
	if err != nil {
		return nil
	}
	paths := map[string]bool{}
	for _, f := range files {
		embeds(f, p.root, paths)
	}
	seen := map[*build.Instance]bool{}
	var visit func(*build.Instance)
	visit = func(i *build.Instance) {
		for _, imp := range i.Imports {
			if seen[imp] {
				continue
			}
			seen[imp] = true
			for _, f := range imp.BuildFiles {
				paths[f.Filename] = true
			}
			for _, f := range imp.Files {
				embeds(f, imp.Dir, paths)
			}
			visit(imp)
		}
	}
	visit(inst)
	if p.moduleRoot != "" {
		paths[filepath.Join(p.moduleRoot, "cue.mod", "module.cue")] = true
	}
	var out []File
	for path := range paths {
		if data, err := os.ReadFile(path); err == nil {
			out = append(out, File{Path: display(p.cwd, path), Digest: digestOf(data)})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// embeds finds the files @embed names.
func embeds(f *ast.File, dir string, paths map[string]bool) {
	ast.Walk(f, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		for _, a := range field.Attrs {
			key, body := a.Split()
			if key != "embed" {
				continue
			}
			for _, arg := range strings.Split(body, ",") {
				name, pattern, _ := strings.Cut(strings.TrimSpace(arg), "=")
				if text, err := literal.Unquote(pattern); err == nil {
					pattern = text
				}
				if name == "file" {
					paths[filepath.Join(dir, pattern)] = true
				}
				if name == "glob" {
					found, _ := filepath.Glob(filepath.Join(globQuote(dir), pattern))
					for _, path := range found {
						paths[path] = true
					}
				}
			}
		}
		return true
	}, nil)
}
