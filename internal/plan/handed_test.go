package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
)

type handedCase struct {
	name, input string
	with        func(*Input)
	want        string
	events      map[string]LifecycleStep
	lives       []string
	findings    string
}

var (
	handedWeb     = object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "web"}
	handedMigrate = object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	handedAccount = object.Ref{Kind: "ServiceAccount", Namespace: "ns", Name: "z"}

	handedLived = f(lifeWeb, "", `''`, "") + "\n" + list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true),
		`{ref: {kind: ServiceAccount, namespace: ns, name: z}, version: v1, instance: web, uid: z1, own: e, hook: {event: pre-install, done: true}}`) +
		list("live", liveWeb, f(liveMigrate, "u1"), `{ref: {kind: ServiceAccount, namespace: ns, name: z}, uid: z1, applyHash: e, ownerLabel: me}`)
	// a run that was to take the instance over ended in the middle
	handedBegun   = f(lifeWeb, "upgrade", "i1", "") + "\n" + list("owned", strings.Replace(ownedWeb, "uid: w, rv: '1', own: e", "uid: ''", 1))
	handedUpgrade = `create Job ns/migrate for pre-upgrade: runs before the upgrade
%s ConfigMap ns/web%s
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`
)

// handedTo is an object that another bundle has applied.
func handedTo(r object.Ref, owner, uid string) Live {
	return Live{Found: true, UID: uid, ResourceVersion: "1", OwnerLabel: owner, Foreign: "Hawser bundle " + owner, ForeignManagers: []string{object.Manager(owner)}, ForeignBundle: true}
}

// desiredFor is desiredWeb with other inputs of the instance.
func desiredFor(digest, inputs string) string {
	return strings.Replace(desiredWeb(digest, "m1"), "i1", inputs, 1)
}

var leavingCases = []handedCase{
	{"moved to another bundle of the files", "inputs: {other: o1}\n" + handedLived,
		func(in *Input) {
			in.Beside.Declares = map[object.Ref]Declaration{handedWeb: {Bundle: "b", Instance: "web"}}
		},
		`release ConfigMap ns/web: handed to bundle b of the same files, which declares it
delete Job ns/migrate for pre-install: left by a hook that is no longer declared
release ServiceAccount ns/z for pre-install: left by a hook of an instance that was handed over, which may use it
`, nil, nil, ""},
	{"moved before its installation ended", "inputs: {other: o1}\n" + strings.Replace(handedLived, f(lifeWeb, "", `''`, ""), f(lifeWeb, "install", "i1", "pre-install"), 1),
		func(in *Input) {
			in.Beside.Declares = map[object.Ref]Declaration{handedWeb: {Bundle: "b", Instance: "web"}}
		},
		"", nil, []string{"web"}, "hooks-handed-over"},
	{"taken by another bundle before", "inputs: {other: o1}\n" + handedLived,
		func(in *Input) { in.Live[handedWeb] = handedTo(handedWeb, "b", "w") },
		`release ConfigMap ns/web: managed by Hawser bundle b now
delete Job ns/migrate for pre-install: left by a hook that is no longer declared
release ServiceAccount ns/z for pre-install: left by a hook of an instance that was handed over, which may use it
`, nil, nil, ""},
	{"taken again by its former owner's release", "options: {deleting: true}\n" + handedLived,
		func(in *Input) {
			l := in.Live[handedWeb]
			l.Foreign, l.Released = "Helm release ns/web", true
			in.Live[handedWeb] = l
		},
		`release ConfigMap ns/web: Helm release ns/web manages it too
delete Job ns/migrate for pre-install
release ServiceAccount ns/z for pre-install: left by a hook of an instance that was handed over, which may use it
`, nil, nil, ""},
	{"the old record of a renamed bundle is deleted", "options: {deleting: true}\n" + handedLived,
		func(in *Input) { in.Live[handedWeb] = handedTo(handedWeb, "b", "w") },
		`release ConfigMap ns/web: managed by Hawser bundle b now
delete Job ns/migrate for pre-install
release ServiceAccount ns/z for pre-install: left by a hook of an instance that was handed over, which may use it
`, nil, nil, ""},
	{"a part goes, a part is handed over: the hooks do not run, and that is said", "inputs: {other: o1}\n" + handedLived,
		func(in *Input) {
			more := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "more"}
			in.Inventory = append(in.Inventory, InventoryEntry{Ref: more, Version: "v1", Instance: "web", UID: "x", ApplyHash: "e"})
			in.Live[more] = Live{Found: true, UID: "x", ApplyHash: "e", OwnerLabel: "me"}
			in.Beside.Declares = map[object.Ref]Declaration{handedWeb: {Bundle: "b", Instance: "web"}}
		},
		`delete ConfigMap ns/more: no longer in the bundle
release ConfigMap ns/web: handed to bundle b of the same files, which declares it
delete Job ns/migrate for pre-install: left by a hook that is no longer declared
release ServiceAccount ns/z for pre-install: left by a hook of an instance that was handed over, which may use it
`, nil, nil, "hooks-handed-over"},
	{"an object of the name that another bundle made anew is no hand-over", "inputs: {other: o1}\n" + handedLived,
		func(in *Input) { in.Live[handedWeb] = handedTo(handedWeb, "b", "other") },
		`create Job ns/bye for pre-delete, removed if succeeded, removed if failed: runs before the removal
release ConfigMap ns/web: is another object now (other uid)
delete Job ns/migrate for pre-install: left by a hook that is no longer declared
delete ServiceAccount ns/z for pre-install: left by a hook that is no longer declared
`, map[string]LifecycleStep{"web": Removal}, []string{"web"}, ""},
	{"a move that was cut short before anything was taken over, and taken back", "open: true\ninputs: {other: o1}\n" + handedBegun,
		func(in *Input) { in.Live[handedWeb] = handedTo(handedWeb, "b", "w") },
		"release ConfigMap ns/web: managed by Hawser bundle b now\n", nil, nil, ""},
	{"an adoption that was refused before anything was taken, and is given up", "options: {deleting: true}\nopen: true\n" + handedBegun,
		func(in *Input) {
			in.Live[handedWeb] = Live{Found: true, UID: "h", Foreign: "Helm release ns/web", ForeignManagers: []string{"helm"}}
		},
		"release ConfigMap ns/web: no longer carries our managed fields entry\n", nil, nil, ""},
	{"the same, and it was taken over; this bundle is done first", "open: true\ninputs: {other: o1}\n" + handedBegun,
		func(in *Input) {
			in.Live[handedWeb] = Live{Found: true, UID: "w", ApplyHash: "e", OwnerLabel: "me"}
			in.Beside.Declares = map[object.Ref]Declaration{handedWeb: {Bundle: "b", Instance: "web"}}
		}, "release ConfigMap ns/web: handed to bundle b of the same files, which declares it\n", nil, nil, ""},
	{"an installation that was cut short, and is given up", "open: true\ninputs: {other: o1}\n" + strings.Replace(handedBegun, "upgrade", "install", 1),
		func(in *Input) { in.Live[handedWeb] = Live{Found: true, UID: "w", ApplyHash: "e", OwnerLabel: "me"} },
		`create Job ns/bye for pre-delete, removed if succeeded, removed if failed: runs before the removal
delete ConfigMap ns/web: no longer in the bundle
`, map[string]LifecycleStep{"web": Removal}, []string{"web"}, ""},
	{"the same, and it was taken over, and renamed since", "open: true\n" + strings.ReplaceAll(desiredFor("d1", "i1"), "web: i1", "web2: i1") + handedBegun,
		func(in *Input) {
			in.Live[handedWeb] = Live{Found: true, UID: "w", ApplyHash: "e", OwnerLabel: "me"}
			renamed(in)
		}, f(handedUpgrade, "update", ": written by a run that ended before it was recorded"), map[string]LifecycleStep{"web2": Upgrade}, []string{"web2"}, ""},
	{"installed here, and what it was to take over as well never came", "open: true\ninputs: {other: o1}\n" + handedLived,
		func(in *Input) {
			more := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "more"}
			in.Inventory, in.Live[more] = append(in.Inventory, InventoryEntry{Ref: more, Version: "v1", Instance: "web"}), handedTo(more, "b", "x")
		},
		`create Job ns/bye for pre-delete, removed if succeeded, removed if failed: runs before the removal
release ConfigMap ns/more: managed by Hawser bundle b now
delete ConfigMap ns/web: no longer in the bundle
delete Job ns/migrate for pre-install: left by a hook that is no longer declared
delete ServiceAccount ns/z for pre-install: left by a hook that is no longer declared
`, map[string]LifecycleStep{"web": Removal}, []string{"web"}, ""},
	{"renamed, and otherwise as it was", strings.ReplaceAll(desiredFor("d1", "i1"), "web: i1", "web2: i1") + handedLived, renamed,
		"delete ServiceAccount ns/z for pre-install: it has succeeded\n", nil, []string{"web2"}, ""},
	{"renamed and changed: an upgrade", strings.ReplaceAll(desiredFor("d2", "i1"), "web: i1", "web2: i1") + handedLived, renamed,
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one of an earlier run is deleted before
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
delete ServiceAccount ns/z for pre-install: it has succeeded
`, map[string]LifecycleStep{"web2": Upgrade}, []string{"web2"}, ""},
	{"renamed while its installation had not ended", strings.ReplaceAll(desiredFor("d1", "i1"), "web: i1", "web2: i1") +
		strings.Replace(handedLived, "moment: ''", "moment: install", 1), renamed,
		`recreate ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation; the one of an earlier run is deleted before
recreate Job ns/migrate for pre-install: runs before the installation; the one of an earlier run is deleted before
`, map[string]LifecycleStep{"web2": Install}, []string{"web2"}, ""},
}

var comingCases = []handedCase{
	{"moved here from another bundle, which was done first", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb], in.Beside.Yields = handedTo(handedWeb, "a", "w"), map[string]string{"a": "shop"}
	}, f(handedUpgrade, "adopt", ": moved here from bundle shop of the same files"), map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"moved here, and what is left of its hooks is the other bundle's still", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb], in.Live[handedMigrate], in.Live[handedAccount] = handedTo(handedWeb, "a", "w"), handedTo(handedMigrate, "a", "m"), handedTo(handedAccount, "a", "z")
		in.Beside.Yields = map[string]string{"a": "shop"}
	}, `recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one of an earlier run is deleted before
adopt ConfigMap ns/web: moved here from bundle shop of the same files
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"the same, killed before the migration was made again", "open: true\n" + desiredFor("d1", "i1") + f(lifeWeb, "upgrade", "i1", "") + "\n" +
		list("owned", f(ownedMigrate, `''`, "pre-upgrade", false)), func(in *Input) {
		in.Live[handedWeb], in.Live[handedMigrate] = handedTo(handedWeb, "a", "w"), handedTo(handedMigrate, "a", "m")
		in.Beside.Yields = map[string]string{"a": "shop"}
	}, `recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one of an earlier run is deleted before
adopt ConfigMap ns/web: moved here from bundle shop of the same files
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"killed after it was taken over, with what is left of the other bundle's hook", "open: true\n" + desiredFor("d1", "i1") + f(lifeWeb, "upgrade", "i1", "pre-upgrade") + "\n" +
		list("owned", strings.Replace(ownedWeb, "uid: w, rv: '1', own: e", "uid: ''", 1)), func(in *Input) {
		bye := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "bye"}
		in.Live[handedWeb] = Live{Found: true, UID: "w", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "me"}
		in.Previews = map[object.Ref]Preview{handedWeb: {NoOp: true}}
		in.Live[bye] = handedTo(bye, "a", "h")
		in.Beside.Yields = map[string]string{"a": "shop"}
	}, `recreate Job ns/bye for post-upgrade, removed if failed: runs after the upgrade; the one of an earlier run is deleted before
`, map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"what is left of a hook that the other bundle declares too is that one's", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb], in.Live[handedMigrate] = handedTo(handedWeb, "a", "w"), handedTo(handedMigrate, "a", "m")
		in.Beside.Yields, in.Beside.Hooks = map[string]string{"a": "shop"}, map[object.Ref]string{handedMigrate: "shop"}
	}, `conflict Job ns/migrate for pre-upgrade: exists already, managed by Hawser bundle a
adopt ConfigMap ns/web: moved here from bundle shop of the same files
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, "foreign-owner"},
	{"moved here before its installation ended there", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb] = handedTo(handedWeb, "a", "w")
		in.Beside.Yields = map[string]string{"a": "shop"}
		in.Beside.Former = map[string]Former{"a": {Bundle: "shop", Inventory: []InventoryEntry{{Ref: handedWeb, Instance: "was", UID: "w"}}, HookStates: map[string]HookState{"was": {Step: Install}}}}
	}, `create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
create Job ns/migrate for pre-install: runs before the installation
adopt ConfigMap ns/web: moved here from bundle shop of the same files
`, map[string]LifecycleStep{"web": Install}, []string{"web"}, ""},
	{"moved here from where it was upgraded", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb] = handedTo(handedWeb, "a", "w")
		in.Beside.Yields = map[string]string{"a": "shop"}
		in.Beside.Former = map[string]Former{"a": {Bundle: "shop", Inventory: []InventoryEntry{{Ref: handedWeb, Instance: "was", UID: "w"}}, HookStates: map[string]HookState{"was": {Step: Upgrade}}}}
	}, f(handedUpgrade, "adopt", ": moved here from bundle shop of the same files"), map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"let go to another bundle that never took it, and back", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb] = Live{Found: true, UID: "w", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "me"}
		in.Previews = map[object.Ref]Preview{handedWeb: {NoOp: true}}
	}, "", nil, []string{"web"}, ""},
	{"let go and declared again, changed", desiredFor("d2", "i1"), func(in *Input) {
		in.Live[handedWeb] = Live{Found: true, UID: "w", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "me"}
	}, f(handedUpgrade, "update", ": was let go, and is declared again"), map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
	{"kept with all that it has, and declared again", desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb] = Live{Found: true, UID: "w", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "me", Keep: true}
		in.Previews = map[object.Ref]Preview{handedWeb: {NoOp: true}}
	}, "", nil, []string{"web"}, ""},
	{"something was kept, the rest is installed anew", desiredFor("d1", "i1"), func(in *Input) {
		kept := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "kept"}
		in.Desired = append(in.Desired, Desired{Ref: kept, Version: "v1", Instance: "web", Digest: "k"})
		in.Live[kept] = Live{Found: true, UID: "k", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "me", Keep: true}
		in.Previews = map[object.Ref]Preview{kept: {NoOp: true}}
	}, `create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
create Job ns/migrate for pre-install: runs before the installation
create ConfigMap ns/web
`, map[string]LifecycleStep{"web": Install}, []string{"web"}, ""},
	{"a live Helm release is adopted", "options: {adopt: true}\n" + desiredFor("d1", "i1"), func(in *Input) {
		in.Live[handedWeb] = Live{Found: true, UID: "w", ResourceVersion: "1", Foreign: "Helm release ns/web", ForeignManagers: []string{"helm"}}
	}, f(handedUpgrade, "adopt", ": taken over from Helm release ns/web"), map[string]LifecycleStep{"web": Upgrade}, []string{"web"}, ""},
}

// What is handed over, between instances or bundles, or taken over from somebody else, is not removed and not installed.
func TestHandedOverIsNeitherRemovedNorInstalled(t *testing.T) {
	for _, c := range slices.Concat(leavingCases, comingCases) {
		t.Run(c.name, func(t *testing.T) {
			in := inputOf(t, c.input)
			c.with(&in)
			p := Compute(in)
			var got strings.Builder
			for _, ch := range p.Changes {
				got.WriteString(lineOf(ch) + "\n")
			}
			if d := cmp.Diff(c.want, got.String()); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.events, p.Events); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			var lives, codes []string
			for name := range p.HookStates {
				lives = append(lives, name)
			}
			for _, f := range p.Findings {
				codes = append(codes, f.Code)
			}
			if slices.Sort(lives); !slices.Equal(lives, c.lives) {
				t.Errorf("lives: %v, want %v", lives, c.lives)
			}
			if s := strings.Join(codes, " "); s != c.findings {
				t.Errorf("findings: %q, want %q", s, c.findings)
			}
			for _, o := range p.Kept {
				if o.Hook != nil && o.Instance == "web" && len(c.lives) == 1 && c.lives[0] == "web2" {
					t.Errorf("%s is recorded under the old name", o.Ref)
				}
			}
		})
	}
}

// renamed gives what is declared of instance web to web2.
func renamed(in *Input) {
	for i := range in.Desired {
		in.Desired[i].Instance = "web2"
	}
}

// TestWhoDeliversNow: where hooks of a removal do not run because somebody else delivers a part of the instance, it is said who.
func TestWhoDeliversNow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"a bundle of the files": {func(in *Input) {
			in.Beside.Declares = map[object.Ref]Declaration{handedWeb: {Bundle: "b", Instance: "web"}}
		}, "bundle b delivers"},
		"a bundle that has it": {func(in *Input) { in.Live[handedWeb] = handedTo(handedWeb, "b", "w") }, "Hawser bundle b delivers"},
		"Helm": {func(in *Input) {
			in.Live[handedWeb] = Live{Found: true, UID: "w", ApplyHash: "e", OwnerLabel: "me", Foreign: "Helm release ns/web", Released: true}
		}, "Helm release ns/web delivers"},
		"Flux": {func(in *Input) {
			in.Live[handedWeb] = Live{Found: true, UID: "w", ApplyHash: "e", OwnerLabel: "me", Foreign: "Flux HelmRelease ns/web", Reconciled: true}
		}, "Flux HelmRelease ns/web delivers"},
		"another instance": {func(in *Input) {
			in.Desired = append(in.Desired, Desired{Ref: handedWeb, Version: "v1", Instance: "next", Digest: "d1", Namespaced: true})
		}, "instance next delivers"},
	} {
		in := inputOf(t, "inputs: {other: o1}\n"+handedLived)
		more := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "more"}
		in.Inventory = append(in.Inventory, InventoryEntry{Ref: more, Version: "v1", Instance: "web", UID: "x", ApplyHash: "e"})
		in.Live[more] = Live{Found: true, UID: "x", ApplyHash: "e", OwnerLabel: "me"}
		c.change(&in)
		if fs := Compute(in).Findings; len(fs) != 1 && name != "Helm" || !strings.Contains(fs[0].What, "are not run: "+c.want+" a part of it now") {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
