package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/release"
)

// drifted is what drifted of the rig's bundle.
func (r *rig) drifted() *drift.Report {
	r.t.Helper()
	req := r.back("")
	req.Reads = true
	fp, err := r.Plan(r.t.Context(), req.For(Correct))
	if err != nil {
		r.t.Fatalf("drift: %v", err)
	}
	defer fp.Close()
	return drift.Of([]*fleetplan.FleetPlan{fp.FleetPlan})
}

// saidOf are the objects of a report with one bundle on one cluster: "app changed data.key "one" -> "two" by somebody".
func saidOf(rep *drift.Report) string {
	var out []string
	c := rep.Bundles[0].Clusters[0]
	for _, o := range c.Drifted {
		text := o.Object.Name + " " + string(o.State)
		for _, f := range o.Fields {
			text += " " + f.Path + " " + f.Recorded + " -> " + f.Live + " by " + f.By
			if f.By != "" && f.Since == "" {
				text += " some time"
			}
		}
		out = append(out, strings.TrimSuffix(text, " by "))
	}
	if c.Unknown != "" {
		out = append(out, "unknown: "+c.Unknown)
	}
	return strings.Join(out, "\n")
}

// TestDrift: what others changed, deleted and took away is told with recorded and live values, who and when; fields that nobody
// declared are no drift, and Secrets are hidden. A correction puts all of it right and is noted in the release's own record: no
// revision, no release, and a rollback goes where it went before.
func TestDrift(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: canary-drift-4h1s}\n"
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: zero")))
	r.applied(r.request())
	r.write("app.yaml", r.configMap("app", "key: one")+r.configMap("gone", "key: one")+r.configMap("same", "key: one")+secret)
	r.applied(r.request())
	before := r.record()
	if got := saidOf(r.drifted()); got != "" {
		t.Fatalf("nothing drifted yet: %s", got)
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"two","more":"is nobody's matter"}}`)
	r.patch("kubectl-edit", "ConfigMap", "same", `{"data":{"more":"is nobody's matter"},"metadata":{"annotations":{"note":"ours is not this"}}}`)
	r.patch("intruder", "Secret", "token", `{"stringData":{"token":"canary-other-8k2d"}}`)
	if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	rep := r.drifted()
	want := `app changed data.key "one" -> "two" by kubectl-edit
gone gone
token changed data.token  ->  by intruder`
	if c := rep.Bundles[0].Clusters[0]; saidOf(rep) != want || c.Same != 2 || c.Release == nil || c.Release.Release != 2 || !c.Drifted[2].Fields[0].Hidden {
		t.Errorf("%s\n%+v", saidOf(rep), c)
	}
	req := r.back("")
	req.Message = "incident-731"
	fp, err := r.Plan(t.Context(), req.For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	rec := r.record()
	if got := saidOf(r.drifted()); got != "" || r.data()["app"] != "one" || r.data()["gone"] != "one" {
		t.Errorf("afterwards: %s %v", got, r.data())
	}
	if standing(rec) == "" || rec.Revision != before.Revision || rec.Release != before.Release || rec.Rollout != before.Rollout || !rec.Finished.Equal(before.Finished) ||
		rec.Message != before.Message || rec.SourceDigest != before.SourceDigest || rec.Phase != release.Succeeded || rec.SetDigest != before.SetDigest {
		t.Errorf("the record:\n%+v\nbefore:\n%+v", rec, before)
	}
	if n := rec.Corrections; len(n) != 1 || n[0].Message != "incident-731" || n[0].Author != "tester" || n[0].Finished.IsZero() || n[0].Done.Update != 2 || n[0].Done.Create != 1 {
		t.Errorf("%+v", n)
	}
	if c := r.plan(r.request()).Counts(); c.Writes() != 0 {
		t.Errorf("the files have something to do: %+v", c)
	}
	h, err := r.History(t.Context(), r.back(""))
	if err != nil || len(h.Bundles[0].Releases) != 2 {
		t.Errorf("%v %+v", err, h)
	}
	r.rolledBack(r.back(""))
	if r.data()["app"] != "zero" {
		t.Errorf("the rollback: %v", r.data())
	}
}

// TestDriftOfFailed: a release that failed is compared with when all of it was written, and not corrected; one that has not ended
// is not known. Neither stops the others' report.
func TestDriftOfFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.deployment("web")))
	req := r.request()
	req.Timeout = 1
	if _, err := r.apply(req); err == nil {
		t.Fatal("it got ready")
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"two"}}`)
	if got := saidOf(r.drifted()); !strings.HasPrefix(got, "app changed") {
		t.Errorf("%s", got)
	}
	fp, err := r.Plan(t.Context(), r.back("").For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, r.back("")); err == nil || !strings.Contains(err.Error(), "failed here: apply again, or roll back") || r.data()["app"] != "two" {
		t.Errorf("%v %v", err, r.data())
	}
	r.stored(func(s release.Store) error {
		rec, h, err := s.Current(t.Context(), r.record().Owner)
		if err != nil {
			return err
		}
		rec.Phase = release.Applying
		_, err = s.Put(t.Context(), *rec, nil, h)
		return err
	})
	if got := saidOf(r.drifted()); !strings.HasPrefix(got, "unknown: revision 1 has not ended here") {
		t.Errorf("%s", got)
	}
	other := r.back("")
	other.Bundle = "nothing-of-the-kind"
	fp, err = r.Plan(t.Context(), other.For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	defer fp.Close()
	if fs := drift.Of([]*fleetplan.FleetPlan{fp.FleetPlan}).NotInstalled(func() []string { return nil }); len(fs) != 1 || fs[0].Code != "not-installed" {
		t.Errorf("%+v", fs)
	}
}

// TestDriftResumes: a correction that died in the middle is found by drift as what it is, and goes on when it is run again; the
// release is what it was, for history and a rollback too, now and when another one followed.
func TestDriftResumes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: zero")))
	r.applied(r.request())
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("gone", "key: one")))
	r.applied(r.request())
	before := r.record()
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"two"}}`)
	if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	died := r.diesCorrecting()
	if rec := r.record(); rec.Phase != release.Succeeded || rec.Standing() != release.Applying || rec.Revision != before.Revision || len(rec.Corrections) != 1 {
		t.Errorf("%+v", rec)
	}
	r.states(history.Succeeded, history.Superseded)
	if got := saidOf(r.drifted()); !strings.HasPrefix(got, "app changed") || !strings.Contains(got, "gone gone") {
		t.Errorf("%s", got)
	}
	fp, err := r.Plan(t.Context(), r.back("").For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	r.carried(fp, r.back(""))
	rec := r.record()
	if got := saidOf(r.drifted()); got != "" || rec.Phase != release.Succeeded || len(rec.Corrections) != 1 || rec.Corrections[0].Finished.IsZero() || rec.Corrections[0].Rollout == died ||
		rec.Revision != before.Revision || rec.SetDigest != before.SetDigest {
		t.Errorf("%s %+v", got, rec)
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"two"}}`)
	hasty := r.back("")
	hasty.Wait = false
	if fp, err = r.Plan(t.Context(), hasty.For(Correct)); err != nil {
		t.Fatal(err)
	}
	r.carried(fp, hasty)
	if rec := r.record(); rec.Phase != release.Succeeded || rec.Corrections[1].Phase != release.Written {
		t.Errorf("nobody waited for the correction: %+v", rec)
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"two"}}`)
	r.diesCorrecting()
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: three")))
	r.applied(r.request())
	r.states(history.Succeeded, history.Superseded, history.Superseded)
	r.rolledBack(r.back(""))
	if r.data()["app"] != "one" || r.data()["gone"] != "one" {
		t.Errorf("the rollback: %v", r.data())
	}
}

// diesCorrecting lets a correction die when it has opened the record, and returns its rollout.
func (r *rig) diesCorrecting() string {
	r.t.Helper()
	fp, err := r.Plan(r.t.Context(), r.back("").For(Correct))
	if err != nil {
		r.t.Fatal(err)
	}
	defer fp.Close()
	w := fp.works[fp.Clusters[0].Cluster]
	if w == nil {
		r.t.Fatalf("%v", fp.works)
	}
	stamp, _ := fp.stamp(r.t.Context())
	l := &loop{run: fp.run, fp: fp, req: r.back(""), stamp: stamp}
	if _, err := l.open(r.t.Context(), w); err != nil {
		r.t.Fatal(err)
	}
	return l.stamp.Rollout
}

// states fails the test unless history says so of the releases, the newest first.
func (r *rig) states(want ...history.State) {
	r.t.Helper()
	h, err := r.History(r.t.Context(), r.back(""))
	if err != nil {
		r.t.Fatal(err)
	}
	var got []history.State
	for _, rel := range h.Bundles[0].Releases {
		got = append(got, rel.State)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%q, want %q", got, want)
	}
}

// TestDriftTaken: an object that Helm or another bundle has by now is drift, says by whom, and blocks a correction; without our
// labels it is unmarked, and a correction gives them back.
func TestDriftTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("marks", "key: one")))
	r.applied(r.request())
	r.patch("kubectl", "ConfigMap", "marks", `{"metadata":{"labels":{"hawser.dev/owner":null,"hawser.dev/bundle":null}}}`)
	if got := saidOf(r.drifted()); !strings.HasPrefix(got, "marks ") {
		t.Errorf("%q", got)
	}
	fp, err := r.Plan(t.Context(), r.back("").For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, r.back("")); err != nil {
		t.Fatal(err)
	}
	if got := saidOf(r.drifted()); got != "" {
		t.Errorf("%q", got)
	}
	list, err := r.admin.CoreV1().ConfigMaps(r.name).List(t.Context(), metav1.ListOptions{LabelSelector: "hawser.dev/bundle=" + r.name})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%v %d", err, len(list.Items))
	}
	if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "app", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	other := newRig(t)
	other.write("bundle.yaml", strings.ReplaceAll(other.bundle(r.configMap("app", "key: other")), "namespace: "+other.name, "namespace: "+r.name))
	other.applied(other.request())
	rep := r.drifted()
	if o := rep.Bundles[0].Clusters[0].Drifted; len(o) != 1 || o[0].State != drift.Taken || !strings.Contains(o[0].By, other.name) || o[0].Blocked == "" {
		t.Errorf("%+v", o)
	}
	if fp, err = r.Plan(t.Context(), r.back("").For(Correct)); err != nil {
		t.Fatal(err)
	}
	defer fp.Close()
	if !slices.Contains(codes(fp), "foreign-owner") {
		t.Errorf("%+v", fp.Findings)
	}
}

// TestRetakenByHelm: what Helm has taken over again is taken, and neither corrected, rolled back nor applied over until --adopt says so.
func TestRetakenByHelm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, v := range []string{"one", "two"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+v)))
		r.applied(r.request())
	}
	r.patch("helm", "ConfigMap", "app", `{"metadata":{"annotations":{"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"ns"}},"data":{"key":"of-helm"}}`)
	if o := r.drifted().Bundles[0].Clusters[0].Drifted; len(o) != 1 || o[0].State != drift.Taken || o[0].By != "Helm release ns/web" || o[0].Blocked == "" {
		t.Errorf("%+v", o)
	}
	adopt := r.back("")
	adopt.Adopt = true
	for _, op := range []Operation{Correct, Rollback} {
		verb := op.Verb()
		plans := func(ctx context.Context, req Request) (*Prepared, error) { return r.Plan(ctx, req.For(op)) }
		fp, err := plans(t.Context(), r.back(""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fp.Close)
		if text := fmt.Sprint(fp.Findings.Errors()); !strings.Contains(text, "Helm release ns/web") || !strings.Contains(text, "--adopt") {
			t.Errorf("%s: %s", verb, text)
		}
		if _, err := r.Apply(t.Context(), fp, r.back("")); err == nil || r.data()["app"] != "of-helm" {
			t.Errorf("%s: %v %v", verb, err, r.data())
		}
	}
	fp := r.plan(r.request())
	if text := fmt.Sprint(fp.Findings.Errors()); !strings.Contains(text, "Helm release ns/web has taken it over again") || !strings.Contains(text, "--adopt") {
		t.Errorf("apply: %s", text)
	}
	if _, err := r.Apply(t.Context(), fp, r.request()); err == nil || r.data()["app"] != "of-helm" {
		t.Errorf("apply: %v %v", err, r.data())
	}
	fp, err := r.Plan(t.Context(), adopt.For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	r.carried(fp, adopt)
	if got := saidOf(r.drifted()); got != "" || r.data()["app"] != "two" {
		t.Errorf("%s %v", got, r.data())
	}
	r.rolledBack(r.back(""))
	if r.data()["app"] != "one" {
		t.Errorf("%v", r.data())
	}
}

// TestDriftMoved: what moved to another bundle of the same files, which was applied and the former one not, is no drift, and a
// correction leaves it there, adopting or not, and puts the rest right.
func TestDriftMoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, second := r.pair("", r.configMap("app", "key: a")+r.configMap("stays", "key: a"), r.configMap("other", "key: b"))
	r.applied(first)
	r.applied(second)
	r.pair("", r.configMap("stays", "key: a"), r.configMap("other", "key: b")+r.configMap("app", "key: b"))
	r.applied(second)
	uid := r.uidOf("app")
	drifts := func(adopt bool) (*Prepared, Request) {
		req := r.back("")
		req.Bundle, req.Adopt = first.Bundle, adopt
		fp, err := r.Plan(t.Context(), req.For(Correct))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fp.Close)
		return fp, req
	}
	for _, adopt := range []bool{false, true} {
		fp, _ := drifts(adopt)
		if rep := drift.Of([]*fleetplan.FleetPlan{fp.FleetPlan}); rep.Drifted() != 0 || fp.Findings.HasErrors() || !fp.settled() || !strings.Contains(rep.Bundles[0].Total(), "app (bundle "+second.Bundle) {
			t.Errorf("adopt %v: %+v %v", adopt, fp.Counts(), fp.Findings)
		}
		r.patch("kubectl-edit", "ConfigMap", "stays", `{"data":{"key":"by hand"}}`)
		fp, req := drifts(adopt)
		r.carried(fp, req)
		r.heldBy("app", uid, second.Bundle)
		for name, want := range map[string]string{"app": "b", "stays": "a"} {
			if cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), name, metav1.GetOptions{}); err != nil || cm.Data["key"] != want {
				t.Errorf("adopt %v: %s: %v %v", adopt, name, cm.Data, err)
			}
		}
	}
	r.applied(first)
	r.heldBy("app", uid, second.Bundle)
}
