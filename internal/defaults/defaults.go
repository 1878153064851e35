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
	"cuelang.org/go/cue/token"

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
	text, err := rootfs.Read(dir, File, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return out, misnamed(dir)
	}
	if err != nil {
		n := diag.Errorf("unreadable", "file cannot be read")
		n.Pos, n.Why = diag.Pos{File: path}, err.Error()
		return out, diag.Findings{n}
	}
	f, err := cuelang.FromYAML(File, text)
	if err != nil {
		return out, cuelang.YAMLFindings(File, text, err)
	}
	data := cuelang.FileData(f)
	tree, ok := data.(*ast.StructLit)
	switch {
	case ok && isDocument(tree), !ok && (isNull(data) || areDocuments(data)):
		return out, nil
	case !ok:
		n := diag.Errorf("wrong-type", "%s must be a mapping with %s", File, strings.Join(known, " and "))
		n.Pos, n.Fix = cuelang.Pos(data.Pos()), "write: fleet: fleet.yaml"
		return out, diag.Findings{n}
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

// misnamed is an error where the file stands under a name that nobody reads: what it says would be passed over, and the
// command go elsewhere. A bundle, a fleet or manifests may be called so.
func misnamed(dir string) diag.Findings {
	const other = "hawser.yml"
	text, err := rootfs.Read(dir, other, 1<<20)
	if err != nil {
		return nil
	}
	f, err := cuelang.FromYAML(other, text)
	if err != nil {
		return nil
	}
	tree, ok := cuelang.FileData(f).(*ast.StructLit)
	if !ok || isDocument(tree) || cuelang.Lookup(tree, "fleet") == nil && cuelang.Lookup(tree, "files") == nil {
		return nil
	}
	n := diag.Errorf("misnamed", "%s is not read", other)
	n.Pos, n.Why, n.Fix = diag.Pos{File: other}, "the defaults of a directory are in "+File, "rename it to "+File
	return diag.Findings{n}
}

// isNull: the file holds nothing, or comments only, for which the YAML reader has a disjunction with null.
func isNull(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return true
	case *ast.BasicLit:
		return x.Kind == token.NULL
	}
	return false
}

// areDocuments reports whether a file of several documents has one that is a document of its own.
func areDocuments(x ast.Expr) bool {
	l, ok := x.(*ast.ListLit)
	return ok && slices.ContainsFunc(l.Elts, func(e ast.Expr) bool {
		tree, ok := e.(*ast.StructLit)
		return ok && isDocument(tree)
	})
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
	at := filepath.FromSlash(name)
	if !filepath.IsAbs(at) { // not cleaned: what is opened goes through a link before it goes up
		at = dir + string(filepath.Separator) + at
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil { // it is not there, or leads nowhere: reading it says so
		real = filepath.Clean(at)
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	if _, err := rootfs.Below(root, real); err != nil {
		return &rootfs.OutsideError{Name: name, Root: root, Link: real != filepath.Clean(at) && filepath.IsLocal(name)}
	}
	return nil
}

// Unvouched are errors for files that a saved plan names, to be read from dir, which lie outside of the repository: of a plan that
// nobody vouches for nothing else is looked at, nor told whether it is there.
func Unvouched(dir string, names []string) diag.Findings {
	var out diag.Findings
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if err := within(dir, name); err != nil {
			f := diag.Errorf("unsealed-plan", "the plan file names %s, which is outside of the repository, and nothing vouches for the file", name)
			f.Why = "it was not made by you on this machine: " + err.Error()
			f.Fix = "plan again here, or apply it with the key that sealed it (docs/rollouts.md, Plan files)"
			out = append(out, f)
		}
	}
	return out
}
