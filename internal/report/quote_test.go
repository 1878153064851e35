package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
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
