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
		"colon":    {"fleet fleet.yaml\n", Defaults{}, "hawser.yaml:1:1: hawser.yaml must be a mapping with fleet and files"},
		"scalar":   {"42\n", Defaults{}, "must be a mapping"},
		"array":    {"- fleet: fleet.yaml\n", Defaults{}, "must be a mapping"},
		"several":  {"apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n", Defaults{}, ""},
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
	dir := t.TempDir()
	for text, wrong := range map[string]bool{"fleet: fleet.yaml\n": true, "files: [a.yaml]\n": true, "bundle: {name: b}\n": false,
		"fleet: {apiVersion: v1alpha1}\n": false, "apiVersion: v1\nkind: Pod\n": false, "replicas: 1\n": false} {
		if err := os.WriteFile(filepath.Join(dir, "hawser.yml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, fs := Read(dir); fs.HasErrors() != wrong || wrong && !strings.Contains(fs.Err().Error(), "hawser.yml is not read") {
			t.Errorf("%s: %v", text, fs)
		}
	}
	if got, fs := Read(t.TempDir()); fs != nil || got.Fleet != nil {
		t.Error(got, fs)
	}
}

// TestDefaultsStayInTheRepository: hawser.yaml may come from a pull request, and names nothing of the machine beside the checkout.
func TestDefaultsStayInTheRepository(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"repo/.git", "repo/apps", "repo/shared", "secrets", "alone"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"repo/apps/file.yaml": at("secrets/creds.yaml"), "repo/apps/dir": at("secrets"), "repo/apps/near.yaml": at("repo/shared/a.yaml")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"secrets/creds.yaml", "repo/shared/a.yaml"} {
		if err := os.WriteFile(at(file), []byte("password: canary\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"files: ../shared/a.yaml\nfleet: [../fleet.yaml]\n": "",
		"files: near.yaml\n":                                     "",
		"files: missing.yaml\n":                                  "",
		"files: " + at("repo/shared/a.yaml") + "\n":              "",
		"files: ../../secrets/creds.yaml\n":                      "hawser.yaml:1:8: files: files names a file outside of the repository",
		"fleet: ../../secrets/creds.yaml\n":                      "--fleet",
		"files: ../../secrets\n":                                 "outside of",
		"files: ../../secrets/missing.yaml\n":                    "outside of",
		"files: " + at("secrets/creds.yaml") + "\n":              "outside of",
		"files: [\"near.yaml, ../../secrets/creds.yaml\"]\n":     "outside of",
		"files: file.yaml\n":                                     "file.yaml is a link that leads out of",
		"files: dir\n":                                           "dir is a link that leads out of",
		"files: dir/..\n":                                        "outside of",
		"files: dir/creds.yaml\n":                                "leads out of",
		"files: /etc/kubernetes/admin.yaml\nfleet: fleet.yaml\n": "outside of",
	} {
		if err := os.WriteFile(at("repo/apps/hawser.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, fs := Read(at("repo/apps"))
		if want == "" && fs != nil || want != "" && (!fs.HasErrors() || !strings.Contains(fs.Err().Error(), want)) {
			t.Errorf("%q: %v, want %q", text, fs, want)
		}
	}
	for text, refused := range map[string]bool{"files: sub/a.yaml\n": false, "files: ../secrets/creds.yaml\n": true} {
		if err := os.WriteFile(at("alone/hawser.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, fs := Read(at("alone")); fs.HasErrors() != refused {
			t.Errorf("without a repository, %q: %v", text, fs)
		}
	}
}

// TestUnvouchedPlan: the files that a saved plan names lie in the repository when nobody vouches for it, by every name.
func TestUnvouchedPlan(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"pr/.git", "pr/deploy/sub", "home/deep"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"pr/l": "../home/deep", "pr/deploy/s.yaml": "../../home/s.yaml"} {
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"home/s.yaml", "pr/b.yaml", "pr/fleet.yaml"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("password: hunter2-CANARY\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(top, "pr", "deploy")
	for _, name := range []string{"../../home/s.yaml", filepath.Join(top, "home/s.yaml"), "/etc/shadow", "/proc/self/environ", "../../gone", "s.yaml", "../l/x", "../l/../s.yaml", "../l/.."} {
		if got := Unvouched(dir, []string{"../b.yaml", name}); len(got) != 1 || !strings.Contains(got[0].What, name) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := Unvouched(dir, []string{"../b.yaml", "../fleet.yaml", "", "sub", "gone.yaml", filepath.Join(top, "pr/b.yaml")}); len(got) > 0 {
		t.Error(got)
	}
}
