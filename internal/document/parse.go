package document

import (
	"bytes"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// document is one YAML or JSON document, brought into the form with roots (bundle:, bundles:, fleet:, runtime:).
type document struct {
	tree *ast.StructLit
	// manifest is true for a foreign Kubernetes object.
	manifest bool
	// bundle is the name of a Kubernetes-style Bundle, for finding names used twice.
	bundle string
	pos    diag.Pos
}

// The roots of a document.
const (
	rootBundle    = "bundle"
	rootBundles   = "bundles"
	rootFleet     = "fleet"
	rootRuntime   = "runtime"
	rootResources = "resources"
)

var (
	roots = []string{rootBundle, rootBundles, rootFleet, rootRuntime, rootResources}
	// objectFields are those of a document with kind.
	objectFields = []string{"apiVersion", "kind", "metadata", "spec"}

	kinds = []string{"Bundle", "Fleet", "Cluster", "Module", "Resource"}
)

// parse reads files, each once, to find its syntax errors and what it declares.
func (p *Program) parse(files []*source) diag.Findings {
	var fs diag.Findings
	for _, s := range files {
		if s.syntax == syntaxCUE {
			fs = append(fs, p.parseCUE(s)...)
			continue
		}
		fs = append(fs, s.parseData()...)
	}
	return fs
}

func (p *Program) parseCUE(s *source) diag.Findings {
	if fs := cuelang.CheckSource(s.name, s.data, p.opts.Limits); fs != nil {
		return fs
	}
	f, err := parser.ParseFile(s.name, s.data)
	if err != nil {
		return cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"})
	}
	s.names(f)
	if _, isKind := objectStyle(f); isKind {
		delete(s.cueNames, "spec")
	}
	return p.checkImports(s, f)
}

// checkImports refuses imports and embedded files when there is no module root.
func (p *Program) checkImports(s *source, f *ast.File) diag.Findings {
	var fs diag.Findings
	refuse := func(pos token.Pos, what string) {
		s.loads = true
		if p.module.Root != "" {
			return
		}
		n := diag.Errorf("imports-unavailable", "imports are unavailable: %s needs a directory with cue.mod", what)
		n.Fix = "run in the module's directory or give --workdir"
		n.Pos = cuelang.Pos(pos)
		fs = append(fs, n)
	}
	for spec := range f.ImportSpecs() {
		path, err := literal.Unquote(spec.Path.Value)
		if first, _, _ := strings.Cut(path, "/"); err != nil || strings.Contains(first, ".") {
			refuse(spec.Pos(), "import "+spec.Path.Value)
		}
	}
	for _, d := range f.Decls {
		if a, ok := d.(*ast.Attribute); ok {
			if key, body := a.Split(); key == "extern" && body == "embed" {
				refuse(a.Pos(), a.Text)
			}
		}
	}
	return fs
}

func (s *source) parseData() diag.Findings {
	var data ast.Expr
	var err error
	if s.syntax == syntaxJSON {
		data, err = cuelang.FromJSON(s.name, s.data)
	} else {
		var f *ast.File
		if f, err = cuelang.FromYAML(s.name, s.data); err == nil {
			data = cuelang.FileData(f)
		}
	}
	if err != nil && s.syntax == syntaxYAML {
		return cuelang.YAMLFindings(s.name, s.data, err)
	}
	if len(bytes.TrimSpace(s.data)) == 0 || s.syntax == syntaxYAML && cuelang.Blank(s.data) && !bytes.Contains(s.data, []byte("---")) {
		n := diag.Errorf("empty-file", "the file is empty")
		n.Pos, n.Fix = diag.Pos{File: s.name}, "write bundle: or fleet: into it, or leave it out"
		return diag.Findings{n}
	}
	if err != nil {
		return cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"})
	}
	docs := []ast.Expr{data}
	if l, ok := data.(*ast.ListLit); ok {
		docs = l.Elts
	}
	var fs diag.Findings
	for _, x := range docs {
		tree, ok := x.(*ast.StructLit)
		if !ok {
			if lit, isLit := x.(*ast.BasicLit); isLit && lit.Kind == token.NULL {
				continue
			}
			n := diag.Errorf("wrong-type", "a document must be a mapping")
			n.Pos = cuelang.Pos(x.Pos())
			if !n.Pos.IsValid() {
				n.Pos = diag.Pos{File: s.name}
			}
			fs = append(fs, n)
			continue
		}
		if len(tree.Elts) == 0 {
			continue
		}
		if twice := duplicates(tree); twice != nil {
			fs = append(fs, cuelang.FindingsFor(twice, cuelang.Show{Code: "duplicate-field"})...)
			continue
		}
		fields, err := cuelang.Fields(tree)
		if err != nil {
			fs = append(fs, cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"})...)
			continue
		}
		d, more := newDocument(tree, fields)
		fs = append(fs, more...)
		if d != nil {
			s.docs = append(s.docs, d)
		}
	}
	return fs
}

// duplicates finds labels that are given twice, at any depth.
func duplicates(x ast.Expr) errors.Error {
	var out errors.Error
	switch x := x.(type) {
	case *ast.StructLit:
		if _, err := cuelang.Fields(x); err != nil {
			out = appendError(out, err)
		}
		for _, d := range x.Elts {
			if f, ok := d.(*ast.Field); ok {
				out = errors.Append(out, duplicates(f.Value))
			}
		}
	case *ast.ListLit:
		for _, e := range x.Elts {
			out = errors.Append(out, duplicates(e))
		}
	}
	return out
}

func newDocument(tree *ast.StructLit, fields []cuelang.Field) (*document, diag.Findings) {
	d := &document{tree: tree, pos: cuelang.Pos(fields[0].Pos)}
	apiVersion, hasVersion := stringField(fields, "apiVersion")
	kind, hasKind := stringField(fields, "kind")
	if !hasVersion || !hasKind {
		return d, nil
	}
	if !strings.HasPrefix(apiVersion, v1alpha1.Group+"/") {
		d.manifest = true
		return d, nil
	}
	return d.fromObject(apiVersion, kind, fields)
}

// fromObject brings `kind: Bundle` or `kind: Fleet` into the form with roots.
func (d *document) fromObject(apiVersion, kind string, fields []cuelang.Field) (*document, diag.Findings) {
	fail := func(code, what, fix string) (*document, diag.Findings) {
		n := diag.Errorf(code, "%s", what)
		n.Pos, n.Fix = d.pos, fix
		return nil, diag.Findings{n}
	}
	if apiVersion != v1alpha1.APIVersion {
		return fail("wrong-version", "apiVersion "+apiVersion+" is not known", "it must be "+v1alpha1.APIVersion)
	}
	switch kind {
	case "Bundle", "Fleet":
	case "Cluster", "Module", "Resource":
		return fail("not-available", "kind "+kind+" is not available in this version", "")
	default:
		return fail("unknown-kind", "kind "+kind+" is not known", diag.DidYouMean(kind, kinds))
	}
	var fs diag.Findings
	var spec *ast.StructLit
	name := ""
	var namePos token.Pos
	for _, f := range fields {
		switch f.Name {
		case "apiVersion", "kind", "status":
		case "metadata":
			var more diag.Findings
			name, namePos, more = metadataName(f)
			fs = append(fs, more...)
		case "spec":
			if spec, _ = f.Value.(*ast.StructLit); spec == nil {
				n := diag.Errorf("wrong-type", "spec must be a mapping")
				n.Pos = cuelang.Pos(f.Pos)
				fs = append(fs, n)
			}
		default:
			fs = append(fs, diag.UnknownField(f.Name, f.Name, cuelang.Pos(f.Pos), objectFields))
		}
	}
	if fs.HasErrors() {
		return nil, fs
	}
	if name == "" {
		n := diag.Errorf("missing-field", "metadata.name is required")
		n.Pos = d.pos
		return nil, append(fs, n)
	}
	if spec == nil {
		n := diag.Errorf("missing-field", "spec is required")
		n.Pos = d.pos
		return nil, append(fs, n)
	}
	d.tree = objectTree(kind, name, namePos, spec)
	if kind == "Bundle" {
		d.bundle = name
	}
	return d, fs
}

// objectTree is `bundles: NAME: spec` or `fleet: spec`, with the name and the short apiVersion where the spec has none.
func objectTree(kind, name string, namePos token.Pos, spec *ast.StructLit) *ast.StructLit {
	body := &ast.StructLit{Lbrace: spec.Lbrace, Elts: spec.Elts}
	add := func(field, value string) {
		if cuelang.Lookup(spec, field) == nil {
			lit := ast.NewString(value)
			ast.SetPos(lit, namePos)
			body.Elts = append([]ast.Decl{cuelang.NewField(field, lit, namePos)}, body.Elts...)
		}
	}
	add("name", name)
	add("apiVersion", v1alpha1.ShortAPIVersion)
	if kind == "Fleet" {
		return &ast.StructLit{Elts: []ast.Decl{cuelang.NewField(rootFleet, body, namePos)}}
	}
	inner := &ast.StructLit{Elts: []ast.Decl{cuelang.NewField(name, body, namePos)}}
	return &ast.StructLit{Elts: []ast.Decl{cuelang.NewField(rootBundles, inner, namePos)}}
}

func metadataName(f cuelang.Field) (string, token.Pos, diag.Findings) {
	meta, ok := f.Value.(*ast.StructLit)
	if !ok {
		n := diag.Errorf("wrong-type", "metadata must be a mapping")
		n.Pos = cuelang.Pos(f.Pos)
		return "", f.Pos, diag.Findings{n}
	}
	fields, err := cuelang.Fields(meta)
	if err != nil {
		return "", f.Pos, cuelang.FindingsFor(err, cuelang.Show{Code: "duplicate-field"})
	}
	name, pos := "", f.Pos
	var fs diag.Findings
	known := []string{"name", "namespace", "labels", "annotations"}
	for _, m := range fields {
		switch m.Name {
		case "name":
			name, _ = stringField(fields, "name")
			pos = m.Pos
		case "namespace", "labels", "annotations":
		case "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "finalizers",
			"ownerReferences":
			// What `kubectl get -o yaml` prints is read back without complaint.
		default:
			fs = append(fs, diag.UnknownField("metadata."+m.Name, m.Name, cuelang.Pos(m.Pos), known))
		}
	}
	return name, pos, fs
}

// stringField is the text of a string field, false when there is none.
func stringField(fields []cuelang.Field, name string) (string, bool) {
	for _, f := range fields {
		if f.Name == name {
			return cuelang.StringLit(f.Value)
		}
	}
	return "", false
}

// objectStyle tells whether a CUE file is a Kubernetes-style document of ours, and of which kind.
func objectStyle(f *ast.File) (kind string, ok bool) {
	version := ""
	for _, d := range f.Decls {
		field, isField := d.(*ast.Field)
		if !isField {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil {
			continue
		}
		switch text, _ := cuelang.StringLit(field.Value); name {
		case "apiVersion":
			version = text
		case "kind":
			kind = text
		}
	}
	return kind, kind != "" && strings.HasPrefix(version, v1alpha1.Group+"/")
}

// appendError joins CUE errors.
func appendError(list errors.Error, err error) errors.Error {
	if err == nil {
		return list
	}
	return errors.Append(list, errors.Promote(err, ""))
}
