package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Which file changed, which one is gone, and where a plan was made whose files are not here.
func TestInputsMoved(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("shop.yaml", "1")
	values := write("values.yaml", "2")
	in := NewInputs(dir, map[string]string{"shop.yaml": digestOf("1"), values: digestOf("2")}, nil)
	if _, ok := in.Files["values.yaml"]; !ok {
		t.Errorf("names are seen from the plan's directory: %v", in.Files)
	}
	if fs := in.Moved(dir); len(fs) > 0 {
		t.Errorf("nothing changed: %v", fs)
	}
	fs := in.Moved(away)
	if len(fs) != 1 || !strings.Contains(fs[0].Why, dir) || !strings.Contains(fs[0].Why, away) || !strings.Contains(fs[0].What, "shop.yaml, values.yaml") {
		t.Errorf("made elsewhere: %v", fs)
	}
	write("shop.yaml", "3")
	if fs := in.Moved(dir); len(fs) != 1 || !strings.Contains(fs[0].What, "shop.yaml changed") || fs[0].Pos.File != "shop.yaml" {
		t.Errorf("one file changed: %v", fs)
	}
	if err := os.Remove(values); err != nil {
		t.Fatal(err)
	}
	if fs := in.Moved(dir); len(fs) != 2 || !strings.Contains(fs[1].What, "values.yaml is gone") {
		t.Errorf("one changed, one is gone: %v", fs)
	}
}

func TestInputsCompare(t *testing.T) {
	old := Inputs{Dir: "/a", Files: map[string]string{"x": "1", "y": "1"}, Sources: map[string]string{"oci://m 1.x": "1"}}
	now := Inputs{Dir: "/b", Files: map[string]string{"x": "1", "z": "1"}, Sources: map[string]string{"oci://m 1.x": "2"}}
	if fs := old.Compare(old); len(fs) > 0 {
		t.Errorf("the same: %v", fs)
	}
	var got []string
	for _, f := range old.Compare(now) {
		got = append(got, f.What)
	}
	want := "the plan is stale: y is not read any more|the plan is stale: z is read now, and was not|the plan is stale: source oci://m 1.x changed since the plan was made"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

// A value of the environment that is another one is named, and its text is in no file; a file of before that kept none has nothing to compare.
func TestInputsCompareRuntimeValues(t *testing.T) {
	with := func(salt string, env map[string]string) Inputs {
		return NewInputs("", nil, nil).With(env, NewDigests([]byte(salt)))
	}
	old := with("salt", map[string]string{"TIER": "gold", "SIZE": "3", "GONE": "x"})
	text, err := json.Marshal(old)
	if err != nil || strings.Contains(string(text), "gold") || old.Runtime["TIER"] == with("other", map[string]string{"TIER": "gold"}).Runtime["TIER"] {
		t.Errorf("%v: %s", err, text)
	}
	var got []string
	for _, f := range old.Compare(with("salt", map[string]string{"TIER": "silver", "SIZE": "3", "CAME": "x"})) {
		got = append(got, f.What)
		if !strings.Contains(f.Fix, "as it was") {
			t.Errorf("what to do: %s", f.Fix)
		}
	}
	want := "the plan is stale: runtime value CAME is read now, and was not|the plan is stale: runtime value GONE is not read any more|the plan is stale: runtime value TIER changed since the plan was made"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	before := Inputs{}
	if fs := before.Compare(old); len(fs) > 0 {
		t.Errorf("of a file that kept none: %v", fs)
	}
}
