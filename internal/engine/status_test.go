package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
)

func TestStatusVerdict(t *testing.T) {
	ready := ClusterStatus{Cluster: "a", Bundle: "web", Phase: "succeeded", Instances: []InstanceStatus{{State: "ready"}}}
	failed := ClusterStatus{Cluster: "b", Bundle: "web", Phase: "succeeded", Instances: []InstanceStatus{{State: "failed"}}}
	none, hidden := ClusterStatus{Cluster: "c"}, ClusterStatus{Cluster: "d", Unknown: "the right to get secrets is missing"}
	down := ClusterStatus{Cluster: "e", Unreachable: "no answer"}
	written := ready
	written.Phase = "written"
	for _, c := range []struct {
		name, bundle string
		rows         []ClusterStatus
		want         error
		finding      string
	}{
		{"ready", "web", []ClusterStatus{ready, written}, nil, ""},
		{"not ready", "web", []ClusterStatus{ready, failed}, ErrNotReady, ""},
		{"not ready, and not installed on one", "web", []ClusterStatus{ready, none, failed}, ErrNotReady, ""},
		{"not installed on one", "web", []ClusterStatus{ready, none, written}, nil, "bundle web is not installed on c"},
		{"not installed", "web", []ClusterStatus{none}, nil, "not installed on any"},
		{"nothing asked for by name", "", []ClusterStatus{ready, none}, nil, ""},
		{"unknown is not \"not installed\"", "web", []ClusterStatus{ready, hidden}, ErrPartial, ""},
		{"unreachable", "web", []ClusterStatus{down, none}, ErrPartial, ""},
	} {
		r := &StatusReport{Bundle: c.bundle, Clusters: c.rows}
		err := r.verdict()
		if c.finding != "" {
			if len(r.Findings) != 1 || r.Findings[0].Severity != diag.Error || !strings.Contains(r.Findings[0].What, c.finding) || err == nil {
				t.Errorf("%s: %v, %v", c.name, err, r.Findings)
			}
			continue
		}
		if !errors.Is(err, c.want) || len(r.Findings) != 0 {
			t.Errorf("%s: %v, %v", c.name, err, r.Findings)
		}
	}
}

// Who may not read records is told that nobody knows, never that nothing is installed.
func TestStatusWithoutRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	for _, name := range []string{r.name, ""} {
		req := r.request()
		req.Files, req.Bundle = nil, name
		req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
		report, err := r.Status(t.Context(), req)
		if !errors.Is(err, ErrPartial) || len(report.Clusters) != 1 || !strings.Contains(report.Clusters[0].Unknown, "the right to") || len(report.Findings.Errors()) > 0 {
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
	r.on = func(ev Event) {
		if ev.Type == EventWritten && ev.Object.Kind == "Deployment" {
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
	look.Files, look.Bundle = nil, r.name
	report, err := other.Status(t.Context(), look)
	if !errors.Is(err, ErrNotReady) || !strings.HasPrefix(report.Clusters[0].InProgress, "tester") || !strings.Contains(report.Clusters[0].InProgress, " since 20") {
		t.Errorf("%v, %+v", err, report)
	}
	planned, err := other.Plan(t.Context(), req)
	if err != nil || planned.Clusters[0].Resumes || !slices.ContainsFunc(planned.Findings, func(f diag.Finding) bool {
		return f.Code == "in-progress" && strings.HasPrefix(f.What, "tester") && strings.Contains(f.What, " since 20") && strings.Contains(f.Fix, "wait")
	}) {
		t.Errorf("the plan meanwhile: %v, %+v", err, planned)
	}
	out, err := other.Apply(t.Context(), planned, req)
	if err == nil || out == nil || !strings.Contains(out.Clusters[0].Reason, "locked by tester") || !strings.Contains(out.Clusters[0].Reason, "wait until") {
		t.Errorf("an apply meanwhile: %v, %+v", err, out)
	}
	r.rolledOut("web", true)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
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
	req.Bundle, req.Files = r.name, nil
	report, err := r.Status(t.Context(), req)
	if err != nil {
		t.Fatalf("%v: %+v", err, report)
	}
	in := report.Clusters[0].Instances[0]
	if in.State != "ready" || len(in.Objects) != 2 || in.Objects[1].Drifted || in.Objects[1].Status.Reason != health.DoneAndGone {
		t.Errorf("%+v", in)
	}
}
