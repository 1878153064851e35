package kustomize

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// secrets remembers what a generator puts into a Secret: values of literals and of the lines of env files, whole files.
func (c *collector) secrets(dir string, generator *yaml.Node) {
	for key, value := range fields(generator) {
		for _, n := range scalars(value) {
			switch {
			case is(key, "literals"):
				switch name, v, ok := strings.Cut(n.Value, "="); {
				case ok && (v == "=" || v == "" && !isName(name)):
					c.generated = append(c.generated, n.Value, name) // a value in base64 that somebody gave no name
				case ok:
					c.generated = append(c.generated, unquotedValue(v))
				}
			case is(key, "envs", "env"):
				c.generated = append(c.generated, valuesOfEnv(string(c.files[path.Join(dir, n.Value)]))...)
			case is(key, "files"):
				name := n.Value
				if _, after, ok := strings.Cut(name, "="); ok {
					name = after
				}
				c.generated = append(c.generated, string(c.files[path.Join(dir, name)]))
			}
		}
	}
}

// whole refuses an env file that kustomize would read in part: its scanner ends at a line that is too long for it, and nobody asks it why.
func (c *collector) whole(file string) {
	n := 0
	for line := range bytes.Lines(c.files[file]) {
		if n++; len(bytes.TrimSuffix(line, []byte("\n"))) >= bufio.MaxScanTokenSize {
			c.find(diag.Pos{File: c.shown(file), Line: n}, "env-line", fmt.Sprintf("a line of an env file has less than %d KiB: kustomize leaves out this one and all after it", bufio.MaxScanTokenSize>>10),
				"put the value into a file of its own, and name that under files")
			return
		}
	}
}

// unquotedValue is a value without the quotes that kustomize takes off.
func unquotedValue(v string) string {
	v = strings.TrimSpace(v)
	if n := len(v); n > 1 && v[0] == v[n-1] && (v[0] == '"' || v[0] == '\'') {
		return v[1 : n-1]
	}
	return v
}

// valuesOfEnv are the values in an env file. Kustomize knows none of several lines: each further line becomes a name, or a name and a
// value, of the Secret. So what stands between an opening quote and the closing one is a value as a whole, and so are the lines that one
// goes on in, each behind a backslash at the end of the one before, and a line that is no name.
func valuesOfEnv(text string) []string {
	var out []string
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") // kustomize takes the mark off, too
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		name, v, ok := strings.Cut(line, "=")
		end := i
		switch {
		case line == "", line[0] == '#':
			continue
		case !ok:
			if !isName(line) {
				out = append(out, line)
			}
		default:
			out = append(out, unquotedValue(v))
			if name = strings.TrimSpace(name); !envName.MatchString(name) || v == "" && !isName(name) {
				out = append(out, line, name)
			}
			end = closingLine(lines, i, strings.TrimSpace(v))
		}
		if end = continued(lines, end); end > i {
			for _, inside := range lines[i+1 : end+1] {
				out = append(out, pieces(inside)...)
			}
			out = append(out, pieces(cmp.Or(v, line))...)
			i = end
		}
	}
	return out
}

// continued is the last of the lines that line i goes on in: each ends with a backslash, but for the last.
func continued(lines []string, i int) int {
	for i+1 < len(lines) && strings.HasSuffix(strings.TrimSpace(lines[i]), "\\") {
		i++
	}
	return i
}

// pieces are a line inside quotes as what kustomize may make of it. The head and the end of a key are everybody's.
func pieces(line string) []string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(strings.TrimLeft(line, `"'`), "-----") {
		return nil
	}
	before, after, _ := strings.Cut(line, "=")
	return slices.DeleteFunc([]string{line, strings.Trim(line, `"'`), strings.Trim(line, `"'\`), before, after, strings.TrimRight(after, `\`)}, func(s string) bool { return s == "" })
}

// envName is the name of a variable, as kustomize and shells take it.
var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// isName reports whether a text that stands where a name does is one: a token that somebody gave no name has letters and digits in turn, and is long.
func isName(text string) bool {
	if !envName.MatchString(text) {
		return false
	}
	turns, digits := 0, false
	for _, r := range text {
		if d := '0' <= r && r <= '9'; d != digits {
			turns, digits = turns+1, d
		}
	}
	return len(text) < 16 || turns < 4
}

// closingLine is the line with the quote that closes the one a value at line i begins with; i where there is no such value.
func closingLine(lines []string, i int, v string) int {
	if v == "" || v[0] != '"' && v[0] != '\'' || strings.Contains(v[1:], v[:1]) {
		return i
	}
	for end := i + 1; end < len(lines); end++ {
		if strings.HasSuffix(strings.TrimSpace(lines[end]), v[:1]) {
			return end
		}
	}
	return i
}
