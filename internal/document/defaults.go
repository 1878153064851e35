package document

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// DefaultsFile is the file with a directory's defaults for commands.
const DefaultsFile = "hawser.yaml"

// Defaults are the files a command takes where its flags name none.
type Defaults struct {
	Fleet, Files []string
}

var defaultsFields = []string{"fleet", "files"}

// ReadDefaults reads the defaults of a directory. No file, or one that is a bundle, a fleet or a manifest, gives none.
// Findings have file and line.
func ReadDefaults(dir string) (Defaults, diag.Findings) {
	var out Defaults
	path := filepath.Join(dir, DefaultsFile)
	data, err := rootfs.Read(dir, DefaultsFile, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		n := diag.Errorf("unreadable", "file cannot be read")
		n.Pos, n.Why = diag.Pos{File: path}, err.Error()
		return out, diag.Findings{n}
	}
	f, err := cuelang.FromYAML(DefaultsFile, data)
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
			out.Fleet, fs = defaultFiles(f, fs)
		case "files":
			out.Files, fs = defaultFiles(f, fs)
		default:
			fs = append(fs, unknownField(f.Name, f.Name, position(f.Pos), defaultsFields))
		}
	}
	return out, fs
}

// isDefaults reports whether the content of a file of that name is defaults, and no document.
func isDefaults(dir string) bool {
	d, fs := ReadDefaults(dir)
	return fs == nil && len(d.Fleet)+len(d.Files) > 0
}

// isDocument reports whether a file is a document of its own: by a root, or as a Kubernetes object.
func isDocument(tree *ast.StructLit) bool {
	if _, isFleet := cuelang.Lookup(tree, rootFleet).(*ast.StructLit); isFleet {
		return true
	}
	return slices.ContainsFunc([]string{rootBundle, rootBundles, rootRuntime, "apiVersion", "kind"}, func(name string) bool {
		return cuelang.Lookup(tree, name) != nil
	})
}

// defaultFiles reads a file or a list of files.
func defaultFiles(f cuelang.Field, fs diag.Findings) ([]string, diag.Findings) {
	items := []ast.Expr{f.Value}
	if l, ok := f.Value.(*ast.ListLit); ok {
		items = l.Elts
	}
	var out []string
	for _, x := range items {
		if s, ok := stringOf(x); ok && s != "" {
			out = append(out, s)
		}
	}
	if len(out) < len(items) || len(out) == 0 {
		n := diag.Errorf("wrong-type", "%s must be a file or a list of files", f.Name)
		n.Pos, n.Path = position(f.Pos), f.Name
		return nil, append(fs, n)
	}
	return out, fs
}
