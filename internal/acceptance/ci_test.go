//go:build unix

package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ci runs .ci/run with a make that does what the script says, and returns its last lines.
func ci(t *testing.T, script string, lines int) (string, error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "make"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "../../.ci/run")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CI_LOGS="+filepath.Join(bin, "logs"), "FUZZTIME=")
	out, err := cmd.CombinedOutput()
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n"), err
}

// When a step fails, nothing more is done, and the last lines say which step it was and why.
func TestCISaysWhyItFailed(t *testing.T) {
	last, err := ci(t, `echo "this is make $*"
case $1 in
test) echo "failed: hawser.dev/hawser/internal/x.TestY"; echo "9 passed, 1 failed, 0 skipped"; exit 1;;
race) echo "RACE WAS RUN";;
esac
`, 3)
	if err == nil {
		t.Error("it passed")
	}
	for _, want := range []string{"3-test.log:\nfailed: hawser.dev/hawser/internal/x.TestY\n== failed after", "step 3 of 6, make test"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is missing in the last lines:\n%s", want, last)
		}
	}
	last, err = ci(t, "echo something odd; [ \"$1\" != lint ]\n", 3)
	if err == nil || !strings.Contains(last, "something odd\n== failed after") || !strings.HasSuffix(last, "step 2 of 6, make lint") {
		t.Errorf("%v; the last lines:\n%s", err, last)
	}
}

// All steps are done in CI; the time is printed. What failed is tried once more, which the
// summary says.
func TestCIPasses(t *testing.T) {
	last, err := ci(t, "echo $* CI=$CI\n[ \"$1\" != test ] || echo 'flaky: x.TestY failed, and passed at the second try'\n", 30)
	if err != nil {
		t.Fatalf("%v\n%s", err, last)
	}
	for _, want := range []string{"build CI=true\n", "lint CI=true\n", "test CI=true\n", "race CI=true\n", "crash DEATHS=6+", "fuzz FUZZTIME=60s CI=true\n", "== make fuzz FUZZTIME=60s: ",
		" s\nflaky: x.TestY failed, and passed at the second try\n\n== passed: all 6 steps in 0 min"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is missing in:\n%s", want, last)
		}
	}
	cmd := exec.Command("make", "-n", "-C", "../..", "test")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "-again") {
		t.Errorf("no second try (%v)", err)
	}
}

// What the race detector finds is never tried again; another failure is, once.
func TestRaceIsNotTriedAgain(t *testing.T) {
	bin := t.TempDir()
	race := func(says string) (string, error) {
		script := "#!/bin/sh\necho go >> " + bin + "/runs\necho '" + says + "'\nexit 1\n"
		if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "runs"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		makefile, err := filepath.Abs("../../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "-f", makefile, "race", "GO="+filepath.Join(bin, "go"))
		cmd.Dir, cmd.Env = bin, append(os.Environ(), "MAKEFLAGS=")
		out, err := cmd.CombinedOutput()
		runs, _ := os.ReadFile(filepath.Join(bin, "runs"))
		return string(out) + fmt.Sprint(strings.Count(string(runs), "go"), " runs"), err
	}
	if out, err := race("WARNING: DATA RACE"); err == nil || !strings.HasSuffix(out, "1 runs") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := race("FAIL: no answer in time"); err == nil || !strings.HasSuffix(out, "2 runs") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSummary(t *testing.T) {
	r := &Results{Tests: map[string]string{"m/a.TestOne": "pass", "m/a.TestTwo/sub": "fail", "m/a.TestTwo": "fail"}, Broken: []string{"m/b"}}
	var out strings.Builder
	r.Summary(&out)
	if want := "broken: m/b\nfailed: m/a.TestTwo\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
