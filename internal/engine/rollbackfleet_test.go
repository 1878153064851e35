package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/plan"
)

// TestRollbackOfALostRecord: a cluster whose record is lost is refused, as a delete refuses it, and is not called unchanged.
func TestRollbackOfALostRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.releases(r.marker("one"), r.marker("two"))
	r.loseRecord(r.request())
	for _, to := range []string{"", "1"} {
		_, err := r.Plan(t.Context(), r.back(to).For(Rollback))
		refused(t, "to "+to, err, plan.CodeLostRecord, "ConfigMap "+r.name+"/a", "nobody knows what it had in any release", "apply the files")
	}
	if r.keys("a") != "two" {
		t.Error(r.keys("a"))
	}
}

// TestRollbackWhereNobodyKnows: who may not read the records, or whom no cluster answers, is told so, and not that there is no
// release: rollback refuses, and what reads history has clusters that are unknown.
func TestRollbackWhereNobodyKnows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.releases(r.marker("one"), r.marker("two"))
	denied := r.back("1")
	denied.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
	away := r.back("1")
	away.Access.Context = ""
	docs(&away).FleetFiles = []string{r.write("away.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: away\n  clusters:\n    lost: {kubeContext: down}\n")}
	for name, c := range map[string]struct {
		req        Request
		code, says string
	}{
		"without rights":  {denied, "missing-rights", "you may not"},
		"nobody answers":  {away, history.CodeUnknown, "lost"},
		"nor is it named": {r.with(away, func(req *Request) { req.To = "" }), history.CodeUnknown, "lost"},
	} {
		_, err := r.Plan(t.Context(), c.req.For(Rollback))
		fs := diag.From(err, "").Errors()
		if len(fs) == 0 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range fs {
			if f.Code != c.code || !fleetplan.Refusal(f.Code) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if err := r.Compare(t.Context(), c.req, history.Releases("1", "2")); !errors.Is(err, fleetplan.ErrPartial) || diag.From(err, "")[0].Code != history.CodeUnknown {
			t.Errorf("%s: %v", name, err)
		}
		h, err := r.History(t.Context(), c.req)
		if err = h.Only(r.name, "1", err); !errors.Is(err, fleetplan.ErrPartial) || diag.From(err, "")[0].Code != history.CodeUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// with is a changed copy of a request.
func (r *rig) with(req Request, change func(*Request)) Request {
	change(&req)
	return req
}

// TestRollbackOfSome: clusters that are not selected are asked which releases there are, and hold nothing up: neither one that does
// not answer nor one that nobody can reach from here.
func TestRollbackOfSome(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    here: {kubeContext: "+here+"}\n    lost: {kubeContext: down}\n    unheard: {kubeContext: of}\n")
	for _, v := range []string{"one", "two"} {
		r.write("bundle.yaml", r.bundle(r.marker(v)))
		req := r.request()
		req.Clusters.Clusters = []string{"here"}
		r.applied(req)
	}
	all := r.back("")
	if _, err := r.Plan(t.Context(), r.with(all, func(req *Request) { req.Clusters.Clusters = []string{"here", "lost"} }).For(Rollback)); diag.From(err, "")[0].Code != "newest-unknown" {
		t.Errorf("%v", err)
	}
	all.Clusters.Clusters = []string{"here"}
	fp := r.rollsBack(all)
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if strings.Contains(ch.Why, "bundle") {
			t.Errorf("%+v", ch)
		}
	}
	r.carried(fp, all)
	if r.keys("a") != "one" || fp.RollbackTo.Release != 1 {
		t.Errorf("%s %+v", r.keys("a"), fp.RollbackTo)
	}
	_, err := r.Plan(t.Context(), r.with(all, func(req *Request) { req.To = "9" }).For(Rollback))
	if f := diag.From(err, "")[0]; f.Code != history.CodeUnknown || !strings.Contains(f.Why, "lost") || !strings.Contains(f.Why, "unheard") {
		t.Errorf("%+v", f)
	}
}

// TestRollbackOfAPasswordThatMoved: a Secret that another bundle has had, which made its password anew, does not go back to the one
// of before: the plan is refused. Where it is the same it is taken back.
func TestRollbackOfAPasswordThatMoved(t *testing.T) {
	t.Parallel()
	for name, rotates := range map[string]bool{"as it was": false, "made anew": true} {
		t.Run(name, func(t *testing.T) {
			r := madeRig(t)
			do := func(bundle string, rotate ...string) {
				t.Helper()
				if err := r.does(bundle, rotate...); err != nil {
					t.Fatal(err)
				}
			}
			r.declares("a:db=rel", "b:")
			do("a")
			do("b")
			r.declares("a:", "b:db=rel")
			do("a")
			do("b")
			if rotates {
				do("b", "db")
			}
			used, n := r.password("rel"), 1
			of := func(bundle, to string) Request {
				req := r.back(to)
				req.Bundle, req.ConfirmDelete = r.name+"-"+bundle, &n
				return req
			}
			n = r.rollsBack(of("b", "1")).Counts().Delete
			r.carried(r.rollsBack(of("b", "1")), of("b", "1"))
			if got := r.password("rel"); got != used {
				t.Fatalf("the other bundle let it go as %q, was %q", got, used)
			}
			n = 0
			fp := r.rollsBack(of("a", "1"))
			_, err := r.Apply(t.Context(), fp, of("a", "1"))
			if refused := errors.Is(err, fleetplan.ErrRefused) && strings.Contains(err.Error(), "made anew"); refused != rotates || !rotates && err != nil || r.password("rel") != used {
				t.Errorf("%v; %q, was %q; %+v", err, r.password("rel"), used, fp.Clusters[0].Plan.Changes)
			}
		})
	}
}
