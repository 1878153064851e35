package arch

import (
	"bufio"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house's numbers.
const (
	maxFile     = 500
	maxFunction = 80
	maxRoom     = 3000
	maxEngine   = 1500
)

// source is one Go file of the module.
type source struct {
	path string // below the root
	pkg  string // its package's path
	test bool
	file *ast.File
	fset *token.FileSet
	code int // lines that are neither blank nor a comment
	all  int
}

// sources parses every Go file of our packages, whatever it is built for.
func (h *house) sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, p := range h.ours {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(h.root, name)
			if err != nil {
				t.Fatal(err)
			}
			s := source{path: filepath.ToSlash(rel), file: file, fset: fset, test: strings.HasSuffix(name, "_test.go")}
			s.pkg, _ = ours(p.ImportPath)
			s.count(t, name)
			out = append(out, s)
		}
	}
	return out
}

// count counts lines; those of block comments count as code, which the house does not write.
func (s *source) count(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); s.all++ {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "//") {
			s.code++
		}
	}
}

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

// No file is longer than 500 lines, tests included.
func TestFileLength(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		if s.all > maxFile && !h.excused("filelength", s.path) {
			t.Errorf("%s has %d lines, want at most %d", s.path, s.all, maxFile)
		}
	}
}

// No function is longer than 80 lines, those of tests with their tables included.
func TestFunctionLength(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunction && !h.excused("functionlength", s.path+" "+f.Name.Name) {
				t.Errorf("%s:%d: %s has %d lines, want at most %d", s.path, s.line(f.Pos()), f.Name.Name, n, maxFunction)
			}
		}
	}
}

// No room is bigger than 3,000 lines of code, leaves and tests apart; the engine, which composes, than 1,500. An
// exception names another number: "roomlength PACKAGE LINES | reason".
func TestRoomLength(t *testing.T) {
	h := visit(t)
	code := map[string]int{}
	for _, s := range h.sources(t) {
		if !s.test {
			code[s.pkg] += s.code
		}
	}
	for _, path := range slices.Sorted(maps.Keys(code)) {
		limit := maxRoom
		if path == "internal/engine" {
			limit = maxEngine
		}
		if code[path] > limit {
			limit = h.roomLimit(path, limit)
		}
		if code[path] > limit {
			t.Errorf("%s has %d lines of code, want at most %d", path, code[path], limit)
		}
	}
}

// roomLimit is the limit that the exceptions give a room, else the ordinary one.
func (h *house) roomLimit(path string, limit int) int {
	for key := range h.exceptions {
		if lines, ok := strings.CutPrefix(key, "roomlength "+path+" "); ok && h.excused("roomlength "+path, lines) {
			if n, err := strconv.Atoi(lines); err == nil {
				return n
			}
		}
	}
	return limit
}

// No package has a name that says nothing.
func TestPackageNames(t *testing.T) {
	for _, p := range visit(t).ours {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc", "base", "manager"}, p.Name) {
			t.Errorf("package %s: name it after the noun that hides there", p.ImportPath)
		}
	}
}

// Every package says what it is, and what it must not know.
func TestPackageDocs(t *testing.T) {
	h := visit(t)
	docs := map[string]string{}
	for _, s := range h.sources(t) {
		if s.file.Doc != nil && (!s.test || docs[s.pkg] == "") {
			docs[s.pkg] += s.file.Doc.Text()
		}
	}
	for _, p := range h.ours {
		path, _ := ours(p.ImportPath)
		switch doc := strings.Join(strings.Fields(docs[path]), " "); {
		case doc == "":
			t.Errorf("%s has no package comment", path)
		case !strings.Contains(doc, "must not"):
			t.Errorf("%s: its package comment has no line on what it must not know", path)
		}
	}
}

// Every exported name is documented, those of tests and commands apart. A comment on a group documents its names.
func TestExportedDocs(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		if s.test || s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s:%d: %s has no comment", s.path, s.line(name.Pos()), name.Name)
			}
		}
	}
}

// undocumented are the exported names of a declaration that have no comment.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !obvious(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var out []*ast.Ident
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Doc == nil && spec.Name.IsExported() {
					out = append(out, spec.Name)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if spec.Doc == nil && spec.Comment == nil && name.IsExported() {
						out = append(out, name)
					}
				}
			}
		}
		return out
	}
	return nil
}

// obvious methods are those whose contract is that of the standard library's interface.
func obvious(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "Len", "Less", "Swap", "Push", "Pop", "String"}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// Leaves are wired in one file.
func TestLeaves(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		if s.pkg != "cmd/hawser" || s.test || s.path == "cmd/hawser/wiring.go" {
			continue
		}
		for _, i := range s.file.Imports {
			name, ok := ours(strings.Trim(i.Path.Value, `"`))
			if _, leaf, _ := h.roomOf(name); ok && leaf {
				t.Errorf("%s imports the leaf %s: cmd/hawser/wiring.go does that", s.path, name)
			}
		}
	}
}

// bareSkip finds skips without a reason.
var bareSkip = regexp.MustCompile(`\bt\.(SkipNow\(|Skip\(\)|Skipf\(""|Skip\(""\))`)

// No test is skipped without a reason. In a fuzz target an input that is not meant is no skipped test.
func TestSkips(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		if !s.test || s.pkg == "internal/arch" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(h.root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			for n := s.line(f.Pos()); n <= s.line(f.End()); n++ {
				if bareSkip.MatchString(lines[n-1]) && !h.excused("skips", s.path) {
					t.Errorf("%s:%d: a test is skipped without a reason", s.path, n)
				}
			}
		}
	}
}

// Every exception is needed. It runs last, as the tests of a package run in the order of its files; alone it knows
// nothing.
func TestZExceptions(t *testing.T) {
	h := visit(t)
	if f := flag.Lookup("test.run"); f != nil && f.Value.String() != "" {
		return
	}
	for key := range h.exceptions {
		if !h.used[key] {
			t.Errorf("exceptions.txt: nothing needs %q any more", key)
		}
	}
}

// The engine's input is values: neither does it open files, nor does it know who reads the documents.
func TestEngineReadsNoFiles(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		if s.pkg != "internal/engine" || s.test {
			continue
		}
		for _, i := range s.file.Imports {
			switch path := strings.Trim(i.Path.Value, `"`); path {
			case "os", "path/filepath", "io/fs", modulePath + "/internal/document", modulePath + "/internal/workspace", modulePath + "/internal/rootfs", modulePath + "/internal/defaults":
				t.Errorf("%s imports %s", s.path, path)
			}
		}
	}
}
