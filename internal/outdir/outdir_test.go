package outdir

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	of := func(bundle, cluster, text string) File {
		return File{Bundle: bundle, Cluster: cluster, Digest: Digest([]byte(text))}
	}
	before := Index{Files: map[string]File{"eu/api/a.yaml": of("shop", "eu", "a"), "eu/api/gone.yaml": of("shop", "eu", "gone"),
		"us/api/gone.yaml": of("shop", "us", "gone"), "eu/api/edited.yaml": of("shop", "eu", "mine"), "eu/api/missing.yaml": of("shop", "eu", "m"),
		"eu/api/secret.yaml": {Bundle: "shop", Cluster: "eu"}, "eu/db/x.yaml": of("data", "eu", "x")}}
	there := map[string]string{"eu/api/a.yaml": "a, edited", "eu/api/gone.yaml": "gone", "us/api/gone.yaml": "gone", "eu/api/edited.yaml": "theirs",
		"eu/api/secret.yaml": "s", "eu/db/x.yaml": "x", "eu/README": "theirs", "eu/api/same.yaml": "same", "eu/api/other.yaml": "other"}
	now := func(path string) string {
		if text, ok := there[path]; ok {
			return Digest([]byte(text))
		}
		return ""
	}
	build := func(whole bool, files map[string]string) Build {
		b := Build{Bundle: "shop", Clusters: []string{"eu"}, Whole: whole, Files: map[string]File{}, Digests: map[string]string{}}
		for path, text := range files {
			b.Files[path], b.Digests[path] = of("shop", "eu", text), Digest([]byte(text))
		}
		return b
	}
	for name, c := range map[string]struct {
		build        Build
		remove, left []string
		refused      []string
		kept         []string
	}{
		"one cluster": {build(false, map[string]string{"eu/api/a.yaml": "a2", "eu/api/same.yaml": "same", "eu/api/new.yaml": "new"}),
			[]string{"eu/api/gone.yaml", "eu/api/secret.yaml"}, []string{"eu/api/edited.yaml"}, nil, []string{"us/api/gone.yaml", "eu/db/x.yaml"}},
		"all clusters": {build(true, map[string]string{"eu/api/a.yaml": "a"}),
			[]string{"eu/api/gone.yaml", "eu/api/secret.yaml", "us/api/gone.yaml"}, []string{"eu/api/edited.yaml"}, nil, []string{"eu/db/x.yaml"}},
		"in the way":     {build(true, map[string]string{"eu/api/other.yaml": "ours", "eu/db/x.yaml": "ours", "eu/api/a.yaml": "a"}), nil, nil, []string{"eu/api/other.yaml", "eu/db/x.yaml"}, nil},
		"the same there": {build(false, map[string]string{"eu/db/x.yaml": "x"}), []string{"eu/api/a.yaml", "eu/api/gone.yaml", "eu/api/secret.yaml"}, []string{"eu/api/edited.yaml"}, nil, []string{"us/api/gone.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "the same there" {
				there["eu/api/a.yaml"] = "a"
			}
			out, findings := Decide(before, c.build, now)
			var refused []string
			for _, f := range findings {
				refused = append(refused, f.Pos.File)
			}
			if diff := cmp.Diff([][]string{c.remove, c.left, c.refused}, [][]string{out.Remove, out.Left, refused}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if c.refused != nil {
				if diff := cmp.Diff(before, out.Index); diff != "" {
					t.Errorf("refused, and the index changes: %s", diff)
				}
				return
			}
			want := c.build.Files
			for _, path := range c.kept {
				if want[path] = before.Files[path]; out.Index.Files[path] != want[path] {
					t.Errorf("%s is forgotten", path)
				}
			}
			if len(out.Index.Files) != len(want) {
				t.Errorf("index: %v", out.Index.Files)
			}
		})
	}
}

// Bundles that are built together: a file of two is refused, and one that moved from one to the other is written, whichever
// comes first.
func TestDecideAll(t *testing.T) {
	build := func(bundle string, files ...string) Build {
		b := Build{Bundle: bundle, Whole: true, Files: map[string]File{}, Digests: map[string]string{}}
		for _, path := range files {
			b.Files[path], b.Digests[path] = File{Bundle: bundle, Digest: Digest([]byte(bundle))}, Digest([]byte(bundle))
		}
		return b
	}
	before := Index{Files: map[string]File{"web/moved": {Bundle: "a", Digest: Digest([]byte("a"))}, "web/gone": {Bundle: "b", Digest: Digest([]byte("b"))}}}
	now := func(path string) string { return before.Files[path].Digest }
	a, b := build("a", "web/x"), build("b", "web/moved", "web/y")
	for _, order := range [][]Build{{a, b}, {b, a}} {
		out, findings := DecideAll(before, order, now)
		want := Index{V: version, Files: map[string]File{"web/x": a.Files["web/x"], "web/moved": b.Files["web/moved"], "web/y": b.Files["web/y"]}}
		if diff := cmp.Diff(want, out.Index); diff != "" || len(findings) > 0 || !cmp.Equal(out.Remove, []string{"web/gone"}) {
			t.Errorf("%v, removes %v\n%s", findings, out.Remove, diff)
		}
	}
	out, findings := DecideAll(before, []Build{build("a", "web/same"), build("b", "web/same")}, now)
	if len(findings) != 1 || findings[0].Code != "two-bundles" || findings[0].Pos.File != "web/same" || !cmp.Equal(out, Outcome{Index: before}) {
		t.Errorf("%v %+v", findings, out)
	}
}

// TestParse: an index survives being stored; one that is damaged, newer, or leads out of the directory is an error.
func TestParse(t *testing.T) {
	x := Index{V: 1, Files: map[string]File{"a/b.yaml": {Bundle: "shop", Cluster: "eu", Digest: "sha256:1"}}}
	got, err := Parse(x.Encode())
	if diff := cmp.Diff(x, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if empty, err := Parse(nil); err != nil || empty.Files == nil {
		t.Errorf("nothing there: %+v, %v", empty, err)
	}
	for _, text := range []string{"x", "{}", `{"v":2,"files":{}}`, `{"v":1,"files":{"../x":{}}}`, `{"v":1,"files":{"/etc/x":{}}}`, `{"v":1,"files":{"a/../../x":{}}}`, `{"v":1,"more":1}`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if x, err := Parse([]byte(`{"v":1}`)); err != nil || x.Files == nil {
		t.Errorf("without files: %+v, %v", x, err)
	}
}

// An index reads back as it is stored. A build that makes nothing takes its own files away and no others, whatever the index
// says, and has nothing more to do afterwards.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"files":{"a":{"bundle":"b"}}}`))
	f.Add([]byte(`{"v":1,"files":{"a/b.yaml":{"bundle":"b","cluster":"eu","digest":"sha256:1"},"c":{"bundle":"other","digest":"x"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(x.Encode())
		if diff := cmp.Diff(x, again); len(data) > 0 && diff != "" || err != nil {
			t.Fatalf("reads back as something else: %v\n%s", err, diff)
		}
		there := func(path string) string {
			if d := x.Files[path].Digest; d != "" {
				return d
			}
			return "of a Secret"
		}
		b := Build{Bundle: "b", Whole: true, Files: map[string]File{}}
		out, findings := Decide(x, b, there)
		if len(findings)+len(out.Left) > 0 || len(out.Remove)+len(out.Index.Files) != len(x.Files) {
			t.Fatalf("%v, %+v of %+v", findings, out, x)
		}
		for _, path := range out.Remove {
			if x.Files[path].Bundle != "b" || path == Name || !filepath.IsLocal(path) {
				t.Errorf("%q is removed: %+v", path, x.Files[path])
			}
		}
		for path, file := range out.Index.Files {
			if file != x.Files[path] || file.Bundle == "b" {
				t.Errorf("%q is kept: %+v, was %+v", path, file, x.Files[path])
			}
		}
		if after, _ := Decide(out.Index, b, there); len(after.Remove)+len(after.Left) > 0 || !cmp.Equal(after.Index, out.Index) {
			t.Errorf("once more: %+v", after)
		}
	})
}
