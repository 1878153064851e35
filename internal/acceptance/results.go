package acceptance

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// EnvResults names the file in which `make test` keeps the results of its run.
const EnvResults = "HAWSER_TEST_RESULTS"

// Results are what tests ended with: "pass", "fail" or "skip", by "importpath.Test/subtest".
type Results struct {
	Tests map[string]string `json:"tests"`
	// Broken are packages that failed as a whole: they did not compile, or ended outside of a test.
	Broken []string `json:"broken,omitempty"`
	// Seconds is how long tests took that took a second or more, subtests not among them: those beside others wait for them.
	Seconds map[string]float64 `json:"seconds,omitempty"`
}

// Read reads a results file; one that is not there is empty.
func Read(file string) (*Results, error) {
	r := &Results{Tests: map[string]string{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// Write writes a results file.
func (r *Results) Write(file string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// Summary names the packages that broke and the tests that failed, a line each.
func (r *Results) Summary(out io.Writer) {
	for _, what := range r.Broken {
		fmt.Fprintf(out, "broken: %s\n", what)
	}
	failed := r.Failed()
	for _, pkg := range slices.Sorted(maps.Keys(failed)) {
		for _, t := range failed[pkg] {
			fmt.Fprintf(out, "failed: %s.%s\n", pkg, t)
		}
	}
}

// Slowest names the tests that took the longest, at most n, a line each: where the time of the next run can be saved.
func (r *Results) Slowest(n int, out io.Writer) {
	names := slices.Collect(maps.Keys(r.Seconds))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(r.Seconds[b], r.Seconds[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(n, len(names))] {
		fmt.Fprintf(out, "slow: %4.0f s %s\n", r.Seconds[name], name)
	}
}

// Count counts the tests, subtests included; a package that is broken is one that failed.
func (r *Results) Count() (passed, failed, skipped int) {
	for _, result := range r.Tests {
		switch result {
		case "pass":
			passed++
		case "fail":
			failed++
		case "skip":
			skipped++
		}
	}
	return passed, failed + len(r.Broken), skipped
}

// Find returns what a test ended with, "" when it did not run. When several packages fit the name, the worst counts.
func (r *Results) Find(n Name) string {
	found := ""
	for key, result := range r.Tests {
		if i := strings.Index(key, "."+n.Func()); i < 0 || !strings.HasSuffix(key, "."+n.Test) {
			continue
		}
		if pkg := strings.TrimSuffix(key, "."+n.Test); n.In(pkg) && worse(result, found) {
			found = result
		}
	}
	return found
}

func worse(a, b string) bool {
	order := []string{"", "pass", "skip", "fail"}
	return slices.Index(order, a) > slices.Index(order, b)
}

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// Collect reads the lines of `go test -json`, adds them to the results, and prints what `go test` prints: a line for
// every package, and before it the output of what failed. A line {"Action":"exit","Output":"..."} says that a command
// of the stream failed, and counts when nothing else did.
func (r *Results) Collect(in io.Reader, out io.Writer) error {
	c := &collector{Results: r, out: out, text: map[string][]string{}}
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type collector struct {
	*Results
	out    io.Writer
	text   map[string][]string // output by "package.Test", or by package
	failed int
}

func (c *collector) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		_, _ = c.out.Write(line) // not of test2json: the command itself speaks
		return
	}
	key := e.Package
	if e.Test != "" {
		key += "." + e.Test
	}
	switch e.Action {
	case "output":
		c.text[key] = append(c.text[key], e.Output)
	case "build-output":
		_, _ = io.WriteString(c.out, e.Output)
	case "exit":
		if c.failed == 0 {
			c.broken(e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			c.pkg(e)
			return
		}
		c.Tests[key] = e.Action
		if e.Elapsed >= 1 && !strings.Contains(e.Test, "/") {
			if c.Seconds == nil {
				c.Seconds = map[string]float64{}
			}
			c.Seconds[key] = e.Elapsed
		}
		if e.Action == "fail" {
			c.failed++
			c.print(key)
		}
		delete(c.text, key)
	}
}

// pkg ends a package: its own lines are the summary that go test prints.
func (c *collector) pkg(e event) {
	if e.Action == "fail" {
		own := false
		for key, result := range c.Tests {
			own = own || result == "fail" && strings.HasPrefix(key, e.Package+".")
		}
		if !own {
			c.unfinished(e.Package)
			c.broken(e.Package)
		}
	}
	lines := c.text[e.Package]
	if e.Action != "fail" && len(lines) > 0 { // "PASS" and coverage above it are noise
		lines = lines[len(lines)-1:]
	}
	for _, line := range lines {
		if line != "PASS\n" && line != "FAIL\n" {
			_, _ = io.WriteString(c.out, line)
		}
	}
	delete(c.text, e.Package)
}

// unfinished prints what tests said that never ended: the package panicked, or ran out of time.
func (c *collector) unfinished(pkg string) {
	for key := range c.text {
		if strings.HasPrefix(key, pkg+".") {
			c.print(key)
			delete(c.text, key)
		}
	}
}

func (c *collector) print(key string) {
	for _, line := range c.text[key] {
		if !strings.HasPrefix(line, "=== ") {
			_, _ = io.WriteString(c.out, line)
		}
	}
}

func (c *collector) broken(what string) {
	c.failed++
	c.Broken = append(c.Broken, what)
}
