package release

import (
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What may not be looked at is unknown; only what is known not to be there is missing.
func TestStanding(t *testing.T) {
	own := plan.InventoryEntry{ResourceVersion: "1", ApplyHash: "e"}
	found := plan.Live{Found: true, ResourceVersion: "1", ApplyHash: "e"}
	for name, tt := range map[string]struct {
		change  func(*plan.InventoryEntry, *plan.Live)
		state   health.State
		drifted bool
	}{
		"as it was":            {func(*plan.InventoryEntry, *plan.Live) {}, health.Progressing, false},
		"not there":            {func(_ *plan.InventoryEntry, l *plan.Live) { *l = plan.Live{} }, health.Missing, false},
		"not looked at":        {func(_ *plan.InventoryEntry, l *plan.Live) { *l = plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"a Job, not looked at": {func(o *plan.InventoryEntry, l *plan.Live) { o.Expires, *l = true, plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"going": {func(_ *plan.InventoryEntry, l *plan.Live) {
			l.Terminating, l.ResourceVersion, l.ApplyHash = true, "2", "f"
		}, health.Progressing, false},
		"its kind is not served": {func(o *plan.InventoryEntry, l *plan.Live) {
			*l = plan.Unserved(*o)
			l.Unseen = "forbidden"
		}, health.Unknown, false},
		"replaced, with our marks":        {func(o *plan.InventoryEntry, l *plan.Live) { o.UID, l.UID = "u", "v" }, health.Progressing, true},
		"replaced, left alone":            {func(o *plan.InventoryEntry, l *plan.Live) { o.UID, l.UID, o.Once = "u", "v", true }, health.Progressing, false},
		"replaced, and going":             {func(o *plan.InventoryEntry, l *plan.Live) { o.UID, l.UID, l.Terminating = "u", "v", true }, health.Progressing, false},
		"replaced, by which is not known": {func(_ *plan.InventoryEntry, l *plan.Live) { l.UID = "v" }, health.Progressing, false},
		"changed": {func(_ *plan.InventoryEntry, l *plan.Live) {
			l.ResourceVersion, l.ApplyHash, l.Foreign = "2", "f", "kubectl"
		}, health.Progressing, true},
		"without an entry of ours, and none was recorded": {func(o *plan.InventoryEntry, l *plan.Live) { o.ApplyHash, l.ApplyHash, l.ResourceVersion = "", "", "2" }, health.Progressing, true},
		"left to others": {func(_ *plan.InventoryEntry, l *plan.Live) {
			l.ApplyHash, l.ResourceVersion, l.LeftToOthers = "f", "2", true
		}, health.Progressing, false},
		"changed, left alone": {func(o *plan.InventoryEntry, l *plan.Live) { l.ResourceVersion, l.ApplyHash, o.Once = "2", "f", true }, health.Progressing, false},
	} {
		o, l := own, found
		tt.change(&o, &l)
		st, drifted := Standing(o, l, health.Status{State: health.Progressing})
		if st.State != tt.state || drifted != tt.drifted || st.State == health.Unknown && st.Reason != "forbidden" {
			t.Errorf("%s: %+v %v", name, st, drifted)
		}
	}
}

// After a soak what was looked at and was there has to be there: what is gone is missing, what is being deleted is not ready, and what
// could not be looked at, as its kind is no longer served, is unknown, with the reason. What is done and gone, was never written, or was
// not looked at, is as health says.
func TestStandings(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Group: "example.com", Kind: "Site", Name: name} }
	inventory := []plan.InventoryEntry{{Ref: ref("there"), UID: "u"}, {Ref: ref("gone"), UID: "u"}, {Ref: ref("going"), UID: "u"}, {Ref: ref("slow to go"), UID: "u"}, {Ref: ref("done"), UID: "u", Expires: true},
		{Ref: ref("undone"), UID: "u", Expires: true, Awaited: true}, {Ref: ref("intended")}, {Ref: ref("not looked at"), UID: "u"}, {Ref: ref("unserved"), UID: "u"}}
	live := map[object.Ref]plan.Live{ref("there"): {Found: true, UID: "u"}, ref("gone"): {}, ref("going"): {Found: true, UID: "u", Terminating: true}, ref("slow to go"): {Found: true, UID: "u", Terminating: true},
		ref("done"): {}, ref("undone"): {}, ref("intended"): {}, ref("unserved"): plan.Unserved(inventory[8])}
	judged := map[object.Ref]health.Status{ref("slow to go"): {State: health.Terminating, Reason: "held"}}
	for _, o := range inventory {
		if _, ok := judged[o.Ref]; !ok {
			judged[o.Ref] = health.Status{State: health.Ready}
		}
	}
	got := Standings(inventory, live, judged)
	for name, want := range map[string]health.Status{"there": {State: health.Ready}, "gone": {State: health.Missing, Reason: "not in the cluster"}, "going": {State: health.Terminating, Reason: "is being deleted"},
		"slow to go": {State: health.Terminating, Reason: "held"}, "done": {State: health.Ready, Reason: health.DoneAndGone}, "undone": {State: health.Missing, Reason: "not in the cluster"},
		"intended": {State: health.Ready}, "not looked at": {State: health.Ready}, "unserved": {State: health.Unknown, Reason: plan.Unserved(inventory[8]).Unseen}} {
		if st := got[ref(name)]; st.State != want.State || st.Reason != want.Reason {
			t.Errorf("%s: %+v", name, st)
		}
	}
	if judged[ref("gone")].State != health.Ready {
		t.Error("what health said was changed")
	}
}

// What a run that failed or did not wait left is not known to be ready; one that is open is resumed.
func TestUnready(t *testing.T) {
	for want, r := range map[string]*Record{
		"the last run failed (api, db)":                {Phase: Failed, Unfinished: []string{"api", "db"}},
		"the last run failed":                          {Phase: Failed},
		"the last run did not wait until it was ready": {Phase: Written},
		"nobody could look at it after its soak":       {Phase: Written, Unjudged: true},
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

// TestPreceded: a record knows whether any before it succeeded, however many failed since.
func TestPreceded(t *testing.T) {
	for name, c := range map[string]struct {
		before Record
		want   bool
	}{
		"it succeeded":                {Record{Phase: Succeeded}, true},
		"one before it did":           {Record{Phase: Failed, Preceded: true}, true},
		"it failed, as the first one": {Record{Phase: Failed}, false},
		"it died":                     {Record{Phase: Applying}, false},
	} {
		var r Record
		if r.Carry(c.before); r.Preceded != c.want {
			t.Errorf("%s: %t", name, r.Preceded)
		}
	}
}

// TestShown: an eject that has not ended is none of the deletes; in the record it is as open as they are.
func TestShown(t *testing.T) {
	for want, r := range map[Phase]Record{Ejecting: {Phase: Deleting, Ejecting: true}, Deleting: {Phase: Deleting}, Failed: {Phase: Failed, Ejecting: true}} {
		if got := r.Shown(); got != want || got.Open() != r.Phase.Open() {
			t.Errorf("%s: %s", want, got)
		}
		if l := r.List(""); l.Phase != want {
			t.Errorf("listed as %s, want %s", l.Phase, want)
		}
	}
	if Ejecting.Known() {
		t.Error("a record may say ejecting")
	}
}

// TestOnlyIn: a folder's release is told by its instance and its namespace; a custom kind called Namespace is none.
func TestOnlyIn(t *testing.T) {
	in := func(instance, group, kind, namespace, name string) plan.InventoryEntry {
		return plan.InventoryEntry{Instance: instance, Ref: object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}}
	}
	for name, c := range map[string]struct {
		owned []plan.InventoryEntry
		want  bool
	}{
		"nothing":                        {nil, false},
		"in the namespace":               {[]plan.InventoryEntry{in("manifests", "", "ConfigMap", "shop", "a"), in("manifests", "", "ConfigMap", "other", "a")}, true},
		"the namespace itself":           {[]plan.InventoryEntry{in("manifests", "", "Namespace", "", "shop")}, true},
		"a custom kind by that name":     {[]plan.InventoryEntry{in("manifests", "x.dev", "Namespace", "", "shop")}, false},
		"in another namespace":           {[]plan.InventoryEntry{in("manifests", "", "ConfigMap", "other", "a")}, false},
		"of another instance, partly":    {[]plan.InventoryEntry{in("manifests", "", "ConfigMap", "shop", "a"), in("web", "", "ConfigMap", "shop", "b")}, false},
		"of another instance altogether": {[]plan.InventoryEntry{in("web", "", "ConfigMap", "shop", "b")}, false},
	} {
		r := &Record{Inventory: c.owned}
		if got := r.OnlyIn("manifests", "shop"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What apply gives up as failed is not called progressing by who looks later.
func TestStandingHopeless(t *testing.T) {
	hopeless := health.Status{State: health.Progressing, Reason: "1 old pod to go", Stalled: true}
	if st, _ := Standing(plan.InventoryEntry{ResourceVersion: "1"}, plan.Live{Found: true, ResourceVersion: "1"}, hopeless); st.State != health.Failed {
		t.Error(st)
	}
}

// TestStoppedAt: where a run failed, an instance says at which hooks it stopped: those of the first event that did not pass.
func TestStoppedAt(t *testing.T) {
	hook := func(name string, events ...object.HookPhase) plan.Hook {
		return plan.Hook{Ref: object.Ref{Kind: "Job", Group: "batch", Namespace: "ns", Name: name}, Hook: object.Hook{Events: events}}
	}
	hooks := []plan.Hook{hook("a", object.PreInstall, object.PreUpgrade), hook("b", object.PostUpgrade), hook("c", object.PreDelete)}
	for name, c := range map[string]struct {
		phase Phase
		life  plan.HookState
		want  string
	}{
		"before":            {Failed, plan.HookState{Hooks: hooks, Step: plan.Upgrade}, "the upgrade is not done: its pre-upgrade hooks did not end well (Job ns/a)"},
		"after":             {Failed, plan.HookState{Hooks: hooks, Step: plan.Upgrade, Done: []object.HookPhase{object.PreUpgrade}}, "the upgrade is not done: its post-upgrade hooks did not end well (Job ns/b)"},
		"all passed":        {Failed, plan.HookState{Hooks: hooks, Step: plan.Install, Done: []object.HookPhase{object.PreInstall}}, ""},
		"nothing under way": {Failed, plan.HookState{Hooks: hooks}, ""},
		"still at work":     {Applying, plan.HookState{Hooks: hooks, Step: plan.Upgrade}, ""},
	} {
		r := &Record{Phase: c.phase, Hooks: map[string]plan.HookState{"web": c.life}}
		if got := r.StoppedAt("web"); got != c.want || r.StoppedAt("other") != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
