package plan

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestLostRecord: what carries our marks is ours again, compared before it is written; what is not declared any more
// stays and is named, and the next plan prunes it, but no namespace. No install hook runs a second time.
func TestLostRecord(t *testing.T) {
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "ns", Name: name} }
	app, old, hook := ref("ConfigMap", "app"), ref("ConfigMap", "old"), ref("Job", "init")
	space := object.Ref{Kind: "Namespace", Name: "ns"}
	marked := func(uid string) Live {
		return Live{Found: true, UID: uid, ResourceVersion: "1", ApplyHash: "o-" + uid, OwnerLabel: "me"}
	}
	in := Input{Bundle: "shop", Owner: "me", Inputs: map[string]string{"web": "i"},
		Desired: []Desired{{Ref: app, Version: "v1", Instance: "web", Digest: "d"},
			{Ref: hook, Version: "v1", Instance: "web", Digest: "h", Hook: &object.Hook{Events: []object.HookPhase{object.PreInstall}}}},
		Live: map[object.Ref]Live{app: marked("1"), old: marked("2"), space: marked("3")}}
	if !Lost(in) {
		t.Error("the release is not noticed")
	}
	if Lost(Input{Owner: "other", Desired: in.Desired, Live: in.Live}) {
		t.Error("somebody else's objects are taken for a lost release")
	}
	kept := marked("1")
	kept.Keep = true
	left := Input{Owner: "me", Desired: []Desired{{Ref: space, OwnNamespace: true}, {Ref: app}}, Live: map[object.Ref]Live{space: marked("3"), app: kept}}
	if Lost(left) {
		t.Error("what a delete leaves there is taken for a lost release")
	}
	if got := Deletable([]InventoryEntry{FromMarks(space, "v1", "web", marked("3")), FromMarks(app, "v1", "web", kept), FromMarks(old, "v1", "web", marked("2"))}); len(got) != 1 || got[0].Ref != old {
		t.Errorf("a delete would have deleted %+v", got)
	}
	in.Rebuilt = true
	for r, l := range in.Live {
		in.Inventory = append(in.Inventory, FromMarks(r, "v1", "web", l))
	}
	if needs := NeedsPreview(in); len(needs) != 1 || needs[0].Ref != app {
		t.Errorf("asked about: %+v", needs)
	}
	in.Previews = map[object.Ref]Preview{app: {NoOp: true}}
	p := Compute(in)
	if !p.Empty() || !p.Rebuilt || len(p.Kept) != 3 || len(p.Events) > 0 {
		t.Errorf("%+v", p)
	}
	i := slices.IndexFunc(p.Findings, func(f diag.Finding) bool { return f.Code == CodeLostRecord })
	if i < 0 || !strings.Contains(p.Findings[i].String(), "ConfigMap ns/old") || p.Findings.HasErrors() {
		t.Fatalf("said: %v", p.Findings)
	}

	in.Rebuilt, in.Inventory = false, p.Kept
	next := map[object.Ref]Action{}
	for _, ch := range Compute(in).Changes {
		next[ch.Ref] = ch.Action
	}
	if next[old] != Delete || next[space] != Release || next[app] != "" {
		t.Errorf("after that: %+v", next)
	}
}

// A delete of a bundle without a record, or with an incomplete one: what carries its marks and is in no record is named;
// where nobody could look it is an error when something says that it is there, else a doubt.
func TestLostAtDelete(t *testing.T) {
	left := InventoryEntry{Ref: object.Ref{Kind: "Namespace", Name: "team"}, OwnNamespace: true}
	marked := InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "a"}}
	unseen := map[string]string{"secrets": "forbidden", "configmaps": "forbidden, too"}
	hidden := Marks{Unseen: unseen, Asked: []string{"team"}}
	if fs := hidden.Findings(); len(fs) != 1 || fs[0].Why != "configmaps, secrets: forbidden, too; namespaces asked: team" {
		t.Error(fs)
	}
	for name, tt := range map[string]struct {
		in       Input
		marks    Marks
		want     string
		severity diag.Severity
	}{
		"marked":                 {Input{}, Marks{Inventory: []InventoryEntry{left, marked}, Unseen: unseen}, "1 object with its marks", diag.Error},
		"nothing":                {Input{Delivered: true}, Marks{Inventory: []InventoryEntry{left}}, "", ""},
		"unseen, and delivered":  {Input{Delivered: true}, hidden, "is unknown", diag.Error},
		"unseen":                 {Input{}, hidden, "is unknown", diag.Warning},
		"incomplete, and whole":  {Input{Recorded: true, Inventory: []InventoryEntry{marked}}, Marks{Inventory: []InventoryEntry{left, marked}}, "", ""},
		"incomplete, and lacks":  {Input{Recorded: true}, Marks{Inventory: []InventoryEntry{marked}}, "lacks 1 object", diag.Error},
		"incomplete, and unseen": {Input{Recorded: true, Inventory: []InventoryEntry{marked}}, hidden, "still unknown", diag.Error},
	} {
		got := LostAtDelete("shop", tt.in, tt.marks)
		if (tt.want == "") != (len(got) == 0) || len(got) > 0 && (!strings.Contains(got[0].What, tt.want) || got[0].Severity != tt.severity) {
			t.Errorf("%s: %v", name, got)
		}
	}
	dead := Marks{Unseen: map[string]string{"*.metrics.k8s.io": "the API group does not answer"}, Silent: []string{"metrics.k8s.io"}}
	mixed := Marks{Unseen: map[string]string{"*.metrics.k8s.io": "the API group does not answer", "secrets": "forbidden"}, Silent: dead.Silent}
	for _, fs := range []diag.Findings{LostAtDelete("shop", Input{Delivered: true}, dead), dead.Findings()} {
		if fix := fs[0].Fix; !strings.HasPrefix(fix, "look at: kubectl get apiservices") || strings.Contains(fix, "credentials") {
			t.Errorf("permissions are no way out where an API server does not answer: %s", fix)
		}
	}
	if fix := mixed.Findings()[0].Fix; !strings.HasPrefix(fix, "look at: kubectl get apiservices") || !strings.Contains(fix, "; for the others: grant list") {
		t.Error(fix)
	}
	for ejecting, word := range map[bool]string{false: "then delete it", true: "then eject it"} {
		if fs := LostAtDelete("shop", Input{Options: Options{Deleting: true, Ejecting: ejecting}}, Marks{Inventory: []InventoryEntry{marked}}); !strings.HasSuffix(fs[0].Fix, word) || strings.Contains(fs[0].Why, "deleted") == ejecting {
			t.Errorf("ejecting %v: %s", ejecting, fs[0])
		}
	}
}

// What a look at the marks makes of a release: nothing, a record that is made again, or one that gets what it lacks. What
// could not be looked at stays known.
func TestRebuild(t *testing.T) {
	a, b := InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}, InventoryEntry{Ref: object.Ref{Kind: "Secret", Namespace: "ns", Name: "b"}}
	recorded := a
	recorded.Digest = "d"
	live := func(owned ...InventoryEntry) map[object.Ref]Live {
		out := map[object.Ref]Live{}
		for _, o := range owned {
			out[o.Ref] = Live{Found: true, UID: "u", ApplyHash: "o", OwnerLabel: "me"}
		}
		return out
	}
	unseen := map[string]string{"secrets": "forbidden"}
	for name, tt := range map[string]struct {
		in             Input
		marks          Marks
		looks, rebuilt bool
		owned, unseen  int
	}{
		"new":                       {Input{}, Marks{}, false, false, 0, 0},
		"delivered, and nothing":    {Input{Delivered: true}, Marks{}, true, false, 0, 0},
		"delivered, and unseen":     {Input{Delivered: true}, Marks{Unseen: unseen}, true, false, 0, 1},
		"delivered, and found":      {Input{Delivered: true}, Marks{Inventory: []InventoryEntry{a}, Live: live(a), Unseen: unseen}, true, true, 1, 1},
		"damaged":                   {Input{Damaged: true}, Marks{}, true, true, 0, 0},
		"complete":                  {Input{Recorded: true, Inventory: []InventoryEntry{recorded}}, Marks{}, false, false, 1, 0},
		"incomplete, seen now":      {Input{Recorded: true, Inventory: []InventoryEntry{recorded}, Unseen: []string{"secrets"}}, Marks{Inventory: []InventoryEntry{a}, Live: live(a)}, true, false, 1, 0},
		"incomplete, and unseen":    {Input{Recorded: true, Inventory: []InventoryEntry{recorded}, Unseen: []string{"secrets"}}, Marks{Inventory: []InventoryEntry{a}, Live: live(a), Unseen: unseen}, true, false, 1, 1},
		"incomplete, and found":     {Input{Recorded: true, Inventory: []InventoryEntry{recorded}, Unseen: []string{"secrets"}}, Marks{Inventory: []InventoryEntry{a, b}, Live: live(a, b)}, true, true, 2, 0},
		"lost, what is declared is": {Input{Owner: "me", Desired: []Desired{{Ref: a.Ref}}, Live: live(a)}, Marks{Inventory: []InventoryEntry{a}, Live: live(a)}, true, true, 1, 0},
	} {
		in := tt.in
		if in.Live == nil {
			in.Live = map[object.Ref]Live{}
		}
		if in.Looks() != tt.looks {
			t.Errorf("%s: looks %t", name, in.Looks())
		}
		if !tt.looks {
			continue
		}
		in.Rebuild(tt.marks, nil)
		if in.Rebuilt != tt.rebuilt || len(in.Inventory) != tt.owned || len(in.Unseen) != tt.unseen || in.Rebuilt && len(in.Live) != len(tt.marks.Live) {
			t.Errorf("%s: %+v", name, in)
		}
		if in.Recorded && in.Inventory[0].Digest != "d" {
			t.Errorf("%s: what was recorded is not known any more", name)
		}
	}
}

// What marks alone tell of is somebody else's for all that is known, unless a kept revision says that it was made here: what is declared
// again is a rollback's to let go, and deleting what is not wants the user's word.
func TestRebuiltOwners(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	live := Live{Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "o", OwnerLabel: "me"}
	for name, c := range map[string]struct {
		declared    bool
		took        map[string]string
		taken       string
		apply, back string
	}{
		"nobody knows":                     {false, nil, ByMarks, "delete " + ByMarks, "release " + ByMarks},
		"nobody knows, and it is declared": {true, nil, Earlier, "delete ", "release " + Earlier},
		"made here":                        {false, map[string]string{"u": ""}, "", "delete ", "delete "},
		"made here, and it is declared":    {true, map[string]string{"u": ""}, "", "delete ", "delete "},
		"taken over":                       {false, map[string]string{"u": "Helm release x"}, ByMarks, "delete " + ByMarks, "release " + ByMarks},
		"taken over, and it is declared":   {true, map[string]string{"u": "Helm release x"}, "Helm release x", "delete ", "release Helm release x"},
		"another object":                   {false, map[string]string{"other": ""}, ByMarks, "delete " + ByMarks, "release " + ByMarks},
	} {
		in := Input{Owner: "me", Damaged: true, Live: map[object.Ref]Live{}}
		if c.declared {
			in.Desired = []Desired{{Ref: ref}}
		}
		in.Rebuild(Marks{Inventory: []InventoryEntry{FromMarks(ref, "v1", "web", live)}, Live: map[object.Ref]Live{ref: live}}, c.took)
		if len(in.Inventory) != 1 || in.Inventory[0].Taken != c.taken {
			t.Errorf("%s: %+v", name, in.Inventory)
		}
		if now := in.Inventory[0].declared("u"); now != map[bool]string{true: Earlier, false: c.taken}[c.taken == ByMarks] {
			t.Errorf("%s, and it is declared since: %q", name, now)
		}
		for back, want := range map[bool]string{false: c.apply, true: c.back} {
			p := Compute(Input{Owner: "me", Recorded: true, Inventory: in.Inventory, Live: in.Live, Options: Options{RollingBack: back, BackTo: "1"}})
			if len(p.Changes) != 1 || string(p.Changes[0].Action)+" "+p.Changes[0].From != want {
				t.Errorf("%s, rollback %v: %+v", name, back, p.Changes)
			}
		}
	}
}

// Standing tells a lost record from none, and from one that could not be looked for.
func TestStanding(t *testing.T) {
	a := InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}
	for _, tt := range []struct {
		marks         Marks
		lost, unknown string
	}{
		{Marks{}, "", ""},
		{Marks{Inventory: []InventoryEntry{{Ref: object.Ref{Kind: "Namespace", Name: "ns"}, OwnNamespace: true}}}, "", ""},
		{Marks{Inventory: []InventoryEntry{a}, Unseen: map[string]string{"secrets": "no"}}, "1 object with its marks: ConfigMap ns/a", ""},
		{Marks{Unseen: map[string]string{"secrets": "no"}}, "", "could not be seen: secrets: no"},
	} {
		lost, unknown := tt.marks.Standing()
		if lost != tt.lost || !strings.HasSuffix(unknown, tt.unknown) || (unknown == "") != (tt.unknown == "") {
			t.Errorf("%q %q", lost, unknown)
		}
	}
}
