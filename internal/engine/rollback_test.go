package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	req.Files, req.Bundle, req.To = nil, r.name, to
	return req
}

// rolledBack plans and applies a rollback that must succeed.
func (r *rig) rolledBack(req Request) *fleetplan.Outcome {
	r.t.Helper()
	fp, err := r.PlanRollback(r.t.Context(), req)
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
	return fmt.Sprint(out, rec.Inputs, rec.Sources, rec.Digests, rec.Images, rec.Depends, rec.Head, rec.Made, rec.Files, rec.Lineage, rec.Source)
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
	again, err := r.PlanRollback(t.Context(), r.back("")) // once more is not one further
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
	r.Records = func(s *cluster.Session, name string) release.Store {
		return forgetful{kube.New(narrow{s.REST()}, name)}
	}
	r.rolledBack(r.back("2")) // it is there
	r.write("app.yaml", r.configMap("app", "key: three")+secret("canary-two-9q2z"))
	r.applied(r.request())
	_, err := r.PlanRollback(t.Context(), r.back("99"))
	if err == nil || !strings.Contains(err.Error(), "no cluster keeps a release 99") {
		t.Errorf("%v", err)
	}
	fp, err := r.PlanRollback(t.Context(), r.back(""))
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
	r.Records = func(s *cluster.Session, name string) release.Store { return kube.New(narrow{s.REST()}, name) }
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
	fp, err := r.PlanRollback(t.Context(), r.back("1"))
	if err != nil {
		t.Fatal(err)
	}
	w := fp.works["a"]
	if len(fp.Guard) > 0 || len(w.guarded().Placed) != 1 {
		t.Errorf("%v %v", fp.Guard, w.guarded().Placed)
	}
	w.back, w.set.parts, w.set.desired = nil, nil, nil // as where the release never came
	if !slices.Equal(w.guarded().Placed, []string{"app"}) {
		t.Errorf("an instance that goes whole: %v", w.guarded().Placed)
	}
	fp.run.close()
	r.rolledBack(r.back("1"))
	if rec := r.record(); rec.Keep != 5 || first.Keep != 2 {
		t.Errorf("kept are %d, they were %d", rec.Keep, first.Keep)
	}
}
