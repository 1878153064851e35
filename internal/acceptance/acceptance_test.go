package acceptance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// table reads docs/acceptance.md, SECURITY.md and the files of docs/acceptance.d.
func table(t *testing.T) []Row {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs/acceptance.d/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, file := range append([]string{filepath.Join(root, "docs/acceptance.md"), filepath.Join(root, "SECURITY.md")}, files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, bad := Parse(strings.TrimPrefix(filepath.ToSlash(file), root+"/"), string(text))
		for _, err := range bad {
			t.Error(err)
		}
		rows = append(rows, found...)
	}
	if len(rows) == 0 {
		t.Error("docs/acceptance.md promises nothing")
	}
	return rows
}

// tested is what the source of a directory has: its test functions, and what its cases may be called, the texts in its tests and
// the files of its testdata.
type tested struct {
	functions []string
	texts     map[string]bool
	files     map[string]bool
}

// sources are the directories below the root that have tests or a part of them, by path.
func sources(t *testing.T) map[string]*tested {
	t.Helper()
	out := map[string]*tested{}
	at := func(dir string) *tested {
		if out[dir] == nil {
			out[dir] = &tested{texts: map[string]bool{}, files: map[string]bool{}}
		}
		return out[dir]
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || rel == "bin" || rel == "dist") {
				return filepath.SkipDir
			}
			return err
		}
		if dir, file, ok := strings.Cut(rel, "/testdata/"); ok {
			at(dir).files[file], at(dir).files[strings.TrimSuffix(file, ".txtar")] = true, true
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if !strings.HasSuffix(path, "_test.go") && (!strings.HasSuffix(dir, "test") || !strings.HasSuffix(path, ".go")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		at(dir).add(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *tested) add(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
			d.functions = append(d.functions, f.Name.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				d.texts[strings.ReplaceAll(text, " ", "_")] = true
			}
		}
		return true
	})
}

// cases says where the case of a test comes from: "file" of the directory's testdata, "text" of its tests or of a test room that
// runs them for it, "" for one that nobody has.
func cases(all map[string]*tested, dir string, name Name) string {
	_, sub, _ := strings.Cut(name.Test, "/")
	for file := range all[dir].files {
		if file == sub || strings.HasSuffix(file, "/"+sub) {
			return "file"
		}
	}
	for _, part := range strings.Split(sub, "/") {
		found := false
		for other, d := range all {
			found = found || (other == dir || strings.HasSuffix(other, "test")) && d.texts[part]
		}
		if !found {
			return ""
		}
	}
	return "text"
}

// Every test that docs/acceptance.md names exists, with its case; and a test that goes through files of cases is named with the
// case that shows the promise: otherwise nobody would notice when that one goes.
func TestNamedTestsExist(t *testing.T) {
	all := sources(t)
	whole, byFile := map[string][]string{}, map[string]bool{}
	for _, row := range table(t) {
		for _, name := range row.Tests {
			found := false
			for dir, d := range all {
				if !name.In("hawser.dev/hawser/"+dir) || !slices.Contains(d.functions, name.Func()) {
					continue
				}
				runner := dir + "." + name.Func()
				if name.Func() == name.Test {
					found = true
					whole[runner] = append(whole[runner], fmt.Sprintf("%s:%d", row.File, row.Line))
				} else if from := cases(all, dir, name); from != "" {
					found = true
					byFile[runner] = byFile[runner] || from == "file"
				}
			}
			if !found {
				t.Errorf("%s:%d: there is no test %s", row.File, row.Line, name)
			}
		}
	}
	for runner, rows := range whole {
		if byFile[runner] {
			t.Errorf("%s: %s goes through files of cases: name the one that shows it", strings.Join(rows, ", "), runner)
		}
	}
}

// A case that is gone is noticed, be it a file or a text.
func TestCasesThatAreGone(t *testing.T) {
	all := map[string]*tested{"internal/a": {texts: map[string]bool{"an_odd_one": true}, files: map[string]bool{"golden/x": true, "plan/y.txt": true}},
		"internal/storetest": {texts: map[string]bool{"Kept": true}}, "internal/b": {texts: map[string]bool{"elsewhere": true}}}
	for test, want := range map[string]string{"TestA/x": "file", "TestA/plan/y.txt": "file", "TestA/y": "", "TestA/an_odd_one": "text", "TestA/Kept": "text",
		"TestA/elsewhere": "", "TestA/an_odd_one/gone": "", "TestA/gone": ""} {
		if got := cases(all, "internal/a", Name{"internal/a", test}); got != want {
			t.Errorf("%s: %q, want %q", test, got, want)
		}
	}
}

// Every test that docs/acceptance.md names has passed in this run of `make test`. Outside of it there are no results,
// and TestNamedTestsExist alone speaks.
func TestNamedTestsPassed(t *testing.T) {
	file := os.Getenv(EnvResults)
	if file == "" {
		return
	}
	results, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Tests) == 0 {
		t.Fatalf("%s holds no results", file)
	}
	for _, row := range table(t) {
		for _, name := range row.Tests {
			switch result := results.Find(name); result {
			case "pass":
			case "":
				t.Errorf("%s:%d: %s did not run", row.File, row.Line, name)
			default:
				t.Errorf("%s:%d: %s: %s", row.File, row.Line, name, result)
			}
		}
	}
}

// TestAgain runs a module of two tests, one of which passes only at the second try.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod": "module again.example\n\ngo 1.26\n",
		"a_test.go": `package again

import (
	"os"
	"testing"
)

func TestOnce(t *testing.T) {
	if _, err := os.Stat("tried"); err != nil {
		_ = os.WriteFile("tried", nil, 0o600)
		t.Fatal("the first try")
	}
}

func TestNever(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Fatal("always") }) }
`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &Results{Tests: map[string]string{"again.example.TestOnce": "fail", "again.example.TestNever": "fail",
		"again.example.TestNever/sub": "fail", "other.example.TestFine": "pass"}}
	if err := os.WriteFile("tried", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Again("go", &out); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"again.example.TestOnce": "pass", "again.example.TestNever": "fail",
		"again.example.TestNever/sub": "fail", "other.example.TestFine": "pass"}
	for key, result := range want {
		if r.Tests[key] != result {
			t.Errorf("%s: %s, want %s\n%s", key, r.Tests[key], result, out.String())
		}
	}
	if !strings.Contains(out.String(), "flaky: again.example.TestOnce") {
		t.Errorf("the flaky test is not named:\n%s", out.String())
	}
}
