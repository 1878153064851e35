package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// A run of several bundles that does not wait is refused before its first write where one requires another that the run changes:
// at that one's turn nobody would know whether the other got ready. What was waited for before is enough.
func TestRequiredIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v"))
	r.requires(a, b)
	among := []string{a.Bundle, b.Bundle}
	planned := func() error {
		t.Helper()
		first, second := a, b
		first.Among, first.Wait, second.Among, second.Wait = among, false, among, false
		second.Before = map[string]*Prepared{a.Bundle: r.plan(first)}
		_, err := r.Plan(t.Context(), second)
		return err
	}
	refused := func(why string) {
		t.Helper()
		var fe *diag.FindingsError
		if err := planned(); !errors.As(err, &fe) || len(fe.Findings) != 1 || fe.Findings[0].Code != "missing-bundle" || fe.Findings[0].Fix == "" {
			t.Errorf("%s: %v", why, err)
		}
	}
	refused("the required one is new")
	r.applied(a)
	if err := planned(); err != nil {
		t.Errorf("the required one is as it was when it was waited for: %v", err)
	}
	a, b = r.pair("", r.configMap("one", "k: new"), r.configMap("two", "k: v"))
	r.requires(a, b)
	refused("the required one changes")
	a.Wait = false
	r.applied(a)
	refused("nobody has waited for the required one")
}

// A bundle that is required, stands in the same files and places nothing on a cluster is not missing there: the bundle that
// requires it is applied alone as it is with the others.
func TestRequiredIsPlacedElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters:\n    one: {group: a, kubeContext: "+here+"}\n    two: {group: b, kubeContext: down}\n")
	a, b := r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v"))
	r.requires(a, b)
	b.Clusters = fleet.Selection{Clusters: []string{"one"}}
	var fe *diag.FindingsError
	if _, err := r.Plan(t.Context(), b); !errors.As(err, &fe) || fe.Findings[0].Code != "missing-bundle" {
		t.Errorf("it is placed there: %v", err)
	}
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "        manifests: {paths: [first.yaml]}\n", "        manifests: {paths: [first.yaml]}\n        placement: {groups: [b]}\n", 1))
	if _, err := r.Plan(t.Context(), b); err != nil {
		t.Errorf("it is placed elsewhere: %v", err)
	}
}
