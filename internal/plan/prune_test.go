package plan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestPruneOfMovedObjects: what lost our owner label is let go, and where another manager took fields of ours the deletion
// says so, by name, for those who ask about deletions. What is left to others, and to an autoscaler, was not taken.
func TestPruneOfMovedObjects(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	ours := Live{Found: true, UID: "u", ResourceVersion: "2", ApplyHash: "e", OwnerLabel: "me"}
	for name, tt := range map[string]struct {
		change func(*Live)
		action Action
		why    string
		taken  string
	}{
		"as written":                {func(*Live) {}, Delete, "no longer in the bundle", ""},
		"without label":             {func(l *Live) { l.OwnerLabel = "" }, Release, "no longer carries our owner label", ""},
		"fields taken":              {func(l *Live) { l.ApplyHash, l.Foreign = "less", "kubectl-edit" }, Delete, "no longer in the bundle; kubectl-edit has taken fields of it since it was written", "kubectl-edit"},
		"others' fields":            {func(l *Live) { l.Foreign = "kubectl-edit" }, Delete, "no longer in the bundle", ""},
		"left to others":            {func(l *Live) { l.ApplyHash, l.Foreign, l.LeftToOthers = "less", "kubectl-edit", true }, Delete, "no longer in the bundle", ""},
		"a release of Helm's again": {func(l *Live) { l.Released, l.Foreign = true, "Helm release ns/a" }, Release, "Helm release ns/a manages it too", ""},
		"without an entry":          {func(l *Live) { l.ApplyHash = "" }, Release, "no longer carries our managed fields entry", ""},
		"scaled":                    {func(l *Live) { l.ApplyHash, l.ReplicasOwner = "less", "kubectl" }, Delete, "no longer in the bundle; kubectl has taken fields of it since it was written", "kubectl"},
		"scaled to 0":               {func(l *Live) { l.ApplyHash = "less" }, Delete, "no longer in the bundle; somebody (scaled to 0) has taken fields of it since it was written", "somebody (scaled to 0)"},
		"autoscaled": {func(l *Live) {
			l.ApplyHash, l.ReplicasOwner, l.Autoscaler = "less", "hpa", "HorizontalPodAutoscaler ns/a"
		}, Delete, "no longer in the bundle", ""},
	} {
		live := ours
		tt.change(&live)
		p := Compute(Input{Owner: "me", Inventory: []InventoryEntry{{Ref: ref, UID: "u", ResourceVersion: "1", ApplyHash: "e", Replicas: true}}, Live: map[object.Ref]Live{ref: live}})
		if len(p.Changes) != 1 || p.Changes[0].Action != tt.action || p.Changes[0].Why != tt.why || p.Changes[0].TakenBy != tt.taken {
			t.Errorf("%s: %+v", name, p.Changes)
		}
	}
}

// TestPruneSaysWhy: an instance that has no place here any more is still in the bundle.
func TestPruneSaysWhy(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	for _, tt := range []struct {
		away     map[string]string
		deleting bool
		why      string
	}{
		{nil, false, "no longer in the bundle"},
		{map[string]string{"web": "group production is not staging"}, false, "not placed here any more"},
		{map[string]string{"api": "group production is not staging"}, false, "no longer in the bundle"},
		{nil, true, ""},
	} {
		p := Compute(Input{Owner: "me", NotPlaced: tt.away, Inventory: []InventoryEntry{{Ref: ref, UID: "u", ApplyHash: "e", Instance: "web"}},
			Live: map[object.Ref]Live{ref: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}}, Options: Options{Deleting: tt.deleting}})
		if len(p.Changes) != 1 || p.Changes[0].Action != Delete || p.Changes[0].Why != tt.why {
			t.Errorf("%+v: %+v", tt, p.Changes)
		}
	}
}

// An object whose kind is not served is never "already gone": it stays in the inventory and the plan is refused, for a
// prune and for a delete, until it is let go on purpose. One that lives on under another group is let go.
func TestPruneOfUnservedKinds(t *testing.T) {
	ref := object.Ref{Group: "y.dev", Kind: "V", Namespace: "ns", Name: "a"}
	input := Input{Owner: "me", Inventory: []InventoryEntry{{Ref: ref, UID: "u", ApplyHash: "e"}}, Live: map[object.Ref]Live{ref: {Unserved: true, Unseen: "no"}}}
	for _, deleting := range []bool{false, true} {
		input.Options = Options{Deleting: deleting}
		p := Compute(input)
		if len(p.Changes) != 0 || len(p.Kept) != 1 || len(p.Findings.Errors()) != 1 || p.Findings[0].Code != string(CodeUnserved) {
			t.Errorf("deleting %v: %+v", deleting, p)
		}
	}
	input.Inventory[0].Schema, input.Inventory[0].Version = "v1.33", "v1"
	if p := Compute(input); len(p.Findings.Errors()) != 1 || !strings.Contains(p.Findings[0].Fix, "APIService v1.y.dev") {
		t.Errorf("of a server of its own: %+v", p.Findings)
	}
	input.Options.LetUnserved = true
	if p := Compute(input); len(p.Changes) != 1 || p.Changes[0].Action != Release || p.Changes[0].Code != CodeUnserved || p.Findings.HasErrors() {
		t.Errorf("let go: %+v", p)
	}
	input.Options = Options{}
	moved := object.Ref{Group: "z.dev", Kind: "V", Namespace: "ns", Name: "a"}
	input.Desired = []Desired{{Ref: moved}}
	input.Live[moved] = Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
	for _, ch := range Compute(input).Changes {
		if ch.Ref == ref && (ch.Action != Release || ch.Code != CodeReplaced) {
			t.Errorf("under another group: %+v", ch)
		}
	}
	hook := InventoryEntry{Ref: ref, UID: "u", ApplyHash: "e", Hook: &HookRun{}}
	p := Compute(Input{Owner: "me", Inventory: []InventoryEntry{hook}, Live: map[object.Ref]Live{ref: {Unserved: true}}, Options: Options{Deleting: true}})
	if len(p.Findings.Errors()) != 1 || len(p.Changes) != 0 {
		t.Errorf("a hook's: %+v", p)
	}
}

// What somebody's release took over again is not taken back, as declared too, by whatever command, unless with --adopt; who writes it
// again and again is to let it go.
func TestRetakenIsRefused(t *testing.T) {
	a := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	ours := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me", ResourceVersion: "1"}
	helm, flux := ours, ours
	helm.Released, helm.Foreign, helm.ForeignManagers = true, "Helm release ns/a", []string{"helm"}
	flux.Reconciled, flux.Foreign, flux.ForeignManagers = true, "Flux Kustomization ns/a", []string{"kustomize-controller"}
	for name, c := range map[string]struct {
		options Options
		live    Live
		digest  string
		want    string
	}{
		"a rollback":                      {Options{RollingBack: true}, helm, "e", "conflict foreign-owner"},
		"a rollback, as declared":         {Options{RollingBack: true}, helm, "d", "conflict foreign-owner"},
		"a correction":                    {Options{NoPrune: true}, helm, "d", "conflict foreign-owner"},
		"with --adopt":                    {Options{NoPrune: true, Adopt: true}, helm, "d", "adopt "},
		"an apply, as its files say":      {Options{}, helm, "e", "conflict foreign-owner"},
		"an apply, as declared":           {Options{}, helm, "d", "conflict foreign-owner"},
		"an apply with --adopt":           {Options{Adopt: true}, helm, "e", "adopt "},
		"an apply, a reconciler's":        {Options{}, flux, "d", "conflict foreign-owner"},
		"a reconciler":                    {Options{RollingBack: true}, flux, "e", "conflict foreign-owner"},
		"a reconciler, even with --adopt": {Options{RollingBack: true, Adopt: true}, flux, "e", "conflict foreign-owner"},
		"nobody":                          {Options{RollingBack: true}, ours, "e", "update "},
	} {
		p := Compute(Input{Owner: "me", Desired: []Desired{{Ref: a, Digest: c.digest}}, Inventory: []InventoryEntry{{Ref: a, UID: "u", ApplyHash: "e", Digest: "d"}},
			Live: map[object.Ref]Live{a: c.live}, Options: c.options})
		got := ""
		for _, ch := range p.Changes {
			got += string(ch.Action) + " "
		}
		for _, f := range p.Findings {
			if got += f.Code; f.Severity == diag.Error && (!strings.Contains(f.Why, c.live.Foreign) || f.Fix == "") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestEjecting: whatever the inventory names stays without our marks, those that it still has; what is another bundle's, or gone, is
// let go as ever. What is being deleted does not stay, and that is said.
func TestEjecting(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	ours := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
	kept, theirs, leaving, another, reconciled, released := ours, ours, ours, ours, ours, ours
	reconciled.Foreign, reconciled.Reconciled, released.Foreign, released.Released = "Flux Kustomization flux-system/apps", true, "Helm release ns/web", true
	kept.Keep, theirs.OwnerLabel, leaving.Terminating, another.UID = true, "other", true, "v"
	leaving.Since, leaving.Held = "2026-07-01T10:00:00Z", "held by finalizer example.com/hold"
	for name, c := range map[string]struct {
		owned InventoryEntry
		live  Live
		want  Code
	}{
		"ours":                                  {InventoryEntry{}, ours, CodeEjected},
		"annotated to stay":                     {InventoryEntry{}, kept, CodeEjected},
		"its own namespace":                     {InventoryEntry{OwnNamespace: true}, ours, CodeEjected},
		"being deleted":                         {InventoryEntry{}, leaving, CodeEjected},
		"left by a hook":                        {InventoryEntry{Hook: &HookRun{Event: object.PreInstall}}, ours, CodeEjected},
		"another bundle's":                      {InventoryEntry{}, theirs, CodeForeign},
		"gone":                                  {InventoryEntry{}, Live{}, CodeGone},
		"another object":                        {InventoryEntry{}, another, CodeEjected},
		"another bundle's, whose label is gone": {InventoryEntry{}, Live{Found: true, UID: "u", ApplyHash: "e", Foreign: "Hawser bundle b", ForeignBundle: true}, CodeForeign},
		"Flux's, too":                           {InventoryEntry{}, reconciled, CodeEjected},
		"Helm's, too":                           {InventoryEntry{}, released, CodeEjected},
		"without our entry":                     {InventoryEntry{}, Live{Found: true, UID: "u", OwnerLabel: "me"}, CodeEjected},
		"without our label":                     {InventoryEntry{}, Live{Found: true, UID: "u", ApplyHash: "e"}, CodeEjected},
		"without our marks":                     {InventoryEntry{}, Live{Found: true, UID: "u"}, CodeEjected},
		"kind is not served":                    {InventoryEntry{}, Live{Unserved: true}, CodeUnserved},
	} {
		t.Run(name, func(t *testing.T) {
			c.owned.Ref, c.owned.UID, c.owned.ApplyHash, c.owned.Instance = ref, "u", "e", "web"
			p := Compute(Input{Owner: "me", Inventory: []InventoryEntry{c.owned}, Live: map[object.Ref]Live{ref: c.live},
				Options: Options{Deleting: true, Ejecting: true, NoHooks: true, LetUnserved: true}})
			if len(p.Changes) != 1 || p.Changes[0].Action != Release || p.Changes[0].Code != c.want {
				t.Fatalf("%+v, want %s", p.Changes, c.want)
			}
			if ch := p.Changes[0]; ch.Leaving != c.live.Terminating || ch.Leaving && ch.Why != "is being deleted (since 2026-07-01T10:00:00Z, held by finalizer example.com/hold)" {
				t.Errorf("leaving %t: %q", ch.Leaving, ch.Why)
			}
			if why := p.Changes[0].Why; c.live.Foreign != "" && !c.live.ForeignBundle && why != c.live.Foreign+" manages it too" || strings.Contains(why, "stays") {
				t.Errorf("why: %q", why)
			}
		})
	}
}

// TestFreed: what an eject that has not ended took our marks off is ours no longer: declared, it is a conflict as any foreign object
// is; not declared, it is let go, by whatever command. What it has not come to is ours.
func TestFreed(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	ours, free := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}, Live{Found: true, UID: "u"}
	taken := free
	taken.Foreign, taken.ForeignManagers = "somebody", []string{"somebody"}
	declared := []Desired{{Ref: ref, Digest: "d", Instance: "web"}}
	for name, c := range map[string]struct {
		in   Input
		live Live
		want string
	}{
		"declared":                      {Input{Desired: declared}, taken, "conflict foreign-owner"},
		"declared, and nobody has it":   {Input{Desired: declared}, free, "conflict foreign-owner"},
		"taken back":                    {Input{Desired: declared, Options: Options{Adopt: true}}, taken, "adopt "},
		"a namespace that is used":      {Input{Desired: []Desired{{Ref: ref, Digest: "d", OwnNamespace: true}}}, free, ""},
		"not declared":                  {Input{}, taken, "release "},
		"nothing is pruned":             {Input{Options: Options{NoPrune: true}}, taken, "release "},
		"its instance is left as it is": {Input{Suspended: map[string]bool{"web": true}}, taken, "release "},
		"a hook's object":               {Input{Inventory: []InventoryEntry{{Ref: ref, UID: "u", ApplyHash: "e", Instance: "web", Hook: &HookRun{Event: object.PostInstall}}}, Suspended: map[string]bool{"web": false}}, taken, "release "},
		"not freed yet":                 {Input{Desired: declared}, ours, ""},
		"the eject goes on":             {Input{Options: Options{Deleting: true, Ejecting: true, NoHooks: true}}, taken, "release "},
	} {
		in := c.in
		in.Owner, in.Freeing, in.Open, in.Live = "me", true, true, map[object.Ref]Live{ref: c.live}
		if in.Inventory == nil {
			in.Inventory = []InventoryEntry{{Ref: ref, UID: "u", ApplyHash: "e", Digest: "d", Instance: "web"}}
		}
		p, got := Compute(in), ""
		for _, ch := range p.Changes {
			got += string(ch.Action) + " "
		}
		for _, f := range p.Findings {
			if got += f.Code; !strings.Contains(f.Fix, "--adopt") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got != c.want || name != "not freed yet" && len(p.Kept) > 0 {
			t.Errorf("%s: %s, want %s; kept %v", name, got, c.want, p.Kept)
		}
	}
}
