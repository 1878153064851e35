package cuegen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Source holds the Go files of packages: import path -> file name -> text. Tests and generated code need not be there.
type Source map[string]map[string][]byte

// GoOptions choose what FromGo makes.
type GoOptions struct {
	// Origin is named in the files' first line, for example "k8s.io/api v0.34.1".
	Origin string
	// Packages are the import paths wanted, or single types of them (IMPORTPATH.Type); what they refer to comes with them.
	// Empty means all of the source.
	Packages []string
	// Keep are further types wanted where they exist, as IMPORTPATH.Type.
	Keep []string
	// Docs keeps the types' comments.
	Docs bool
}

// special are types whose JSON is not what their Go type says. The rest of their package is converted as usual.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "int | string",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "number | string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "null | string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "null | string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "{...}",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "_",
	"k8s.io/apimachinery/pkg/runtime.Object":                                                "_",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "_",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "bool | #JSONSchemaProps",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "#JSONSchemaProps | [...#JSONSchemaProps]",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "#JSONSchemaProps | [...string]",
}

// FromGo converts the exported types that are wanted, and all they refer to, as `cue get go` does:
// IMPORTPATH/FILE_go_gen.cue. Fields are optional with omitempty or +optional; types marked +enum take only their
// constants. A package that is referred to and not in the source gives a warning, and anything is accepted there.
func FromGo(src Source, opts GoOptions) ([]File, diag.Findings) {
	g := &generator{src: src, opts: opts, parsed: map[string]*goPackage{}, made: map[typeName]defined{}}
	todo, fs := g.wanted()
	if fs.HasErrors() {
		return nil, fs
	}
	for ; len(todo) > 0; todo = todo[1:] {
		if _, done := g.made[todo[0]]; !done {
			d := g.define(todo[0])
			g.made[todo[0]] = d
			todo = append(todo, d.refs...)
		}
	}
	out := g.files()
	if g.found.HasErrors() {
		return nil, g.found.Sorted()
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, g.found.Sorted()
}

// typeName is a type of a package.
type typeName struct{ pkg, name string }

// defined is a converted type.
type defined struct {
	body    string
	imports map[string]string // path -> name
	refs    []typeName
}

// wanted are the types to begin with.
func (g *generator) wanted() ([]typeName, diag.Findings) {
	var out []typeName
	want := g.opts.Packages
	if len(want) == 0 {
		want = sorted(g.src)
	}
	for _, name := range want {
		importPath, only := name, ""
		if g.pkg(name) == nil {
			if i := strings.LastIndexByte(name, '.'); i > strings.LastIndexByte(name, '/') {
				importPath, only = name[:i], name[i+1:]
			}
		}
		p := g.pkg(importPath)
		if p == nil || !importable(importPath) || only != "" && (p.types[only] == nil || !ast.IsExported(only)) {
			f := diag.Errorf("no-package", "there is no package or type %s", clean(name))
			f.Fix = "packages are named by their import path or like apps/v1, types like apps/v1.Deployment"
			return nil, diag.Findings{f}
		}
		for _, t := range sorted(p.types) {
			if (only == "" || t == only) && ast.IsExported(t) && p.types[t].TypeParams == nil {
				out = append(out, typeName{importPath, t})
			}
		}
	}
	for _, name := range g.opts.Keep {
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			if p := g.pkg(name[:i]); p != nil && importable(name[:i]) && p.types[name[i+1:]] != nil && p.types[name[i+1:]].TypeParams == nil {
				out = append(out, typeName{name[:i], name[i+1:]})
			}
		}
	}
	return out, g.found.Errors()
}

// generator holds what was parsed.
type generator struct {
	src    Source
	opts   GoOptions
	parsed map[string]*goPackage
	made   map[typeName]defined
	found  diag.Findings
}

// goPackage is a parsed package.
type goPackage struct {
	name  string
	files map[string]*ast.File
	types map[string]*ast.TypeSpec
	in    map[string]string     // type -> its file
	enums map[string][]constant // of its types
}

// pkg parses a package once; nil when the source does not have it.
func (g *generator) pkg(importPath string) *goPackage {
	if p, ok := g.parsed[importPath]; ok {
		return p
	}
	files := g.src[importPath]
	if len(files) == 0 {
		g.parsed[importPath] = nil
		return nil
	}
	p := &goPackage{files: map[string]*ast.File{}, types: map[string]*ast.TypeSpec{}, in: map[string]string{}}
	g.parsed[importPath] = p
	for _, name := range sorted(files) {
		f, err := parser.ParseFile(token.NewFileSet(), path.Join(importPath, name), files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			g.found = append(g.found, diag.Errorf("go-syntax", "%s: %v", path.Join(importPath, name), err))
			continue
		}
		p.name = f.Name.Name
		p.files[name] = f
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, s := range gen.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					if t.Doc == nil && len(gen.Specs) == 1 {
						t.Doc = gen.Doc
					}
					p.types[t.Name.Name], p.in[t.Name.Name] = t, name
				}
			}
		}
	}
	p.enums = constants(p)
	return p
}

// define converts one type.
func (g *generator) define(t typeName) defined {
	p := g.pkg(t.pkg)
	c := &converter{gen: g, pkg: p, importPath: t.pkg, file: p.files[p.in[t.name]], taken: map[string]bool{},
		defined: defined{imports: map[string]string{}}}
	for _, spec := range c.file.Imports {
		if local, _ := c.importName(spec); local != "" {
			c.taken[local] = true
		}
	}
	c.defined.body = c.define(p.types[t.name])
	return c.defined
}

// files puts the types together as their Go files held them.
func (g *generator) files() (out []File) {
	for _, importPath := range sorted(g.parsed) {
		p := g.parsed[importPath]
		if p == nil {
			continue
		}
		for _, name := range sorted(p.files) {
			var bodies []string
			imports := map[string]string{}
			for _, t := range inOrder(p.files[name]) {
				if d, ok := g.made[typeName{importPath, t}]; ok {
					bodies = append(bodies, d.body)
					maps.Copy(imports, d.imports)
				}
			}
			if len(bodies) == 0 {
				continue
			}
			data, err := file("the Go types of "+g.opts.Origin, p.name, imports, strings.Join(bodies, "\n"))
			if err != nil {
				g.found = append(g.found, diag.Errorf("go-convert", "%s/%s: %v", importPath, name, err))
				continue
			}
			out = append(out, File{Path: importPath + "/" + strings.TrimSuffix(name, ".go") + "_go_gen.cue", Data: data})
		}
	}
	return out
}

// inOrder are the types of a file as they stand in it.
func inOrder(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
			for _, s := range gen.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					names = append(names, t.Name.Name)
				}
			}
		}
	}
	return names
}

// importable reports whether an import path is safe as a path of files.
func importable(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.ContainsAny(part, `\:*?"<>|`) {
			return false
		}
	}
	return len(p) < 512
}

// constant is a Go constant of a named type.
type constant struct{ name, value, doc string }

// constants are the literal constants of each named type, in order.
func constants(p *goPackage) map[string][]constant {
	out := map[string][]constant{}
	for _, name := range sorted(p.files) {
		for _, d := range p.files[name].Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, s := range gen.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				of, ok := v.Type.(*ast.Ident)
				if !ok || len(v.Values) != len(v.Names) {
					continue
				}
				for i, n := range v.Names {
					lit, ok := v.Values[i].(*ast.BasicLit)
					if ok && n.IsExported() && lit.Kind == token.STRING {
						out[of.Name] = append(out[of.Name], constant{n.Name, lit.Value, v.Doc.Text()})
					}
				}
			}
		}
	}
	return out
}

// missing warns once of a package that is not in the source.
func (g *generator) missing(importPath, by string) {
	w := diag.Warnf("go-import", "%s is not part of the source: anything is accepted where it is used", importPath)
	w.Why = "used by " + by
	if !slices.ContainsFunc(g.found, func(f diag.Finding) bool { return f.What == w.What }) {
		g.found = append(g.found, w)
	}
}
