package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// unbegun are instances that were not begun, with why.
func unbegun(list []plan.NotBegun) (out []string) {
	for _, n := range list {
		out = append(out, n.String())
	}
	return out
}

// An instance that was put off, as its value did not come, and what depends on it are told to be not begun, each with its reason, when another one that
// went ahead was not ready in time: in the outcome, in the record, and in the status; the next run does them.
func TestPutOffAndNotBegun(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}}}
    two: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    three: {namespace: NS, dependsOn: [one], helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    web: {namespace: NS, dependsOn: [two], manifests: {paths: [web.yaml]}}
`)
	r.write("web.yaml", r.deployment("web"))
	req := r.request()
	req.Timeout = 6 * time.Second
	out, err := r.Apply(t.Context(), r.plan(req), req)
	if !errors.Is(err, fleetplan.ErrNotReady) || len(out.Clusters) != 1 {
		t.Fatalf("%v %+v", err, out)
	}
	row := out.Clusters[0]
	if row.Reason != "web not ready; not begun: one, three" {
		t.Errorf("the reason is %q", row.Reason)
	}
	want := []string{"instance one was not begun: a value that it takes had not come (ConfigMap " + r.name + "/made: one takes its data.uri)",
		"instance three was not begun: it depends on one, which was not begun"}
	if got := unbegun(row.NotBegun); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.record(); !slices.Equal(unbegun(got.NotBegun), want) || !slices.Equal(got.Unfinished, []string{"one", "three", "web"}) {
		t.Errorf("the record has %q, unfinished %q", unbegun(got.NotBegun), got.Unfinished)
	}
	if fp := r.plan(req); fp.Clusters[0].Waits != "" && !strings.Contains(fp.Clusters[0].Waits, "one not begun, three not begun") {
		t.Errorf("the plan says %q", fp.Clusters[0].Waits)
	}
	look := r.request()
	docs(&look).Files, look.Bundle = nil, r.name
	status, _ := r.Status(t.Context(), look)
	said := map[string]string{}
	for _, in := range status.Clusters[0].Instances {
		said[in.Instance] = in.Stopped
	}
	if said["one"] != "in the last run "+want[0] || said["three"] != "in the last run "+want[1] || said["two"] != "" {
		t.Errorf("the status says %q", said)
	}
	r.make(map[string]string{"uri": "made"})
	r.rolledOut("web", true)
	r.applied(r.request())
	if got := r.there(); !slices.Equal(got, []string{"conn=postgres://db", "one=made", "three=postgres://db", "two=postgres://db"}) {
		t.Errorf("in the end there are %v", got)
	}
	if got := r.record(); len(got.NotBegun)+len(got.Unfinished) > 0 {
		t.Errorf("then the record has %v", got.NotBegun)
	}
}

// What depends on an instance that does not get ready is told to be not begun: of an apply, of a rollback and of a correction, and the record that each
// of them leaves has it.
func TestNotBegunOfEachVerb(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]Operation{"apply": Apply, "rollback": Rollback, "correct": Correct} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("late.yaml", r.configMap("late", "key: one"))
			r.write("bundle.yaml", r.bundle(r.deployment("web"), "    late: {namespace: "+r.name+", dependsOn: [app], manifests: {paths: [late.yaml]}}\n"))
			ready := true
			r.on = func(ev fleetplan.Event) {
				if ready && ev.Type == fleetplan.EventWaiting && ev.Object.Kind == "Deployment" {
					go r.rolledOut("web", true)
				}
			}
			r.applied(r.request())
			next := func() {
				r.write("app.yaml", strings.Replace(r.read("app.yaml"), "web:1", "web:2", 1))
				r.write("late.yaml", strings.Replace(r.read("late.yaml"), "one", "two", 1))
			}
			req := r.request()
			switch name {
			case "apply":
				next()
			case "rollback":
				next()
				r.applied(req)
				req = r.back("")
			case "correct":
				r.patch("kubectl-edit", "ConfigMap", "late", `{"data":{"key":"theirs"}}`)
				web := r.admin.AppsV1().Deployments(r.name)
				if _, err := web.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
					t.Fatal(err)
				}
				req = r.back("")
			}
			r.mu.Lock()
			ready = false
			r.mu.Unlock()
			req.Timeout = 2 * time.Second
			fp := r.plan(req.For(op))
			out, err := r.Apply(t.Context(), fp, req)
			if !errors.Is(err, fleetplan.ErrNotReady) || len(out.Clusters) != 1 {
				t.Fatalf("%v %+v", err, out)
			}
			want := []string{"instance late was not begun: it depends on app: app not ready"}
			if got := unbegun(out.Clusters[0].NotBegun); !slices.Equal(got, want) || out.Clusters[0].Reason != "app not ready; not begun: late" {
				t.Errorf("%q, %q", out.Clusters[0].Reason, got)
			}
			h, err := r.History(t.Context(), r.back(""))
			if err != nil {
				t.Fatal(err)
			}
			if got := unbegun(h.Bundles[0].Releases[0].Clusters[0].NotBegun); !slices.Equal(got, want) {
				t.Errorf("the history says %q", got)
			}
			if rec := r.record(); rec.Standing() != release.Failed || !slices.Contains(rec.Unfinished, "late") {
				t.Errorf("the record is %s, unfinished %q", rec.Standing(), rec.Unfinished)
			}
			if fp := r.plan(req.For(op)); !strings.Contains(fp.Clusters[0].Waits, "late not begun") && len(fp.Clusters[0].Plan.Changes) == 0 {
				t.Errorf("a later run takes it as done: %q", fp.Clusters[0].Waits)
			}
		})
	}
}
