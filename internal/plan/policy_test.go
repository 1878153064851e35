package plan

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// declared is an object with an annotation, "" for none.
func declared(key, value string) object.Scoped {
	meta := map[string]any{"name": "a", "namespace": "n"}
	if key != "" {
		meta["annotations"] = map[string]any{key: value}
	}
	return object.Scoped{Namespaced: true, Object: object.Object{Instance: "i", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}}}
}

func TestDeclared(t *testing.T) {
	no, yes := false, true
	for _, c := range []struct {
		name, key, value string
		in               v1alpha1.Instance
		noWait           bool
		timeout          time.Duration
		finding          string
	}{
		{"nothing said", "", "", v1alpha1.Instance{}, false, 0, ""},
		{"instance does not wait", "", "", v1alpha1.Instance{Wait: &no}, true, 0, ""},
		{"instance waits, object not", "hawser.dev/wait", "disabled", v1alpha1.Instance{Wait: &yes}, true, 0, ""},
		{"instance's timeout", "", "", v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Minute}}, false, time.Minute, ""},
		{"object's timeout wins", "hawser.dev/timeout", "90s", v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Minute}}, false, 90 * time.Second, ""},
		{"not a duration", "hawser.dev/timeout", "5 minutes", v1alpha1.Instance{}, false, 0, `it is "5 minutes"`},
		{"not above zero", "hawser.dev/timeout", "0s", v1alpha1.Instance{}, false, 0, `it is "0s"`},
	} {
		d, fs := Declared(declared(c.key, c.value), c.in, nil)
		if d.NoWait != c.noWait || d.Timeout != c.timeout || len(fs) > 0 != (c.finding != "") || len(fs) > 0 && fs[0].Why != c.finding {
			t.Errorf("%s: %v %v %v", c.name, d.NoWait, d.Timeout, fs)
		}
		if back := DesiredFrom(EntryFor(d, "")); back.NoWait != d.NoWait || back.Timeout != d.Timeout {
			t.Errorf("%s: the record forgets: %+v", c.name, back)
		}
	}
}

// What an instance says about waiting is part of its inputs; saying nothing leaves them as they were.
func TestPolicyKey(t *testing.T) {
	no, yes := false, true
	if PolicyKey(v1alpha1.Instance{}, nil) != "" || PolicyKey(v1alpha1.Instance{Wait: &yes}, nil) != "" {
		t.Error("saying nothing new is no input")
	}
	a, b := PolicyKey(v1alpha1.Instance{Wait: &no}, nil), PolicyKey(v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Second}}, nil)
	if a == "" || b == "" || a == b {
		t.Errorf("%q %q", a, b)
	}
}

func TestSuspendedNeeds(t *testing.T) {
	instances := []v1alpha1.Instance{{Name: "db"}, {Name: "api", DependsOn: []string{"db"}}, {Name: "web", DependsOn: []string{"api", "db"}}}
	for _, c := range []struct {
		suspended string
		ready     bool
		want      string
	}{
		{"", false, ""}, {"db", true, ""}, {"web", false, ""},
		{"db", false, "api depends on db, which is suspended and was never ready here; web depends on db, which is suspended and was never ready here"},
		{"db api", false, "web depends on api, db, which is suspended and was never ready here"},
	} {
		suspended := map[string]bool{}
		for _, n := range strings.Fields(c.suspended) {
			suspended[n] = true
		}
		var got []string
		for _, f := range SuspendedNeeds(instances, suspended, func(string) bool { return c.ready }) {
			got = append(got, f.What)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s suspended, ready %v: %q, want %q", c.suspended, c.ready, got, c.want)
		}
	}
}

// What the inventory has of a suspended instance stays in it, whatever is declared; the rest is pruned.
func TestSuspendedIsKept(t *testing.T) {
	a, b := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "b"}
	live := Live{Found: true, UID: "u", ResourceVersion: "9", ApplyHash: "moved", OwnerLabel: "o"}
	in := Input{Owner: "o", Suspended: map[string]bool{"left": true}, Live: map[object.Ref]Live{a: live, b: live},
		Inventory: []InventoryEntry{{Ref: a, Instance: "left", UID: "u", ResourceVersion: "1", ApplyHash: "own"}, {Ref: b, Instance: "gone", UID: "u", ApplyHash: "own"}}}
	p := Compute(in)
	if len(p.Kept) != 1 || p.Kept[0] != in.Inventory[0] || len(p.Changes) != 1 || p.Changes[0].Ref != b || p.Changes[0].Action != Delete || p.Refresh {
		t.Errorf("kept %+v, changes %+v", p.Kept, p.Changes)
	}
	if len(p.Suspended) != 1 || p.Suspended[0] != "left" {
		t.Errorf("%v", p.Suspended)
	}
}

func TestDuplicates(t *testing.T) {
	ref := object.Ref{Kind: "Namespace", Name: "n"}
	declared, own := Desired{Ref: ref, Instance: "a"}, Desired{Ref: ref, Instance: "b", OwnNamespace: true}
	if fs := Duplicates([]Desired{declared, own}); len(fs) != 0 {
		t.Errorf("an own namespace yields: %v", fs)
	}
	again := declared
	again.Instance, again.Pos, again.Declared = "b", diag.Pos{File: "m.yaml", Line: 3}, diag.Pos{File: "bundle.yaml", Line: 9}
	if fs := Duplicates([]Desired{declared, again, own}); len(fs) != 1 || fs[0].Code != "duplicate-object" || fs[0].Instance != "b" ||
		fs[0].Pos != again.Declared || fs[0].Why != "instances a and b; this one is at m.yaml:3" {
		t.Errorf("%v", fs)
	}
}

func TestIgnoreRules(t *testing.T) {
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "api"}
	rules := []v1alpha1.IgnoreRule{{Paths: []string{"spec.replicas"}}, {Group: "apps", Name: "a*", Managers: []string{"ci"}, Paths: []string{"spec.replicas", "spec.paused"}},
		{Kind: "StatefulSet", Managers: []string{"x"}}}
	got := ignored(ref, rules)
	if want := (&object.Ignore{Paths: []string{"spec.paused", "spec.replicas"}, Managers: []string{"ci"}}); !got.Equal(want) {
		t.Errorf("%+v", got)
	}
	if ignored(ref, rules[2:]) != nil {
		t.Error("rules for other objects")
	}
	if a, b := PolicyKey(v1alpha1.Instance{}, rules), PolicyKey(v1alpha1.Instance{Ignore: rules[:1]}, rules[1:]); a == "" || a != b {
		t.Errorf("%q %q", a, b)
	}
}

// A changed rule is asked about: what it leaves no longer is ours again.
func TestChangedIgnoreIsAsked(t *testing.T) {
	r := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	g := &object.Ignore{Paths: []string{"data.a"}}
	in := func(own, desired *object.Ignore, live Live) Input {
		live.Found, live.UID, live.OwnerLabel = true, "u", "o"
		return Input{Owner: "o", Desired: []Desired{{Ref: r, Digest: "d", Ignore: desired}}, Live: map[object.Ref]Live{r: live},
			Inventory: []InventoryEntry{{Ref: r, UID: "u", ResourceVersion: "1", Digest: "d", ApplyHash: "own", Ignore: own, Entry: &object.Entry{Fields: "{}"}}}}
	}
	for _, c := range []struct {
		name    string
		in      Input
		asks    int
		refresh bool
	}{
		{"nothing moved", in(g, g, Live{ApplyHash: "own", ResourceVersion: "2"}), 0, false},
		{"yielded", in(g, g, Live{ApplyHash: "less", ResourceVersion: "2", LeftToOthers: true}), 0, false},
		{"moved", in(g, g, Live{ApplyHash: "less", ResourceVersion: "2"}), 1, false},
		{"dropped", in(g, nil, Live{ApplyHash: "own", ResourceVersion: "1"}), 1, false},
		{"added", in(nil, g, Live{ApplyHash: "own", ResourceVersion: "1"}), 0, true},
	} {
		asks := NeedsPreview(c.in)
		if p := Compute(c.in); len(asks) != c.asks || len(p.Changes) != c.asks || p.Refresh != c.refresh {
			t.Errorf("%s: asks %d, changes %+v, refresh %v", c.name, len(asks), p.Changes, p.Refresh)
		}
	}
}

// A rule that goes or changes is told of as what it is, and asked about: only the live object has what others set.
func TestIgnoreRuleChanges(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	k, m := &object.Ignore{Paths: []string{"data.k"}}, &object.Ignore{Paths: []string{"data.m"}}
	for _, c := range []struct {
		name          string
		was, is       *object.Ignore
		digest, why   string
		asked, writes bool
	}{
		{"as before", k, k, "d", "", false, false},
		{"gone", k, nil, "d", "its fields are left to others no longer", true, true},
		{"gone, and the declaration changed", k, nil, "e", "", true, true},
		{"another one", k, m, "d", "other fields are left to others now", true, true},
		{"a new one", nil, m, "d", "", false, false},
	} {
		in := Input{Owner: "o", Desired: []Desired{{Ref: ref, Version: "v1", Instance: "i", Digest: c.digest, Namespaced: true, Ignore: c.is}},
			Inventory: []InventoryEntry{{Ref: ref, Version: "v1", Instance: "i", UID: "u", ResourceVersion: "1", Digest: "d", ApplyHash: "e", Ignore: c.was}},
			Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o"}}}
		changes := Compute(in).Changes
		if len(changes) > 0 != c.writes {
			t.Errorf("%s: %+v", c.name, changes)
			continue
		}
		asked := NeedsPreview(in)
		if len(asked) > 0 != c.asked || c.asked && asked[0].Was != c.was || c.writes && changes[0].Why != c.why {
			t.Errorf("%s: asked %+v of %+v", c.name, asked, changes)
		}
	}
}

// Whether a Namespace is declared or merely used is what the bundle says now, whatever the record has: a change carries it to
// the inventory, and where nothing is to be written the record learns it.
func TestNamespaceDeclaredOrUsed(t *testing.T) {
	ref := object.Ref{Kind: "Namespace", Name: "n"}
	for _, used := range []bool{false, true} {
		in := Input{Owner: "o", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "d", OwnNamespace: used}},
			Inventory: []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ResourceVersion: "1", Digest: "d", ApplyHash: "e", OwnNamespace: !used}},
			Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o"}}}
		if p := Compute(in); len(p.Changes) != 0 || !p.Refresh || p.Kept[0].OwnNamespace != used {
			t.Errorf("used %v: as it is: %+v, refresh %v, kept %+v", used, p.Changes, p.Refresh, p.Kept)
		}
		in.Inventory[0].Digest = "other"
		if p := Compute(in); len(p.Changes) != 1 || p.Changes[0].Action != Update || p.Changes[0].OwnNamespace != used {
			t.Errorf("used %v: written: %+v", used, p.Changes)
		}
	}
}

// The own namespace of instances stays with the suspended one that made it; one that somebody deleted is made again.
func TestNamespaceOfASuspendedInstance(t *testing.T) {
	ref := object.Ref{Kind: "Namespace", Name: "n"}
	in := Input{Owner: "o", Suspended: map[string]bool{"g": true},
		Desired:   []Desired{{Ref: ref, Version: "v1", Instance: "next", Digest: "next", OwnNamespace: true}},
		Inventory: []InventoryEntry{{Ref: ref, Version: "v1", Instance: "g", UID: "u", ResourceVersion: "1", Digest: "g", ApplyHash: "e", OwnNamespace: true}},
		Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o"}}}
	if p := Compute(in); len(p.Changes) != 0 || p.Refresh || len(p.Kept) != 1 || p.Kept[0] != in.Inventory[0] {
		t.Errorf("changes %+v, kept %+v", p.Changes, p.Kept)
	}
	in.Inventory[0].OwnNamespace = false // the suspended instance declares it
	if p := Compute(in); len(p.Changes) != 0 || len(p.Kept) != 1 || p.Kept[0] != in.Inventory[0] {
		t.Errorf("declared by the suspended one: changes %+v, kept %+v", p.Changes, p.Kept)
	}
	in.Suspended = nil
	if p := Compute(in); len(p.Changes) != 1 || p.Changes[0].Action != Update {
		t.Errorf("not suspended: %+v", p.Changes)
	}
	in.Suspended, in.Live = map[string]bool{"g": true}, nil
	if p := Compute(in); len(p.Changes) != 1 || p.Changes[0].Action != Create || p.Changes[0].Instance != "next" {
		t.Errorf("deleted by somebody: %+v", p.Changes)
	}
}
