package defaults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Defaults
		fail string
	}{
		"both":     {"fleet: clusters/fleet.yaml\nfiles: [a.yaml, b]\n", Defaults{Fleet: []string{"clusters/fleet.yaml"}, Files: []string{"a.yaml", "b"}}, ""},
		"list":     {"fleet: [a.yaml, b.cue]\n", Defaults{Fleet: []string{"a.yaml", "b.cue"}}, ""},
		"bundle":   {"bundle: {apiVersion: v1alpha1, name: b}\n", Defaults{}, ""},
		"fleet":    {"fleet: {apiVersion: v1alpha1, name: f}\n", Defaults{}, ""},
		"manifest": {"apiVersion: v1\nkind: Pod\n", Defaults{}, ""},
		"empty":    {"# nothing\n", Defaults{}, ""},
		"typo":     {"fleets: a.yaml\n", Defaults{}, `hawser.yaml:1:1: fleets: unknown field "fleets" (did you mean "fleet"?)`},
		"number":   {"files: 3\n", Defaults{}, "hawser.yaml:1:1: files: files must be a file or a list of files"},
		"nothing":  {"files:\n", Defaults{}, "files must be"},
		"syntax":   {"files: [\n", Defaults{}, "hawser.yaml:"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, fs := Read(dir)
		if c.fail != "" {
			if !fs.HasErrors() || !strings.Contains(fs.Err().Error(), c.fail) {
				t.Errorf("%s: %v", name, fs)
			}
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" || fs != nil {
			t.Errorf("%s: %v %s", name, fs, d)
		}
	}
	if got, fs := Read(t.TempDir()); fs != nil || got.Fleet != nil {
		t.Error(got, fs)
	}
}
