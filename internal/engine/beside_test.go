package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// pair writes bundle.yaml with the bundles NAME-a and NAME-b of manifests, into the directory dir of the rig's, and
// returns requests for them, each done alone.
func (r *rig) pair(dir, first, second string) (a, b Request) {
	r.t.Helper()
	r.write(dir+"first.yaml", first)
	r.write(dir+"second.yaml", second)
	text := "bundles:\n"
	for _, name := range []string{"a", "b"} {
		text += fmt.Sprintf("  %[1]s:\n    apiVersion: v1alpha1\n    name: %[1]s\n    instances:\n      app:\n        namespace: %[2]s\n        manifests: {paths: [%[3]s.yaml]}\n",
			r.name+"-"+name, r.name, map[string]string{"a": "first", "b": "second"}[name])
	}
	path := r.write(dir+"bundle.yaml", text)
	a, b = r.request(), r.request()
	docs(&a).Files, docs(&b).Files = []string{path}, []string{path}
	a.Bundle, b.Bundle = r.name+"-a", r.name+"-b"
	return a, b
}

// fateOf is what a plan does with a ConfigMap: "release moved".
func fateOf(fp *Prepared, name string) string {
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if ch.Ref.Kind == "ConfigMap" && ch.Ref.Name == name {
			return strings.TrimSpace(string(ch.Action) + " " + string(ch.Code))
		}
	}
	return ""
}

// carried fails the test unless a plan is without errors and is carried out.
func (r *rig) carried(fp *Prepared, req Request) {
	r.t.Helper()
	if err := fp.Findings.Err(); err != nil {
		r.t.Fatal(err)
	}
	if out, err := r.Apply(r.t.Context(), fp, req); err != nil {
		r.t.Fatalf("%v: %+v", err, out)
	}
}

// heldBy fails the test unless a ConfigMap is the one with the uid, and the one bundle's alone.
func (r *rig) heldBy(name, uid, bundle string) {
	r.t.Helper()
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	var managers []string
	for _, e := range cm.ManagedFields {
		managers = append(managers, e.Manager)
	}
	owner := object.OwnerID("", "", bundle)
	if string(cm.UID) != uid || cm.Labels[object.LabelOwner] != owner || !slices.Equal(managers, []string{object.Manager(owner)}) {
		r.t.Errorf("%s: uid %s (was %s), labels %v, managers %v", name, cm.UID, uid, cm.Labels, managers)
	}
}

func (r *rig) uidOf(configMap string) string {
	r.t.Helper()
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), configMap, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(cm.UID)
}

// An object that is moved from one bundle to another of the same files is handed over, in either order and with each
// bundle done alone; plans made before anything is done say what is done then. Nothing of it counts as a deletion.
func TestMovedBetweenBundles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two, three := r.configMap("one", "k: v"), r.configMap("two", "k: v", "old: v"), r.configMap("three", "k: v")
	a, b := r.pair("", one+two, three)
	r.applied(a)
	r.applied(b)
	uid := r.uidOf("two")

	a, b = r.pair("", one, three+r.configMap("two", "k: new"))
	before := []string{fateOf(r.plan(a), "two"), fateOf(r.plan(b), "two")}
	if want := []string{"release moved", "adopt moved"}; !slices.Equal(before, want) {
		t.Fatalf("planned: %v, want %v", before, want)
	}
	first := r.plan(a)
	if first.Counts().Delete != 0 || first.Clusters[0].Plan.Brake != "" {
		t.Errorf("counts as a deletion: %+v", first.Counts())
	}
	r.carried(first, a)
	r.heldBy("two", uid, a.Bundle)
	second := r.plan(b)
	if got := fateOf(second, "two"); got != before[1] {
		t.Errorf("planned %s, done %s", before[1], got)
	}
	r.carried(second, b)
	r.heldBy("two", uid, b.Bundle)
	if cm, _ := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "two", metav1.GetOptions{}); len(cm.Data) != 1 || cm.Data["k"] != "new" {
		t.Errorf("data: %v", cm.Data)
	}
	for _, req := range []Request{a, b} {
		if fp := r.plan(req); !fp.Clusters[0].Plan.Empty() {
			t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
		}
	}

	a, b = r.pair("", one+two, three) // back, and the bundle that gets it is done first
	if got := []string{fateOf(r.plan(a), "two"), fateOf(r.plan(b), "two")}; !slices.Equal(got, []string{"adopt moved", "release moved"}) {
		t.Fatalf("planned back: %v", got)
	}
	r.carried(r.plan(a), a)
	r.carried(r.plan(b), b)
	r.heldBy("two", uid, a.Bundle)
}

// A saved plan hands over as it was shown; delete leaves what another bundle of the files declares; a bundle that cannot
// be rendered blocks deletions of its neighbour, and what both declare is a conflict that says so.
func TestMovedAndSavedOrDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two, three, four := r.configMap("one", "k: v"), r.configMap("two", "k: v"), r.configMap("three", "k: v"), r.configMap("four", "k: v")
	a, b := r.pair("", one+two+three, four)
	r.applied(a)
	r.applied(b)
	uid := r.uidOf("two")

	a, b = r.pair("", one+two+three, two+four)
	fp := r.plan(b)
	refused(t, "declared twice", fp.Findings.Err(), "foreign-owner", "bundle "+a.Bundle+" of the same files declares it too")

	a, b = r.pair("", one+three, "not: an object\n")
	fp, err := r.Plan(t.Context(), a)
	if err == nil {
		err = fp.Findings.Err()
		fp.run.close()
	}
	refused(t, "nobody can tell", err, "untold-bundle", b.Bundle)

	a, b = r.pair("", one+three, two+four)
	loaded, err := r.loadSaved(r.save(r.plan(a)))
	if err != nil {
		t.Fatal(err)
	}
	r.carried(loaded, a)

	a, b = r.pair("", one, two+three+four) // a is not applied again, and goes
	gone, err := r.Plan(t.Context(), a.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.run.close)
	if one, three := fateOf(gone, "one"), fateOf(gone, "three"); one != "delete dropped" || three != "release moved" {
		t.Fatalf("delete: one %s, three %s", one, three)
	}
	r.carried(gone, a)
	if r.has("one") || !r.has("three") {
		t.Errorf("one is there: %v, three: %v", r.has("one"), r.has("three"))
	}
	r.carried(r.plan(b), b)
	r.heldBy("two", uid, b.Bundle)
}

// What somebody else's bundle of a neighbour's name has is not taken over.
func TestNothingMovesFromSomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, _ := r.pair("theirs/", r.configMap("one", "k: v"), r.configMap("two", "k: v"))
	r.applied(a)
	_, b := r.pair("ours/", r.configMap("other", "k: v"), r.configMap("one", "k: v"))
	fp := r.plan(b)
	refused(t, "another lineage", fp.Findings.Err(), "foreign-owner", a.Bundle)
	if got := fateOf(fp, "one"); got != string(plan.Conflict)+" foreign" {
		t.Errorf("one: %s", got)
	}
}

// An object that is moved out of a bundle which is removed altogether from the same files is handed over; from files that
// are there still, and not read, nothing is.
func TestMovedFromARemovedBundle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two := r.configMap("one", "k: v"), r.configMap("two", "k: v")
	a, b := r.pair("", one, two)
	r.applied(a)
	r.applied(b)
	uid := r.uidOf("one")

	other := b // declares the object too, in a file of its own; a is in bundle.yaml still
	docs(&other).Files = []string{r.write("other.yaml", strings.NewReplacer(r.name+"-a", r.name+"-c", "first.yaml", "moved.yaml").Replace(
		strings.SplitN(r.read("bundle.yaml"), "  "+r.name+"-b:", 2)[0]))}
	other.Bundle = r.name + "-c"
	r.write("moved.yaml", one)
	if got := fateOf(r.plan(other), "one"); got != string(plan.Conflict)+" foreign" {
		t.Errorf("from a file that is not read: %s", got)
	}

	text := r.read("bundle.yaml")
	start := strings.Index(text, "  "+r.name+"-a:")
	end := strings.Index(text, "  "+r.name+"-b:")
	r.write("bundle.yaml", text[:start]+text[end:])
	r.write("second.yaml", two+one)
	fp := r.plan(b)
	if got := fateOf(fp, "one"); got != "adopt moved" {
		t.Fatalf("planned: %s %v", got, fp.Findings)
	}
	r.carried(fp, b)
	r.heldBy("one", uid, b.Bundle)
	if fp := r.plan(b); !fp.Clusters[0].Plan.Empty() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
	gone := r.request()
	docs(&gone).Files, gone.Bundle = nil, a.Bundle
	left, err := r.Plan(t.Context(), gone.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(left.run.close)
	if got := fateOf(left, "one"); got != "release foreign" {
		t.Errorf("what is left of it would %s", got)
	}
}

// Two new bundles that declare one object are found before the first of them is written, in the plan of each, with both
// places; done alone, one of them may be made.
func TestDeclaredByTwoNewBundles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := r.configMap("one", "k: v")
	a, b := r.pair("", one, r.configMap("other", "k: v")+one)
	if err := r.plan(a).Findings.Err(); err != nil {
		t.Errorf("done alone: %v", err)
	}
	a.Among, b.Among = []string{a.Bundle, b.Bundle}, []string{a.Bundle, b.Bundle}
	for _, req := range []Request{a, b} {
		refused(t, req.Bundle, r.plan(req).Findings.Err(), "duplicate-object", a.Bundle, b.Bundle, "first.yaml", "second.yaml", "bundle.yaml")
	}
	r.write("first.yaml", "not: an object\n")
	if err := r.plan(b).Findings.Err(); err != nil {
		t.Errorf("a neighbour that cannot be rendered is its own matter: %v", err)
	}
}

// read is a file of the rig's directory.
func (r *rig) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// Of two saved plans of a move each is carried out, whichever is first: the one that lets go writes nothing.
func TestSavedPlansOfAMove(t *testing.T) {
	t.Parallel()
	for _, formerFirst := range []bool{true, false} {
		r := newRig(t)
		one, two, three := r.configMap("one", "k: v"), r.configMap("two", "k: v"), r.configMap("three", "k: v")
		a, b := r.pair("", one+two, three)
		r.applied(a)
		r.applied(b)
		uid := r.uidOf("two")
		a, b = r.pair("", one, two+three)
		plans, reqs := []string{r.save(r.plan(a)), r.save(r.plan(b))}, []Request{a, b}
		if !formerFirst {
			slices.Reverse(plans)
			slices.Reverse(reqs)
		}
		for i := range plans {
			loaded, err := r.loadSaved(plans[i])
			if err != nil {
				t.Fatalf("former first %v: %v", formerFirst, err)
			}
			r.carried(loaded, reqs[i])
		}
		r.heldBy("two", uid, b.Bundle)
	}
}
