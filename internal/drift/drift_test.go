package drift

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

func ref(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }

// planned is a plan of drift on one cluster.
func planned(changes ...plan.Change) *fleetplan.FleetPlan {
	return &fleetplan.FleetPlan{Bundle: "shop", Clusters: []*fleetplan.ClusterPlan{{Cluster: "eu", Revision: 3, Release: &release.Name{Release: 42, Rollout: "R"},
		Plan: &plan.Plan{Changes: changes, Unchanged: 2}}}}
}

// Each change that would put an object right says what became of it; hooks are no
// drift. What stands against putting it right is told beside the object, everything else as a finding.
func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		change plan.Change
		want   State
	}{
		"changed":           {plan.Change{Action: plan.Update, Code: plan.CodeDrift}, Changed},
		"by a new schema":   {plan.Change{Action: plan.Update, Code: plan.CodeSchema}, Changed},
		"gone":              {plan.Change{Action: plan.Create, Code: plan.CodeGone}, Gone},
		"being deleted":     {plan.Change{Action: plan.Create, Code: plan.CodeTerminating}, Leaving},
		"another uid":       {plan.Change{Action: plan.Update, Code: plan.CodeReplaced}, Replaced},
		"immutable":         {plan.Change{Action: plan.Recreate, Code: plan.CodeImmutable}, Replaced},
		"without labels":    {plan.Change{Action: plan.Update, Code: plan.CodeRelabelled}, Unmarked},
		"without our entry": {plan.Change{Action: plan.Update, Code: plan.CodeManagedGone}, Unmarked},
		"another owner":     {plan.Change{Action: plan.Conflict, Code: plan.CodeForeign, From: "Helm release shop/db"}, Taken},
		"to be taken back":  {plan.Change{Action: plan.Adopt, Code: plan.CodeAdopted, From: "Helm release shop/db"}, Taken},
		"fields of others":  {plan.Change{Action: plan.Conflict, Code: plan.CodeFields}, Changed},
		"a hook":            {plan.Change{Action: plan.Create, Hook: &plan.HookTask{}}, ""},
		"as it was":         {plan.Change{Action: plan.Unchanged}, ""},
	} {
		c.change.Ref = ref("a")
		c.change.Fields = []plan.FieldChange{{Path: "data.k", Old: "2", New: "1", Manager: "kubectl", Since: "2026-09-01T12:00:00Z"},
			{Path: "data.lost", Hidden: true, Added: true}, {Path: "data.more", Hidden: true, Removed: true, Manager: "kubectl"}}
		p := planned(c.change)
		p.Findings = diag.Findings{{Severity: diag.Error, What: "held up", Cluster: "eu", Object: ref("a").String()}, {Severity: diag.Warning, What: "by the way"}}
		r := Of([]*fleetplan.FleetPlan{p})
		cl := r.Bundles[0].Clusters[0]
		if c.want == "" {
			if r.Drifted() != 0 {
				t.Errorf("%s: %+v", name, cl)
			}
			continue
		}
		o := cl.Drifted[0]
		if o.State != c.want || o.Blocked != "held up" || cl.Same != 2 || len(r.Findings) != 1 || (o.By != "") != (c.want == Taken) {
			t.Errorf("%s: %+v", name, o)
		}
		if o.State != Gone && o.State != Leaving && !slices.Equal(o.Fields, []Field{{Path: "data.k", Recorded: "1", Live: "2", By: "kubectl", Since: "2026-09-01T12:00:00Z"},
			{Path: "data.lost", Hidden: true, Removed: true}, {Path: "data.more", Hidden: true, Added: true, By: "kubectl"}}) {
			t.Errorf("%s: %+v", name, o.Fields)
		}
		if back := o.change().Fields; o.State == Changed && (!back[1].Removed || !back[2].Added) {
			t.Errorf("%s: shown as %+v", name, back)
		}
	}
	p := planned()
	p.Clusters = append(p.Clusters, &fleetplan.ClusterPlan{Cluster: "us", Unreachable: "i/o timeout"}, &fleetplan.ClusterPlan{Cluster: "lab", Plan: &plan.Plan{}})
	r := Of([]*fleetplan.FleetPlan{p, p})
	if r.Drifted() != 0 || r.Unknown() != 1 || !r.Bundles[0].Clusters[2].NotInstalled || len(r.NotInstalled(nil)) != 0 {
		t.Errorf("%+v", r)
	}
	p.Clusters = p.Clusters[2:]
	if fs := Of([]*fleetplan.FleetPlan{p}).NotInstalled(func() []string { return []string{"shops"} }); len(fs) != 1 || !strings.HasPrefix(fs[0].Fix, "did you mean shops? ") {
		t.Errorf("%+v", fs)
	}
}

// A cluster with objects of a bundle and no record of it is unknown, with the reason and what to do, and never one without the bundle or without
// drift; what other bundles of the same files have by now is named.
func TestLost(t *testing.T) {
	marks := plan.Marks{Inventory: []plan.InventoryEntry{{Ref: ref("a")}, {Ref: object.Ref{Kind: "Namespace", Name: "shop"}, OwnNamespace: true}}}
	why, lost := Unrecorded(marks)
	if !lost || !strings.Contains(why, "1 object with its marks: ConfigMap shop/a") || !strings.Contains(why, "hawser apply") {
		t.Errorf("%v %s", lost, why)
	}
	if why, lost := Unrecorded(plan.Marks{}); why != "" || lost {
		t.Errorf("nothing is there: %v %s", lost, why)
	}
	if why, lost := Unrecorded(plan.Marks{Unseen: map[string]string{"secrets": "forbidden"}}); lost || !strings.Contains(why, "could not be seen") {
		t.Errorf("nobody could look: %v %s", lost, why)
	}
	p := &fleetplan.FleetPlan{Bundle: "shop", Clusters: []*fleetplan.ClusterPlan{{Cluster: "eu", Version: "1.34.0", Unreachable: why, Lost: true}}}
	r := Of([]*fleetplan.FleetPlan{p})
	c := r.Bundles[0].Clusters[0]
	if !c.Lost || c.Unreachable || c.NotInstalled || r.Unknown() != 1 || len(r.NotInstalled(nil)) != 0 || r.Bundles[0].Unknown()[0].State() != "record lost" {
		t.Errorf("%+v", r)
	}
	if got := r.Bundles[0].Total(); !strings.HasPrefix(got, "Unknown: ") {
		t.Errorf("%s", got)
	}
	missing := diag.Findings{diag.Errorf(release.CodeLostRelease, "the objects are no longer kept"), diag.Warnf("x", "by the way")}
	if got := Unjudged(missing); got != "the objects are no longer kept; hawser plan with its files tells what is otherwise, and apply puts it right" || Unjudged(nil) != "" {
		t.Errorf("%s", got)
	}
	moved := planned()
	moved.Clusters[0].Move(map[object.Ref]string{ref("b"): "other", ref("a"): "other"})
	b := Of([]*fleetplan.FleetPlan{moved}).Bundles[0]
	if len(b.Clusters[0].Moved) != 2 || !strings.Contains(b.Total(), "ConfigMap shop/a (bundle other), ConfigMap shop/b (bundle other)") {
		t.Errorf("%+v %s", b.Clusters, b.Total())
	}
}

// What is told again is only what is otherwise: what drifted since, or otherwise, what is as recorded again, and clusters that went or came.
func TestSince(t *testing.T) {
	report := func(unknown string, names ...string) *Report {
		c := Cluster{Cluster: "eu", Unknown: unknown}
		for i := 0; i < len(names); i += 2 {
			c.Drifted = append(c.Drifted, Object{Object: ref(names[i]), State: Changed, Fields: []Field{{Live: names[i+1]}}})
		}
		return &Report{V: diag.DocumentVersion, Bundles: []Bundle{{Bundle: "shop", Clusters: []Cluster{c}}}}
	}
	for name, c := range map[string]struct {
		before, now *Report
		want        string // objects with their states, "" for nothing to tell
	}{
		"the first look":          {nil, report(""), "whole"},
		"as before":               {report("", "a", "1"), report("", "a", "1"), ""},
		"one more":                {report("", "a", "1"), report("", "a", "1", "b", "1"), "b changed "},
		"otherwise":               {report("", "a", "1"), report("", "a", "2"), "a changed "},
		"as recorded again":       {report("", "a", "1"), report(""), "a settled "},
		"unknown now":             {report("", "a", "1"), report("i/o timeout"), "unknown"},
		"unknown still":           {report("i/o timeout"), report("i/o timeout"), ""},
		"known again, with drift": {report("i/o timeout"), report("", "a", "1"), "a changed "},
		"known again":             {report("i/o timeout"), report(""), "known"},
	} {
		got := ""
		if r := c.now.Since(c.before); r == c.now {
			got = "whole"
		} else if r != nil {
			cl := r.Bundles[0].Clusters[0]
			for _, o := range cl.Drifted {
				got += o.Object.Name + " " + string(o.State) + " "
			}
			switch {
			case cl.Unknown != "":
				got += "unknown"
			case got == "":
				got = "known"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPutRight: what is as recorded again is no drift, in no number and no count of clusters.
func TestPutRight(t *testing.T) {
	for states, want := range map[[2]State]string{
		{Settled, Settled}: "No drift: 2 as recorded again, 0 as recorded. Clusters: 0 drifted, 1 did not.",
		{Settled, Changed}: "Drift: 1 changed, 1 as recorded again, 0 as recorded. Clusters: 1 drifted, 0 did not.",
	} {
		b := Bundle{Clusters: []Cluster{{Cluster: "eu", Drifted: []Object{{State: states[0]}, {State: states[1]}}}}}
		if got := b.Total(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestBlocked: what cannot be put right is not said to be as it was, and the command that puts right is not promised for it.
func TestBlocked(t *testing.T) {
	ok, blocked := Object{State: Changed, Why: "changed by somebody since it was written"}, Object{State: Changed, Why: "changed by somebody since it was written", Blocked: "refused"}
	if ch := ok.change(); !strings.Contains(ch.Why, "with the same values") {
		t.Errorf("%+v", ch)
	}
	if ch := blocked.change(); strings.Contains(ch.Why, "same values") || ch.Why != "changed by somebody since it was written; cannot be put right: refused" {
		t.Errorf("%+v", ch)
	}
	for name, c := range map[string]struct {
		command string
		drifted []Object
		want    []string
	}{
		"all can":     {"c", []Object{ok, ok}, []string{"Put it right:  c"}},
		"some cannot": {"c", []Object{ok, blocked}, []string{"Put it right:  c", "It is refused as a whole while 1 of the 2 cannot be put right; --dry-run says what to do about them."}},
		"none can":    {"c", []Object{blocked}, []string{"Nothing of it can be put right as it is. What to do:  c --dry-run"}},
		"no drift":    {"c", nil, nil},
		"put right":   {"c", []Object{{State: Settled}}, nil},
		"no command":  {"", []Object{ok}, nil},
	} {
		r := Report{Bundles: []Bundle{{Clusters: []Cluster{{Drifted: c.drifted}}}}}
		if got := r.Tips(c.command); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
