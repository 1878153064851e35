package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	rows, bad := Parse("a.md", strings.Join([]string{
		"# Title", "text | with a bar", "",
		"| sentence | test |", "|---|:--:|",
		"| Waves go in order | `rollout.TestTraces/waves`, `internal/rollout.TestExhaustive` |",
		"| Nothing | none yet |",
		"| Wrong | `rollout.Traces` |",
		"| Sandbox | `sandbox/e2e.TestUp/three_clusters/a=1` and `api/v1alpha1.FuzzPath` |",
	}, "\n"))
	want := []Row{
		{"a.md", 6, "Waves go in order", []Name{{"rollout", "TestTraces/waves"}, {"internal/rollout", "TestExhaustive"}}},
		{"a.md", 9, "Sandbox", []Name{{"sandbox/e2e", "TestUp/three_clusters/a=1"}, {"api/v1alpha1", "FuzzPath"}}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	var errs []string
	for _, err := range bad {
		errs = append(errs, err.Error())
	}
	wantErrs := []string{
		`a.md:7: no test shows "Nothing"`,
		`a.md:8: "rollout.Traces" is not the name of a test: write package.Test/subtest`,
		`a.md:8: no test shows "Wrong"`,
	}
	if diff := cmp.Diff(wantErrs, errs); diff != "" {
		t.Error(diff)
	}
}

func TestFind(t *testing.T) {
	r := &Results{Tests: map[string]string{
		"hawser.dev/hawser/internal/rollout.TestTraces":       "pass",
		"hawser.dev/hawser/internal/rollout.TestTraces/waves": "skip",
		"hawser.dev/hawser/internal/a/same.TestX":             "pass",
		"hawser.dev/hawser/internal/b/same.TestX":             "fail",
		"hawser.dev/hawser/internal/dot.TestX/v1.2":           "pass",
	}}
	for _, c := range []struct{ pkg, test, want, reason string }{
		{"rollout", "TestTraces", "pass", "by the end of its path"},
		{"internal/rollout", "TestTraces/waves", "skip", "by the path"},
		{"hawser.dev/hawser/internal/rollout", "TestTraces", "pass", "by the whole path"},
		{"out", "TestTraces", "", "an end is whole words"},
		{"rollout", "TestTrace", "", "no prefix of a name"},
		{"rollout", "Traces", "", "no end of a name"},
		{"same", "TestX", "fail", "of several the worst"},
		{"a/same", "TestX", "pass", "the longer path tells them apart"},
		{"dot", "TestX/v1.2", "pass", "dots in subtests"},
	} {
		if got := r.Find(Name{c.pkg, c.test}); got != c.want {
			t.Errorf("%s.%s: %q, want %q: %s", c.pkg, c.test, got, c.want, c.reason)
		}
	}
}

// stream is the output of `go test -json` for a package that passes, one that fails, one that does not compile, one
// that panics, and one without tests.
const stream = `{"Action":"start","Package":"m/good"}
{"Action":"run","Package":"m/good","Test":"TestA"}
{"Action":"output","Package":"m/good","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/good","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"m/good","Test":"TestA"}
{"Action":"skip","Package":"m/good","Test":"TestB"}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t0.1s\n"}
{"Action":"pass","Package":"m/good"}
{"Action":"output","Package":"m/bad","Test":"TestC/sub","Output":"=== RUN   TestC/sub\n"}
{"Action":"output","Package":"m/bad","Test":"TestC/sub","Output":"    c_test.go:1: wrong\n"}
{"Action":"fail","Package":"m/bad","Test":"TestC/sub"}
{"Action":"output","Package":"m/bad","Test":"TestC","Output":"--- FAIL: TestC (0.00s)\n"}
{"Action":"fail","Package":"m/bad","Test":"TestC"}
{"Action":"output","Package":"m/bad","Output":"FAIL\n"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t0.1s\n"}
{"Action":"fail","Package":"m/bad"}
{"ImportPath":"m/broken","Action":"build-output","Output":"x.go:1: syntax error\n"}
{"Action":"output","Package":"m/broken","Output":"FAIL\tm/broken [build failed]\n"}
{"Action":"fail","Package":"m/broken","FailedBuild":"m/broken"}
{"Action":"output","Package":"m/panics","Test":"TestD","Output":"panic: no\n"}
{"Action":"output","Package":"m/panics","Output":"FAIL\tm/panics\t0.1s\n"}
{"Action":"fail","Package":"m/panics"}
not json at all
{"Action":"output","Package":"m/none","Output":"?   \tm/none\t[no test files]\n"}
{"Action":"skip","Package":"m/none"}
{"Action":"exit","Output":"go test ended with 1"}
`

func TestCollect(t *testing.T) {
	r, err := Read(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Collect(strings.NewReader(stream), &out); err != nil {
		t.Fatal(err)
	}
	want := "ok  \tm/good\t0.1s\n" +
		"    c_test.go:1: wrong\n--- FAIL: TestC (0.00s)\nFAIL\tm/bad\t0.1s\n" +
		"x.go:1: syntax error\nFAIL\tm/broken [build failed]\n" +
		"panic: no\nFAIL\tm/panics\t0.1s\n" +
		"not json at all\n?   \tm/none\t[no test files]\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	wantResults := &Results{
		Tests:  map[string]string{"m/good.TestA": "pass", "m/good.TestB": "skip", "m/bad.TestC/sub": "fail", "m/bad.TestC": "fail"},
		Broken: []string{"m/broken", "m/panics"},
	}
	if diff := cmp.Diff(wantResults, r); diff != "" {
		t.Error(diff)
	}
	if passed, failed, skipped := r.Count(); fmt.Sprint(passed, failed, skipped) != "1 4 1" {
		t.Errorf("counted %d %d %d", passed, failed, skipped)
	}
	file := filepath.Join(t.TempDir(), "results.json")
	if err := r.Write(file); err != nil {
		t.Fatal(err)
	}
	again, err := Read(file)
	if diff := cmp.Diff(r, again); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A command that fails without any failed test still counts.
func TestCollectExit(t *testing.T) {
	r := &Results{Tests: map[string]string{}}
	if err := r.Collect(strings.NewReader(`{"Action":"exit","Output":"go test ended with 1"}`), &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	if _, failed, _ := r.Count(); failed != 1 {
		t.Errorf("%d failed", failed)
	}
}

// The tests that took longest are named, those of a package beside one another; a part of a test is in the whole.
func TestSlowest(t *testing.T) {
	r := &Results{Tests: map[string]string{}}
	if err := r.Collect(strings.NewReader(`{"Action":"pass","Package":"m/a","Test":"TestQuick","Elapsed":0.9}
{"Action":"pass","Package":"m/a","Test":"TestLong/part","Elapsed":30}
{"Action":"fail","Package":"m/a","Test":"TestLong","Elapsed":31.4}
{"Action":"pass","Package":"m/b","Test":"TestSecond","Elapsed":1}
{"Action":"pass","Package":"m/b","Test":"TestOther","Elapsed":7}
`), &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.Slowest(2, &out)
	if want := "slow:   31 s m/a.TestLong\nslow:    7 s m/b.TestOther\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
