package acceptance

import (
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// mostAgain is how many failed tests get a second try; more than that is no accident.
const mostAgain = 5

// Failed returns the failed top-level tests by package, in order.
func (r *Results) Failed() map[string][]string {
	out := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(r.Tests)) {
		i := strings.LastIndex(key, ".Test")
		if j := strings.LastIndex(key, ".Fuzz"); j > i {
			i = j
		}
		if i < 0 || r.Tests[key] != "fail" || strings.Contains(key[i:], "/") {
			continue
		}
		out[key[:i]] = append(out[key[:i]], key[i+1:])
	}
	return out
}

// Again runs the few tests that failed a second time, each package by itself with nothing beside it, and says so: tests
// against real API servers share the machine's two cores with many others. What fails twice has failed.
func (r *Results) Again(goCommand string, out io.Writer) error {
	failed := r.Failed()
	n := 0
	for _, tests := range failed {
		n += len(tests)
	}
	if n == 0 || n > mostAgain {
		return nil
	}
	for _, pkg := range slices.Sorted(maps.Keys(failed)) {
		tests := failed[pkg]
		fmt.Fprintf(out, "second try: %s %s\n", pkg, strings.Join(tests, " "))
		for key := range r.Tests {
			for _, t := range tests {
				if key == pkg+"."+t || strings.HasPrefix(key, pkg+"."+t+"/") {
					delete(r.Tests, key)
				}
			}
		}
		cmd := exec.Command(goCommand, "test", "-json", "-count=1", "-run", "^("+strings.Join(tests, "|")+")$", pkg)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := r.Collect(stdout, out); err != nil {
			return err
		}
		_ = cmd.Wait() // a failed test is in the results
		for _, t := range tests {
			if r.Tests[pkg+"."+t] == "pass" {
				fmt.Fprintf(out, "flaky: %s.%s failed, and passed at the second try\n", pkg, t)
			} else if r.Tests[pkg+"."+t] == "" {
				r.Tests[pkg+"."+t] = "fail" // it did not run again
			}
		}
	}
	return nil
}
