package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/values"
)

// A value of a Secret that another bundle of the run writes brings no more along than the plan showed, whether the Secret is not there
// yet or has another value until then: the bundle is refused with object and fields, and nothing of it is written. A value that is none but that
// is taken, and digests of it with it.
func TestRenewedReferenceGrantsNoMoreThanWasShown(t *testing.T) {
	t.Parallel()
	evil := "pods]\n  verbs: [get]\n- apiGroups: [\"*\"]\n  resources: [\"*\"]\n  verbs: [\"*\"]\n- apiGroups: [\"\"]\n  resources: [pods"
	for name, c := range map[string]struct {
		before, resource, image string // before: the Secret is there with this resource
		field                   string // that it is refused for, "" for none
	}{
		"rights":         {"", evil, "nginx", "rules"},
		"changed rights": {"pods", evil, "nginx", "rules"},
		"a list":         {"", "pods, secrets", "nginx", "rules[0].resources"},
		"what runs":      {"", "pods", "nginx\n      securityContext: {privileged: true}\n    hostNetwork: true", "template.spec.containers[0].securityContext, template.spec.hostNetwork"},
		"none":           {"", "pods", "nginx", ""},
		"changed":        {"secrets", "pods", "nginx", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := chartRig(t, pastedChart)
			db := func(resource, image string) string {
				return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {resource: %q, image: %q}\n", resource, image)
			}
			a, b := r.pair("", db(c.before, "nginx"), "")
			r.refers(&a, &b, `resource: "ref://vault:db/resource", image: "ref://vault:db/image"`)
			r.requires(a, b)
			if c.before != "" {
				first, second, req := r.both(a, b)
				r.carried(first, a)
				renewed, err := r.Renew(t.Context(), second, req)
				if err != nil {
					t.Fatal(err)
				}
				r.carried(renewed, req)
			}
			r.write("first.yaml", db(c.resource, c.image))
			first, second, req := r.both(a, b)
			if !slices.Contains(codes(second), values.CodeNotRead) {
				t.Fatalf("it is known: %v", second.Findings)
			}
			r.carried(first, a)
			renewed, err := r.Renew(t.Context(), second, req)
			if c.field != "" {
				fs := diag.From(err, "")
				if !slices.ContainsFunc(fs, func(f diag.Finding) bool {
					return f.Code == staleplan.CodeStale && strings.Contains(f.What, c.field) && f.Object != ""
				}) {
					t.Fatalf("%v", err)
				}
				if fp := r.plan(b); fp.Findings.HasErrors() || slices.Contains(codes(fp), values.CodeNotRead) {
					t.Errorf("the next plan does not know the values: %v", fp.Findings)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.carried(renewed, req)
			role, err := r.admin.RbacV1().Roles(r.name).Get(t.Context(), "late", metav1.GetOptions{})
			if err != nil || len(role.Rules) != 1 || role.Rules[0].Resources[0] != c.resource {
				t.Errorf("%v: %+v", err, role)
			}
			b.Among = nil
			if fp := r.plan(b); !fp.settled() {
				t.Errorf("left to do: %+v %v", fp.Clusters[0].Plan.Changes, fp.Findings)
			}
		})
	}
}
