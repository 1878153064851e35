package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// localChart is a fetcher of one chart directory.
type localChart struct{ content module.Content }

func (l localChart) Schemes() []string { return []string{"chart+file"} }
func (l localChart) Resolve(context.Context, module.Reference) (module.Resolved, error) {
	return module.Resolved{}, nil
}
func (l localChart) Fetch(context.Context, module.Reference) (module.Content, error) {
	return l.content, nil
}

// TestLocalVersion: a local chart of another version than the bundle wants is an error that names both lines.
func TestLocalVersion(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "Chart.yaml"), []byte("apiVersion: v2\nname: api\nversion: 1.3.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ have, want, says string }{
		{"1.3.0", "", ""}, {"1.3.0", "1.3.0", ""}, {"1.3.0", "v1.3.0", ""}, {"1.3.0", "1.x", ""}, {"1.3.0", "^1.2", ""}, {"1.3.0", "1.3", ""},
		{"1.3.0+b1", "1.3.0", ""}, {module.LocalVersion, "9.9.9", ""},
		{"1.3.0", "1.2.0", "shop.yaml:9:3"}, {"1.3.0", "2.x", "shop.yaml:9:3"}, {"1.3.0", ">=1.4", "shop.yaml:9:3"}, {"2.0.0-rc.1", "1.3.0", "shop.yaml:9:3"},
	} {
		fetch := localChart{module.Content{Root: root, Files: []string{"Chart.yaml"}, Digest: "sha256:1", Version: c.have}}
		r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+file": fetch}}
		_, err := r.Get(t.Context(), v1alpha1.Instance{Name: "api", Helm: &v1alpha1.HelmSource{Chart: "./charts/api", Version: c.want,
			Pos: v1alpha1.Position{File: "shop.yaml", Line: 8}, VersionPos: v1alpha1.Position{File: "shop.yaml", Line: 9, Column: 3}}})
		fs := diag.From(err, "")
		if c.says == "" {
			if err != nil {
				t.Errorf("%s for %q: %v", c.have, c.want, err)
			}
			continue
		}
		if len(fs) != 1 || fs[0].Pos.String() != c.says || fs[0].Instance != "api" || !strings.Contains(fs[0].Why, "./charts/api/Chart.yaml:3 says version "+c.have) {
			t.Errorf("%s for %q: %v", c.have, c.want, fs)
		}
	}
}
