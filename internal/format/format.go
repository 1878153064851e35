// Package format lays documents out in one way: YAML with its comments, CUE as CUE's own formatter does it, JSON with two
// spaces. What a document says does not change.
//
// format must not know what the documents mean, beyond telling Hawser's own from others in a directory.
package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	cueformat "cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"github.com/rogpeppe/go-internal/diff"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// Source lays a document out; the extension of its name says the syntax, and of a name without one the content. Findings
// have the name and the line.
func Source(name string, src []byte) ([]byte, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if fs := cuelang.CheckText(name, src); fs.HasErrors() {
		return nil, fs.Err()
	}
	switch ext := extension(name); {
	case ext == ".json", ext == "" && json.Valid(src):
		return formatJSON(name, src)
	case ext == ".cue", ext == "" && !cuelang.LooksLikeYAML(name, src, cuelang.Limits{}):
		return formatCUE(name, src)
	}
	out, err := formatYAML(src)
	if err == nil {
		return out, nil
	}
	if left := (*layoutError)(nil); errors.As(err, &left) {
		f := diag.Errorf("layout", "the file is not formatted")
		f.Pos, f.Why = diag.Pos{File: name, Line: left.line, Column: 1}, left.Error()
		return nil, diag.Findings{f}.Err()
	}
	if _, bad := cuelang.FromYAML(name, src); bad != nil {
		err = bad
	}
	return nil, cuelang.YAMLFindings(name, src, err).Err()
}

// Diff is what formatting changes, as a unified diff; nil when it changes nothing.
func Diff(name string, src, formatted []byte) []byte {
	if bytes.Equal(src, formatted) {
		return nil
	}
	return diff.Diff(name+".orig", src, name, formatted)
}

func extension(name string) string {
	if name == "-" {
		return ""
	}
	return strings.ToLower(filepath.Ext(name))
}

func formatCUE(name string, src []byte) ([]byte, error) {
	if fs := cuelang.CheckSource(name, src, cuelang.Limits{}); fs.HasErrors() {
		return nil, fs.Err()
	}
	f, err := parser.ParseFile(name, src, parser.ParseComments)
	if err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"}).Err()
	}
	out, err := cueformat.Node(f)
	if err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"}).Err()
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, nil
	}
	return append(bytes.TrimRight(out, "\n"), '\n'), nil
}

func formatJSON(name string, src []byte) ([]byte, error) {
	if _, err := cuelang.FromJSON(name, src); err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"}).Err()
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(src), "", "  "); err != nil {
		return nil, problem("syntax", name, err.Error(), "", "")
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// own are the fields at the top of Hawser's own documents; those of a hawser.yaml with a directory's defaults beside.
var own = []string{"bundle", "bundles", "fleet", "runtime"}

// ownLine is a line that begins like one of Hawser's own documents.
var ownLine = lazyregexp.New(`(?m)^(bundles?|fleet|runtime):`)

// isOwn reports whether a file that was found in a directory is one of Hawser's own documents.
func isOwn(name string, src []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".cue") || filepath.Base(name) == "hawser.yaml" {
		return true
	}
	docs, err := parseYAML(src)
	if err != nil { // the error is worth telling where it looks like one; a template is none
		return ownLine.Match(src) && !bytes.Contains(src, []byte("{{"))
	}
	for _, d := range docs {
		if len(d.Content) != 1 {
			continue
		}
		for i := 0; i+1 < len(d.Content[0].Content); i += 2 {
			if slices.Contains(own, d.Content[0].Content[i].Value) {
				return true
			}
		}
	}
	return false
}

func problem(code, name, what, why, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Pos, f.Why, f.Fix = diag.Pos{File: name}, why, fix
	return diag.Findings{f}.Err()
}
