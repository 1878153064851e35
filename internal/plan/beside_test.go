package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// What one bundle drops and another of the same files declares is handed over: let go here, taken over there.
func TestMovedBetweenBundles(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	owned := []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ApplyHash: "e", Digest: "d"}}
	live := func(change func(*Live)) map[object.Ref]Live {
		l := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
		change(&l)
		return map[object.Ref]Live{ref: l}
	}
	beside := Beside{Declares: map[object.Ref]Declaration{ref: {Bundle: "other"}}}
	for name, tt := range map[string]struct {
		in     Input
		action Action
		code   Code
		why    string
	}{
		"declared by nobody":      {Input{Live: live(func(*Live) {})}, Delete, CodeDropped, "no longer in the bundle"},
		"declared beside":         {Input{Live: live(func(*Live) {}), Beside: beside}, Release, CodeMoved, "handed to bundle other of the same files, which declares it"},
		"the bundle is deleted":   {Input{Live: live(func(*Live) {}), Beside: beside, Options: Options{Deleting: true}}, Release, CodeMoved, "handed to bundle other"},
		"it is going already":     {Input{Live: live(func(l *Live) { l.Terminating = true }), Beside: beside}, Release, CodeMoved, "handed to bundle other"},
		"the other one was first": {Input{Live: live(func(l *Live) { l.OwnerLabel, l.ForeignBundle, l.Foreign = "o", true, "Hawser bundle other" }), Beside: beside}, Release, CodeForeign, "managed by Hawser bundle other now"},
		"it is gone":              {Input{Live: map[object.Ref]Live{ref: {}}, Beside: beside}, Release, CodeGone, "already gone"},
	} {
		tt.in.Owner, tt.in.Inventory = "me", owned
		p := Compute(tt.in)
		if len(p.Changes) != 1 || p.Changes[0].Action != tt.action || p.Changes[0].Code != tt.code || !strings.HasPrefix(p.Changes[0].Why, tt.why) {
			t.Errorf("%s: %+v", name, p.Changes)
		}
	}
}

// An object of another bundle of the same files is taken over without --adopt only when that bundle is known to be theirs,
// wrote it alone, and nobody beside declares it any more.
func TestTakenOverFromBeside(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	theirs := Live{Found: true, UID: "u", OwnerLabel: "o", ForeignBundle: true, Foreign: "Hawser bundle other", ForeignManagers: []string{object.Manager("o")}}
	yields := map[string]string{"o": "other"}
	for name, tt := range map[string]struct {
		change func(*Live)
		beside Beside
		action Action
		code   Code
	}{
		"moved":                      {func(*Live) {}, Beside{Yields: yields}, Adopt, CodeMoved},
		"moved by half":              {func(l *Live) { l.OwnerLabel, l.ApplyHash = "me", "e" }, Beside{Yields: yields}, Adopt, CodeMoved},
		"declared there too":         {func(*Live) {}, Beside{Yields: yields, Declares: map[object.Ref]Declaration{ref: {Bundle: "other"}}}, Conflict, CodeForeign},
		"declared by a third":        {func(*Live) {}, Beside{Yields: yields, Declares: map[object.Ref]Declaration{ref: {Bundle: "third"}}}, Conflict, CodeForeign},
		"not in the files":           {func(*Live) {}, Beside{}, Conflict, CodeForeign},
		"somebody else's, same name": {func(*Live) {}, Beside{Yields: map[string]string{"p": "pay"}}, Conflict, CodeForeign},
		"a third bundle wrote it too": {func(l *Live) { l.ForeignManagers = append(l.ForeignManagers, object.Manager("t")) },
			Beside{Yields: yields}, Conflict, CodeForeign},
		"labelled by a third":              {func(l *Live) { l.OwnerLabel = "t" }, Beside{Yields: yields}, Conflict, CodeForeign},
		"of these files by its path alone": {func(*Live) {}, Beside{Doubts: yields}, Conflict, CodeForeign},
		"no bundle's":                      {func(l *Live) { l.ForeignBundle = false }, Beside{Yields: yields}, Conflict, CodeForeign},
	} {
		l := theirs
		l.ForeignManagers = append([]string{}, theirs.ForeignManagers...)
		tt.change(&l)
		in := Input{Owner: "me", Bundle: "mine", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "d"}}, Live: map[object.Ref]Live{ref: l}, Beside: tt.beside}
		p := Compute(in)
		if len(p.Changes) != 1 || p.Changes[0].Action != tt.action || p.Changes[0].Code != tt.code || p.Findings.HasErrors() != (tt.action == Conflict) {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
		if len(tt.beside.Doubts) > 0 {
			for _, want := range []string{"other was applied from a directory of this path", "is mine now", "hawser.lock", "--adopt", "--take-over"} {
				if !strings.Contains(p.Findings[0].String(), want) {
					t.Errorf("%s: %q is not in %v", name, want, p.Findings)
				}
			}
		}
		if third := tt.beside.Declares[ref].Bundle; third != "" && !strings.Contains(p.Findings[0].String(), "bundle "+third+" of the same files declares it too") {
			t.Errorf("%s: %v", name, p.Findings)
		}
		if next := Compute(Simulate(in)); tt.action == Adopt && !next.Empty() {
			t.Errorf("%s: left to do: %+v", name, next.Changes)
		}
	}
}

// A Namespace is the bundle's that declares it: it goes over from one that merely uses it, and that one lets it go.
func TestNamespaceGoesToWhoDeclaresIt(t *testing.T) {
	ref := object.Ref{Kind: "Namespace", Name: "ns"}
	theirs := Live{Found: true, UID: "u", OwnerLabel: "o", ForeignBundle: true, Foreign: "Hawser bundle other", ForeignManagers: []string{object.Manager("o")}}
	ours := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
	owned := []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ApplyHash: "e", Digest: "was"}}
	of := func(uses ...bool) (b Beside) {
		b.Yields = map[string]string{"o": "other"}
		for _, u := range uses {
			b.Add("other", []Desired{{Ref: ref, OwnNamespace: u}}, nil, nil, plural)
		}
		return b
	}
	for name, tt := range map[string]struct {
		uses   bool
		owned  []InventoryEntry
		live   Live
		beside Beside
		action Action
	}{
		"declared here, used there":                     {false, nil, theirs, of(true), Adopt},
		"declared in both":                              {false, nil, theirs, of(false), Conflict},
		"declared in a third, used there":               {false, nil, theirs, of(true, false), Conflict},
		"used here, declared there, not taken yet":      {true, owned, ours, of(false), Release},
		"used here, declared there, taken":              {true, owned, theirs, of(false), Release},
		"used here, and taken by a bundle of elsewhere": {true, owned, theirs, Beside{}, Release},
		"used here and there":                           {true, owned, ours, of(true), Update},
		"used here, declared there, not ours":           {true, nil, theirs, of(false), ""},
	} {
		in := Input{Owner: "me", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "d", OwnNamespace: tt.uses}}, Inventory: tt.owned,
			Live: map[object.Ref]Live{ref: tt.live}, Beside: tt.beside}
		p := Compute(in)
		var got Action
		if len(p.Changes) > 0 {
			got = p.Changes[0].Action
		}
		if got != tt.action || len(p.Changes) > 1 || p.Findings.HasErrors() != (tt.action == Conflict) {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
		in.Beside = Beside{}
		if asks := AsksBeside(in); !asks && tt.action != "" {
			t.Errorf("%s: the others are not asked", name)
		}
	}
}

// The other bundles are asked where a plan deletes, or where another bundle has what is declared; never otherwise.
func TestAsksBeside(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	hook := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "hook"}
	ours := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
	desired, owned := []Desired{{Ref: ref, Version: "v1", Digest: "d"}}, []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ApplyHash: "e", Digest: "d"}}
	for name, tt := range map[string]struct {
		in   Input
		want bool
	}{
		"as declared":      {Input{Desired: desired, Inventory: owned, Live: map[object.Ref]Live{ref: ours}}, false},
		"new":              {Input{Desired: desired, Live: map[object.Ref]Live{}}, false},
		"dropped":          {Input{Inventory: owned, Live: map[object.Ref]Live{ref: ours}}, true},
		"dropped and gone": {Input{Inventory: owned, Live: map[object.Ref]Live{}}, false},
		"another bundle's": {Input{Desired: desired, Live: map[object.Ref]Live{ref: {Found: true, UID: "u", OwnerLabel: "o", ForeignBundle: true}}}, true},
		"what is left of another bundle's hook": {Input{Desired: append(slices.Clone(desired), Desired{Ref: hook, Hook: &object.Hook{}}), Inventory: owned,
			Live: map[object.Ref]Live{ref: ours, hook: {Found: true, UID: "h", OwnerLabel: "o", ForeignBundle: true}}}, true},
		"of kubectl": {Input{Desired: desired, Live: map[object.Ref]Live{ref: {Found: true, UID: "u", Foreign: "kubectl"}}}, false},
	} {
		tt.in.Owner = "me"
		if got := AsksBeside(tt.in); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Declared is what is rendered and what suspended instances have; hooks are no lasting objects.
func TestBesideAdd(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name} }
	var b Beside
	b.Add("first", []Desired{{Ref: ref("a")}, {Ref: ref("hook"), Hook: &object.Hook{}}}, []InventoryEntry{{Ref: ref("old"), Instance: "app"},
		{Ref: ref("asleep"), Instance: "web"}, {Ref: ref("ran"), Instance: "web", Hook: &HookRun{}}}, map[string]bool{"web": true}, plural)
	b.Add("second", []Desired{{Ref: ref("a")}, {Ref: ref("b")}}, nil, nil, plural)
	want := map[object.Ref]Declaration{ref("a"): {Bundle: "first"}, ref("asleep"): {Bundle: "first", Instance: "web"}, ref("b"): {Bundle: "second"}}
	if !maps.Equal(b.Hooks, map[object.Ref]string{ref("hook"): "first"}) {
		t.Errorf("hooks: %v", b.Hooks)
	}
	if !maps.Equal(b.Declares, want) {
		t.Errorf("%v, want %v", b.Declares, want)
	}
	if got := b.Stands[object.Ref{Kind: "Namespace", Name: "ns"}]; got != "stays for ConfigMap ns/a of bundle first of the same files" {
		t.Errorf("the namespace %s", got)
	}
}

func plural(gk schema.GroupKind) string { return strings.ToLower(gk.Kind) + "s" }

// A Namespace or definition that one bundle drops stays for what another of the same files has in it or of it, new or not, hooks
// and suspended instances included, and as long as it has: then it is pruned. A delete of the bundle is held up by what is there.
func TestWhatOthersStandOn(t *testing.T) {
	crd := object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "bars.x.io"}
	ns := object.Ref{Kind: "Namespace", Name: "ns"}
	bar := Desired{Ref: object.Ref{Group: "x.io", Kind: "Bar", Namespace: "ns", Name: "one"}}
	hook := Desired{Ref: bar.Ref, Hook: &object.Hook{}}
	asleep := InventoryEntry{Ref: bar.Ref, Instance: "web"}
	own := Desired{Ref: ns, OwnNamespace: true}
	deleting, stays := Options{Deleting: true}, "stays for Bar ns/one of bundle b of the same files"
	for name, tt := range map[string]struct {
		desired []Desired
		owned   []InventoryEntry
		drops   object.Ref
		options Options
		lent    bool // before
		action  Action
		why     string
	}{
		"in the namespace":                {[]Desired{bar}, nil, ns, Options{}, false, Release, stays},
		"of the kind":                     {[]Desired{bar}, nil, crd, Options{}, false, Release, stays},
		"a hook":                          {[]Desired{hook}, nil, crd, Options{}, false, Release, stays},
		"a suspended one":                 {nil, []InventoryEntry{asleep}, ns, Options{}, false, Release, stays},
		"another namespace and kind":      {[]Desired{{Ref: object.Ref{Group: "y.io", Kind: "Bar", Namespace: "no", Name: "one"}}}, nil, ns, Options{}, false, Delete, "no longer in the bundle"},
		"of the other group":              {[]Desired{{Ref: object.Ref{Group: "y.io", Kind: "Bar", Name: "one"}}}, nil, crd, Options{}, false, Delete, "no longer in the bundle"},
		"an instance's own, and in it":    {[]Desired{bar, own}, nil, ns, Options{}, false, Release, "handed to bundle b of the same files, which declares or uses it"},
		"declared there":                  {[]Desired{bar, {Ref: crd}}, nil, crd, Options{}, false, Release, "handed to bundle b of the same files, which declares it"},
		"let go before":                   {[]Desired{bar}, nil, crd, Options{}, true, "", ""},
		"let go before, and nobody's now": {nil, nil, crd, Options{}, true, Delete, "was let go for another bundle of the same files, and is declared nowhere any more"},
		"a delete":                        {[]Desired{bar}, nil, crd, deleting, false, Delete, ""},
		"a delete of what was let go":     {[]Desired{bar}, nil, crd, deleting, true, "", ""},
	} {
		o := InventoryEntry{Ref: tt.drops, Version: "v1", Instance: "app", UID: "u", ApplyHash: "e", Digest: "d"}
		in := Input{Owner: "me", Live: map[object.Ref]Live{tt.drops: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}}, Options: tt.options,
			Contents: map[object.Ref]Contents{tt.drops: {}}, Beside: Beside{Told: true}, Inventory: []InventoryEntry{o}}
		if tt.lent {
			in.Inventory, in.Lent = nil, in.Inventory
		}
		in.Beside.Add("b", tt.desired, tt.owned, map[string]bool{"web": true}, plural)
		p := Compute(in)
		var got Change
		if len(p.Changes) > 0 {
			got = p.Changes[0]
		}
		if got.Action != tt.action || got.Why != tt.why || len(p.Changes) > 1 || p.Findings.HasErrors() {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
		if stays := got.Action == Release || tt.lent; stays != (len(p.Lent) == 1) {
			t.Errorf("%s: lent %v", name, p.Lent)
		}
	}
}

// An instance whose installation has not ended does not wait for a bundle that merely stands on its Namespace: it takes nothing.
func TestNobodyWaitsForWhoStandsOnIt(t *testing.T) {
	ns := object.Ref{Kind: "Namespace", Name: "ns"}
	for name, desired := range map[string][]Desired{"in it": {{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}}, "its own": {{Ref: ns, OwnNamespace: true}}} {
		in := Input{Owner: "me", Live: map[object.Ref]Live{ns: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}},
			Inventory: []InventoryEntry{{Ref: ns, Version: "v1", Instance: "app", UID: "u", ApplyHash: "e"}}, HookStates: map[string]HookState{"app": {Step: Install}}}
		in.Beside.Add("b", desired, nil, nil, plural)
		if p := Compute(in); len(p.Changes) != 1 || p.Changes[0].Action != Release || len(p.Findings) > 0 {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
	}
}

// TestDeclaredByTwoBundles: what two bundles of the same files would both make is said with both places, in the plan of
// each. Namespaces that instances use are shared, and what is there already is another finding's matter.
func TestDeclaredByTwoBundles(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	pos := func(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line} }
	in := Input{Owner: "me", Bundle: "one", Live: map[object.Ref]Live{}, Desired: []Desired{{Ref: ref, Instance: "app", Version: "v1", Digest: "d",
		Pos: pos("first.yaml", 1), Declared: pos("bundle.yaml", 5)}}}
	in.Beside.Add("two", []Desired{{Ref: ref, Instance: "web", Pos: pos("second.yaml", 7), Declared: pos("bundle.yaml", 12)}}, nil, nil, plural)
	fs := Compute(in).Findings
	if len(fs) != 1 || fs[0].Code != "duplicate-object" || fs[0].Pos != pos("first.yaml", 1) || fs[0].What != "bundles one and two of the same files declare the same object" ||
		fs[0].Why != "instance app is declared at bundle.yaml:5; instance web of bundle two declares it at second.yaml:7 (instance at bundle.yaml:12)" {
		t.Errorf("%+v", fs)
	}
	if !Makes(in) {
		t.Error("it makes nothing?")
	}
	namespace := object.Ref{Kind: "Namespace", Name: "ns"}
	for name, own := range map[string][2]bool{"used by both": {true, true}, "declared here": {false, true}, "declared there": {true, false}, "declared by both": {false, false}} {
		in := Input{Owner: "me", Bundle: "one", Live: map[object.Ref]Live{}, Desired: []Desired{{Ref: namespace, OwnNamespace: own[0]}}}
		in.Beside.Add("two", []Desired{{Ref: namespace, OwnNamespace: own[1]}}, nil, nil, plural)
		if got := Compute(in).Findings.HasErrors(); got != (name == "declared by both") {
			t.Errorf("%s: %v", name, got)
		}
		if Makes(in) == own[0] {
			t.Errorf("%s: makes %v", name, Makes(in))
		}
	}
}

// TestFormerBundles: asked are the bundles that alone have what is declared, and that are not known; once each.
func TestFormerBundles(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name} }
	foreign := func(managers ...string) Live {
		return Live{Found: true, ForeignBundle: true, ForeignManagers: managers}
	}
	in := Input{Owner: "me", Live: map[object.Ref]Live{ref("a"): foreign(object.Manager("gone")), ref("b"): foreign(object.Manager("gone")),
		ref("c"): foreign(object.Manager("known")), ref("d"): foreign(object.Manager("x"), object.Manager("y")), ref("e"): foreign("helm"),
		ref("f"): {Found: true, Foreign: "kubectl", ForeignManagers: []string{"kubectl"}}, ref("g"): foreign(object.Manager("hook"))}}
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		in.Desired = append(in.Desired, Desired{Ref: ref(n)})
	}
	in.Desired = append(in.Desired, Desired{Ref: ref("g"), Hook: &object.Hook{}})
	if got := FormerBundles(in, map[string]string{"known": "web"}); !slices.Equal(got, []string{"gone", "hook"}) {
		t.Errorf("%v", got)
	}
}
