package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/release"
)

// save saves a plan in the rig's directory, sealed with a key of the rig's own, and returns the file's text.
func (r *rig) save(fp *Prepared) string {
	r.t.Helper()
	r.PlanKey = planfile.KeyFile{Path: filepath.Join(r.dir, "state", "plan.key")}
	var b bytes.Buffer
	if _, warnings, err := r.SavePlan(fp, &b); err != nil || len(warnings) > 0 {
		r.t.Fatalf("save: %v %v", err, warnings)
	}
	return b.String()
}

// loadSaved loads a saved plan; the request is what apply PLANFILE has.
func (r *rig) loadSaved(text string) (*Prepared, error) {
	return r.LoadPlan(r.t.Context(), strings.NewReader(text), Request{Input: filesOf(r.dir), RunOptions: RunOptions{Wait: true, Access: fleet.AccessOptions{Kubeconfig: r.kubeconfig()}}})
}

// refusedFor fails the test unless the error is a refusal that says all the words.
func refusedFor(t *testing.T, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, fleetplan.ErrRefused) {
		t.Errorf("no refusal: %v", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is missing in: %v", w, err)
		}
	}
}

func configMapOf(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

var serverLine = regexp.MustCompile(`server: \S+`)

// edit changes the plan in a plan file, as a text editor does; the seal stays.
func edit(t *testing.T, text string, change func(fp *fleetplan.FleetPlan)) string {
	t.Helper()
	var file map[string]json.RawMessage
	var fp fleetplan.FleetPlan
	if err := errors.Join(json.Unmarshal([]byte(text), &file), json.Unmarshal(file["plan"], &fp)); err != nil {
		t.Fatal(err)
	}
	change(&fp)
	var err error
	if file["plan"], err = json.Marshal(fp); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// unsealed is the file as one that was made on another machine.
func unsealed(text string) string { return strings.Replace(text, `"seal"`, `"steal"`, 1) }

// A plan that is saved and loaded is the same plan, sealed or not, and does what was shown.
func TestSavedPlanIsApplied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+r.configMap("b", "k: one")))
	text := r.save(r.plan(r.request()))
	if shown, err := r.ReadPlan(strings.NewReader(text)); err != nil || len(shown.Findings) > 0 || len(shown.Groups) != 1 {
		t.Errorf("shown: %v %+v", err, shown)
	}
	fp, err := r.loadSaved(text)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), fp, Request{RunOptions: RunOptions{Wait: true}}); err != nil || out.Clusters[0].Done.Create != 3 {
		t.Fatalf("apply: %v %+v", err, out)
	}
	if fp, err = r.loadSaved(text); err != nil || !fp.settled() { // it was carried out
		t.Errorf("once more: %v", err)
	}

	r.write("app.yaml", r.configMap("a", "k: two"))
	elsewhere := unsealed(r.save(r.plan(r.request())))
	shown, err := r.ReadPlan(strings.NewReader(elsewhere))
	if err != nil || len(shown.Findings.Warnings()) != 1 || !strings.Contains(shown.Findings[0].What, "nothing vouches") {
		t.Errorf("shown: %v", err)
	}
	if fp, err = r.loadSaved(elsewhere); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), fp, Request{RunOptions: RunOptions{Wait: true}}); err != nil || out.Clusters[0].Done.Update != 1 || out.Clusters[0].Done.Delete != 1 {
		t.Fatalf("apply: %v %+v", err, out)
	}
}

// A plan file that was edited so that it deletes an object of somebody else: with its seal it is not even shown; without,
// the deletion is shown, and refused when it is to be applied.
func TestEditedPlanFileDeletesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")))
	r.applied(r.request())
	theirs, err := r.admin.CoreV1().ConfigMaps(r.name).Create(t.Context(), configMapOf("theirs"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.write("app.yaml", r.configMap("a", "k: two"))
	text := r.save(r.plan(r.request()))
	for _, action := range []plan.Action{plan.Delete, plan.Release, plan.Recreate} {
		edited := edit(t, text, func(fp *fleetplan.FleetPlan) {
			p := fp.Clusters[0].Plan
			p.Changes = append(p.Changes, plan.Change{Action: action, Ref: object.Ref{Kind: "ConfigMap", Namespace: r.name, Name: "theirs"},
				Version: "v1", Instance: "app", UID: string(theirs.UID), ResourceVersion: theirs.ResourceVersion})
		})
		_, err = r.ReadPlan(strings.NewReader(edited))
		refusedFor(t, err, "changed after it was made")
		_, err = r.loadSaved(edited)
		refusedFor(t, err, "changed after it was made")

		shown, err := r.ReadPlan(strings.NewReader(unsealed(edited)))
		if err != nil || !slices.ContainsFunc(shown.Groups[0].Changes, func(c plan.Change) bool { return c.Ref.Name == "theirs" }) {
			t.Errorf("%s is not shown: %v", action, err)
		}
		_, err = r.loadSaved(unsealed(edited))
		refusedFor(t, err, "ConfigMap "+r.name+"/theirs")
	}
	// what is shown of a change that is otherwise as it was
	edited := edit(t, text, func(fp *fleetplan.FleetPlan) {
		fp.Clusters[0].Plan.Changes[0].Fields = nil
		fp.Clusters[0].Plan.Changes[0].Why = "harmless"
	})
	_, err = r.loadSaved(unsealed(edited))
	refusedFor(t, err, "ConfigMap "+r.name+"/a")
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "theirs", metav1.GetOptions{}); err != nil {
		t.Errorf("the object of somebody else: %v", err)
	}
}

// A cluster that was up when the plan was made and is down now: others may go on without it when that is said, and nothing
// breaks.
func TestSavedPlanOfAClusterThatIsDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")))
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    eu: {group: g, kubeContext: "+here+"}\n    us: {group: g, kubeContext: down}\n")
	text := r.save(r.plan(r.request()))
	kubeconfig, err := os.ReadFile(r.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	r.write("kubeconfig", string(serverLine.ReplaceAll(kubeconfig, []byte("server: https://127.0.0.1:1"))))
	fp, err := r.loadSaved(text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Apply(t.Context(), fp, Request{})
	refusedFor(t, err, "do not answer: eu, us")
	if fp, err = r.loadSaved(text); err != nil {
		t.Fatal(err)
	}
	out, err := r.Apply(t.Context(), fp, Request{RunOptions: RunOptions{SkipUnreachable: true}})
	if err == nil || len(out.Clusters) != 2 || out.Clusters[0].Result != fleetplan.Unreachable {
		t.Errorf("without it: %v %+v", err, out)
	}
	// and one that was down when the plan was made is left alone when it is back
	r.write("kubeconfig", string(kubeconfig))
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    us: {group: g, kubeContext: down}\n")
	text = r.save(r.plan(r.request()))
	r.write("kubeconfig", string(serverLine.ReplaceAll(kubeconfig, []byte("server: "+shared.fleet.RESTConfig(here).Host))))
	if fp, err = r.loadSaved(text); err != nil {
		t.Fatal(err)
	}
	if cp := fp.Clusters[0]; cp.Plan != nil || !strings.Contains(cp.Unreachable, "when planned") {
		t.Errorf("a cluster that nobody has seen a plan for: %+v", cp)
	}
}

// What moved between plan and apply makes a saved plan stale, whatever it is: also an object that the plan does not touch.
func TestSavedPlanIsStale(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+r.configMap("b", "k: one")))
	r.applied(r.request())
	r.write("app.yaml", r.configMap("a", "k: two")+r.configMap("b", "k: one"))
	text := r.save(r.plan(r.request()))
	if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.loadSaved(text)
	refusedFor(t, err, "ConfigMap "+r.name+"/b was deleted since")
	r.applied(r.request())

	r.write("app.yaml", r.configMap("a", "k: two")+r.configMap("b", "k: three"))
	text = r.save(r.plan(r.request()))
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: two")+r.configMap("b", "k: three"), "  labels: {}"))
	_, err = r.loadSaved(text)
	refusedFor(t, err, "bundle.yaml changed since")
	_, err = r.LoadPlan(t.Context(), strings.NewReader(text), Request{Input: filesOf(t.TempDir())})
	refusedFor(t, err, "bundle.yaml", "files are not here", r.dir)
}

// A saved plan whose runtime values are others now says which ones, and not what they are.
func TestSavedPlanOfOtherRuntimeValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("app.yaml", r.configMap("a", "k: one"))
	path := r.write("t.cue", `_t: string @timoni(runtime:string:TIER)
bundle: {apiVersion: "v1alpha1", name: "`+r.name+`", instances: "app-\(_t)": {namespace: "`+r.name+`", manifests: paths: ["app.yaml"]}}
`)
	req := r.request()
	docs(&req).Files, req.RuntimeFromEnv, req.Env = []string{path}, true, map[string]string{"TIER": "gold-tier", "OTHER": "1"}
	text := r.save(r.plan(req))
	if strings.Contains(text, `"runtime":{"TIER":"gold-tier"`) || strings.Contains(text, "OTHER") {
		t.Errorf("the file has more than it needs: %s", text)
	}
	req.Env = map[string]string{"TIER": "silver-tier", "OTHER": "2"}
	_, err := r.LoadPlan(t.Context(), strings.NewReader(text), Request{Input: req.Input, RunOptions: RunOptions{Access: req.Access}})
	refusedFor(t, err, "runtime value TIER changed since the plan was made")
	if strings.Contains(err.Error(), "-tier") || strings.Contains(err.Error(), "OTHER") {
		t.Error(err)
	}
}

// What a plan file names outside of the repository is not read, nor is its digest compared, before somebody vouches for the file.
func TestUnvouchedPlanReadsNothingOutside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	outside := filepath.Join(t.TempDir(), "creds.yaml")
	if err := os.WriteFile(outside, []byte("password: hunter2-CANARY\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")))
	text := r.save(r.plan(r.request()))
	r.PlanKey = planfile.KeyFile{Path: filepath.Join(r.dir, "another", "plan.key")}
	if _, err := r.PlanKey.Make(); err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]any{"files": []string{outside}, "fleet": []string{outside}, "workdir": filepath.Dir(outside),
		"inputs": map[string]any{"files": map[string]string{outside: "sha256:0"}}} {
		var file map[string]any
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			t.Fatal(err)
		}
		file["request"].(map[string]any)[field] = value
		hostile, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.loadSaved(string(hostile))
		if err == nil || !strings.Contains(err.Error(), "nothing vouches for") || strings.Contains(err.Error(), "CANARY") || strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := r.loadSaved(text); err != nil {
		t.Errorf("a plan made elsewhere of files that are here: %v", err)
	}
}

// An object that vanishes while somebody reads the plan is found before anything is written, though the plan does not touch
// it; when nobody had the time to read, under the lock.
func TestStaleWhileThePlanIsRead(t *testing.T) {
	t.Parallel()
	for _, read := range []time.Duration{0, time.Minute} {
		t.Run(read.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+r.configMap("b", "k: one")))
			r.applied(r.request())
			r.write("app.yaml", r.configMap("a", "k: two")+r.configMap("b", "k: one"))
			fp := r.plan(r.request())
			if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			r.events = nil
			r.Now = func() time.Time { return time.Now().Add(read) }
			out, err := r.Apply(t.Context(), fp, r.request())
			if !errors.Is(err, fleetplan.ErrRefused) {
				t.Errorf("no refusal: %v", err)
			}
			begun := slices.ContainsFunc(r.events, func(ev fleetplan.Event) bool { return ev.Type == fleetplan.EventClusterStart })
			if begun == (read > 0) {
				t.Errorf("begun: %t, %+v", begun, out)
			}
			if a, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "a", metav1.GetOptions{}); err != nil || a.Data["k"] != "one" {
				t.Errorf("it was written: %v %v", a, err)
			}
		})
	}
}

// A secret that is the key of a list's item, or of an entry, stands nowhere in a plan file.
func TestPlanFileHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-3b1f77d2"
	r := newRig(t)
	pod := func(image string) string {
		return strings.Replace(r.deployment("web"), "{name: main, image: example.com/web:1}",
			"{name: "+canary+", image: "+image+", env: [{name: "+canary+", value: x"+image+"}]}", 1) + r.configMap("c", canary+".yaml: "+image)
	}
	r.write("bundle.yaml", r.bundle(pod("one")))
	req := r.request()
	req.Wait = false
	r.applied(req)
	r.Redactor.Add(canary)
	r.write("app.yaml", pod("two"))
	req.ShowDiff = true
	fp := r.plan(req)
	text := r.save(fp)
	shown, err := json.Marshal(fp)
	if err != nil || !strings.Contains(text, "containers[***]") {
		t.Errorf("no field is shown: %v %s", err, text)
	}
	for _, s := range []string{text, string(shown)} {
		if i := strings.Index(s, canary); i >= 0 {
			t.Errorf("the secret is there: %s", s[max(0, i-100):i+40])
		}
	}
	if _, err := r.loadSaved(text); err != nil {
		t.Errorf("masked as it is, the plan is the same: %v", err)
	}
}

// patch writes an object of the rig's namespace as somebody.
func (r *rig) patch(by, kind, name, body string) {
	r.t.Helper()
	client := r.admin.CoreV1().RESTClient().Patch(types.MergePatchType).Namespace(r.name).Resource(strings.ToLower(kind) + "s").Name(name)
	if err := client.Param("fieldManager", by).Body([]byte(body)).Do(r.t.Context()).Error(); err != nil {
		r.t.Fatal(err)
	}
}

// configMaps are those of the rig's namespace: name, uid and data.k.
func (r *rig) configMaps() string {
	r.t.Helper()
	list, err := r.admin.CoreV1().ConfigMaps(r.name).List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	out := ""
	for _, m := range list.Items {
		out += m.Name + " " + string(m.UID) + " " + m.Data["k"] + "\n"
	}
	return out
}

// What others wrote since a plan was made, and the plan would undo, makes it stale: a drifted value, one that is removed,
// what is in an object that is recreated, or deleted though somebody took fields of it. The object, the field and who are
// named, and nothing is written, from a saved plan and from one that was just confirmed. What the plan does not undo, and
// the same values written again, change nothing. What is hidden is told by no digest that could be guessed.
func TestWhatOthersWroteSince(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	frozen := func(k string) string { return r.configMap("rec", "k: "+k) + "immutable: true\n" }
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: pin, namespace: " + r.name + "}\nstringData: {p: \"1111\"}\n"
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+r.configMap("del", "k: one")+frozen("one")+secret))
	r.applied(r.request())
	r.patch("alice", "ConfigMap", "a", `{"data":{"k":"alice1"}}`)
	r.patch("alice", "ConfigMap", "del", `{"data":{"k":"alice1"}}`)
	r.patch("alice", "Secret", "pin", `{"data":{"p":"MjIyMg=="}}`)
	r.write("app.yaml", r.configMap("a", "k: one")+frozen("two")+secret)
	req, n := r.request(), 2
	req.Recreate, req.ConfirmDelete = true, &n
	text := r.save(r.plan(req))
	if got := strings.Count(text, `"foreignDigest": "keyed:`); got != 3 || strings.Count(text, `"foreignDigest"`) != 4 {
		t.Errorf("%d keyed digests, want those of del, rec and pin: %s", got, text)
	}
	for _, c := range []struct{ by, kind, name, write, back, want string }{
		{"bob", "ConfigMap", "a", `{"data":{"k":"bob2"}}`, `{"data":{"k":"alice1"}}`, "data.k was changed by bob since"},
		{"bob", "ConfigMap", "a", `{"data":{"k":null}}`, `{"data":{"k":"alice1"}}`, "data.k was removed since"},
		{"bob", "Secret", "pin", `{"data":{"p":"MzMzMw=="}}`, `{"data":{"p":"MjIyMg=="}}`, "data.p was changed by bob since"},
		{"alice", "ConfigMap", "del", `{"data":{"c":"new"}}`, `{"data":{"c":null}}`, "alice has data."},
		{"alice", "ConfigMap", "del", `{"data":{"k":"alice4"}}`, `{"data":{"k":"alice1"}}`, "alice has data.k"},
		{"bob", "ConfigMap", "rec", `{"metadata":{"annotations":{"note":"keep"}}}`, `{"metadata":{"annotations":{"note":null}}}`, "bob has metadata.annotations.note"},
		{"bob", "ConfigMap", "rec", `{"metadata":{"finalizers":["example.com/hold"]}}`, `{"metadata":{"finalizers":null}}`, "bob has metadata.finalizers"},
		{"carol", "ConfigMap", "a", `{"data":{"hers":"1"},"metadata":{"labels":{"hers":"1"}}}`, `{}`, ""},
	} {
		fp, err := r.loadSaved(text)
		if err != nil {
			t.Fatalf("before %s: %v", c.write, err)
		}
		confirmed := r.plan(req)
		r.patch(c.by, c.kind, c.name, c.write)
		before := r.configMaps()
		_, err = r.loadSaved(text)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.write, err)
			}
			continue
		}
		refusedFor(t, err, r.name+"/"+c.name, c.want)
		for how, p := range map[string]*Prepared{"loaded before": fp, "confirmed before": confirmed} {
			out, err := r.Apply(t.Context(), p, req)
			said := fmt.Sprint(err, out)
			if len(out.Clusters) > 0 {
				said += out.Clusters[0].Reason
			}
			if !errors.Is(err, fleetplan.ErrRefused) || !strings.Contains(said, r.name+"/"+c.name) || !regexp.MustCompile(`data\S+ was (removed|changed by `+c.by+`) since`).MatchString(said) {
				t.Errorf("%s, %s: %v %s", c.write, how, err, said)
			}
		}
		if now := r.configMaps(); now != before {
			t.Errorf("%s: something was done: %s, before %s", c.write, now, before)
		}
		r.patch(c.by, c.kind, c.name, c.back)
	}
	before := unsealed(edit(t, text, func(fp *fleetplan.FleetPlan) {
		for i := range fp.Clusters[0].Plan.Changes {
			fp.Clusters[0].Plan.Changes[i].ForeignDigest = ""
		}
	}))
	_, err := r.LoadPlan(t.Context(), strings.NewReader(before), Request{Input: filesOf(r.dir), PlanOptions: PlanOptions{Recreate: true, ConfirmDelete: &n}, RunOptions: RunOptions{Access: fleet.AccessOptions{Kubeconfig: r.kubeconfig()}}})
	refusedFor(t, err, "a hawser that did not note what they hold")
	fp, err := r.loadSaved(text)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), fp, req); err != nil || out.Clusters[0].Done.Update != 2 || out.Clusters[0].Done.Recreate != 1 || out.Clusters[0].Done.Delete != 1 {
		t.Errorf("with the same values: %v %+v", err, out)
	}
}

// Of a plan file that nothing vouches for, everything that it shows is compared, and what lets a run do more counts only when who
// applies it says so as well; who confirms is told that nobody vouches for the file.
func TestUnsealedPlanDecidesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")))
	text := r.save(r.plan(r.request()))
	for want, change := range map[string]func(fp *fleetplan.FleetPlan){
		`rollbackTo`: func(fp *fleetplan.FleetPlan) {
			fp.Verb, fp.RollbackTo = "rollback", &release.Name{Release: 1, Rollout: "x"}
		},
		`.instances[app].source is "module web 9.9.9" in the file, and `: func(fp *fleetplan.FleetPlan) { fp.Clusters[0].Instances[0].Source = "module web 9.9.9" },
		`.group is "staging" in the file, and "default" now`:             func(fp *fleetplan.FleetPlan) { fp.Clusters[0].Group = "staging" },
		`the warning "approved by security" in the file, and not now`: func(fp *fleetplan.FleetPlan) {
			fp.Findings = append(fp.Findings, diag.Warnf("approved", "approved by security"))
		},
		`waves[0].maxFailures is 7 in the file, and nothing now`: func(fp *fleetplan.FleetPlan) { fp.Schedule.Waves[0].MaxFailures = 7 },
	} {
		_, err := r.loadSaved(unsealed(edit(t, text, change)))
		if want == "rollbackTo" {
			if err == nil { // there is nothing to go back to
				t.Error("another verb is loaded")
			}
			continue
		}
		refusedFor(t, err, want)
	}
	decides := unsealed(strings.Replace(text, `"files":`, `"adopt": true, "skipWaves": true, "files":`, 1))
	shown, err := r.ReadPlan(strings.NewReader(decides))
	if err != nil || !strings.Contains(shown.Findings[0].Why, "made with --adopt --skip-waves") {
		t.Errorf("it is not shown what the file decides: %v %v", err, shown)
	}
	_, err = r.loadSaved(decides)
	refusedFor(t, err, "wants --adopt", "wants --skip-waves", "hawser apply FILE --adopt --skip-waves")
	req := Request{Input: filesOf(r.dir), PlanOptions: PlanOptions{Adopt: true, SkipWaves: true}, RunOptions: RunOptions{Wait: true, Access: fleet.AccessOptions{Kubeconfig: r.kubeconfig()}}}
	fp, err := r.LoadPlan(t.Context(), strings.NewReader(decides), req)
	if err != nil || !slices.ContainsFunc(fp.Findings, func(f diag.Finding) bool { return f.Code == fleetplan.CodeUnsealed }) {
		t.Errorf("given again: %v", err)
	}
	if _, err = r.LoadPlan(t.Context(), strings.NewReader(text), req); err == nil || errors.Is(err, fleetplan.ErrRefused) || !strings.Contains(err.Error(), "leave --adopt out") {
		t.Errorf("what the plan was not made with: %v", err)
	}
	// pins: who applies may ask for more than the file, not the file for less
	req = Request{Input: filesOf(r.dir), PlanOptions: PlanOptions{Locked: true}, RunOptions: RunOptions{Wait: true, Access: fleet.AccessOptions{Kubeconfig: r.kubeconfig()}}}
	if fp, err = r.LoadPlan(t.Context(), strings.NewReader(unsealed(text)), req); err != nil || !fp.run.req.Locked {
		t.Errorf("--locked was taken back by the file: %v", err)
	}
}
