package engine

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/fleet"
)

// TestGuardOfUnselectedClusters: an instance that loses its last place stops the apply also when clusters are not
// selected, or do not answer; one that moves to such a cluster does not.
func TestGuardOfUnselectedClusters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    one: {group: a, kubeContext: "+here+", labels: {tier: web}}\n"+
		"    two: {group: b, kubeContext: down, labels: {tier: data}}\n")
	r.write("other.yaml", r.configMap("other", "k: v"))
	bundle := func(placement string) {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v"), "      "+placement, "    other: {namespace: "+r.name+", manifests: {paths: [other.yaml]}}\n"))
	}
	selected := r.request()
	selected.Clusters = fleet.Selection{Clusters: []string{"one"}}
	bundle("placement: {clusterSelector: {matchLabels: {tier: web}}}")
	r.applied(selected)

	unreachable := r.request()
	unreachable.SkipUnreachable = true
	for _, req := range []Request{selected, unreachable} {
		bundle("placement: {clusterSelector: {matchLabels: {tier: wbe}}}")
		fp := r.plan(req)
		if !slices.Contains(codes(fp), "deletion-brake") || !strings.Contains(strings.Join(fp.Guard, ";"), "instance app is placed on no cluster any more") {
			t.Errorf("a mistyped label deletes: %v, findings %v", fp.Guard, fp.Findings)
		}
		bundle("placement: {clusterSelector: {matchLabels: {tier: data}}}")
		if fp := r.plan(req); slices.Contains(codes(fp), "deletion-brake") {
			t.Errorf("an instance that moves to a cluster that is not asked is held up: %v", fp.Guard)
		}
	}
}

// TestGuardOfReplacedThings: a bundle whose only Deployment gets another name needs the number.
func TestGuardOfReplacedThings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	req := r.request()
	req.Wait = false
	r.write("bundle.yaml", r.bundle(r.configMap("conf", "k: v")+r.deployment("web")))
	r.applied(req)
	r.write("app.yaml", r.configMap("conf", "k: v")+r.deployment("wbe"))
	if fp := r.plan(req); !slices.Contains(codes(fp), "deletion-brake") || !strings.Contains(strings.Join(fp.Guard, ";"), "Deployment "+r.name+"/web") {
		t.Errorf("the only workload is replaced without a word: %v", fp.Guard)
	}
	one := 1
	req.ConfirmDelete = &one
	r.applied(req)
}

// A bundle that another one requires is not deleted with a mere yes: the plan names who requires it, and wants the number. Where
// that one goes first, nothing is asked.
func TestDeleteOfWhatIsRequired(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two := r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v"))
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "    name: "+two.Bundle, "    requires: [{bundle: "+one.Bundle+"}]\n    name: "+two.Bundle, 1))
	r.applied(one)
	r.applied(two)
	gone := func(req Request) *Prepared {
		t.Helper()
		fp, err := r.Plan(t.Context(), req.For(Delete))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fp.run.close)
		return fp
	}
	docs(&one).Files = nil
	refused(t, "required", gone(one).Findings.Err(), deletionguard.Code, two.Bundle, "--confirm-delete=1")
	number := 1
	one.ConfirmDelete = &number
	if err := gone(one).Findings.Err(); err != nil {
		t.Errorf("with its number: %v", err)
	}
	one.ConfirmDelete, docs(&two).Files = nil, nil
	r.carried(gone(two), two)
	r.carried(gone(one), one)
	if r.has("one") || r.has("two") {
		t.Error("something stayed")
	}
}
