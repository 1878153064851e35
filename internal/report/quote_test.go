package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/mask"
	"hawser.dev/hawser/internal/redact"
)

func TestSecretsAreNotQuoted(t *testing.T) {
	const text = "kind: ConfigMap\ndata: {v: open}\n---\napiVersion: v1\nkind: Secret\ndata: {password: hidden}\n---\nkind: ConfigMap\nmore: open\n"
	for name, tt := range map[string]struct {
		file, object string
		line         int
		quoted       bool
	}{
		"before":             {"a.yaml", "", 2, true},
		"in a Secret":        {"a.yaml", "", 6, false},
		"after":              {"a.yml", "", 9, true},
		"the object says so": {"a.cue", "Secret shop/s", 6, false},
		"another object":     {"a.cue", "ConfigMap shop/s", 9, true},
	} {
		f := diag.Errorf("x", "wrong")
		f.Pos, f.Object = diag.Pos{File: tt.file, Line: tt.line, Column: 7}, tt.object
		var b bytes.Buffer
		st := Style{Width: 100, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}
		if err := Findings(&b, diag.Findings{f}, st); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), " | "); got != tt.quoted || strings.Contains(b.String(), "hidden") {
			t.Errorf("%s: quoted is %t, want %t:\n%s", name, got, tt.quoted, &b)
		}
	}
}

// A line that is too long for the screen is shown around the place that the caret is below.
func TestQuoteShowsItsPlace(t *testing.T) {
	const text = "kind: ConfigMap\nweb: {namespace: web, manifests: {paths: [./some/where/else]}, placement: {groups: [nobody]}}\n"
	f := diag.Errorf("x", "wrong")
	f.Pos = diag.Pos{File: "a.yaml", Line: 2, Column: strings.Index(text, "nobody") - strings.Index(text, "web:") + 1}
	for _, width := range []int{40, 60, 80, 200} {
		var b bytes.Buffer
		if err := Findings(&b, diag.Findings{f}, Style{Width: width, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "2 | ") })
		if at < 0 || !strings.Contains(lines[at], "nobody") || !strings.Contains(lines[at+1], "^") ||
			columns.Width(lines[at][:strings.Index(lines[at], "nobody")]) != columns.Width(lines[at+1][:strings.Index(lines[at+1], "^")]) || columns.Width(lines[at]) > width {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

// The caret stands below its place also where something before it is hidden; where the place itself is hidden there is none.
func TestQuoteOfWhatIsHidden(t *testing.T) {
	const text = "{m: hunter2-x9q7, n: hunter2-x9q7, zz: wrong}\n"
	for place, line := range map[string]string{"wrong": "     1 | {m: ***, n: ***, zz: wrong}\n       | " + strings.Repeat(" ", 21) + "^\n", "x9q7": "     1 | {m: ***, n: ***, zz: wrong}\n"} {
		f := diag.Errorf("x", "wrong")
		f.Pos = diag.Pos{File: "a.cue", Line: 1, Column: strings.Index(text, place) + 1}
		var b bytes.Buffer
		w := &mask.Writer{To: &b, Mask: redact.New("hunter2-x9q7").Sweep}
		if err := Findings(w, diag.Findings{f}, Style{Width: 100, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.String(), line) {
			t.Errorf("%s:\n%s", place, &b)
		}
	}
}

// A line with a secret, by its form or its field, is not quoted.
func TestSecretLinesAreNotQuoted(t *testing.T) {
	const text = "fleet:\n  clusters: [{name: eu}]\n  token: abcdefg1\n  age: {key: AGE-SECRET-KEY-1QQQQQQ}\n"
	for line, want := range map[int]bool{2: true, 3: false, 4: false} {
		f := diag.Errorf("unknown-field", "wrong")
		f.Pos = diag.Pos{File: "hawser.yaml", Line: line, Column: 3}
		var b bytes.Buffer
		if err := Findings(&b, diag.Findings{f}, Style{Width: 100, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), " | "); got != want {
			t.Errorf("line %d: quoted is %t:\n%s", line, got, &b)
		}
	}
}
