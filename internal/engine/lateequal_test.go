package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/plan"
)

// levelled has nothing of its value but what it compares it with.
const levelled = `apiVersion: v1
kind: PodTemplate
metadata: {name: pt}
template: {spec: {hostNetwork: {{ gt (int .Values.level) 1000 }}, containers: [{name: x, image: nginx, securityContext: {privileged: {{ gt (int .Values.level) 1000 }}}}]}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
automountServiceAccountToken: {{ gt (int .Values.level) 1000 }}
`

// lateFields are the fields of a plan's changes of PodTemplates and ServiceAccounts: "PodTemplate path: old -> new".
func lateFields(fp *Prepared) (out []string) {
	for _, ch := range fp.Clusters[0].Plan.Changes {
		for _, f := range ch.Fields {
			if ch.Action == plan.Update && ch.Ref.Kind != "ConfigMap" {
				out = append(out, fmt.Sprintf("%s %s: %s -> %s", ch.Ref.Kind, f.Path, f.Old, f.New))
			}
		}
	}
	return out
}

// shownAs are the fields of levelled with what they become.
func shownAs(now string) []string {
	return []string{"PodTemplate template.spec.containers[x].securityContext.privileged: false -> " + now, "PodTemplate template.spec.hostNetwork: false -> " + now,
		"ServiceAccount automountServiceAccountToken: false -> " + now}
}

// privileged reports whether what is levelled is so in the cluster, all of it or nothing.
func (r *rig) privileged() bool {
	r.t.Helper()
	pt, err := r.admin.CoreV1().PodTemplates(r.name).Get(r.t.Context(), "pt", metav1.GetOptions{})
	sa, err2 := r.admin.CoreV1().ServiceAccounts(r.name).Get(r.t.Context(), "sa", metav1.GetOptions{})
	if err != nil || err2 != nil {
		r.t.Fatal(err, err2)
	}
	spec := pt.Template.Spec
	all := []bool{spec.HostNetwork, *spec.Containers[0].SecurityContext.Privileged, *sa.AutomountServiceAccountToken}
	if len(slices.Compact(all)) > 1 {
		r.t.Errorf("%v", all)
	}
	return all[0]
}

// A field that something stands in for is in the plan though that is what is there: the value that comes may change it. Values that come the same
// change nothing, and what is known is as declared.
func TestFieldsThatStandInsLeaveAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, asking := range []bool{true, false} {
		t.Run(fmt.Sprint("asking ", asking), func(t *testing.T) {
			t.Parallel()
			r := chartRig(t, levelled)
			db := func(level, note string) string {
				return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {level: %q, note: %q}\n", level, note)
			}
			a, b := r.pair("", db("-30303", ""), "")
			r.refers(&a, &b, `level: "ref://vault:db/level"`)
			r.requires(a, b)
			b.ShowDiff, b.ShowFields = asking, true
			for i, level := range []string{"-30303", "-40404", "70707"} {
				r.write("first.yaml", db(level, fmt.Sprint(i)))
				first, second, req := r.both(a, b)
				if got, want := lateFields(second), shownAs(`"known after bundle `+a.Bundle+`"`); i > 0 && !slices.Equal(got, want) {
					t.Errorf("level %s:\n%s", level, strings.Join(got, "\n"))
				}
				r.carried(first, a)
				renewed, err := r.Renew(t.Context(), second, req)
				if err != nil {
					t.Fatalf("level %s: %v", level, err)
				}
				r.carried(renewed, req)
				if is := r.privileged(); is != (level == "70707") || level == "-40404" && renewed.Counts().Unchanged != 2 {
					t.Errorf("level %s: %v, %+v", level, is, renewed.Counts())
				}
				if first, second, _ := r.both(a, b); !first.settled() || !second.settled() {
					t.Errorf("left to do: %+v %+v", first.Counts(), second.Counts())
				}
			}
		})
	}
}

// It is the same with a preview of what another instance gives.
func TestPreviewsThatLeaveFieldsAsTheyAre(t *testing.T) {
	t.Parallel()
	r := chartRig(t, strings.ReplaceAll(levelled, "gt (int .Values.level) 1000", ".Values.level"))
	r.values("level: {from: {instance: m, object: v1/ConfigMap/m, path: data.level, as: json, preview: false}}")
	r.write("bundle.yaml", r.read("bundle.yaml")+"    m: {namespace: "+r.name+", manifests: {paths: [m.yaml]}}\n")
	for i, level := range []string{"false", "false", "true"} {
		r.write("m.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {level: %q, note: %q}\n", level, fmt.Sprint(i)))
		req := r.request()
		req.ShowDiff, req.ShowFields = i == 1, true
		if got, want := lateFields(r.plan(req)), shownAs(`"known after m (preview false)"`); i > 0 && !slices.Equal(got, want) {
			t.Errorf("%d:\n%s", i, strings.Join(got, "\n"))
		}
		out := r.applied(req)
		if done := out.Clusters[0].Done; r.privileged() != (level == "true") || i == 1 && (done.Update != 1 || done.Unchanged < 2) {
			t.Errorf("%d: %+v", i, done)
		}
		if fp := r.plan(req); !fp.settled() {
			t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
		}
	}
}
