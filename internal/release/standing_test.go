package release

import (
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What may not be looked at is unknown; only what is known not to be there is missing.
func TestStanding(t *testing.T) {
	own := plan.Owned{ResourceVersion: "1", Own: "e"}
	found := plan.Live{Found: true, ResourceVersion: "1", Own: "e"}
	for name, tt := range map[string]struct {
		change  func(*plan.Owned, *plan.Live)
		state   health.State
		drifted bool
	}{
		"as it was":            {func(*plan.Owned, *plan.Live) {}, health.Progressing, false},
		"not there":            {func(_ *plan.Owned, l *plan.Live) { *l = plan.Live{} }, health.Missing, false},
		"not looked at":        {func(_ *plan.Owned, l *plan.Live) { *l = plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"a Job, not looked at": {func(o *plan.Owned, l *plan.Live) { o.Expires, *l = true, plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"going":                {func(_ *plan.Owned, l *plan.Live) { l.Terminating, l.ResourceVersion, l.Own = true, "2", "f" }, health.Progressing, false},
		"changed":              {func(_ *plan.Owned, l *plan.Live) { l.ResourceVersion, l.Own, l.Foreign = "2", "f", "kubectl" }, health.Progressing, true},
		"changed, left alone":  {func(o *plan.Owned, l *plan.Live) { l.ResourceVersion, l.Own, o.Once = "2", "f", true }, health.Progressing, false},
	} {
		o, l := own, found
		tt.change(&o, &l)
		st, drifted := Standing(o, l, health.Status{State: health.Progressing})
		if st.State != tt.state || drifted != tt.drifted || st.State == health.Unknown && st.Reason != "forbidden" {
			t.Errorf("%s: %+v %v", name, st, drifted)
		}
	}
}

// What a run that failed or did not wait left is not known to be ready; one that is open is resumed.
func TestUnready(t *testing.T) {
	for want, r := range map[string]*Record{
		"the last run failed (api, db)":                {Phase: Failed, Unfinished: []string{"api", "db"}},
		"the last run failed":                          {Phase: Failed},
		"the last run did not wait until it was ready": {Phase: Written},
	} {
		if got := r.Unready(); got != want {
			t.Errorf("%s: %q", want, got)
		}
	}
	for _, r := range []*Record{nil, {Phase: Succeeded}, {Phase: Applying}, {Phase: Deleting}} {
		if got := r.Unready(); got != "" {
			t.Errorf("%+v: %q", r, got)
		}
	}
}

// TestOnlyIn: a folder's release is told by its instance and its namespace; a custom kind called Namespace is none.
func TestOnlyIn(t *testing.T) {
	in := func(instance, group, kind, namespace, name string) plan.Owned {
		return plan.Owned{Instance: instance, Ref: object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}}
	}
	for name, c := range map[string]struct {
		owned []plan.Owned
		want  bool
	}{
		"nothing":                        {nil, false},
		"in the namespace":               {[]plan.Owned{in("manifests", "", "ConfigMap", "shop", "a"), in("manifests", "", "ConfigMap", "other", "a")}, true},
		"the namespace itself":           {[]plan.Owned{in("manifests", "", "Namespace", "", "shop")}, true},
		"a custom kind by that name":     {[]plan.Owned{in("manifests", "x.dev", "Namespace", "", "shop")}, false},
		"in another namespace":           {[]plan.Owned{in("manifests", "", "ConfigMap", "other", "a")}, false},
		"of another instance, partly":    {[]plan.Owned{in("manifests", "", "ConfigMap", "shop", "a"), in("web", "", "ConfigMap", "shop", "b")}, false},
		"of another instance altogether": {[]plan.Owned{in("web", "", "ConfigMap", "shop", "b")}, false},
	} {
		r := &Record{Inventory: c.owned}
		if got := r.OnlyIn("manifests", "shop"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What apply gives up as failed is not called progressing by who looks later.
func TestStandingHopeless(t *testing.T) {
	hopeless := health.Status{State: health.Progressing, Reason: "1 old pod to go", Hopeless: true}
	if st, _ := Standing(plan.Owned{ResourceVersion: "1"}, plan.Live{Found: true, ResourceVersion: "1"}, hopeless); st.State != health.Failed {
		t.Error(st)
	}
}

// TestStoppedAt: where a run failed, an instance says at which hooks it stopped: those of the first event that did not pass.
func TestStoppedAt(t *testing.T) {
	hook := func(name string, events ...object.Event) plan.Hook {
		return plan.Hook{Ref: object.Ref{Kind: "Job", Group: "batch", Namespace: "ns", Name: name}, Hook: object.Hook{Events: events}}
	}
	hooks := []plan.Hook{hook("a", object.PreInstall, object.PreUpgrade), hook("b", object.PostUpgrade), hook("c", object.PreDelete)}
	for name, c := range map[string]struct {
		phase Phase
		life  plan.Life
		want  string
	}{
		"before":            {Failed, plan.Life{Hooks: hooks, Moment: plan.Upgrade}, "the upgrade is not done: its pre-upgrade hooks did not end well (Job ns/a)"},
		"after":             {Failed, plan.Life{Hooks: hooks, Moment: plan.Upgrade, Done: []object.Event{object.PreUpgrade}}, "the upgrade is not done: its post-upgrade hooks did not end well (Job ns/b)"},
		"all passed":        {Failed, plan.Life{Hooks: hooks, Moment: plan.Install, Done: []object.Event{object.PreInstall}}, ""},
		"nothing under way": {Failed, plan.Life{Hooks: hooks}, ""},
		"still at work":     {Applying, plan.Life{Hooks: hooks, Moment: plan.Upgrade}, ""},
	} {
		r := &Record{Phase: c.phase, Hooks: map[string]plan.Life{"web": c.life}}
		if got := r.StoppedAt("web"); got != c.want || r.StoppedAt("other") != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
