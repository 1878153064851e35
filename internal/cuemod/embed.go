package cuemod

import (
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/rootfs"
)

// read reads a file of the module: no link leads out of its root, but those of vendored CUE.
func (m *Module) read(path string) ([]byte, error) {
	rel, err := filepath.Rel(m.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, &rootfs.OutsideError{Name: m.show(path), Root: m.Root}
	}
	return cuelang.ReadFile(m.Root, filepath.ToSlash(rel), m.Limits.SourceBytes)
}

// parse parses a file for the loader. What the loader has read is not looked at: the file is read again, so
// that no link leads out of the module.
func (m *Module) parse(name string, src any, cfg parser.Config) (*ast.File, error) {
	if _, given := src.(*ast.File); given {
		return parser.ParseFile(name, src, cfg)
	}
	data, err := m.read(name)
	if err != nil {
		return nil, errors.Newf(token.NoPos, "%s cannot be read: %v", m.show(name), err)
	}
	if fs := cuelang.CheckSource(name, data, m.Limits); fs.HasErrors() {
		return nil, errors.Newf(token.NoPos, "%s: %s", m.show(name), fs[0].What)
	}
	return parser.ParseFile(name, data, cfg)
}

// confine lets the files of an instance, and those of what it imports, embed files of the module alone.
func (m *Module) confine(inst *build.Instance, files []*ast.File) error {
	fsys := rootfs.FS{Root: m.Root, Limit: m.Limits.SourceBytes}
	one := func(f *ast.File, dir string) error {
		rel, err := filepath.Rel(m.Root, dir)
		if err == nil {
			err = m.checkEmbeds(f, dir)
		}
		if tf := fileOf(f); tf != nil && err == nil {
			tf.SetFSLoc(token.FSLoc{FS: fsys, Path: filepath.ToSlash(filepath.Join(rel, filepath.Base(f.Filename)))})
		}
		return err
	}
	for _, f := range files {
		if err := one(f, m.Dir); err != nil {
			return err
		}
	}
	for _, imp := range importsOf(inst) {
		for _, f := range imp.Files { // those of cue.mod lie in several directories
			if err := one(f, filepath.Dir(f.Filename)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileOf is the token file of a syntax tree, nil when it has no position.
func fileOf(f *ast.File) (out *token.File) {
	ast.Walk(f, func(n ast.Node) bool {
		if out == nil && n.Pos().IsValid() {
			out = n.Pos().File()
		}
		return out == nil
	}, nil)
	return out
}

// checkEmbeds refuses what a file embeds from outside of the module: the library would say that there is no such file.
func (m *Module) checkEmbeds(f *ast.File, dir string) error {
	var found errors.Error
	embeds(f, dir, func(a *ast.Attribute, path string) {
		rel, err := filepath.Rel(m.Root, path)
		if err != nil {
			return
		}
		if _, err = rootfs.Read(m.Root, filepath.ToSlash(rel), m.Limits.SourceBytes); rootfs.IsOutside(err) {
			found = errors.Append(found, errors.Newf(a.Pos(), "%s cannot be embedded: %v", m.show(path), err))
		}
	})
	if found == nil {
		return nil
	}
	return found
}

// importsOf lists the packages that an instance imports, each once, with those they import.
func importsOf(inst *build.Instance) []*build.Instance {
	var out []*build.Instance
	var visit func(*build.Instance)
	visit = func(i *build.Instance) {
		for _, imp := range i.Imports {
			if !slices.Contains(out, imp) {
				out = append(out, imp)
				visit(imp)
			}
		}
	}
	visit(inst)
	return out
}

// embeds calls found with every file that @embed names in a file of dir, patterns expanded.
func embeds(f *ast.File, dir string, found func(a *ast.Attribute, path string)) {
	ast.Walk(f, func(n ast.Node) bool {
		a, ok := n.(*ast.Attribute)
		if !ok {
			return true
		}
		key, body := a.Split()
		if key != "embed" {
			return true
		}
		for _, arg := range strings.Split(body, ",") {
			name, pattern, _ := strings.Cut(strings.TrimSpace(arg), "=")
			if text, err := literal.Unquote(pattern); err == nil {
				pattern = text
			}
			if name == "file" {
				found(a, filepath.Join(dir, pattern))
			}
			if name == "glob" && filepath.IsLocal(filepath.FromSlash(pattern)) {
				matches, _ := filepath.Glob(filepath.Join(globQuote(dir), pattern))
				for _, path := range matches {
					found(a, path)
				}
			}
		}
		return true
	}, nil)
}
