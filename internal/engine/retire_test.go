package engine

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// leaving is a fleet of which the cluster "old" has left, with the bundle on it.
func leaving(t *testing.T) (*rig, Request) {
	t.Helper()
	r := newRig(t)
	clusters := func(text string) {
		r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    stays: {group: a, kubeContext: down}\n"+text)
	}
	clusters("    old: {group: b, kubeContext: " + here + "}\n")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	req := r.request()
	req.Clusters = fleet.Selection{Clusters: []string{"old"}}
	r.applied(req)
	clusters("")
	req = r.request()
	req.SkipUnreachable = true
	return r, req
}

func namesLeft(fp *Prepared) string {
	var out []string
	for _, f := range fp.Findings {
		if f.Code == "cluster-left" {
			out = append(out, f.Cluster+": "+f.What+"; "+f.Fix)
		}
	}
	return strings.Join(out, "\n")
}

// The way to a cluster that is retired: no other context is guessed, no other cluster accepted.
func TestRetireElsewhere(t *testing.T) {
	t.Parallel()
	r, _ := leaving(t)
	retire := r.request()
	retire.Retire = "old"
	said := func(want string) {
		t.Helper()
		if _, err := r.Retiring(t.Context(), retire); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "did you mean") || strings.Contains(err.Error(), "--accept-cluster") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	retire.Access.Context = here + "x"
	said("forget it with --keep")
	retire.Access.Context = ""
	if err := lockfile.Update(filepath.Join(r.dir, lockfile.Name), func(f lockfile.File) bool { f.Clusters[r.name]["old"] = "another"; return true }); err != nil {
		t.Fatal(err)
	}
	said("name a context of old itself")
}

// TestRetire: a cluster that left the fleet with a bundle on it is named in every plan, until what it has is deleted and
// hawser.lock forgets it.
func TestRetire(t *testing.T) {
	t.Parallel()
	r, req := leaving(t)
	left := namesLeft(r.plan(req))
	for _, want := range []string{"old: the cluster left the fleet, and " + r.name + " runs there still", "hawser fleet retire old --delete"} {
		if !strings.Contains(left, want) {
			t.Errorf("the plan says %q, want %q", left, want)
		}
	}
	retire := r.request()
	retire.Retire = "old"
	known, err := r.Retiring(t.Context(), retire)
	if err != nil || !slices.Equal(known.Bundles, []string{r.name}) || !known.Known || !strings.Contains(known.Access, here) {
		t.Fatalf("known are %+v, %v", known, err)
	}
	retire.Bundle = r.name
	fp, err := r.Plan(t.Context(), retire.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, retire); err != nil {
		t.Fatal(err)
	}
	if err := r.Retire(t.Context(), retire); err != nil {
		t.Fatal(err)
	}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "app", metav1.GetOptions{}); err == nil {
		t.Error("what the cluster had is there")
	}
	if left := namesLeft(r.plan(req)); left != "" {
		t.Errorf("a retired cluster is named: %s", left)
	}
}

// TestRetireKeep: nobody is contacted, and what runs there stays.
func TestRetireKeep(t *testing.T) {
	t.Parallel()
	r, req := leaving(t)
	keep := r.request()
	keep.Retire, keep.Keep = "old", true
	keep.Access.Kubeconfig = filepath.Join(r.dir, "none") // nothing is resolved
	known, err := r.Retiring(t.Context(), keep)
	if err != nil || !slices.Equal(known.Bundles, []string{r.name}) {
		t.Fatalf("known are %+v, %v", known, err)
	}
	if err := r.Retire(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "app", metav1.GetOptions{}); err != nil {
		t.Errorf("what was to be kept: %v", err)
	}
	if left := namesLeft(r.plan(req)); left != "" {
		t.Errorf("a forgotten cluster is named: %s", left)
	}
}

// TestRetireRefusals: a cluster that the fleet still has, one that nobody knows, one of another identity, and one of which
// the access is not known.
func TestRetireRefusals(t *testing.T) {
	t.Parallel()
	r, _ := leaving(t)
	try := func(name, context string) string {
		t.Helper()
		req := r.request()
		req.Retire, req.Access.Context = name, context
		_, err := r.Retiring(t.Context(), req)
		if err == nil {
			t.Errorf("%s with context %q is retired", name, context)
			return ""
		}
		return diag.From(err, "")[0].String()
	}
	for _, tt := range []struct{ name, context, want string }{
		{"stays", "", "still declares the cluster stays"}, {"unknown", "", "clusters that left: old"},
		{"old", "down", "--keep"},
	} {
		if got := try(tt.name, tt.context); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}
	path := filepath.Join(r.dir, lockfile.Name)
	rewrite := func(change func(lockfile.File)) {
		t.Helper()
		f, err := lockfile.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		if err := f.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(func(f lockfile.File) { f.Clusters[r.name]["old"] = "another-uid" })
	if got := try("old", ""); !strings.Contains(got, "another-uid") {
		t.Errorf("another cluster: %s", got)
	}
	rewrite(func(f lockfile.File) { delete(f.Places, r.name) })
	if got := try("old", ""); !strings.Contains(got, "--kube-context") {
		t.Errorf("unknown access: %s", got)
	}
}

// TestRetireRenamed: a cluster that the fleet has by another name now is not emptied by its former one, and can be forgotten.
func TestRetireRenamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	declare := func(name string) {
		r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    "+name+": {group: a, kubeContext: "+here+"}\n")
	}
	declare("old")
	r.applied(r.request())
	declare("new")
	retire := r.request()
	retire.Retire, retire.Bundle = "old", r.name
	refused := func(when string) {
		t.Helper()
		if _, err := r.Retiring(t.Context(), retire); err == nil || !strings.Contains(err.Error(), "as new") {
			t.Errorf("%s: %v", when, err)
		}
		if _, err := r.Plan(t.Context(), retire.For(Delete)); err == nil {
			t.Errorf("%s: a delete is planned", when)
		}
	}
	refused("before the cluster was applied by its new name")
	req := r.request()
	req.AcceptClusters = []string{"new"}
	r.applied(req)
	refused("after it")
	retire.Keep = true
	if err := r.Retire(t.Context(), retire); err != nil {
		t.Fatal(err)
	}
	if left := namesLeft(r.plan(r.request())); left != "" {
		t.Error(left)
	}
}

// TestRetireLostRecord: a cluster whose record is lost is not forgotten while objects carry the bundle's marks.
func TestRetireLostRecord(t *testing.T) {
	t.Parallel()
	r, _ := leaving(t)
	name := r.recordSecret(object.OwnerID("", "", r.name)).Name
	if err := r.admin.CoreV1().Secrets(object.SystemNamespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	retire := r.request()
	retire.Retire = "old"
	_, err := r.Retiring(t.Context(), retire)
	refused(t, "retire", err, plan.CodeLostRecord, r.name, "apply the bundle once")
}

// TestRetireOthers: a fleet of the same name delivered from elsewhere there too. That is named and left, whether the request names
// the bundle's files or the fleet's alone; where nobody knows what was delivered, nothing is forgotten.
func TestRetireOthers(t *testing.T) {
	t.Parallel()
	r, _ := leaving(t)
	theirs := r.name + "-theirs"
	r.write("their/app.yaml", r.configMap("their", "k: v"))
	r.write("their/fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    one: {group: a, kubeContext: "+here+"}\n")
	path := r.write("their/bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+theirs+"\n  requires: [{bundle: "+r.name+"}]\n"+
		"  instances:\n    app: {namespace: "+r.name+", manifests: {paths: [app.yaml]}}\n")
	other := r.request()
	at := docs(&other)
	at.Files, at.FleetFiles, other.AcceptClusters = []string{path}, []string{filepath.Join(r.dir, "their/fleet.yaml")}, []string{"one"}
	r.applied(other)

	retire := r.request()
	retire.Retire = "old"
	for _, files := range [][]string{docs(&retire).Files, nil} {
		docs(&retire).Files = files
		known, err := r.Retiring(t.Context(), retire)
		if err != nil || !slices.Equal(known.Bundles, []string{r.name}) || !strings.Contains(known.Others[theirs], "their") {
			t.Errorf("files %v: %+v, %v", files, known, err)
		}
	}
	retire = r.request()
	retire.Retire, retire.Bundle, retire.Among = "old", r.name, []string{r.name}
	fp, err := r.Plan(t.Context(), retire.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fp.run.close)
	if got := codes(fp); !slices.Equal(got, []string{"deletion-brake"}) {
		t.Errorf("what is left requires what goes: %v", got)
	}
	if err := lockfile.Update(filepath.Join(r.dir, lockfile.Name), func(f lockfile.File) bool {
		delete(f.Places, r.name)
		delete(f.Lineages, r.name)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	docs(&retire).Files, retire.Access.Context = nil, here
	_, err = r.Retiring(t.Context(), retire)
	refused(t, "nobody knows what was delivered", err, "other-source", theirs, "-f")
}

// Bundles that are deleted in one run are planned before the first goes: what one deletes does not hold up the Namespace or the
// definition of the next, whose plan is made anew at its turn.
func TestDeletionsInOneRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.name + "-other"
	crd := strings.ReplaceAll(thingDefinition, "GROUP", r.name+".example")
	a, b := r.pair("", crd+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: "+other+"}\n",
		"apiVersion: "+r.name+".example/v1\nkind: Thing\nmetadata: {name: t}\n"+strings.ReplaceAll(r.configMap("in", "k: v"), "name: in", "name: in, namespace: "+other))
	r.requires(a, b)
	r.applied(a)
	r.applied(b)
	among := []string{a.Bundle, b.Bundle}
	planned := func(req Request, before map[string]*Prepared) *Prepared {
		t.Helper()
		docs(&req).Files, req.Among, req.Before, req.Wait = nil, among, before, false
		fp, err := r.Plan(t.Context(), req.For(Delete))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fp.run.close)
		return fp
	}
	if got := codes(planned(a, nil)); !slices.Equal(got, []string{plan.CodeDefinitionInUse, plan.CodeNamespaceInUse}) {
		t.Fatalf("alone: %v", got)
	}
	first := planned(b, nil)
	second := planned(a, map[string]*Prepared{b.Bundle: first})
	if err := second.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	r.carried(first, first.run.req)
	req := second.run.req
	req.Written = []*fleetplan.FleetPlan{first.FleetPlan}
	again, err := r.Renew(t.Context(), second, req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.run.close)
	if again.Verb != "delete" || again.Counts().Delete != 2 {
		t.Errorf("made anew: %s, %+v", again.Verb, again.Counts())
	}
}
