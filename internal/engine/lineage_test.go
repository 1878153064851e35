package engine

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

// checkedOut writes the rig's bundle into a directory of a working copy with the given remote ("": none), with one
// ConfigMap, and returns a request for it.
func (r *rig) checkedOut(dir, remote, configMap string) Request {
	r.t.Helper()
	if remote != "" {
		r.write(dir+"/.git/config", "[remote \"origin\"]\n\turl = "+remote+"\n")
	}
	r.write(dir+"/deploy/bundle.yaml", r.bundle(r.configMap(configMap, "key: one")))
	r.write(dir+"/deploy/app.yaml", r.configMap(configMap, "key: one"))
	req := r.request()
	docs(&req).Files = []string{filepath.Join(r.dir, dir, "deploy/bundle.yaml")}
	return req
}

func (r *rig) has(configMap string) bool {
	_, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), configMap, metav1.GetOptions{})
	return err == nil
}

func (r *rig) forgetLock(dir string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.dir, dir, "deploy", lockfile.Name)); err != nil {
		r.t.Fatal(err)
	}
}

// refused fails the test unless an error is, or has, a refusal with the code.
func refused(t *testing.T, what string, err error, code string, names ...string) {
	t.Helper()
	for _, f := range diag.From(err, "") {
		if f.Code == code && f.Severity == diag.Error {
			for _, name := range names {
				if !strings.Contains(f.String(), name) {
					t.Errorf("%s: %q is not in %s", what, name, f)
				}
			}
			return
		}
	}
	t.Errorf("%s: not refused with %s: %v", what, code, err)
}

const teamA, teamB = "https://ci:token@git.example.com/team-a.git", "https://git.example.com/team-b.git"

// Two teams whose bundles have one name: the second is refused, by plan, apply, a saved plan and delete, until it takes
// the release over; then the first one is. What worked from one place goes on working from it.
func TestTwoTeamsWithOneName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.checkedOut("a", teamA, "from-a"), r.checkedOut("b", teamB, "from-b")
	var saved bytes.Buffer
	if _, _, err := r.SavePlan(r.plan(b), &saved); err != nil {
		t.Fatal(err)
	}
	r.applied(a)
	names := []string{"git.example.com/team-a, directory deploy", "git.example.com/team-b, directory deploy", "--take-over"}
	_, err := r.Plan(t.Context(), b)
	refused(t, "plan", err, lineage.CodeSource, names...)
	b.Adopt = true
	_, err = r.Plan(t.Context(), b)
	refused(t, "plan with --adopt", err, lineage.CodeSource)
	b.Adopt = false
	_, err = r.Plan(t.Context(), b.For(Delete))
	refused(t, "delete", err, lineage.CodeSource, names...)
	_, err = r.LoadPlan(t.Context(), &saved, b)
	refused(t, "a saved plan", err, lineage.CodeSource, names...)

	// Named without files, where the hawser.lock is that of another bundle of the name: nothing goes by the name alone.
	elsewhere := b
	at := docs(&elsewhere)
	elsewhere.Bundle, at.Files, at.Dir = r.name, nil, filepath.Join(r.dir, "elsewhere")
	r.write("elsewhere/fleet.txt", "")
	if err := lockfile.Keep(filepath.Join(r.dir, "elsewhere", lockfile.Name), lockfile.News{Lineages: map[string]string{r.name: "of-elsewhere"}}); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Operation{Delete, Eject, Correct} {
		_, err = r.Plan(t.Context(), elsewhere.For(o))
		refused(t, o.Verb()+" by name", err, lineage.CodeSource, "hawser.lock of directory", "of another bundle of that name", names[0], "-f", "--take-over")
	}
	say := func(req Request, verb string) error {
		_, err := r.Say(t.Context(), req, verb, release.Meant{}, func(*release.Saying) error { return nil })
		return err
	}
	for _, verb := range []string{release.Approve, release.Pause, release.Resume, release.Abort} {
		refused(t, verb+" by name", say(elsewhere, verb), lineage.CodeSource, "hawser.lock of directory", "of another bundle of that name", names[0], "-f", "--take-over")
	}
	elsewhere.TakeOver = true
	for _, verb := range []string{release.Approve, release.Pause} { // there is nothing to say it about
		if fs := diag.From(say(elsewhere, verb), ""); slices.ContainsFunc(fs, func(f diag.Finding) bool { return f.Code == lineage.CodeSource }) {
			t.Errorf("%s by name, taken over: %v", verb, fs)
		}
	}
	if fp, err := r.Plan(t.Context(), elsewhere.For(Delete)); err != nil || fp.Counts().Delete != 1 {
		t.Errorf("by name, taken over: %v", err)
	}
	nowhere := elsewhere
	nowhere.TakeOver, docs(&nowhere).Dir = false, t.TempDir()
	if fp, err := r.Plan(t.Context(), nowhere.For(Delete)); err != nil || fp.Counts().Delete != 1 {
		t.Errorf("by name, from a directory that says nothing: %v", err)
	}

	one := 1 // all that instance app has is replaced
	b.TakeOver, b.ConfirmDelete = true, &one
	fp := r.plan(b)
	if fp.Counts().Delete != 1 || !slices.Contains(codes(fp), lineage.CodeTakenOver) {
		t.Errorf("taking over: %+v %v", fp.Counts(), fp.Findings)
	}
	r.applied(b)
	if r.has("from-a") || !r.has("from-b") {
		t.Error("what was taken over is not what is declared")
	}
	b.TakeOver, b.ConfirmDelete = false, nil
	r.applied(b)
	_, err = r.Plan(t.Context(), a)
	refused(t, "the first team after that", err, lineage.CodeSource)
}

// One bundle from many places that are the same: another clone by another protocol at another path without the lock
// file, the directory moved with its lock file; and those that are not: a copy of it.
func TestOnePlace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.checkedOut("a", teamA, "app")
	r.applied(first)
	lock, err := lockfile.Read(filepath.Join(r.dir, "a/deploy", lockfile.Name))
	if err != nil || lock.Lineages[r.name] == "" {
		t.Fatalf("the lock file has no lineage: %+v, %v", lock, err)
	}
	clone := r.checkedOut("builds/77", "git@git.example.com:team-a.git", "app")
	if fp := r.plan(clone); !fp.settled() || fp.Findings.HasErrors() {
		t.Errorf("a clone: %v", fp.Findings)
	}
	r.applied(clone)
	if again, err := lockfile.Read(filepath.Join(r.dir, "builds/77/deploy", lockfile.Name)); err != nil || again.Lineages[r.name] != lock.Lineages[r.name] {
		t.Errorf("the clone did not learn the lineage: %+v, %v", again, err)
	}
	r.forgetLock("a")
	r.applied(first)

	if err := os.CopyFS(filepath.Join(r.dir, "a/copy"), os.DirFS(filepath.Join(r.dir, "a/deploy"))); err != nil {
		t.Fatal(err)
	}
	moved := first
	docs(&moved).Files = []string{filepath.Join(r.dir, "a/copy/bundle.yaml")}
	_, err = r.Plan(t.Context(), moved)
	refused(t, "a copy", err, lineage.CodeSource, "directory deploy", "directory copy")
	if err := os.RemoveAll(filepath.Join(r.dir, "a/deploy")); err != nil {
		t.Fatal(err)
	}
	r.applied(moved) // the same directory, renamed
	if fp := r.plan(moved); !fp.settled() {
		t.Errorf("a second apply after the move has something to do: %+v", fp.Counts())
	}
	rec, _, err := r.plan(moved).run.targets[0].Store.Current(t.Context(), r.plan(moved).Owner)
	if err != nil || rec.Source.Path != "copy" || rec.Source.Repository != "git.example.com/team-a" || rec.Lineage != lock.Lineages[r.name] {
		t.Errorf("the record: %+v, %v", rec.Source, err)
	}
}

// A record of before there were lineages is gone on with, silently, and learns one by one write.
func TestOldRecordLearnsItsLineage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	req := r.checkedOut("a", teamA, "app")
	r.applied(req)
	target := r.plan(req).run.targets[0]
	old := *target.Record
	old.Lineage, old.Source, old.ClusterServer = "", lineage.Source{}, ""
	if _, err := target.Store.Put(t.Context(), old, nil, target.handle); err != nil {
		t.Fatal(err)
	}
	r.forgetLock("a")
	fp := r.plan(req)
	if !fp.settled() || len(fp.Findings) > 0 {
		t.Errorf("an old record: %v", fp.Findings)
	}
	r.applied(req)
	rec := r.plan(req).run.targets[0].Record
	if rec.Lineage == "" || rec.Source.Path != "deploy" || rec.Revision != old.Revision {
		t.Errorf("nothing was learned: %+v", rec)
	}
}

// A run without a fleet does not touch what a fleet's bundle of that name owns; a renamed fleet has a way, for apply and
// for delete.
func TestFleetAndNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	alone := r.request()
	r.applied(alone) // a fleet may come later
	fleetFile := "fleet:\n  apiVersion: v1alpha1\n  name: NAME\n  clusters:\n    one: {kubeContext: " + here + "}\n"
	r.write("fleet.yaml", strings.ReplaceAll(fleetFile, "NAME", "prod"))
	r.applied(r.request())
	_, err := r.Plan(t.Context(), alone)
	refused(t, "without the fleet", err, lineage.CodeSource, "fleet prod", "--fleet", "--take-over")
	alone.Bundle, docs(&alone).Files = r.name, nil
	_, err = r.Plan(t.Context(), alone.For(Delete))
	refused(t, "delete without the fleet", err, lineage.CodeSource)

	r.write("fleet.yaml", strings.ReplaceAll(fleetFile, "NAME", "production"))
	req := r.request()
	for name, verb := range map[string]func() error{
		"plan":   func() error { _, err := r.Plan(t.Context(), req); return err },
		"delete": func() error { _, err := r.Plan(t.Context(), req.For(Delete)); return err },
	} {
		req.TakeOver, req.Adopt = false, true
		refused(t, name+" by a renamed fleet", verb(), lineage.CodeFleet, "prod, not production", "if the fleet was renamed: --take-over")
		req.TakeOver, req.Adopt = true, false
		if err := verb(); err != nil {
			t.Errorf("%s with --take-over: %v", name, err)
		}
	}
	r.applied(req)
	req.TakeOver = false
	r.applied(req) // once is enough
}

// What was learned goes into the lock file as it is then, not as it was when the run began.
func TestLearnKeepsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	fp := r.plan(req)
	path := filepath.Join(r.dir, lockfile.Name)
	pins := lockfile.File{Sources: map[string]lockfile.Pin{"oci://r/web 1.x": {Version: "1.4.2", Digest: "sha256:2"}}}
	if err := pins.Write(path); err != nil { // `hawser lock` in another terminal
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	got, err := lockfile.Read(path)
	if err != nil || got.Sources["oci://r/web 1.x"].Version != "1.4.2" || got.Lineages[r.name] == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A folder of plain manifests is named by its namespace and its path; a release that has the folder's name from before
// is gone on with, unless it is in another namespace.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	folder := func(dir, namespace string) Request {
		r.write(dir+"/"+r.name+"/app.yaml", r.configMap("app", "key: one"))
		req := r.request()
		at := docs(&req)
		at.Files, at.Namespace = []string{filepath.Join(r.dir, dir, r.name)}, namespace
		return req
	}
	other := r.name + "-other"
	a, b := folder("a", r.name), folder("b", other)
	if p, q := r.plan(a), r.plan(b); p.Bundle != r.name+"-"+r.name || p.Bundle == q.Bundle || p.Owner == q.Owner {
		t.Errorf("%s and %s", p.Bundle, q.Bundle)
	}
	old := a
	docs(&old).Name = r.name // as it was named before
	r.applied(old)
	if fp := r.plan(a); fp.Bundle != r.name || !fp.settled() || fp.Findings.HasErrors() {
		t.Errorf("a release with the folder's name: %s %v", fp.Bundle, fp.Findings)
	}
	if fp := r.plan(b); fp.Bundle == r.name || fp.Counts().Delete > 0 {
		t.Errorf("another team's folder took it: %+v", fp.Counts())
	}
	fp, err := r.Plan(t.Context(), a.For(Delete))
	if err != nil || fp.Bundle != r.name || fp.Counts().Delete != 1 {
		t.Errorf("delete: %+v, %v", fp, err)
	}
}

// recordSecret is the head Secret of the rig's bundle.
func (r *rig) recordSecret(owner string) *corev1.Secret {
	r.t.Helper()
	secret, err := r.admin.CoreV1().Secrets("hawser-system").Get(r.t.Context(), "hawser-"+owner, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return secret
}

// A record that is lost is written again by the next apply, which says so and deletes nothing; what was not declared any
// more is pruned by the one after that.
func TestLostRecordIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("old", "key: one")))
	req := r.request()
	r.applied(req)
	owner := r.plan(req).Owner
	secrets := r.admin.CoreV1().Secrets("hawser-system")
	if err := secrets.Delete(t.Context(), r.recordSecret(owner).Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Plan(t.Context(), req.For(Delete))
	refused(t, "delete", err, plan.CodeLostRecord, "ConfigMap "+r.name+"/old", "apply the bundle once")
	r.write("app.yaml", r.configMap("app", "key: one"))
	fp := r.plan(req)
	if !slices.Contains(codes(fp), plan.CodeLostRecord) || fp.Counts().Delete > 0 || fp.Counts().Update > 0 || fp.settled() {
		t.Errorf("the lost record: %+v %v", fp.Counts(), fp.Findings)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	r.recordSecret(owner)
	if !r.has("old") {
		t.Error("something was deleted because of a label")
	}
	fp = r.plan(req)
	if slices.Contains(codes(fp), plan.CodeLostRecord) || fp.Counts().Delete != 1 {
		t.Errorf("the next plan: %+v %v", fp.Counts(), fp.Findings)
	}
	n := 1
	req.ConfirmDelete = &n
	r.applied(req)
	if r.has("old") || !r.has("app") {
		t.Error("the next apply did not prune what is not declared")
	}
}

// A damaged record is refused by name, and taken over on purpose: it is made again as the next revision. No test of the same cluster
// runs beside this one, as some read the records of all bundles there.
func TestDamagedRecordHasAWayOut(t *testing.T) {
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("old", "key: one")))
	req := r.request()
	r.applied(req)
	owner := r.plan(req).Owner
	secret := r.recordSecret(owner)
	secret.Data["record"] = []byte("nonsense")
	if _, err := r.admin.CoreV1().Secrets("hawser-system").Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Plan(t.Context(), req)
	refused(t, "plan", err, "damaged-record", secret.Name, "--take-over")
	req.Adopt = true
	_, err = r.Plan(t.Context(), req)
	refused(t, "plan with --adopt", err, "damaged-record")
	req.Adopt, req.TakeOver = false, true
	_, err = r.Plan(t.Context(), req.For(Delete))
	refused(t, "delete", err, "damaged-record")
	out := r.applied(req)
	if out.Clusters[0].Revision != 2 || !r.has("old") {
		t.Errorf("taken over: %+v", out.Clusters[0])
	}
	req.TakeOver = false
	fp := r.plan(req)
	rec := fp.run.targets[0].Record
	if !fp.settled() || rec.Revision != 2 || rec.Lineage == "" {
		t.Errorf("after that: %+v %v", fp.Counts(), rec)
	}
	history, err := storetest.Kept(t.Context(), fp.run.targets[0].Store.(release.History), owner)
	if err != nil || len(history) != 2 {
		t.Errorf("the history: %d, %v", len(history), err)
	}
}

// A record that is lost and that nothing else proves to be this run's is not made again by whoever comes with the name.
func TestLostRecordOfSomebody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("old", "key: one")))
	req := r.request()
	r.applied(req)
	if err := r.admin.CoreV1().Secrets("hawser-system").Delete(t.Context(), r.recordSecret(r.plan(req).Owner).Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	other := newRig(t)
	other.name = r.name
	other.write("bundle.yaml", other.bundle(other.configMap("app", "key: one")))
	fp := other.plan(other.request())
	refused(t, "another place", fp.Findings.Err(), "other-source", "objects carry its marks", "--take-over")
	if _, err := other.apply(other.request()); err == nil {
		t.Error("applied from another place")
	}
	r.applied(req) // its own place has hawser.lock
	if !r.has("old") || !r.has("app") {
		t.Error("something is gone")
	}
}

// After a delete, the instance's namespace and what is annotated to be kept stay: that is no lost record.
func TestDeletedIsNotLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+
		strings.Replace(r.configMap("kept", "key: one"), "name: kept", `name: kept, annotations: {"hawser.dev/prune": disabled}`, 1)))
	req := r.request()
	r.applied(req)
	fp, err := r.Plan(t.Context(), req.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	if !r.has("kept") || r.has("app") {
		t.Fatal("not what a delete leaves")
	}
	_, err = r.Plan(t.Context(), req.For(Delete))
	refused(t, "the second delete", err, "not-installed", "hawser status")
	if fp := r.plan(req); slices.Contains(codes(fp), plan.CodeLostRecord) {
		t.Errorf("a new install: %v", codes(fp))
	}
}

// A lost record is noticed where hawser.lock knows the bundle's place, although nothing that is declared now carries its
// marks: what was there before is in the record again, and is pruned by the next apply.
func TestLostRecordAllRenamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("old", "key: one")))
	req := r.request()
	r.applied(req)
	if err := r.admin.CoreV1().Secrets("hawser-system").Delete(t.Context(), r.recordSecret(r.plan(req).Owner).Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.write("app.yaml", r.configMap("new", "key: one"))
	if fp := r.plan(req); !slices.Contains(codes(fp), plan.CodeLostRecord) {
		t.Errorf("not noticed: %v", fp.Findings)
	}
	r.applied(req)
	n := 1
	req.ConfirmDelete = &n
	r.applied(req)
	if r.has("old") || !r.has("new") {
		t.Error("what was renamed is an orphan")
	}
}

// TestLineageOfAFailedApply: the lineage that a first apply made is in hawser.lock before the record has it, and stays there when the
// apply fails: the same files are never refused for it. Where files were applied without the lock file, it is the clusters' own.
func TestLineageOfAFailedApply(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lock := func() string {
		f, err := lockfile.Read(filepath.Join(r.dir, lockfile.Name))
		if err != nil {
			t.Fatal(err)
		}
		return f.Lineages[r.name]
	}
	r.write("bundle.yaml", r.bundle(r.deployment("web")))
	req := r.request()
	req.Timeout = time.Second
	early := ""
	r.on = func(fleetplan.Event) { early = cmp.Or(early, lock()) }
	if _, err := r.apply(req); err == nil {
		t.Fatal("what is never ready was ready")
	}
	made := r.record().Lineage
	if made == "" || lock() != made {
		t.Errorf("hawser.lock has %q, the record %q", lock(), made)
	}
	if early != made {
		t.Errorf("hawser.lock had %q while objects were written, the record %q", early, made)
	}
	if err := os.Remove(filepath.Join(r.dir, lockfile.Name)); err != nil {
		t.Fatal(err)
	}
	req.Wait, r.on = false, nil
	if r.applied(req); lock() != made || r.record().Lineage != made {
		t.Errorf("hawser.lock has %q, the record %q, first %q", lock(), r.record().Lineage, made)
	}
}
