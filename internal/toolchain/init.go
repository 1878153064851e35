package toolchain

import (
	"bytes"
	"context"
	"embed"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/lazyregexp"
)

//go:embed all:blueprint
var builtin embed.FS

// InitRequest begins a module.
type InitRequest struct {
	// Name is the module's: a DNS label.
	Name string
	// Dir is the directory to make, Name by default.
	Dir string
	// Path is the module's path in imports, "timoni.sh/NAME" by default.
	Path string
	// Blueprint is the module to begin from; empty for the one built in.
	Blueprint Module
}

// InitResult is a module that was begun.
type InitResult struct {
	Dir       string `json:"dir"`
	Module    string `json:"module"`
	Blueprint string `json:"blueprint"`
	// Digest of the blueprint, "" for the one built in.
	Digest string `json:"digest,omitempty"`
	Files  int    `json:"files"`
}

var (
	moduleName = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	modulePath = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+(/[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?)*(@v[0-9]+)?$`)
)

// Init makes a directory with a module of the given name, a copy of the blueprint under that name.
func (t *Tools) Init(ctx context.Context, req InitRequest) (InitResult, error) {
	if !moduleName.MatchString(req.Name) {
		return InitResult{}, failure("module-name", strconv.Quote(req.Name)+" cannot be the name of a module",
			"use up to 63 lower-case letters, digits and dashes, beginning and ending with a letter or digit")
	}
	if req.Path == "" {
		req.Path = "timoni.sh/" + req.Name
	}
	if !modulePath.MatchString(req.Path) {
		return InitResult{}, failure("module-path", strconv.Quote(req.Path)+" cannot be a module's path in imports",
			"begin it with a domain, for example example.com/"+req.Name)
	}
	if req.Dir == "" {
		req.Dir = req.Name
	}
	if err := newDirectory(req.Dir); err != nil {
		return InitResult{}, err
	}
	out := InitResult{Dir: filepath.Clean(req.Dir), Module: req.Path, Blueprint: "built in"}
	var files map[string][]byte
	var err error
	if req.Blueprint.Place == "" {
		files, err = builtinFiles()
	} else {
		content, fetchErr := t.fetch(ctx, req.Blueprint)
		if fetchErr != nil {
			return InitResult{}, fetchErr
		}
		out.Blueprint, out.Digest = req.Blueprint.url(), content.Digest
		files, err = readTree(content.Root, content.Files)
	}
	if err != nil {
		return InitResult{}, err
	}
	if err := rename(files, req.Name, req.Path); err != nil {
		return InitResult{}, err
	}
	out.Files = len(files)
	return out, placed(req.Dir, func(tmp string) error { return writeTree(tmp, files) })
}

// builtinFiles is the blueprint that is part of the program.
func builtinFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(builtin, "blueprint", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := builtin.ReadFile(name)
		files[strings.TrimPrefix(name, "blueprint/")] = data
		return err
	})
	return files, err
}

// rename gives a module another path: in cue.mod/module.cue and in every import, and its old short name in the README.
// What is generated or vendored stays as it is.
func rename(files map[string][]byte, name, to string) error {
	from, err := pathOf(files["cue.mod/module.cue"])
	if err != nil {
		return err
	}
	bare := func(p string) string { p, _, _ = strings.Cut(p, "@"); return p }
	for file, text := range files {
		switch {
		case file == "cue.mod/module.cue":
			files[file] = bytes.Replace(text, []byte(strconv.Quote(from)), []byte(strconv.Quote(to)), 1)
		case strings.HasPrefix(file, "cue.mod/") || !strings.HasSuffix(file, ".cue"):
		default:
			for _, end := range []string{`/`, `"`, `@`, `:`} {
				text = bytes.ReplaceAll(text, []byte(`"`+bare(from)+end), []byte(`"`+bare(to)+end))
			}
			files[file] = text
		}
	}
	if old := path.Base(bare(from)); moduleName.MatchString(old) && files["README.md"] != nil {
		word := regexp.MustCompile(`(^|[^-\w])` + regexp.QuoteMeta(old) + `($|[^-\w])`)
		files["README.md"] = word.ReplaceAll(files["README.md"], []byte("${1}"+name+"${2}"))
	}
	return nil
}

// pathOf is the module's path that cue.mod/module.cue declares.
func pathOf(moduleFile []byte) (string, error) {
	f, err := parser.ParseFile("cue.mod/module.cue", moduleFile)
	if err != nil {
		return "", failure("module-file", "cue.mod/module.cue of the module: "+err.Error(), "")
	}
	for _, d := range f.Decls {
		field, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		if name, _, err := ast.LabelName(field.Label); err != nil || name != "module" {
			continue
		}
		if lit, ok := field.Value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if p, err := literal.Unquote(lit.Value); err == nil {
				return p, nil
			}
		}
	}
	return "", failure("module-file", `cue.mod/module.cue of the module has no field module with a path`, "")
}
