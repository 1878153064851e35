package engine

import (
	"os"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// TestHandedToABundleThatIsDropped: what is let go for another bundle of the same files is pruned when that one leaves them before
// it took anything; narrowed to a file in which it was never declared, nothing is. What it took is forgotten.
func TestHandedToABundleThatIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two, three := r.configMap("one", "k: v"), r.configMap("two", "k: v"), r.configMap("three", "k: v")
	files := func(first, second string) Request {
		a := "bundles:\n  " + r.name + "-a:\n    apiVersion: v1alpha1\n    name: " + r.name + "-a\n    instances: {app: {namespace: " + r.name + ", manifests: {paths: [one.txt]}}}\n"
		r.write("one.txt", first)
		req := r.request()
		req.Bundle, docs(&req).Files = r.name+"-a", []string{r.write("bundle.yaml", a)}
		if second != "" {
			r.write("two.txt", second)
			at := docs(&req)
			at.Files = append(at.Files, r.write("b.yaml", strings.NewReplacer(r.name+"-a", r.name+"-b", "one.txt", "two.txt").Replace(a)))
		}
		return req
	}
	lent := func(want int) {
		t.Helper()
		r.stored(func(store release.Store) error {
			rec, _, err := store.Current(t.Context(), object.OwnerID("", "", r.name+"-a"))
			if err == nil && len(rec.Lent) != want {
				t.Errorf("the record has let go %v, want %d", rec.Lent, want)
			}
			return err
		})
	}
	r.applied(files(one+two, three))
	moved := files(one, three+two)
	r.carried(r.plan(moved), moved)
	lent(1)
	if fp := r.plan(moved); !fp.Clusters[0].Plan.Empty() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
	narrow := moved
	docs(&narrow).Files = docs(&moved).Files[:1]
	for range 2 {
		fp := r.plan(narrow)
		if got := fateOf(fp, "two"); got != "" {
			t.Errorf("with one of the files: %s", got)
		}
		r.carried(fp, narrow)
	}
	lent(1)

	took := moved
	took.Bundle = r.name + "-b"
	r.carried(r.plan(took), took)
	r.carried(r.plan(moved), moved)
	lent(0)

	back := files(one+two, three)
	r.carried(r.plan(back), back)
	back.Bundle = r.name + "-b"
	r.carried(r.plan(back), back)
	moved = files(one, three+two)
	r.carried(r.plan(moved), moved)
	lent(1)
	dropped := files(one, "")
	if err := os.Remove(r.dir + "/b.yaml"); err != nil {
		t.Fatal(err)
	}
	fp := r.plan(dropped)
	if got := fateOf(fp, "two"); got != "delete dropped" {
		t.Errorf("the other bundle left the files: %s", got)
	}
	r.carried(fp, dropped)
	r.carried(r.plan(dropped), dropped) // sees that it is gone
	lent(0)
	if r.has("two") || !r.has("one") || !r.has("three") {
		t.Errorf("two: %v, one: %v, three: %v", r.has("two"), r.has("one"), r.has("three"))
	}
}
