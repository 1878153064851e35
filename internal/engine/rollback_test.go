package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
)

// back is the request to go back to a release, "" for the one before.
func (r *rig) back(to string) Request {
	req := r.request()
	docs(&req).Files, req.Bundle, req.To = nil, r.name, to
	return req
}

// rolledBack plans and applies a rollback that must succeed.
func (r *rig) rolledBack(req Request) *fleetplan.Outcome {
	r.t.Helper()
	fp, err := r.Plan(r.t.Context(), req.For(Rollback))
	if err != nil {
		r.t.Fatalf("rollback: %v", err)
	}
	out, err := r.Apply(r.t.Context(), fp, req)
	if err != nil {
		r.t.Fatalf("rollback: %v %+v", err, out)
	}
	return out
}

// data are the values of the rig's ConfigMaps under "key", by name.
func (r *rig) data() map[string]string {
	r.t.Helper()
	list, err := r.admin.CoreV1().ConfigMaps(r.name).List(r.t.Context(), metav1.ListOptions{LabelSelector: "hawser.dev/bundle=" + r.name})
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]string{}
	for _, cm := range list.Items {
		out[cm.Name] = cm.Data["key"]
	}
	return out
}

// standing is what a record says but for its own number and times.
func standing(rec *release.Record) string {
	var out []string
	for _, o := range rec.Inventory {
		out = append(out, fmt.Sprint(o.Ref, o.Instance, o.Digest, o.Version, o.OwnNamespace, o.Hook))
	}
	return fmt.Sprint(out, rec.Inputs, rec.Sources, rec.Digests, rec.Images, rec.Depends, rec.SourceDigest, rec.Made, rec.Files, rec.Lineage, rec.Source)
}

// TestRollback: a rollback brings back what was pruned, deletes what is newer and changes what changed; it is a release of its
// own that says what it went back to. Back and forth ten times ends where it began, the inventory included. Afterwards the same
// files go forward again, and the former files have nothing to do.
func TestRollback(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two := r.configMap("app", "key: one")+r.configMap("old", "key: one"), r.configMap("app", "key: two")+r.configMap("new", "key: two")
	r.write("bundle.yaml", r.bundle(one))
	r.applied(r.request())
	first := standing(r.record())
	r.write("app.yaml", two)
	r.applied(r.request())
	second := standing(r.record())
	for n := range 10 {
		want, state := map[string]string{"app": "one", "old": "one"}, first
		if n%2 == 1 {
			want, state = map[string]string{"app": "two", "new": "two"}, second
		}
		out := r.rolledBack(r.back(strconv.Itoa(n + 1)))
		rec := r.record()
		if got := r.data(); !maps.Equal(got, want) || standing(rec) != state {
			t.Fatalf("%d: %v, want %v\n%s\n%s", n, got, want, standing(rec), state)
		}
		if rec.Release != n+3 || rec.Revision != n+3 || rec.RollbackTo.Release != n+1 || out.Verb != "rollback" {
			t.Fatalf("%d: %d %d %v", n, rec.Release, rec.Revision, rec.RollbackTo)
		}
	}
	again, err := r.Plan(t.Context(), r.back("").For(Rollback)) // once more is not one further
	if err != nil || again.Counts().Writes() != 0 || !slices.Contains(codes(again), "already-back") {
		t.Errorf("again: %v %+v", err, again)
	}
	fp := r.plan(r.request()) // the files are those of the second release, and so is the last state
	if c := fp.Counts(); c.Writes() != 0 {
		t.Errorf("the files that were gone back to: %+v", c)
	}
	r.rolledBack(r.back("11"))
	if c := r.plan(r.request()).Counts(); c.Update != 1 || c.Create != 1 || c.Delete != 1 {
		t.Errorf("going forward again: %+v", c)
	}
	r.write("app.yaml", one)
	if c := r.plan(r.request()).Counts(); c.Writes() != 0 {
		t.Errorf("the files of the release that was gone back to: %+v", c)
	}
	h, err := r.History(t.Context(), r.back(""))
	if err != nil || h.Bundles[0].Releases[0].RollbackTo.Release != 11 || h.Bundles[0].Releases[0].RollbackTo.Rollout != h.Bundles[0].Releases[2].Rollout {
		t.Errorf("%v %+v", err, h)
	}
}

// forgetful is a store that keeps no Secrets of revisions.
type forgetful struct{ release.Store }

func (f forgetful) Revisions(ctx context.Context, owner string, each func(release.Record) error) error {
	return f.Store.(release.History).Revisions(ctx, owner, each)
}

func (f forgetful) Objects(ctx context.Context, r release.Record) ([]object.Object, error) {
	objects, err := f.Store.Objects(ctx, r)
	return slices.DeleteFunc(objects, func(o object.Object) bool { return o.Ref().IsSecret() }), err
}

// TestRollbackNotKept: a Secret whose content is not kept is no hindrance while the live one is as it was declared; where it
// would have to be written the plan is refused, names it, and nothing stands in for it. An instance that was renamed since gets
// its name back.
func TestRollbackNotKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	secret := func(value string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: " + value + "}\n"
	}
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+secret("canary-one-7f3k")))
	r.applied(r.request())
	renamed := strings.Replace(r.bundle(r.configMap("app", "key: two")+secret("canary-one-7f3k")), "    app:", "    web:", 1)
	r.write("bundle.yaml", renamed)
	r.applied(r.request())
	r.Records = opened(func(s *cluster.Session, name string) release.Store {
		return forgetful{kube.New(narrow{s.REST()}, name)}
	})
	r.rolledBack(r.back("2")) // it is there
	r.write("app.yaml", r.configMap("app", "key: three")+secret("canary-two-9q2z"))
	r.applied(r.request())
	_, err := r.Plan(t.Context(), r.back("99").For(Rollback))
	if err == nil || !strings.Contains(err.Error(), "no cluster keeps a release 99") {
		t.Errorf("%v", err)
	}
	fp, err := r.Plan(t.Context(), r.back("").For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	defer fp.run.close()
	if !slices.Contains(codes(fp), "not-kept") || !strings.Contains(fmt.Sprint(fp.Findings), "token") || strings.Contains(fmt.Sprint(fp.Findings), "canary") {
		t.Errorf("%v", fp.Findings)
	}
	if _, err := r.Apply(t.Context(), fp, r.back("")); err == nil || r.data()["app"] != "three" {
		t.Errorf("%v %v", err, r.data())
	}
	r.Records = inTheCluster
	r.rolledBack(r.back("1"))
	if rec := r.record(); r.data()["app"] != "one" || !rec.Delivered("app") || rec.Delivered("web") {
		t.Errorf("%v %v", r.data(), rec.Inputs)
	}
}

// TestRollbackToNothing: where the release is not, everything goes, and somebody has to say so; how many releases are kept stays
// what it is now.
func TestRollbackToNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one"), "  revisionHistoryLimit: 2"))
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    a: {group: g, kubeContext: "+here+"}\n")
	r.applied(r.request())
	first := r.record()
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two"), "  revisionHistoryLimit: 5"))
	r.applied(r.request())
	fp, err := r.Plan(t.Context(), r.back("1").For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	w := fp.works["a"]
	if len(fp.Guard) > 0 || len(w.guarded().Placed) != 1 {
		t.Errorf("%v %v", fp.Guard, w.guarded().Placed)
	}
	w.back, w.set.Renders, w.set.Desired = nil, nil, nil // as where the release never came
	if !slices.Equal(w.guarded().Placed, []string{"app"}) {
		t.Errorf("an instance that goes whole: %v", w.guarded().Placed)
	}
	fp.run.close()
	r.rolledBack(r.back("1"))
	if rec := r.record(); rec.Keep != 5 || first.Keep != 2 {
		t.Errorf("kept are %d, they were %d", rec.Keep, first.Keep)
	}
}

// TestRollbackOfWhatMoved: an object that went to another bundle since is that one's: the plan says whose it is and writes nothing.
// When the other bundle goes back it deletes nothing that it took over, and then it can be taken back. Forward again goes as the first
// time.
func TestRollbackOfWhatMoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.pair("", r.configMap("own", "key: one")+r.configMap("wanders", "key: one"), r.configMap("other", "key: one"))
	r.applied(a)
	r.applied(b)
	uid := r.uidOf("wanders")
	r.pair("", r.configMap("own", "key: two"), r.configMap("other", "key: one")+r.configMap("wanders", "key: two"))
	r.applied(a)
	r.applied(b)
	r.heldBy("wanders", uid, b.Bundle)
	back := func(req Request) *Prepared {
		t.Helper()
		docs(&req).Files = nil
		fp, err := r.Plan(t.Context(), req.For(Rollback))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fp.run.close)
		return fp
	}
	fp := back(a)
	text := fmt.Sprint(fp.Findings.Errors())
	for _, want := range []string{"wanders", "bundle " + b.Bundle + " has it in its release 2", "hawser rollback " + b.Bundle, "--adopt"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if _, err := r.Apply(t.Context(), fp, a); err == nil || r.keys("own", "wanders") != "two two" {
		t.Errorf("%v %s", err, r.keys("own", "wanders"))
	}

	fp = back(b)
	if got := fateOf(fp, "wanders"); got != "release moved" || !slices.Contains(codes(fp), "taken-since") || !strings.Contains(fmt.Sprint(fp.Findings), "Hawser bundle "+a.Bundle) {
		t.Errorf("%s %v", got, fp.Findings)
	}
	r.carried(fp, b)
	r.heldBy("wanders", uid, b.Bundle) // nobody's, with the marks of who had it

	fp = back(a)
	if got := fateOf(fp, "wanders"); got != "adopt moved" {
		t.Errorf("%s %v", got, fp.Findings)
	}
	r.carried(fp, a)
	r.heldBy("wanders", uid, a.Bundle)
	if got := r.keys("own", "wanders", "other"); got != "one one one" {
		t.Error(got)
	}

	r.applied(a) // forward again
	r.applied(b)
	r.heldBy("wanders", uid, b.Bundle)
	if fp := r.plan(b); !fp.Clusters[0].Plan.Empty() || r.keys("own", "wanders") != "two two" {
		t.Errorf("%+v %s", fp.Clusters[0].Plan.Changes, r.keys("own", "wanders"))
	}
}

// TestRollbackOfWhatWasTakenAgain: what a rollback let go, because it was somebody's before, is let go again by every later one: a release
// that takes it in anew did not make it.
func TestRollbackOfWhatWasTakenAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("own", "key: one")))
	r.applied(r.request())
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Data: map[string]string{"key": "theirs"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	uid := r.uidOf("foreign")
	r.write("bundle.yaml", r.bundle(r.configMap("own", "key: one")+r.configMap("foreign", "key: ours")))
	adopt := r.request()
	adopt.Adopt = true
	r.applied(adopt)
	for range 3 {
		back := r.back("")
		docs(&back).Files = nil
		fp, err := r.Plan(t.Context(), back.For(Rollback))
		if err != nil {
			t.Fatal(err)
		}
		if got := fateOf(fp, "foreign"); got != "release moved" || !slices.Contains(codes(fp), "taken-since") {
			t.Errorf("%s %v", got, fp.Findings)
		}
		r.carried(fp, back)
		if r.uidOf("foreign") != uid {
			t.Fatal("it is another object now")
		}
		r.applied(r.request())
	}
}

// keys are the values of ConfigMaps under "key".
func (r *rig) keys(names ...string) string {
	r.t.Helper()
	var out []string
	for _, name := range names {
		cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, cm.Data["key"])
	}
	return strings.Join(out, " ")
}

// TestRollbackAgainstApply: of an apply and a rollback of one bundle one wins, and the other is told by whom: while the first is at
// work, and where it was done since the other's plan was made.
func TestRollbackAgainstApply(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	as := func(req Request, author string) Request { req.Author = author; return req }
	planned := func(fp *Prepared, err error) *Prepared {
		t.Helper()
		if err == nil {
			err = fp.Findings.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		return fp
	}
	for _, v := range []string{"one", "two", "three"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+v)))
		if v != "three" {
			r.applied(r.request())
		}
	}
	ada, bob := as(r.request(), "ada@laptop"), as(r.back(""), "bob@desk")
	loses := func(fp *Prepared, req Request, to string) {
		t.Helper()
		out, err := r.Apply(t.Context(), fp, req)
		if text := fmt.Sprintf("%v %+v", err, out); !errors.Is(err, fleetplan.ErrRefused) || !strings.Contains(text, to) {
			t.Errorf("%q is not in %s", to, text)
		}
	}
	apply, back := planned(r.Plan(t.Context(), ada)), planned(r.Plan(t.Context(), bob.For(Rollback)))
	r.carried(back, bob)
	loses(apply, ada, "bob@desk has gone back to release 1 (")
	if got := r.keys("app"); got != "one" {
		t.Error(got)
	}
	bob = as(r.back("2"), "bob@desk")
	apply, back = planned(r.Plan(t.Context(), ada)), planned(r.Plan(t.Context(), bob.For(Rollback)))
	r.carried(apply, ada)
	loses(back, bob, "ada@laptop has changed the record since")

	// while the other one is at work: between its first write and the end of the run
	other := &Engine{Resolve: r.Resolve, Records: r.Records, Renderers: r.Renderers, Redactor: r.Redactor, Version: "test"}
	said := ""
	meanwhile := func(ev fleetplan.Event) {
		if ev.Type != fleetplan.EventWritten || said != "" {
			return
		}
		fp, err := other.Plan(t.Context(), bob.For(Rollback))
		if err == nil {
			_, err = driven(t.Context(), other, fp, bob)
			said = fmt.Sprint(fp.Findings)
		}
		said += fmt.Sprint(err)
	}
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: four")))
	r.on = meanwhile
	r.applied(ada)
	r.on = nil
	if !strings.Contains(said, "ada@laptop") || r.keys("app") != "four" {
		t.Errorf("%s %s", said, r.keys("app"))
	}
}

// TestRollbackPlanFile: the plan of a rollback can be saved: it goes to the release that was shown, also where another one is the one
// before the newest by then, and where the cluster has moved it is refused.
func TestRollbackPlanFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, v := range []string{"one", "two"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+v)+r.configMap("of-"+v, "key: x")))
		r.applied(r.request())
	}
	fp, err := r.Plan(t.Context(), r.back("").For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	text := r.save(fp)
	fp.Close()
	if shown, err := r.ReadPlan(strings.NewReader(text)); err != nil || shown.Verb != "rollback" || shown.RollbackTo.Release != 1 {
		t.Fatalf("%v %+v", err, shown)
	}
	now, err := r.loadSaved(text)
	if err != nil {
		t.Fatal(err)
	}
	r.carried(now, Request{Input: filesOf(r.dir), RunOptions: RunOptions{Wait: true, Author: "tester"}})
	if got := r.data(); !maps.Equal(got, map[string]string{"app": "one", "of-one": "x"}) || r.record().RollbackTo.Release != 1 {
		t.Errorf("%v %v", got, r.record().RollbackTo)
	}
	if now, err = r.loadSaved(text); err != nil || !now.settled() { // it was carried out
		t.Errorf("once more: %v", err)
	}
	r.applied(r.request())
	_, err = r.loadSaved(text)
	refusedFor(t, err, "stale", "revision 4 now")
}

// TestRollbackToNone: a release in which the bundle had nothing is kept as any other, and can be gone back to.
func TestRollbackToNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	full := r.bundle(r.configMap("app", "key: one"))
	for _, text := range []string{full, "bundle: {apiVersion: v1alpha1, name: " + r.name + ", instances: {}}\n", full} {
		r.write("bundle.yaml", text)
		req := r.request()
		fp := r.plan(req)
		n := fp.Counts().Delete
		req.ConfirmDelete = &n
		fp.Close()
		r.applied(req)
	}
	req := r.back("2")
	fp, err := r.Plan(t.Context(), req.For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	n := fp.Counts().Delete
	if len(fp.Guard) == 0 || n == 0 {
		t.Errorf("everything goes without a word: %+v %v", fp.Counts(), fp.Findings)
	}
	req.ConfirmDelete = &n
	fp.Close()
	if r.rolledBack(req); r.has("app") {
		t.Error("it is there")
	}
}
