package plain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

const positions = `# a comment
apiVersion: v1
kind: Service
spec: &spec
  ports:
  - name: http
    port: 80
  - {name: two,
     port: 81}
---
apiVersion: v1
kind: List
items:
- kind: ConfigMap
  data:
    a.b: one
- kind: Service
  spec: *other
`

// A path is followed as far as it is written; lists, objects of a List and several documents in a file are told apart.
func TestPosition(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(positions, "*other", "{x: 1}", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line int
		path string
		want string
	}{
		{2, "spec/ports/0/port", "7:5"},
		{2, "spec/ports/1/port", "9:6"},
		{2, "spec/ports/1/protocol", "8:5"}, // not written: its parent
		{2, "spec/ports/7/port", "5:3"},
		{2, "spec/ports/x", "5:3"},
		{2, "nothing", "2"},
		{2, "", "2"},
		{14, "data/a.b", "16:5"},
		{17, "spec/x", "18:10"},
		{3, "spec", "3"}, // no object begins there
		{0, "spec", ""},
	} {
		at := Position(diag.Pos{File: file, Line: c.line}, strings.Split(c.path, "/"))
		if got := strings.TrimPrefix(strings.TrimPrefix(at.String(), file), ":"); got != c.want {
			t.Errorf("line %d, %s: %s, want %s", c.line, c.path, got, c.want)
		}
	}
	for _, odd := range []string{"", filepath.Dir(file), file + ".gone"} {
		at := diag.Pos{File: odd, Line: 2}
		if got := Position(at, []string{"spec"}); got != at {
			t.Errorf("%s: %v", odd, got)
		}
	}
}
