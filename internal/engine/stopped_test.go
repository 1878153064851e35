package engine

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// gated has a hook that runs before an upgrade, and fails.
const gated = `apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {key: {{ .Values.v | quote }}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "example.com/migrate:{{ .Values.v }}"}]}}
`

// jobsEnd makes every Job that is made end: well, or not.
func (r *rig) jobsEnd(well bool) {
	r.on = func(ev fleetplan.Event) {
		if ev.Object == nil || ev.Object.Kind != "Job" || ev.Type != fleetplan.EventWritten && ev.Type != fleetplan.EventWaiting {
			return
		}
		jobs := r.admin.BatchV1().Jobs(r.name)
		job, err := jobs.Get(r.t.Context(), ev.Object.Name, metav1.GetOptions{})
		if err != nil || len(job.Status.Conditions) > 0 {
			return
		}
		now := metav1.Now()
		job.Status = batchv1.JobStatus{StartTime: &now, Failed: 1, Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}, {Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}}}
		if well {
			job.Status = batchv1.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, Conditions: []batchv1.JobCondition{
				{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}
		}
		if _, err := jobs.UpdateStatus(r.t.Context(), job, metav1.UpdateOptions{}); err != nil {
			r.t.Error(err)
		}
	}
}

// fieldsOf are the changed fields of an object in a plan.
func fieldsOf(p *plan.Plan, name string) string {
	out := ""
	for _, ch := range p.Changes {
		if ch.Ref.Name == name {
			out += string(ch.Action)
			for _, f := range ch.Fields {
				out += fmt.Sprintf(" %s %s->%s", f.Path, f.Old, f.New)
			}
		}
	}
	return out
}

// TestFieldsAfterAFailedHook: after an apply that a hook stopped before anything else was written, plans compare with what was applied
// last, and so do a rollback and a comparison of releases.
func TestFieldsAfterAFailedHook(t *testing.T) {
	t.Parallel()
	r := chartRig(t, gated)
	r.values("v: one")
	r.applied(r.request())
	r.values("v: two")
	r.jobsEnd(false)
	if _, err := r.apply(r.request()); err == nil || r.data()["app"] != "one" {
		t.Fatalf("the hook did not fail: %v %v", err, r.data())
	}
	if rec := r.record(); rec.Phase != release.Failed || rec.Revision != 2 {
		t.Fatalf("%s %d", rec.Phase, rec.Revision)
	}
	for _, diff := range []bool{false, true} {
		req := r.request()
		req.ShowDiff, req.ShowFields = diff, true
		if got := fieldsOf(r.plan(req).Clusters[0].Plan, "app"); got != `update data.key "one"->"two"` {
			t.Errorf("diff %t: %q", diff, got)
		}
	}
	report, err := r.Status(t.Context(), r.back(""))
	if err != nil && len(report.Clusters) == 0 {
		t.Fatal(err)
	}
	if in := report.Clusters[0].Instances[0]; in.State != "ready" || in.Stopped != "the upgrade is not done: its pre-upgrade hooks did not end well (Job "+r.name+"/migrate)" {
		t.Errorf("status: %+v", in)
	}
	c := history.Releases("1", "2")
	err = r.Compare(t.Context(), r.back(""), c)
	if err != nil || !strings.Contains(fieldsOf(c.Clusters[0].Plan, "app"), `data.key "one"->"two"`) {
		t.Errorf("%v %q", err, fieldsOf(c.Clusters[0].Plan, "app"))
	}
	if n := c.Clusters[0].Plan.Count(); n.Update != 1 || n.Hooks != 1 {
		t.Errorf("hooks are counted apart: %+v", n)
	}
	r.jobsEnd(true)
	r.applied(r.request())
	if report, err = r.Status(t.Context(), r.back("")); err != nil || report.Clusters[0].Instances[0].Stopped != "" {
		t.Errorf("%v %+v", err, report)
	}
	r.values("v: three")
	r.jobsEnd(false)
	if _, err := r.apply(r.request()); err == nil {
		t.Error("the hook did not fail")
	}
	r.values("v: four")
	req := r.request()
	req.ShowFields = true
	if got := fieldsOf(r.plan(req).Clusters[0].Plan, "app"); got != `update data.key "two"->"four"` {
		t.Errorf("other files: %q", got)
	}
}
