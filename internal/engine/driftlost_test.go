package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/release"
)

// refusedDrift is what a correction of the rig's bundle, which must be refused as nobody knows what it should have, says.
func (r *rig) refusedDrift() string {
	r.t.Helper()
	fp, err := r.Plan(r.t.Context(), r.back("").For(Correct))
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.Apply(r.t.Context(), fp, r.back(""))
	fs := diag.From(err, "")
	if !errors.Is(err, fleetplan.ErrRefused) || len(fs) != 1 || fs[0].Code != fleetplan.CodeUnknownRelease || strings.Contains(fs[0].What, "does not answer") {
		r.t.Errorf("%v", err)
	}
	return fmt.Sprint(err)
}

// TestDriftOfALostRecord: a cluster that has the bundle's objects and no record of it is unknown to drift, which says so, names the objects
// and what to do; a correction refuses it. What reads records alone names it, by the releases that are still kept. With the record made
// again everything is known.
func TestDriftOfALostRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	r.applied(req)
	r.loseRecord(req)
	rep := r.drifted()
	c := rep.Bundles[0].Clusters[0]
	if !c.Lost || c.Unreachable || rep.Unknown() != 1 || len(rep.NotInstalled(nil)) > 0 || !strings.Contains(c.Unknown, "ConfigMap "+r.name+"/app") || !strings.Contains(c.Unknown, "hawser apply") {
		t.Errorf("%+v", c)
	}
	if got := r.refusedDrift(); !strings.Contains(got, "ConfigMap "+r.name+"/app") || !strings.Contains(got, "hawser apply") {
		t.Errorf("%s", got)
	}
	for what, name := range map[string]string{"by name": r.name, "all": ""} {
		bare := r.back("")
		bare.Bundle = name
		h, err := r.History(t.Context(), bare)
		if !errors.Is(err, fleetplan.ErrPartial) || len(h.Unknown) != 1 || !strings.Contains(h.Unknown[0].Why, r.name) || !strings.Contains(h.Unknown[0].Why, "lost") {
			t.Errorf("history, %s: %v %+v", what, err, h)
		}
		l, err := r.List(t.Context(), bare)
		if !errors.Is(err, fleetplan.ErrPartial) || !strings.Contains(l.Clusters[0].Unknown, r.name) || !strings.Contains(l.Clusters[0].Unknown, "lost") {
			t.Errorf("list, %s: %v %+v", what, err, l)
		}
	}
	all := r.back("")
	all.Bundle = ""
	if s, err := r.Status(t.Context(), all); !errors.Is(err, fleetplan.ErrPartial) || !strings.Contains(s.Clusters[0].Unknown, r.name) || !strings.Contains(s.Clusters[0].Unknown, "lost") {
		t.Errorf("status of all: %v %s", err, s.Clusters[0].Unknown) // other tests have lost theirs
	}
	r.applied(req)
	if got := saidOf(r.drifted()); got != "" {
		t.Errorf("afterwards: %s", got)
	}
	if h, err := r.History(t.Context(), r.back("")); err != nil || len(h.Unknown) > 0 {
		t.Errorf("%v %+v", err, h)
	}
}

// TestLostContent: where the Secret with the objects of a release is gone, drift, its correction, a rollback to it and a comparison say
// which, and what to do.
func TestLostContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, v := range []string{"one", "two"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+v)))
		r.applied(r.request())
	}
	list, err := r.admin.CoreV1().Secrets("hawser-system").List(t.Context(), metav1.ListOptions{LabelSelector: "hawser.dev/record=set,hawser.dev/owner=" + r.record().Owner})
	if err != nil {
		t.Fatal(err)
	}
	gone := ""
	for _, s := range list.Items {
		if strings.Contains(s.Name, "-r2-set-") {
			gone = "hawser-system/" + s.Name
			if err := r.admin.CoreV1().Secrets("hawser-system").Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	said := "the objects of release 2 ("
	missing := "the Secret " + gone + " is missing"
	c := r.drifted().Bundles[0].Clusters[0]
	for what, text := range map[string]string{"drift": c.Unknown, "a correction": r.refusedDrift()} {
		if !strings.Contains(text, said) || !strings.Contains(text, missing) || !strings.Contains(text, "hawser plan") {
			t.Errorf("%s: %s", what, text)
		}
	}
	_, err = r.Plan(t.Context(), r.back("2").For(Rollback))
	if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Code != release.CodeLostRelease || !strings.Contains(fs[0].What, missing) || fs[0].Cluster == "" || fs[0].Why == "" || fs[0].Fix == "" {
		t.Errorf("rollback: %v", err)
	}
	cmp := history.Releases("1", "2")
	err = r.Compare(t.Context(), r.back(""), cmp)
	if err != nil || !cmp.Clusters[0].Inventories || !strings.Contains(fmt.Sprint(cmp.Findings), missing) {
		t.Errorf("history diff: %v %+v", err, cmp)
	}
	r.rolledBack(r.back("1"))
	if r.data()["app"] != "one" {
		t.Errorf("%v", r.data())
	}
}

// TestDriftAfterRollbackAdopted: what another bundle of the same files took back with its rollback is drift of the one that had it, by
// that bundle, and stays with it until somebody adopts it.
func TestDriftAfterRollbackAdopted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.pair("", r.configMap("own", "key: one")+r.configMap("wanders", "key: one"), r.configMap("other", "key: one"))
	r.applied(a)
	r.applied(b)
	r.pair("", r.configMap("own", "key: two"), r.configMap("other", "key: one")+r.configMap("wanders", "key: two"))
	r.applied(a)
	r.applied(b)
	back := a
	docs(&back).Files, back.Adopt = nil, true
	r.rolledBack(back)
	look := r.back("")
	look.Bundle, look.Reads = b.Bundle, true
	fp, err := r.Plan(t.Context(), look.For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	defer fp.Close()
	o := drift.Of([]*fleetplan.FleetPlan{fp.FleetPlan}).Bundles[0].Clusters[0].Drifted
	if len(o) != 1 || o[0].Object.Name != "wanders" || o[0].State != drift.Taken || !strings.Contains(o[0].By, a.Bundle) || o[0].Blocked == "" {
		t.Errorf("%+v", o)
	}
}

// TestKilledAndSuperseded: a release whose run was killed, and which another one went over, is in the history with who made it, and is
// passed over by a rollback. A release that was being corrected when the run was killed is what it was.
func TestKilledAndSuperseded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	apply := func(value string) {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+value)))
		r.applied(r.request())
	}
	apply("one")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two")))
	killed := func(fp *Prepared, req Request) {
		t.Helper()
		stamp, _ := fp.stamp(t.Context())
		l := &loop{run: fp.run, fp: fp, req: req, stamp: stamp}
		if _, err := l.open(t.Context(), fp.works[fp.Clusters[0].Cluster]); err != nil { // and it dies here
			t.Fatal(err)
		}
		fp.Close()
	}
	req := r.request()
	req.Message = "never came to its end"
	killed(r.plan(req), req)
	apply("three")
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"by hand"}}`)
	fp, err := r.Plan(t.Context(), r.back("").For(Correct))
	if err != nil {
		t.Fatal(err)
	}
	killed(fp, r.back(""))
	apply("four")
	h, err := r.History(t.Context(), r.back(""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rel := range h.Bundles[0].Releases {
		got = append(got, fmt.Sprint(rel.Release, " ", rel.State, " ", rel.Message))
	}
	if text := strings.Join(got, "|"); text != "4 succeeded |3 superseded |2 interrupted never came to its end|1 superseded " {
		t.Errorf("%s", text)
	}
	r.rolledBack(r.back(""))
	if r.data()["app"] != "three" {
		t.Errorf("%v", r.data())
	}
	if _, err = r.Plan(t.Context(), r.back("2").For(Rollback)); err == nil || !strings.Contains(err.Error(), "the run of release 2 (") {
		t.Errorf("%v", err)
	}
}
