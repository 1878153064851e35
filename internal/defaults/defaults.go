// Package defaults reads hawser.yaml, the file with what commands take in a directory where their flags name nothing.
//
// defaults must not know what the files that it names hold.
package defaults

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// File is the file with a directory's defaults for commands.
const File = "hawser.yaml"

// Defaults are the files a command takes where its flags name none.
type Defaults struct {
	Fleet, Files []string
}

var known = []string{"fleet", "files"}

// flags name the same files, wherever they lie.
var flags = map[string]string{"fleet": "--fleet (-r), or HAWSER_FLEET", "files": "--file (-f)"}

// documents are the fields that make a file a document of its own: roots, and what Kubernetes objects have.
var documents = []string{"bundle", "bundles", "runtime", "apiVersion", "kind"}

// Read reads the defaults of a directory. No file, or one that is a bundle, a fleet or a manifest, gives none.
// Findings have file and line.
func Read(dir string) (Defaults, diag.Findings) {
	var out Defaults
	path := filepath.Join(dir, File)
	data, err := rootfs.Read(dir, File, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		n := diag.Errorf("unreadable", "file cannot be read")
		n.Pos, n.Why = diag.Pos{File: path}, err.Error()
		return out, diag.Findings{n}
	}
	f, err := cuelang.FromYAML(File, data)
	if err != nil {
		return out, cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"})
	}
	tree, ok := cuelang.FileData(f).(*ast.StructLit)
	if !ok || isDocument(tree) {
		return out, nil
	}
	fields, err := cuelang.Fields(tree)
	if err != nil {
		return out, cuelang.FindingsFor(err, cuelang.Show{Code: "duplicate-field"})
	}
	var fs diag.Findings
	for _, f := range fields {
		switch f.Name {
		case "fleet":
			out.Fleet, fs = defaultFiles(dir, f, fs)
		case "files":
			out.Files, fs = defaultFiles(dir, f, fs)
		default:
			n := diag.Errorf("unknown-field", "unknown field %q", f.Name)
			n.Path, n.Pos, n.Fix = f.Name, cuelang.Pos(f.Pos), diag.DidYouMean(f.Name, known)
			if n.Fix == "" {
				n.Fix = "known here: " + strings.Join(known, ", ")
			}
			fs = append(fs, n)
		}
	}
	return out, fs
}

// In reports whether the file of that name in a directory is defaults, and no document.
func In(dir string) bool {
	d, fs := Read(dir)
	return fs == nil && len(d.Fleet)+len(d.Files) > 0
}

// isDocument reports whether a file is a document of its own: by a root, or as a Kubernetes object.
func isDocument(tree *ast.StructLit) bool {
	if _, isFleet := cuelang.Lookup(tree, "fleet").(*ast.StructLit); isFleet {
		return true
	}
	return slices.ContainsFunc(documents, func(name string) bool {
		return cuelang.Lookup(tree, name) != nil
	})
}

// defaultFiles reads a file or a list of files, which lie in the repository of dir: nobody who runs a command has named them.
func defaultFiles(dir string, f cuelang.Field, fs diag.Findings) ([]string, diag.Findings) {
	items := []ast.Expr{f.Value}
	if l, ok := f.Value.(*ast.ListLit); ok {
		items = l.Elts
	}
	var out []string
	for _, x := range items {
		if s, ok := cuelang.StringLit(x); ok && s != "" {
			out = append(out, s)
		}
	}
	if len(out) < len(items) || len(out) == 0 {
		n := diag.Errorf("wrong-type", "%s must be a file or a list of files", f.Name)
		n.Pos, n.Path = cuelang.Pos(f.Pos), f.Name
		return nil, append(fs, n)
	}
	for i, names := range out {
		for name := range strings.SplitSeq(names, ",") { // as flags part them
			if err := within(dir, strings.TrimSpace(name)); err != nil {
				n := diag.Errorf("outside", "%s names a file outside of the repository", f.Name)
				n.Pos, n.Path, n.Why = cuelang.Pos(items[i].Pos()), f.Name, err.Error()
				n.Fix = "name it yourself: " + flags[f.Name]
				return nil, append(fs, n)
			}
		}
	}
	return out, fs
}

// within is an error for a file that lies, or leads by a link, outside of the repository, or module, of dir; without any, of dir itself.
func within(dir, name string) error {
	if name == "" || name == "-" {
		return nil
	}
	root, marked, err := rootfs.Bound(dir, ".git")
	if err == nil && !marked {
		root, _, err = rootfs.Bound(dir, "cue.mod")
	}
	if err != nil {
		return err
	}
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil { // it is not there, or leads nowhere: reading it says so
		real = at
	}
	if _, err := rootfs.Below(root, real); err != nil {
		return &rootfs.OutsideError{Name: name, Root: root, Link: real != at && filepath.IsLocal(name)}
	}
	return nil
}
