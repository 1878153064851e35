package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Who may not read records is told that nobody knows, never that nothing is installed.
func TestStatusWithoutRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	for _, name := range []string{r.name, ""} {
		req := r.request()
		docs(&req).Files, req.Bundle = nil, name
		req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
		report, err := r.Status(t.Context(), req)
		if !errors.Is(err, fleetplan.ErrPartial) || len(report.Clusters) != 1 || !strings.Contains(report.Clusters[0].Unknown, "the right to") || len(report.Findings.Errors()) > 0 {
			t.Errorf("%q: %v, %+v", name, err, report)
		}
	}
}

// While somebody is at work status says who and since when, and not that the run ended in the middle.
func TestStatusInProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.deployment("web")))
	waiting := make(chan struct{})
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventWritten && ev.Object.Kind == "Deployment" {
			close(waiting)
		}
	}
	done := make(chan error, 1)
	fp, req := r.plan(r.request()), r.request()
	req.Message = "the reason why"
	go func() {
		_, err := r.Apply(t.Context(), fp, req)
		done <- err
	}()
	<-waiting
	other := newRig(t)
	look := req
	docs(&look).Files, look.Bundle = nil, r.name
	report, err := other.Status(t.Context(), look)
	if !errors.Is(err, fleetplan.ErrNotReady) || !strings.HasPrefix(report.Clusters[0].InProgress, "tester") || !strings.Contains(report.Clusters[0].InProgress, " since 20") {
		t.Errorf("%v, %+v", err, report)
	}
	planned, err := other.Plan(t.Context(), req)
	if err != nil || planned.Clusters[0].Resumes || !slices.ContainsFunc(planned.Findings, func(f diag.Finding) bool {
		return f.Code == "in-progress" && strings.HasPrefix(f.What, "tester") && strings.Contains(f.What, " since 20") && strings.Contains(f.Fix, "wait")
	}) {
		t.Errorf("the plan meanwhile: %v, %+v", err, planned)
	}
	out, err := other.Apply(t.Context(), planned, req)
	if !errors.Is(err, fleetplan.ErrRefused) || out == nil || !strings.Contains(out.Clusters[0].Reason, "locked by tester") || !strings.Contains(out.Clusters[0].Problems[0].Status.Line(), "wait until") {
		t.Errorf("an apply meanwhile: %v, %+v", err, out)
	}
	r.rolledOut("web", true)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("it does not end")
	}
	report, err = other.Status(t.Context(), look)
	row := report.Clusters[0]
	if err != nil || row.InProgress != "" || row.Message != "the reason why" || row.Instances[0].State != string(health.Ready) {
		t.Errorf("%v, %+v", err, row)
	}
}

// What a bundle requires has to be installed also where the other one stands in the same file, unless both are done.
func TestRequiresInOneFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := strings.TrimPrefix(r.bundle(r.configMap("app", "key: one")), "bundle:\n")
	one = "  " + r.name + ":\n" + strings.ReplaceAll("\n"+strings.TrimRight(one, "\n"), "\n", "\n  ")[1:] + "\n"
	two := strings.Replace(strings.ReplaceAll(one, "name: "+r.name, "name: second-"+r.name), r.name, "second-"+r.name, 1)
	r.write("bundle.yaml", "bundles:\n"+one+two+"    requires: [{bundle: "+r.name+"}]\n")
	req := r.request()
	req.Bundle = "second-" + r.name
	var fe *diag.FindingsError
	if _, err := r.Plan(t.Context(), req); !errors.As(err, &fe) || fe.Findings[0].Code != "missing-bundle" {
		t.Errorf("chosen alone: %v", err)
	}
	req.Among = []string{r.name, req.Bundle}
	r.plan(req)
	alone := r.request()
	alone.Bundle = r.name
	r.applied(alone)
	req.Among = nil
	r.plan(req)
}

// TestStatusOfAJobThatIsDoneAndGone: it is ready, nothing drifted, and nothing is to be done.
func TestStatusOfAJobThatIsDoneAndGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle("apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec:\n  ttlSecondsAfterFinished: 60\n  template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/once:1}]}}\n"))
	req := r.request()
	req.Wait = false
	r.applied(req)
	now, background := int64(0), metav1.DeletePropagationBackground
	if err := r.admin.BatchV1().Jobs(r.name).Delete(t.Context(), "once", metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	if fp := r.plan(req); !fp.Clusters[0].Plan.Empty() || fp.Counts().Unchanged != 2 {
		t.Errorf("%+v", fp.Clusters[0].Plan.Changes)
	}
	out, err := r.apply(r.request()) // this one waits
	if err != nil || out.Clusters[0].Done.Create != 0 {
		t.Errorf("%v %+v", err, out)
	}
	req = r.request()
	req.Bundle, docs(&req).Files = r.name, nil
	report, err := r.Status(t.Context(), req)
	if err != nil {
		t.Fatalf("%v: %+v", err, report)
	}
	in := report.Clusters[0].Instances[0]
	if in.State != "ready" || len(in.Objects) != 2 || in.Objects[1].Drifted || in.Objects[1].Status.Reason != health.DoneAndGone {
		t.Errorf("%+v", in)
	}
}

// A cluster on which nothing of a bundle is placed blocks no later wave, and is as declared for a status that knows the files.
func TestNotPlacedIsDone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: places
  clusters: {one: {group: a, kubeContext: engine}, two: {group: b, kubeContext: engine}}
  rollout: {waves: [{groups: [a]}, {groups: [b]}]}
`)
	text := r.bundle(r.configMap("app", "key: one"))
	r.write("bundle.yaml", text)
	req := r.request()
	req.Clusters.Clusters = []string{"two"}
	refused(t, "placed in wave 1 too", r.plan(req).Findings.Err(), "wave-gate", "one")
	r.write("bundle.yaml", text+"      placement: {groups: [b]}\n")
	if fp := r.plan(req); fp.Findings.HasErrors() {
		t.Errorf("not placed in wave 1: %v", fp.Findings)
	}
	req.Clusters.Clusters, req.Bundle = []string{"one"}, r.name
	report, err := r.Status(t.Context(), req)
	if err != nil || len(report.Clusters) != 1 || !report.Clusters[0].NotPlaced {
		t.Errorf("status with the files: %v, %+v", err, report)
	}
	docs(&req).Files = nil
	if report, err = r.Status(t.Context(), req); err == nil || report.Clusters[0].NotPlaced || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("status without files: %v, %+v", err, report)
	}
}

// A bundle whose record is damaged is a row that says so, in the status of all bundles too; nobody takes it for ready.
func TestStatusOfADamagedRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	secret := r.recordSecret(object.OwnerID("", "", r.name))
	run, err := r.load(t.Context(), r.request(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	if err := run.connect(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	target := run.targets[0]
	var fine []release.Record
	err = target.Store.Bundles(t.Context(), func(rec release.Record) error {
		fine = append(fine, rec)
		return nil
	})
	if len(fine) == 0 { // records of tests beside this one may be damaged
		t.Fatal(err)
	}
	target.Store = damaged{target.Store, fine[:1], errors.New("read secrets/" + secret.Name + ": the stored record is damaged")}
	rows := run.statusOf(t.Context(), target, "")
	unknown := 0
	for _, row := range rows {
		if strings.Contains(row.Unknown, secret.Name) {
			unknown++
		}
	}
	report := &fleetplan.StatusReport{Clusters: rows}
	if len(rows) != 2 || unknown != 1 || !errors.Is(report.Verdict(), fleetplan.ErrPartial) {
		t.Errorf("%+v, %v", rows, report.Verdict())
	}
}

// damaged is a store of which some records cannot be read.
type damaged struct {
	release.Store
	records []release.Record
	err     error
}

func (d damaged) Bundles(_ context.Context, each func(release.Record) error) error {
	for _, r := range d.records {
		if err := each(r); err != nil {
			return err
		}
	}
	return d.err
}

// An object that may not be looked at is unknown, never missing.
func TestStatusOfUnseenObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	req := r.request()
	docs(&req).Files, req.Bundle = nil, r.name
	user := "reader-of-records-" + r.name
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list"}}}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Rules: rules}
	if _, err := r.admin.RbacV1().Roles("hawser-system").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Subjects: []rbacv1.Subject{{Kind: "User", Name: user, APIGroup: "rbac.authorization.k8s.io"}},
		RoleRef: rbacv1.RoleRef{Kind: "Role", Name: r.name, APIGroup: "rbac.authorization.k8s.io"}}
	if _, err := r.admin.RbacV1().RoleBindings("hawser-system").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.may(user, "hawser-system", rules...)
	report, err := r.Status(t.Context(), req)
	if len(report.Clusters) != 1 {
		t.Fatal(err)
	}
	row := report.Clusters[0]
	if len(row.Instances) != 1 || row.Instances[0].State != string(health.Unknown) {
		t.Fatalf("%+v", row)
	}
	for _, o := range row.Instances[0].Objects {
		if o.Status.State != health.Unknown || !strings.Contains(o.Status.Reason, "forbidden") {
			t.Errorf("%+v", o)
		}
	}
}

// TestStatusNamesWhoHasTheField: who drifted an object is who has the field that was ours, not who wrote to it last.
func TestStatusNamesWhoHasTheField(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one", "other: one")))
	r.applied(r.request())
	for _, change := range [][2]string{{"somebody", `{"data": {"key": "two"}}`}, {"the-last", `{"metadata": {"annotations": {"note": "hi"}}, "data": {"more": "three"}}`}} {
		if _, err := r.admin.CoreV1().ConfigMaps(r.name).Patch(t.Context(), "app", types.MergePatchType, []byte(change[1]), metav1.PatchOptions{FieldManager: change[0]}); err != nil {
			t.Fatal(err)
		}
	}
	req := r.request()
	docs(&req).Files, req.Bundle = nil, r.name
	report, err := r.Status(t.Context(), req)
	if !errors.Is(err, fleetplan.ErrNotReady) {
		t.Fatal(err)
	}
	said := ""
	for _, o := range report.Clusters[0].Instances[0].Objects {
		said += o.Drift()
	}
	if said != "drifted: data.key (by somebody)" {
		t.Errorf("%q in %+v", said, report.Clusters[0])
	}
}

// TestStatusBesideASilentServer: an aggregated API server that does not answer hides no misspelled name: the bundle is not
// installed, as far as could be asked.
func TestStatusBesideASilentServer(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {kubeContext: eu}\n", nil, "eu")
	req := s.request()
	docs(&req).Files, req.Bundle = nil, "shpo"
	s.servers["eu"].Fault(s.servers["eu"].Altered(func(obj map[string]any) {
		if items, ok := obj["items"].([]any); ok && obj["kind"] == "APIGroupDiscoveryList" {
			obj["items"] = append(items, map[string]any{"metadata": map[string]any{"name": "metrics.k8s.io"},
				"versions": []any{map[string]any{"version": "v1beta1", "freshness": "Stale"}}})
		}
	}))
	report, err := s.Status(t.Context(), req)
	if fs := report.Findings.Errors(); errors.Is(err, fleetplan.ErrPartial) || len(fs) != 1 || fs[0].Code != "not-installed" || !strings.HasSuffix(fs[0].Why, "the API group metrics.k8s.io") {
		t.Errorf("%v, %+v", err, report)
	}
	s.servers["eu"].Fault(nil)
}
