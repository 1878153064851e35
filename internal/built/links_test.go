package built

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/outdir"
)

// TestBuildFollowsNoLink: no link below the directory is followed, wherever it leads to: nothing is written, read or removed through one, and
// nothing is written beside it then. A directory's list of files names none of .git.
func TestBuildFollowsNoLink(t *testing.T) {
	const former = "old/v1_configmap_x.yaml"
	for name, c := range map[string]struct {
		link, to, list string // list is a file that a former build is said to have made, without a digest
		want           string
	}{
		"an instance's directory":      {link: "api", to: ".git/hooks", want: "api is a link"},
		"within the directory":         {link: "api", to: "real", want: "api is a link"},
		"a file":                       {link: "api/v1_configmap_new.yaml", to: "../.git/hooks/was", want: "api/v1_configmap_new.yaml is a link"},
		"one that is not there":        {link: "api/v1_configmap_new.yaml", to: "../.git/hooks/new", want: "api/v1_configmap_new.yaml is a link"},
		"the list of files":            {link: outdir.Name, to: ".git/hooks/list", want: outdir.Name + " is a link"},
		"a former instance":            {link: "old", to: ".git/hooks", list: former, want: "old is a link"},
		"a former file":                {link: former, to: "../.git/hooks/was", list: former, want: former + " is a link"},
		"a list that names .git":       {list: ".git/hooks/was", want: "names a part of .git"},
		"one that names a deeper .git": {list: "a/.GIT/was", want: "names a part of .git"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			list := fmt.Sprintf(`{"v": 1, "files": {%q: {"bundle": "shop", "cluster": "eu"}}}`, c.list)
			if err := errors.Join(os.MkdirAll(at(".git/hooks"), 0o755), os.Mkdir(at("real"), 0o755), os.WriteFile(at(".git/hooks/was"), []byte("was"), 0o600),
				os.WriteFile(at(".git/hooks/v1_configmap_x.yaml"), []byte("was"), 0o600), os.WriteFile(at(".git/hooks/list"), []byte(`{"v": 1, "files": {}}`), 0o600)); err != nil {
				t.Fatal(err)
			}
			if c.list != "" {
				if err := os.WriteFile(at(outdir.Name), []byte(list), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.link != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(at(c.link)), 0o755), os.Symlink(c.to, at(c.link))); err != nil {
					t.Fatal(err)
				}
			}
			r := &fleetplan.BuildResult{Bundle: "shop", Clusters: []string{"eu"}, Whole: true}
			for _, instance := range []string{"aaa", "api"} {
				obj := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "new"}}}
				r.Items = append(r.Items, fleetplan.BuildItem{Instance: instance, Cluster: "eu", Objects: []object.Object{obj}})
			}
			if err := Files([]*fleetplan.BuildResult{r}, dir, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			for _, was := range []string{".git/hooks/was", ".git/hooks/v1_configmap_x.yaml"} {
				if data, err := os.ReadFile(at(was)); err != nil || string(data) != "was" {
					t.Errorf("%s: %q %v", was, data, err)
				}
			}
			if left, err := os.ReadDir(at(".git/hooks")); err != nil || len(left) != 3 {
				t.Errorf("%v %v", left, err)
			}
			if _, err := os.Lstat(at("aaa")); err == nil {
				t.Error("something was written before it was refused")
			}
		})
	}
}
