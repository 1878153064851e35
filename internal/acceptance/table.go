package acceptance

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Row is one promise and the tests that show it.
type Row struct {
	// File and Line say where the row stands, from 1.
	File     string
	Line     int
	Sentence string
	Tests    []Name
}

// Name is a test: the package by its path below the module or the end of that, and the test with its subtests.
type Name struct {
	Package, Test string
}

// String is the name as written, package.Test/subtest.
func (n Name) String() string { return n.Package + "." + n.Test }

// Func is the name of the test function.
func (n Name) Func() string {
	name, _, _ := strings.Cut(n.Test, "/")
	return name
}

// In reports whether the name's package is the one with this import path.
func (n Name) In(importPath string) bool {
	return importPath == n.Package || strings.HasSuffix(importPath, "/"+n.Package)
}

var (
	quoted   = lazyregexp.New("`([^`]+)`")
	testName = lazyregexp.New(`^([a-z0-9/_.-]+)\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*(?:/\S+)?)$`)
	ruler    = lazyregexp.New(`^\|?[\s:|-]*-{3,}[\s:|-]*$`)
)

// Parse reads the rows of all tables of a markdown file. The last cell names the tests. Rows that name none, or name
// something else, are in the errors.
func Parse(file, text string) ([]Row, []error) {
	var rows []Row
	var bad []error
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		header := i+1 < len(lines) && ruler.MatchString(strings.TrimSpace(lines[i+1]))
		if !strings.HasPrefix(line, "|") || ruler.MatchString(line) || header {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		row := Row{File: file, Line: i + 1, Sentence: strings.TrimSpace(cells[0])}
		for _, match := range quoted.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			parts := testName.FindStringSubmatch(match[1])
			if parts == nil {
				bad = append(bad, fmt.Errorf("%s:%d: %q is not the name of a test: write package.Test/subtest", file, row.Line, match[1]))
				continue
			}
			row.Tests = append(row.Tests, Name{Package: parts[1], Test: parts[2]})
		}
		if len(row.Tests) == 0 || len(cells) < 2 {
			bad = append(bad, fmt.Errorf("%s:%d: no test shows %q", file, row.Line, row.Sentence))
			continue
		}
		rows = append(rows, row)
	}
	return rows, bad
}
