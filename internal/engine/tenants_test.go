package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
)

// One file stands for several tenants, whose name is a runtime value: a bundle that it does not name this time goes on, so that
// the next one gets neither its passwords nor its objects.
func TestTenantsOfOneFile(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {p: {{ randAlphaNum 20 | b64enc }}}\n"+
		"{{ if .Values.shared }}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {of: '{{ .Release.Name }}'}\n{{ end }}")
	text := `_t: string @timoni(runtime:string:TENANT)
bundle: {apiVersion: "v1alpha1", name: "NAME-\(_t)", instances: db: {namespace: "NAME", helm: {chart: "./chart", releaseName: "rel-\(_t)"}, values: shared: SHARED}}
`
	tenant := func(name, shared string) (*rig, Request) {
		path := r.write("t.cue", strings.NewReplacer("NAME", r.name, "SHARED", shared).Replace(text))
		next := r.again(t)
		req := next.request()
		docs(&req).Files, req.RuntimeFromEnv, req.Env = []string{path}, true, map[string]string{"TENANT": name}
		return next, req
	}
	password := map[string]string{}
	for _, name := range []string{"a", "b"} {
		next, req := tenant(name, "false")
		next.applied(req)
		s, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "rel-"+name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		password[name] = string(s.Data["p"])
	}
	if len(password["a"]) != 20 || password["a"] == password["b"] {
		t.Error("both tenants have one password")
	}
	next, req := tenant("a", "true")
	next.applied(req)
	next, req = tenant("b", "true")
	refused(t, "an object of the other tenant", next.plan(req).Findings.Err(), "foreign-owner", r.name+"-a")
}

// Two unrelated projects that are unpacked at one path, as CI does, without a repository: the second one gets neither an object
// nor a password of the first one. Where the lineage is at hand, or --take-over says so, it is one project with another bundle.
func TestUnrelatedProjectsAtOnePath(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {p: {{ randAlphaNum 20 | b64enc }}}\n"+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n")
	project := func(name, rel string) (*rig, Request) {
		r.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+r.name+name+", instances: {db: {namespace: "+r.name+", helm: {chart: ./chart, releaseName: "+rel+"}}}}\n")
		next := r.again(t)
		return next, next.request()
	}
	lock := filepath.Join(r.dir, lockfile.Name)
	next, shop := project("-shop", "rel")
	next.applied(shop)
	was := r.uidOf("shared")
	kept, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}

	if err := os.Remove(lock); err != nil { // the other project brings its own, or none
		t.Fatal(err)
	}
	next, blog := project("-blog", "rel")
	refused(t, "another project at the path", next.plan(blog).Findings.Err(), "foreign-owner", r.name+"-shop", r.name+"-blog", "hawser.lock", "--take-over", "--adopt")
	blog.TakeOver = true
	if fp := next.plan(blog); fateOf(fp, "shared") != "adopt moved" || fp.Findings.HasErrors() {
		t.Errorf("said on purpose: %s %v", fateOf(fp, "shared"), fp.Findings)
	}
	if err := os.WriteFile(lock, kept, 0o644); err != nil {
		t.Fatal(err)
	}
	blog.TakeOver = false
	next, _ = project("-blog", "rel")
	before, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "rel", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	next.applied(blog) // renamed in its file, with the lock and without a repository
	r.heldBy("shared", was, r.name+"-blog")
	after, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "rel", metav1.GetOptions{})
	if err != nil || string(after.Data["p"]) != string(before.Data["p"]) {
		t.Errorf("the password did not come along: %v", err)
	}
}

// A repository whose address changed goes on with its releases, as hawser.lock proves it; a clone of one on this machine is the
// same place however its remote is written, and another one that is written alike is not.
func TestRepositoryWithAnotherAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	req := r.checkedOut("a", teamA, "app")
	r.applied(req)
	r.checkedOut("a", teamB, "app")
	_, err := r.Plan(t.Context(), req)
	refused(t, "another address with the lock", err, lineage.CodeSource, "has the release's lineage", "--take-over")
	taken := req
	taken.TakeOver = true
	r.applied(taken)
	if fp := r.plan(req); !fp.settled() || len(fp.Findings) > 0 || fp.run.targets[0].Record.Source.Repository != "git.example.com/team-b" {
		t.Errorf("after that: %v %+v", fp.Findings, fp.run.targets[0].Record.Source)
	}
	r.forgetLock("a")
	r.checkedOut("a", teamA, "app")
	_, err = r.Plan(t.Context(), req)
	refused(t, "another address and no lock", err, lineage.CodeSource, "hawser.lock", "does not know the bundle")

	local := newRig(t)
	local.applied(local.checkedOut("one", "../hub.git", "app"))
	clone := local.checkedOut("builds/clone", filepath.Join(local.dir, "one/../hub.git"), "app")
	if fp := local.plan(clone); fp.Findings.HasErrors() || !fp.settled() {
		t.Errorf("a clone: %v", fp.Findings)
	}
	_, err = local.Plan(t.Context(), local.checkedOut("far/away", "../hub.git", "app"))
	refused(t, "another repository, written alike", err, lineage.CodeSource)
}
