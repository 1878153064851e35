package acceptance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// functions are the test functions in the source, by directory below the root.
func functions(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				out[filepath.ToSlash(dir)] = append(out[filepath.ToSlash(dir)], f.Name.Name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every test that docs/acceptance.md names exists.
func TestNamedTestsExist(t *testing.T) {
	exist := functions(t)
	for _, row := range table(t) {
		for _, name := range row.Tests {
			found := false
			for dir, names := range exist {
				found = found || name.In("hawser.dev/hawser/"+dir) && slices.Contains(names, name.Func())
			}
			if !found {
				t.Errorf("%s:%d: there is no test %s", row.File, row.Line, name)
			}
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
