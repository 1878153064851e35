package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
)

// What the cases declare: an instance with a Deployment, a migration before installations and upgrades, its account, a
// notice after upgrades and before the removal, and a test.
const (
	declaredWeb = `{ref: {kind: ConfigMap, namespace: ns, name: web}, version: v1, instance: web, digest: %s, namespaced: true}`
	hookMigrate = `{ref: {group: batch, kind: Job, namespace: ns, name: migrate}, version: v1, instance: web, digest: %s, namespaced: true,
  hook: {events: [pre-install, pre-upgrade], delete: [before-hook-creation]}}`
	hookAccount = `{ref: {kind: ServiceAccount, namespace: ns, name: z}, version: v1, instance: web, digest: a1, namespaced: true,
  hook: {events: [pre-install], weight: -5, delete: [hook-succeeded]}}`
	hookBye = `{ref: {group: batch, kind: Job, namespace: ns, name: bye}, version: v1, instance: web, digest: b1, namespaced: true,
  hook: {events: [post-upgrade, pre-delete], delete: [hook-failed]}}`
	hookBack = `{ref: {group: batch, kind: Job, namespace: ns, name: back}, version: v1, instance: web, digest: %s, namespaced: true,
  hook: {events: [pre-rollback]}}`
	hookBackNotice = `{ref: {group: batch, kind: Job, namespace: ns, name: notice}, version: v1, instance: web, digest: n1, namespaced: true,
  hook: {events: [post-upgrade, post-rollback], delete: [hook-succeeded]}}`
	hookTest = `{ref: {kind: Pod, namespace: ns, name: test}, version: v1, instance: web, digest: t1, namespaced: true, hook: {events: [test]}}`

	ownedWeb     = `{ref: {kind: ConfigMap, namespace: ns, name: web}, version: v1, instance: web, digest: d1, uid: w, rv: '1', own: e}`
	liveWeb      = `{ref: {kind: ConfigMap, namespace: ns, name: web}, uid: w, resourceVersion: '1', applyHash: e, ownerLabel: me}`
	ownedMigrate = `{ref: {group: batch, kind: Job, namespace: ns, name: migrate}, version: v1, instance: web, uid: %s, own: e, hook: {event: %s, done: %t}}`
	liveMigrate  = `{ref: {group: batch, kind: Job, namespace: ns, name: migrate}, uid: %s, resourceVersion: '7', applyHash: e, ownerLabel: me}`

	helmWeb     = `{ref: {kind: ConfigMap, namespace: ns, name: web}, uid: w, resourceVersion: '1', foreign: Helm release ns/web, foreignManagers: [helm], released: true}`
	helmMigrate = `{ref: {group: batch, kind: Job, namespace: ns, name: migrate}, uid: h, resourceVersion: '7', foreignManagers: [helm], hook: true, %s}`

	ownedOld = `{ref: {kind: ConfigMap, namespace: ns, name: old}, version: v1, instance: web, digest: o1, uid: o, rv: '1', own: e}`
	liveOld  = `{ref: {kind: ConfigMap, namespace: ns, name: old}, uid: o, resourceVersion: '1', applyHash: e, ownerLabel: me}`

	lifeWeb = `lives: {web: {moment: '%s', inputs: %s, done: [%s], hooks: [
  {ref: {kind: ServiceAccount, namespace: ns, name: z}, version: v1, digest: a1, events: [pre-install], weight: -5, delete: [hook-succeeded]},
  {ref: {group: batch, kind: Job, namespace: ns, name: bye}, version: v1, digest: b1, events: [post-upgrade, pre-delete], delete: [hook-failed]},
  {ref: {group: batch, kind: Job, namespace: ns, name: migrate}, version: v1, digest: m1, events: [pre-install, pre-upgrade], delete: [before-hook-creation]}]}}`
)

func list(name string, items ...string) string {
	return name + ":\n- " + strings.Join(items, "\n- ") + "\n"
}

func f(format string, args ...any) string { return fmt.Sprintf(format, args...) }

var allHooks = []string{f(hookMigrate, "m1"), hookAccount, hookBye, hookTest}

// desiredWeb declares everything, the ConfigMap and the migration with these digests.
func desiredWeb(digest, migrate string) string {
	return "inputs: {web: i1}\n" + list("desired", f(declaredWeb, digest), f(hookMigrate, migrate), hookAccount, hookBye)
}

var hookCases = []struct {
	name, input string
	want        string // one line per change
	life        string // what the record says while it is carried out: "moment inputs done"
	findings    string
}{
	{"first installation", "inputs: {web: i1}\n" + list("desired", append(allHooks, f(declaredWeb, "d1"))...),
		`create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
create Job ns/migrate for pre-install: runs before the installation
create ConfigMap ns/web
`, "install i1 []", ""},
	{"nothing changes: nothing runs, nothing is written", desiredWeb("d1", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true)) + list("live", liveWeb, f(liveMigrate, "u1")), "", " []", ""},
	{"an upgrade", desiredWeb("d2", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true)) + list("live", liveWeb, f(liveMigrate, "u1")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one of an earlier run is deleted before
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"only a hook changes: that is an upgrade too", desiredWeb("d1", "m2") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb) + list("live", liveWeb),
		`create Job ns/migrate for pre-upgrade: runs before the upgrade
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"an instance that was there without hooks is upgraded", desiredWeb("d2", "m1") + list("owned", ownedWeb) + list("live", liveWeb),
		`create Job ns/migrate for pre-upgrade: runs before the upgrade
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"killed while the migration of the installation ran", "open: true\n" + desiredWeb("d1", "m1") + f(lifeWeb, "install", "i1", "") + "\n" +
		list("owned", f(ownedMigrate, `''`, "pre-install", false), `{ref: {kind: ServiceAccount, namespace: ns, name: z}, version: v1, instance: web, uid: z1, own: e, hook: {event: pre-install, done: true}}`) +
		list("live", f(liveMigrate, "u1"), `{ref: {kind: ServiceAccount, namespace: ns, name: z}, uid: z1, applyHash: e, ownerLabel: me}`),
		`unchanged Job ns/migrate for pre-install: was started by the run that ended; it is waited for
create ConfigMap ns/web
delete ServiceAccount ns/z for pre-install: it has succeeded
`, "install i1 []", ""},
	{"killed after all hooks before the installation", "open: true\n" + desiredWeb("d1", "m1") + f(lifeWeb, "install", "i1", "pre-install") + "\n" +
		list("owned", f(ownedMigrate, "u1", "pre-install", true)) + list("live", f(liveMigrate, "u1")),
		"create ConfigMap ns/web\n", "install i1 [pre-install]", ""},
	{"killed, then the bundle was changed: the installation begins anew", "open: true\n" + strings.Replace(desiredWeb("d2", "m1"), "i1", "i2", 1) +
		f(lifeWeb, "install", "i1", "pre-install") + "\n" + list("owned", f(ownedMigrate, "u1", "pre-install", true)) + list("live", f(liveMigrate, "u1")),
		`create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
recreate Job ns/migrate for pre-install: runs before the installation; the one of an earlier run is deleted before
create ConfigMap ns/web
`, "install i2 []", ""},
	{"the migration failed: it runs again, what succeeded does not", desiredWeb("d1", "m1") + f(lifeWeb, "upgrade", "i1", "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-upgrade", false)) + list("live", liveWeb, f(liveMigrate, "u1")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one of an earlier run is deleted before
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"the migration succeeded and was cleaned up, something after it failed", desiredWeb("d1", "m1") + f(lifeWeb, "upgrade", "i1", "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-upgrade", true)) + list("live", liveWeb),
		"create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade\n", "upgrade i1 []", ""},
	{"a custom kind by the name of Job does not go by itself when it is done: it is made again", strings.ReplaceAll(desiredWeb("d1", "m1")+f(lifeWeb, "upgrade", "i1", "")+"\n"+
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-upgrade", true))+list("live", liveWeb), "group: batch,", "group: batch.example.com,"),
		`create Job ns/migrate for pre-upgrade: runs before the upgrade
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"removal with the bundle", "options: {deleting: true}\n" + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true)) + list("live", liveWeb, f(liveMigrate, "u1")),
		`create Job ns/bye for pre-delete, removed if succeeded, removed if failed: runs before the removal
delete ConfigMap ns/web
delete Job ns/migrate for pre-install
`, "delete  []", ""},
	{"removal resumed after its hooks", "options: {deleting: true}\nopen: true\n" + f(lifeWeb, "delete", `''`, "pre-delete") + "\n" +
		list("owned", ownedWeb) + list("live", liveWeb), "delete ConfigMap ns/web\n", "delete  [pre-delete]", ""},
	{"the instance left the bundle", "inputs: {other: o1}\n" + f(lifeWeb, "", `''`, "") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		`create Job ns/bye for pre-delete, removed if succeeded, removed if failed: runs before the removal
delete ConfigMap ns/web: no longer in the bundle
`, "delete  []", ""},
	{"without hooks", "options: {noHooks: true}\n" + desiredWeb("d1", "m1"), "create ConfigMap ns/web\n", "install i1 []", ""},
	{"tests run when asked for, also when nothing changes", "options: {tests: true}\n" + strings.Replace(desiredWeb("d1", "m1"), "desired:\n", "desired:\n- "+hookTest+"\n", 1) +
		f(lifeWeb, "", `''`, "") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		"create Pod ns/test for test: tests the instance when it is ready\n", " []", ""},
	{"the pod of a test stays when tests are not asked for", desiredWeb("d1", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, `{ref: {kind: Pod, namespace: ns, name: test}, version: v1, instance: web, uid: t, own: e, hook: {event: test, done: true}}`) +
		list("live", liveWeb, `{ref: {kind: Pod, namespace: ns, name: test}, uid: t, applyHash: e, ownerLabel: me}`), "", " []", ""},
	{"what is left of a hook that is declared no more goes", "inputs: {web: i1}\n" + list("desired", f(declaredWeb, "d1"), hookBye) + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true)) + list("live", liveWeb, f(liveMigrate, "u1")),
		"delete Job ns/migrate for pre-install: left by a hook that is no longer declared\n", " []", ""},
	{"somebody else's object is never deleted for a hook", desiredWeb("d1", "m1") +
		list("live", `{ref: {group: batch, kind: Job, namespace: ns, name: migrate}, uid: x, foreign: Helm release ns/web}`),
		`create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
conflict Job ns/migrate for pre-install: exists already, managed by Helm release ns/web
create ConfigMap ns/web
`, "install i1 []", "foreign-owner"},
	{"what a hook of Helm left is replaced with --adopt", "options: {adopt: true}\n" + desiredWeb("d1", "m1") + list("live", helmWeb, f(helmMigrate, "foreign: Helm")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one that Helm left is deleted before
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"so is one that names the release", "options: {adopt: true}\n" + desiredWeb("d1", "m1") + list("live", helmWeb, f(helmMigrate, "foreign: Helm release ns/web, released: true")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one that Helm release ns/web left is deleted before
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"and where the other objects were adopted before", "options: {adopt: true}\n" + desiredWeb("d2", "m1") + list("owned", strings.TrimSuffix(ownedWeb, "}")+", taken: Helm release ns/web}") +
		list("live", liveWeb, f(helmMigrate, "foreign: Helm release ns/web, released: true")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one that Helm release ns/web left is deleted before
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"a run that ended before it replaced Helm's: it is not waited for", "options: {adopt: true}\nopen: true\n" + desiredWeb("d1", "m1") + f(lifeWeb, "upgrade", "i1", "") + "\n" +
		list("owned", f(ownedMigrate, `''`, "pre-upgrade", false)) + list("live", helmWeb, f(helmMigrate, "foreign: Helm")),
		`recreate Job ns/migrate for pre-upgrade: runs before the upgrade; the one that Helm left is deleted before
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"without --adopt it is a conflict", desiredWeb("d2", "m1") + list("owned", ownedWeb) + list("live", liveWeb, f(helmMigrate, "foreign: Helm")),
		`conflict Job ns/migrate for pre-upgrade: exists already, managed by Helm
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", "foreign-owner"},
	{"what a hook of another release left stays, with --adopt too", "options: {adopt: true}\n" + strings.Replace(desiredWeb("d1", "m1"), "[pre-install, pre-upgrade]", "[pre-upgrade, post-upgrade]", 1) +
		list("live", helmWeb, f(helmMigrate, "foreign: Helm release ns/other, released: true")),
		`conflict Job ns/migrate for pre-upgrade: exists already, managed by Helm release ns/other
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
conflict Job ns/migrate for post-upgrade: exists already, managed by Helm release ns/other
`, "upgrade i1 []", "foreign-owner foreign-owner"},
	{"what no hook of Helm left stays, with --adopt too", "options: {adopt: true}\n" + desiredWeb("d1", "m1") + list("live", helmWeb, strings.Replace(f(helmMigrate, "foreign: Helm release ns/web, released: true"), ", hook: true", "", 1)),
		`conflict Job ns/migrate for pre-upgrade: exists already, managed by Helm release ns/web
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", "foreign-owner"},
	{"what is reconciled stays, with --adopt too", "options: {adopt: true}\n" + desiredWeb("d1", "m1") + list("live", helmWeb, f(helmMigrate, "foreign: Flux HelmRelease ns/web, reconciled: true")),
		`conflict Job ns/migrate for pre-upgrade: exists already, managed by Flux HelmRelease ns/web
adopt ConfigMap ns/web: taken over from Helm release ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", "foreign-owner"},
	{"an object that is to be kept is not deleted for a hook", desiredWeb("d2", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true)) + list("live", liveWeb, strings.TrimSuffix(f(liveMigrate, "u1"), "}")+", keep: true}"),
		`conflict Job ns/migrate for pre-upgrade: the one of an earlier run is annotated to be kept
update ConfigMap ns/web
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", "foreign-owner"},
	{"a hook in a namespace that is not there", desiredWeb("d1", "m1") + "namespaceExists: {ns: false}\n",
		`create ServiceAccount ns/z for pre-install, removed if succeeded: runs before the installation
create Job ns/migrate for pre-install: runs before the installation
create ConfigMap ns/web
`, "install i1 []", "missing-namespace missing-namespace missing-namespace"},
	{"a rollback runs its own hooks, not those of an upgrade", "options: {rollingBack: true}\ninputs: {web: i1}\n" +
		list("desired", f(declaredWeb, "d2"), f(hookMigrate, "m1"), hookAccount, f(hookBack, "r1"), hookBackNotice) + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb) + list("live", liveWeb),
		`create Job ns/back for pre-rollback: runs before the rollback
update ConfigMap ns/web
create Job ns/notice for post-rollback, removed if succeeded: runs after the rollback
`, "rollback i1 []", ""},
	{"an apply runs none of a rollback", "inputs: {web: i1}\n" +
		list("desired", f(declaredWeb, "d2"), f(hookBack, "r1"), hookBackNotice) + f(lifeWeb, "", `''`, "") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		`update ConfigMap ns/web
create Job ns/notice for post-upgrade, removed if succeeded: runs after the upgrade
`, "upgrade i1 []", ""},
	{"what a rollback installs again is installed", "options: {rollingBack: true}\ninputs: {web: i1}\n" + list("desired", f(declaredWeb, "d1"), f(hookMigrate, "m1"), f(hookBack, "r1")),
		"create Job ns/migrate for pre-install: runs before the installation\ncreate ConfigMap ns/web\n", "install i1 []", ""},
	{"a rollback to another hook for upgrades alone runs those of the rollback", "options: {rollingBack: true}\n" + strings.Replace(desiredWeb("d1", "m2"), "desired:\n", "desired:\n- "+f(hookBack, "r1")+"\n", 1) +
		f(lifeWeb, "", `''`, "") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		"create Job ns/back for pre-rollback: runs before the rollback\n", "rollback i1 []", ""},
	{"a rollback of an upgrade that did not end begins its own", "options: {rollingBack: true}\nopen: true\n" + strings.Replace(desiredWeb("d1", "m1"), "desired:\n", "desired:\n- "+f(hookBack, "r1")+"\n", 1) +
		f(lifeWeb, "upgrade", "i1", "pre-upgrade") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		"create Job ns/back for pre-rollback: runs before the rollback\n", "rollback i1 []", ""},
	{"a rollback that ended after its hooks before goes on", "options: {rollingBack: true}\nopen: true\n" + strings.Replace(desiredWeb("d2", "m1"), "desired:\n", "desired:\n- "+f(hookBack, "r1")+"\n", 1) +
		f(lifeWeb, "rollback", "i1", "pre-rollback") + "\n" + list("owned", ownedWeb) + list("live", liveWeb),
		"update ConfigMap ns/web\n", "rollback i1 [pre-rollback]", ""},
	{"killed when all hooks had run and something was left to delete: they do not run again", "open: true\nunended: {web: i1}\n" + desiredWeb("d1", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, ownedOld) + list("live", liveWeb, liveOld), "delete ConfigMap ns/old: no longer in the bundle\n", " []", ""},
	{"killed so, and the bundle was changed since", "open: true\nunended: {web: i0}\n" + desiredWeb("d1", "m1") + f(lifeWeb, "", `''`, "") + "\n" +
		list("owned", ownedWeb, ownedOld) + list("live", liveWeb, liveOld), `create Job ns/migrate for pre-upgrade: runs before the upgrade
delete ConfigMap ns/old: no longer in the bundle
create Job ns/bye for post-upgrade, removed if failed: runs after the upgrade
`, "upgrade i1 []", ""},
	{"a hook's object and a lasting one of the same name", "inputs: {web: i1}\n" + list("desired", f(hookMigrate, "m1"), strings.Replace(f(hookMigrate, "m1"), "hook: {events: [pre-install, pre-upgrade], delete: [before-hook-creation]}", "once: false", 1)),
		"create Job ns/migrate for pre-install: runs before the installation\n", "install i1 []", "duplicate-object"},
}

func inputOf(t *testing.T, text string) Input {
	t.Helper()
	var s script
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s.Owner = "me"
	return s.input()
}

func TestHooks(t *testing.T) {
	for _, c := range hookCases {
		t.Run(c.name, func(t *testing.T) {
			p := Compute(inputOf(t, c.input))
			var got strings.Builder
			for _, ch := range p.Changes {
				got.WriteString(lineOf(ch) + "\n")
			}
			if d := cmp.Diff(c.want, got.String()); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
			l := p.HookStates["web"]
			if life := fmt.Sprintf("%s %s %v", l.Step, l.Inputs, l.Done); strings.TrimSpace(life) != strings.TrimSpace(c.life) {
				t.Errorf("life: %q, want %q", life, c.life)
			}
			var codes []string
			for _, f := range p.Findings {
				codes = append(codes, f.Code)
			}
			if s := strings.Join(codes, " "); s != c.findings {
				t.Errorf("findings: %q, want %q", s, c.findings)
			}
			if c.want == "" && (!p.Empty() || p.Refresh) {
				t.Errorf("the plan is not empty (refresh %t)", p.Refresh)
			}
		})
	}
}

func lineOf(ch Change) string {
	s := string(ch.Action) + " " + ch.Ref.String()
	if h := ch.Hook; h != nil {
		s += " for " + string(h.Event)
		if h.IfSucceeded {
			s += ", removed if succeeded"
		}
		if h.IfFailed {
			s += ", removed if failed"
		}
	}
	if ch.Why != "" {
		s += ": " + ch.Why
	}
	return s
}

// TestHooksAreCountedApart: their creations and deletions are in no other number.
func TestHooksAreCountedApart(t *testing.T) {
	in := inputOf(t, desiredWeb("d2", "m1")+f(lifeWeb, "", `''`, "")+"\n"+
		list("owned", ownedWeb, f(ownedMigrate, "u1", "pre-install", true))+list("live", liveWeb, f(liveMigrate, "u1")))
	const many = 10
	for i := range many {
		ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: fmt.Sprintf("old-%d", i)}
		in.Inventory = append(in.Inventory, InventoryEntry{Ref: ref, Instance: "web", UID: "o", ApplyHash: "e", Hook: &HookRun{Event: object.PreInstall, Done: true}})
		in.Live[ref] = Live{Found: true, UID: "o", ApplyHash: "e", OwnerLabel: "me"}
	}
	p := Compute(in)
	if want := (Counts{Update: 1, Hooks: 2 + many}); p.Count() != want {
		t.Errorf("counts %+v, want %+v", p.Count(), want)
	}
}

func TestHooksToLookAt(t *testing.T) {
	in := inputOf(t, desiredWeb("d1", "m1")+f(lifeWeb, "", `''`, "")+"\n"+list("owned", ownedWeb)+list("live", liveWeb))
	if got := HooksToLookAt(in); len(got) != 0 {
		t.Errorf("nothing changes, and %v are looked at", got)
	}
	in = inputOf(t, desiredWeb("d2", "m1")+f(lifeWeb, "", `''`, "")+"\n"+list("owned", ownedWeb)+list("live", liveWeb, f(liveMigrate, "u1")))
	if got := HooksToLookAt(in); len(got) != 1 || got[0].Ref.Name != "bye" {
		t.Errorf("looked at: %v, want only what was not seen yet", got)
	}
}

// drawHooks adds an instance's hooks and a life to an arbitrary cluster.
func drawHooks(t *rapid.T) Input {
	in := drawInput(t)
	in.Options.NoPrune = false
	in.Options.RollingBack = rapid.Bool().Draw(t, "rollingBack")
	in.Options.NoHooks = rapid.IntRange(0, 9).Draw(t, "noHooks") == 0
	in.Options.Adopt = rapid.Bool().Draw(t, "adopt")
	in.Inputs = map[string]string{"i": rapid.SampledFrom([]string{"k1", "k2"}).Draw(t, "inputs")}
	events := []object.HookPhase{object.PreInstall, object.PostInstall, object.PreUpgrade, object.PostUpgrade, object.PreDelete, object.PostDelete, object.PreRollback, object.PostRollback, object.Test}
	moments := []LifecycleStep{"", "", Install, Upgrade, Rollback, Removal}
	lives := map[string]HookState{}
	for _, name := range []string{"h1", "h2", "h3"} {
		ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: name}
		hook := object.Hook{Events: rapid.SliceOfNDistinct(rapid.SampledFrom(events), 1, 3, rapid.ID[object.HookPhase]).Draw(t, "events"),
			Weight: rapid.IntRange(-1, 1).Draw(t, "weight"), Delete: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{object.HookSucceeded, object.HookFailed}), 0, 2, rapid.ID[string]).Draw(t, "delete")}
		instance := rapid.SampledFrom([]string{"i", "gone"}).Draw(t, "hookInstance")
		d := Desired{Ref: ref, Version: "v1", Instance: instance, Digest: rapid.SampledFrom([]string{"d1", "d2"}).Draw(t, "hookDigest"), Namespaced: true, Hook: &hook}
		if instance == "i" && rapid.Bool().Draw(t, "declared") {
			in.Desired = append(in.Desired, d)
		}
		if rapid.Bool().Draw(t, "recorded") && !hook.OnlyTests() {
			l, ok := lives[instance]
			if !ok {
				l.Step, l.Inputs = rapid.SampledFrom(moments).Draw(t, "moment"), rapid.SampledFrom([]string{"k1", "k2"}).Draw(t, "lifeInputs")
				if l.Step != "" && rapid.Bool().Draw(t, "passed") {
					l.Done = []object.HookPhase{l.Step.Before()}
				}
			}
			l.Hooks = append(l.Hooks, recorded([]Desired{d})...)
			lives[instance] = l
		}
		if rapid.Bool().Draw(t, "hookOwned") {
			in.Inventory = append(in.Inventory, InventoryEntry{Ref: ref, Version: "v1", Instance: instance, UID: rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(t, "hookUID"),
				ApplyHash: "o1", Hook: &HookRun{Event: rapid.SampledFrom(events).Draw(t, "ranFor"), Done: rapid.Bool().Draw(t, "done")}})
		}
		in.Live[ref] = drawLive(t, in.Owner)
		if l := in.Live[ref]; l.Foreign != "" && !l.ForeignBundle && rapid.Bool().Draw(t, "leftByHelm") {
			l.Hook = true
			in.Live[ref] = l
		}
	}
	in.HookStates = lives
	return in
}

func TestIdempotenceLawWithHooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawHooks(t)
		if slices.ContainsFunc(Compute(in).Changes, func(ch Change) bool { return ch.Action == Conflict && (ch.Hook != nil || ch.Code == CodeFields) }) {
			return // the plan is refused
		}
		next := Compute(Simulate(in))
		for _, ch := range next.Changes {
			if ch.Action.Writes() || ch.Action == Release || ch.Action == Unchanged {
				t.Fatalf("after the plan was carried out, %s is left to do", lineOf(ch))
			}
		}
	})
}

// TestHooksTouchNothingForeign: deleted for a hook is only what is ours by uid or by both marks, or with --adopt what a hook of
// Helm's left, and not to be kept.
func TestHooksTouchNothingForeign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawHooks(t)
		owned := map[object.Ref]InventoryEntry{}
		for _, o := range in.Inventory {
			owned[o.Ref] = o
		}
		for _, ch := range Compute(in).Changes {
			live, o := in.Live[ch.Ref], owned[ch.Ref]
			if ch.Hook == nil || ch.Action != Recreate && ch.Action != Delete && ch.Action != Unchanged {
				continue
			}
			ours := o.UID != "" && o.UID == live.UID && !live.ForeignBundle || live.OwnerLabel == in.Owner && live.ApplyHash != "" ||
				ch.Action == Recreate && in.Options.Adopt && live.Hook
			if !ours || live.Keep || ch.UID != live.UID {
				t.Fatalf("%s: not ours to delete: live %+v, owned %+v", lineOf(ch), live, o)
			}
		}
	})
}

// TestHooksRunOncePerMoment: for no instance a hook runs for two moments, and not for an event that has passed.
func TestHooksRunOncePerMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawHooks(t)
		p := Compute(in)
		ran := map[string]int{}
		for _, ch := range p.Changes {
			if ch.Hook == nil || ch.Action == Delete || ch.Action == Release {
				continue
			}
			if in.Options.NoHooks {
				t.Fatalf("%s though hooks are not wanted", lineOf(ch))
			}
			ran[lineOf(Change{Ref: ch.Ref, Hook: &HookTask{Event: ch.Hook.Event}})]++
			m := p.Events[ch.Instance]
			if e := ch.Hook.Event; e != m.Before() && e != m.After() {
				t.Fatalf("%s runs in %q", lineOf(ch), m)
			}
			if slices.Contains(p.HookStates[ch.Instance].Done, ch.Hook.Event) {
				t.Fatalf("%s: the event has passed", lineOf(ch))
			}
		}
		for line, n := range ran {
			if n > 1 {
				t.Fatalf("%d times: %s", n, line)
			}
		}
	})
}
