package document

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/defaults"
)

// below lists the manifests that the bundle of a Program reads, as its renderer does: directories with everything below them.
func below(t *testing.T, top string, p *Program) []string {
	t.Helper()
	src := p.plain.Instances[0].Manifests
	var out []string
	for _, path := range src.Paths {
		err := filepath.WalkDir(filepath.Join(src.Dir, path), func(name string, e os.DirEntry, err error) error {
			rel, _ := filepath.Rel(top, name)
			if syntax, known := syntaxOf(name); known && syntax != syntaxCUE && !e.IsDir() && e.Name() != defaults.File &&
				!slices.Contains(src.Except, name) && !slices.Contains(out, rel) {
				out = append(out, filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// TestDirectoriesAreWhole: the manifests of a directory that is given are all below it, whatever files of ours lie there: an
// apply with fewer of them deletes the others.
func TestDirectoriesAreWhole(t *testing.T) {
	const object, lists = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "fleet: fleet.yaml\nfiles: [.]\n"
	const fleet = "fleet: {apiVersion: v1alpha1, name: f, clusters: {c: {kubeContext: c}}}\n"
	const kind = "apiVersion: hawser.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {clusters: {c: {kubeContext: c}}}\n"
	for name, c := range map[string]struct {
		beside       map[string]string
		files, fleet string
		want         string
	}{
		"nothing":              {nil, "d", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet elsewhere":      {map[string]string{"f.yaml": fleet}, "d", "f.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet":                {map[string]string{"d/fleet.yaml": fleet}, "d", "d/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet not named":      {map[string]string{"d/fleet.yaml": fleet}, "d", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet comes first":    {map[string]string{"d/0.yaml": fleet}, "d", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"runtime":              {map[string]string{"d/r.yaml": strings.NewReplacer("fleet", "runtime", "{kubeContext", "{group: g, kubeContext").Replace(fleet)}, "d", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet as object":      {map[string]string{"d/fleet.yaml": kind}, "d", "d/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet in CUE":         {map[string]string{"d/fleet.cue": `fleet: {apiVersion: "v1alpha1", name: "f", clusters: c: kubeContext: "c"}`}, "d", "d/fleet.cue", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"fleet below":          {map[string]string{"d/sub/fleet.yaml": fleet}, "d", "d/sub/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"hawser.yaml":          {map[string]string{"d/hawser.yaml": lists, "d/fleet.yaml": fleet}, "d", "d/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"hawser.lock":          {map[string]string{"d/hawser.lock": "{}", "d/fleet.yaml": fleet}, "d", "d/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"comments only":        {map[string]string{"d/notes.yaml": "# nothing\n", "d/fleet.yaml": fleet}, "d", "", "d/a.yaml d/notes.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"a file and its own":   {nil, "d/a.yaml,d", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"the other way around": {nil, "d,d/a.yaml", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"and one below":        {nil, "d,d/sub", "", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json"},
		"two":                  {map[string]string{"d/fleet.yaml": fleet, "e/a.yaml": object, "e/x/b.yaml": object}, "d,e", "d/fleet.yaml", "d/a.yaml d/sub/b.yaml d/sub/deep/c.json e/a.yaml e/x/b.yaml"},
		"a file of another":    {map[string]string{"e/fleet.yaml": fleet, "e/a.yaml": object, "e/x/b.yaml": object}, "d/a.yaml,e", "e/fleet.yaml", "d/a.yaml e/a.yaml e/x/b.yaml"},
		"a file alone":         {map[string]string{"d/fleet.yaml": fleet}, "d/a.yaml", "d/fleet.yaml", "d/a.yaml"},
		"a file, fleet's dir":  {map[string]string{"d/fleet.yaml": fleet}, "d/a.yaml", "d", "d/a.yaml"},
	} {
		top, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write(t, top, map[string]string{"d/a.yaml": object, "d/sub/b.yaml": object, "d/sub/deep/c.json": `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}}`})
		write(t, top, c.beside)
		t.Chdir(top)
		opts := Options{Files: []string{c.files}, Namespace: "n"}
		if c.fleet != "" {
			opts.Fleet = []string{c.fleet}
		}
		p, fs := Load(context.Background(), opts)
		if fs.HasErrors() || p.plain == nil {
			t.Errorf("%s: %v", name, fs)
			continue
		}
		if diff := cmp.Diff(strings.Fields(c.want), below(t, top, p)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		if c.files == "d" && p.plain.Name != "n-d" {
			t.Errorf("%s: the bundle is called %s", name, p.plain.Name)
		}
	}
}

// A namespace that can be none is said, and nothing that follows from it.
func TestNamespaceThatIsNone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, got := Load(t.Context(), Options{Files: []string{file}, Namespace: "Web", Workdir: dir})
	if len(got) != 1 || got[0].What != `"Web" cannot be the name of a namespace` || got[0].Fix != "for example web" {
		t.Errorf("%v", got)
	}
}
