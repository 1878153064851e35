package document

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testseed"
)

const diskSecret = "SECRET-OF-THE-DISK"

// checkout is a repository with a CUE module beside secrets of the machine.
func checkout(t testing.TB, files map[string]string) (top, root string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(top, "repo")
	all := map[string]string{
		"home/secret.json": `"` + diskSecret + `"`, "home/secret.yaml": "a: " + diskSecret + "\n", "home/secret.txt": diskSecret,
		"home/secret.cue": `token: "` + diskSecret + `"`, "home/bundle.yaml": "bundle: {name: " + diskSecret + "}\n", "home/id_rsa": "}" + diskSecret,
		"shared/core/core.cue": "package core\n\n#X: \"x\"\n", "shared/core/notes.txt": diskSecret, "shared/core/embed.cue": "package core\n",
		"repo/.git/config": diskSecret, "repo/cue.mod/module.cue": "module: \"x.com\"\nlanguage: version: \"v0.9.0\"\n",
		"repo/data/one.json": "{\"n\": 1}",
	}
	for name, text := range files {
		all["repo/"+name] = text
	}
	write(t, top, all)
	return top, root
}

func symlink(t testing.TB, target, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

// everything is all that a program says: findings, values, files.
func everything(opts Options) string {
	p, fs := Load(context.Background(), opts)
	out := fmt.Sprint(fs)
	if p != nil {
		specs, more := p.Evaluate(implicit(nil))
		text, _ := p.Value(implicit(nil))
		out += fmt.Sprint(more, text, p.Files(), p.Digest(), p.Fleet())
		for _, s := range specs {
			for _, in := range s.Instances {
				out += fmt.Sprint(in.Values.Struct.Exact())
			}
		}
	}
	return out
}

const embedding = "@extern(embed)\n" + `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: {v: _ @embed(%s)}}}` + "\n"

// TestEmbedStaysInside: a link in the checkout gives nothing of the disk; the error names the link and where it stands.
func TestEmbedStaysInside(t *testing.T) {
	for name, c := range map[string]struct{ links, files map[string]string }{
		"file":           {map[string]string{"leak.json": "../home/secret.json"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "file=leak.json")}},
		"absolute":       {map[string]string{"leak.txt": "/etc/hostname"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "file=leak.txt, type=text")}},
		"directory":      {map[string]string{"d": "../home"}, map[string]string{"b.cue": fmt.Sprintf(embedding, `file="d/secret.json"`)}},
		"glob":           {map[string]string{"g/leak.json": "../../home/secret.json"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "glob=g/*.json")}},
		"git":            {map[string]string{"leak.txt": ".git/config"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "file=leak.txt, type=text")}},
		"git itself":     {nil, map[string]string{"b.cue": fmt.Sprintf(embedding, `file=".git/config", type=text`)}},
		"vendored":       {map[string]string{"cue.mod/pkg/y.com/core": "../../../../home"}, map[string]string{"b.cue": "import \"y.com/core\"\nbundle: core"}},
		"vendored file":  {map[string]string{"cue.mod/pkg/y.com/core/x.cue": "../../../../../home/secret.cue"}, map[string]string{"b.cue": "import \"y.com/core\"\nbundle: core"}},
		"renamed":        {map[string]string{"cue.mod/pkg/y.com/core/x.cue": "../../../../../home/id_rsa"}, map[string]string{"b.cue": "import \"y.com/core\"\nbundle: core"}},
		"embed vendored": {map[string]string{"cue.mod/pkg/y.com/core/leak.txt": "../../../../../home/secret.txt"}, map[string]string{"b.cue": "import \"y.com/core\"\nbundle: core.x", "cue.mod/pkg/y.com/core/c.cue": "@extern(embed)\npackage core\nx: _ @embed(file=leak.txt)\n"}},
		"package":        {map[string]string{"lib/x.cue": "../../home/secret.cue"}, map[string]string{"b.cue": "import \"x.com/lib\"\nbundle: lib", "lib/l.cue": "package lib\n"}},
		"bad package":    {map[string]string{"lib/x.cue": "../../home/id_rsa"}, map[string]string{"b.cue": "import \"x.com/lib\"\nbundle: lib", "lib/l.cue": "package lib\n"}},
		"bundle":         {map[string]string{"b.yaml": "../home/bundle.yaml"}, nil},
	} {
		top, root := checkout(t, c.files)
		for at, target := range c.links {
			symlink(t, target, filepath.Join(root, filepath.FromSlash(at)))
		}
		file := filepath.Join(root, "b.cue")
		if c.files == nil {
			file = filepath.Join(root, "b.yaml")
		}
		opts := Options{Files: []string{file}, Workdir: root}
		p, fs := Load(context.Background(), opts)
		if p != nil {
			_, more := p.Evaluate(implicit(nil))
			fs = append(fs, more...)
		}
		if !fs.HasErrors() {
			t.Errorf("%s: no error", name)
		} else if text := fs.Err().Error(); !strings.Contains(text, "leads out of") && !strings.Contains(text, "lies outside of") {
			t.Errorf("%s: the error says nothing of a link: %s", name, text)
		}
		if out := everything(opts); strings.Contains(out, diskSecret) {
			t.Errorf("%s: the disk of %s is shown: %s", name, top, out)
		}
	}
}

// TestLinkedModuleFile: cue.mod and its module.cue lie inside too.
func TestLinkedModuleFile(t *testing.T) {
	top, root := checkout(t, map[string]string{"b.cue": "import \"x.com/lib\"\nbundle: lib.b\n"})
	if err := os.Rename(filepath.Join(root, "cue.mod", "module.cue"), filepath.Join(top, "home", "module.cue")); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(top, "home", "module.cue"), filepath.Join(root, "cue.mod", "module.cue"))
	_, fs := Load(context.Background(), Options{Files: []string{filepath.Join(root, "b.cue")}, Workdir: root})
	if !fs.HasErrors() || !strings.Contains(fs.Err().Error(), "leads out of") {
		t.Error(fs)
	}
}

// TestLinksThatStay: links inside of the repository, and those of vendored CUE, work as before.
func TestLinksThatStay(t *testing.T) {
	for name, c := range map[string]struct{ links, files map[string]string }{
		"inside":   {map[string]string{"l.json": "data/one.json"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "file=l.json")}},
		"glob":     {map[string]string{"g": "data"}, map[string]string{"b.cue": fmt.Sprintf(embedding, "glob=g/*.json")}},
		"vendored": {map[string]string{"cue.mod/pkg/y.com/core": "../../../../shared/core"}, map[string]string{"b.cue": "import \"y.com/core\"\n" + `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: v: core.#X}}`}},
		"vendored embed": {nil, map[string]string{"cue.mod/pkg/y.com/core/c.cue": "@extern(embed)\npackage core\n#X: _ @embed(file=x.json)\n", "cue.mod/pkg/y.com/core/x.json": "1",
			"b.cue": "import \"y.com/core\"\n" + `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: v: core.#X}}`}},
		"bundle": {map[string]string{"b.cue": "deep/b.cue"}, map[string]string{"deep/b.cue": `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x"}}`}},
	} {
		_, root := checkout(t, c.files)
		for at, target := range c.links {
			symlink(t, target, filepath.Join(root, filepath.FromSlash(at)))
		}
		p, fs := Load(context.Background(), Options{Files: []string{filepath.Join(root, "b.cue")}, Workdir: root})
		if fs.HasErrors() {
			t.Errorf("%s: %v", name, fs)
			continue
		}
		if specs, fs := p.Evaluate(implicit(nil)); fs.HasErrors() || len(specs) != 1 {
			t.Errorf("%s: %v", name, fs)
		}
	}
	// Outside of a repository a file given by itself may be a link to anywhere.
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, top, map[string]string{"real/b.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x}}}\n"})
	symlink(t, "../real/b.yaml", filepath.Join(top, "mine", "b.yaml"))
	if _, fs := Load(context.Background(), Options{Files: []string{filepath.Join(top, "mine", "b.yaml")}, Workdir: top}); fs.HasErrors() {
		t.Error(fs)
	}
	// Found in a directory it may not.
	if _, fs := Load(context.Background(), Options{Files: []string{filepath.Join(top, "mine")}, Workdir: top}); !fs.HasErrors() {
		t.Error("a link out of the directory given is read")
	}
}

// TestNothingOfTheDisk: whatever links, imports and embeds a checkout holds, nothing of the disk appears anywhere.
func TestNothingOfTheDisk(t *testing.T) {
	targets := []string{"../home/secret.json", "../home/secret.yaml", "../home/secret.txt", "../home/secret.cue", "../home", "..", "/", ".git/config", ".git",
		"data/one.json", "data", "../home/id_rsa", "../shared/core", "../home/bundle.yaml"}
	places := []string{"l.json", "l.yaml", "l.txt", "l.cue", "d", "lib/l.cue", "cue.mod/pkg/y.com/core", "cue.mod/pkg/y.com/core/l.cue", "b2.yaml", "b2.json", "lib/d"}
	embeds := []string{"file=l.json", "file=l.yaml", "file=l.txt, type=text", `file="d/secret.json"`, "glob=d/*.json", "glob=*.json", `glob="*.txt", type=text`,
		`file="d/home/secret.txt", type=text`, "file=l.cue, type=text", `file=".git/config", type=text`, `glob="d/*/*.json"`, `file="lib/d/secret.json"`}
	first := testseed.From(t)
	for seed := first; seed < first+40; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		text := fmt.Sprintf(embedding, embeds[rng.IntN(len(embeds))])
		if rng.IntN(2) == 0 {
			text = strings.Replace(text, "bundle:", "import \"x.com/lib\"\n_l: lib\nbundle:", 1)
		}
		if rng.IntN(2) == 0 {
			text = strings.Replace(text, "bundle:", "_c: core\nbundle:", 1)
			text = strings.Replace(text, "@extern(embed)\n", "@extern(embed)\nimport \"y.com/core\"\n", 1)
		}
		_, root := checkout(t, map[string]string{"b.cue": text, "lib/lib.cue": "@extern(embed)\npackage lib\nx: _ @embed(" + embeds[rng.IntN(len(embeds))] + ")\n"})
		for range 4 {
			at := filepath.Join(root, filepath.FromSlash(places[rng.IntN(len(places))]))
			target := targets[rng.IntN(len(targets))]
			if rel, err := filepath.Rel(filepath.Dir(at), filepath.Join(root, target)); err == nil && !filepath.IsAbs(target) {
				target = rel
			}
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			_ = os.Symlink(target, at) // one of two at one place loses
		}
		for _, files := range [][]string{{filepath.Join(root, "b.cue")}, {root}} {
			if out := everything(Options{Files: files, Workdir: root}); strings.Contains(out, diskSecret) {
				t.Fatalf("seed %d, %s: %s", seed, text, out)
			}
		}
	}
}
