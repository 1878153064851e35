package document

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGivenByALink: a directory link of the repository gives no document, for bundles and fleets, from inside of it and from elsewhere.
func TestGivenByALink(t *testing.T) {
	top := t.TempDir()
	const fleet = "fleet: {apiVersion: v1alpha1, name: canary, clusters: {c: {kubeContext: canary}}}\n"
	write(t, top, map[string]string{"repo/.git/HEAD": "x", "repo/in/b.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x}}}\n",
		"out/deep/m.yaml": "kind: canary\n", "out/f.yaml": fleet, "outside/b.yaml": "bundle: {apiVersion: v1alpha1, name: canary}\n", "else/x": ""})
	for at, to := range map[string]string{"d": "../out", "b": "../outside", "f.yaml": "../out/f.yaml", "same": "in"} {
		symlink(t, to, filepath.Join(top, "repo", at))
	}
	for _, here := range []string{"repo", "else"} {
		t.Chdir(filepath.Join(top, here))
		for _, o := range []Options{{Files: []string{"../repo/b"}}, {Files: []string{"../repo/b/b.yaml"}}, {Files: []string{"../repo/d"}}, {Files: []string{"../repo/in"}, Fleet: []string{"../repo/d/f.yaml"}},
			{Files: []string{"../repo/in"}, Fleet: []string{"../repo/f.yaml"}}, {Files: []string{"../repo/in,../repo/d"}}} {
			o.Workdir, _ = os.Getwd()
			_, fs := Load(context.Background(), o)
			if text := fmt.Sprint(fs.Err()); !fs.HasErrors() || !strings.Contains(text, "is a link that leads out of") || strings.Contains(text, "canary") {
				t.Errorf("%v %v: %s", o.Files, o.Fleet, text)
			}
		}
		if _, fs := Load(context.Background(), Options{Files: []string{"../repo/same"}}); fs.HasErrors() {
			t.Errorf("a link that stays: %v", fs)
		}
	}
}
