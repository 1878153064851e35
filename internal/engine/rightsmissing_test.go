package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rights"
)

// TestAllRightsAtOnce: who lacks rights is told all of them in one message, and not the first one each time.
func TestAllRightsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.deployment("web")))
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
	for name, ask := range map[string]func() error{
		"plan":        func() error { _, err := r.Plan(t.Context(), req); return err },
		"fleet check": func() error { _, err := r.Check(t.Context(), req); return err },
	} {
		fs := diag.From(ask(), "").Errors()
		if len(fs) != 1 || fs[0].Code != rights.Code || fs[0].Fix != rights.Roles {
			t.Errorf("%s: %+v", name, fs)
			continue
		}
		for _, want := range []string{"get, list, update on secrets in namespace hawser-system", "on leases.coordination.k8s.io in namespace hawser-system",
			"create, delete, get, list, patch, watch on configmaps in namespace " + r.name, "watch on deployments.apps in namespace " + r.name, "on pods in namespace " + r.name} {
			if !strings.Contains(fs[0].Why, want) {
				t.Errorf("%s: no %q in\n%s", name, want, fs[0].Why)
			}
		}
	}
}

// Without a bundle a check asks for what any needs: who may nothing is told so of each cluster, who may keep records passes.
func TestCheckWithoutABundleAsksForRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	docs(&req).Files = nil
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-without-a-bundle")
	report, err := r.Check(t.Context(), req)
	fs := diag.From(err, "").Errors()
	if len(fs) != 1 || fs[0].Code != rights.Code || fs[0].Fix != rights.Roles || len(report.Clusters) != 1 || len(report.Clusters[0].Missing) != 2 {
		t.Fatalf("%+v, %+v", fs, report)
	}
	user := "keeper-" + r.name
	for _, name := range []string{object.SystemNamespace, r.name} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	r.grant(user)
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	if report, err := r.Check(t.Context(), req); err != nil || report.Clusters[0].Missing != nil {
		t.Errorf("%v, %+v", err, report)
	}
}

// grant gives a user rights in the rig's namespace and those of records and locks.
func (r *rig) grant(user string, rules ...rbacv1.PolicyRule) {
	r.t.Helper()
	own := []rbacv1.PolicyRule{{APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "leases"}, Verbs: []string{"*"}}}
	subject := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	for ns, rules := range map[string][]rbacv1.PolicyRule{object.SystemNamespace: own, r.name: rules} {
		meta := metav1.ObjectMeta{Name: user, Namespace: ns}
		if _, err := r.admin.RbacV1().Roles(ns).Create(r.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}
		if _, err := r.admin.RbacV1().RoleBindings(ns).Create(r.t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subject, RoleRef: ref}, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
		r.may(user, ns, rules...)
	}
}

// TestRecordedRights: what the record names and the files do not have any more belongs to the rights of a bundle: it is to
// be looked at and deleted. Where no record can be read, that is said.
func TestRecordedRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gone := "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gone}\n"
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+gone))
	r.applied(r.request())
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two")))
	user := "few-" + r.name
	r.grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}})
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	rep, err := r.Check(t.Context(), req)
	if err == nil || !slices.ContainsFunc(rep.Clusters[0].Missing, func(s string) bool { return strings.Contains(s, "delete") && strings.Contains(s, "serviceaccounts") }) {
		t.Errorf("check: %v, %+v", err, rep)
	}

	req.Placeholders, req.Recorded = true, true
	want := object.Ref{Kind: "ServiceAccount", Namespace: r.name, Name: "gone"}
	if out, err := r.Build(t.Context(), req); err != nil || !slices.Contains(out.Recorded, want) || len(out.Findings) > 0 {
		t.Errorf("build: %v, %+v", err, out)
	}
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    engine: {group: a, kubeContext: engine}\n    gone: {group: a, kubeContext: down}\n")
	down := r.request()
	down.Placeholders, down.Recorded, down.Access.As = true, true, "nobody-in-particular"
	out, err := r.Build(t.Context(), down)
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, f := range out.Findings {
		if f.Code == "unrecorded-rights" && f.Why != "" {
			unknown = append(unknown, f.Cluster)
		}
	}
	if !slices.Equal(unknown, []string{"engine", "gone"}) {
		t.Errorf("%+v", out.Findings)
	}
}

// TestRightsBeforeTheFirstWrite: what a rollback or a delete may not do is found before anything is written anywhere, and
// refuses the run, as it does of an apply.
func TestRightsBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, value := range []string{"one", "two"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+value)+r.configMap("new-"+value, "key: "+value)))
		r.applied(r.request())
	}
	user := "few-" + r.name
	r.grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"get", "list", "watch", "patch", "create"}})
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: three")))
	before := r.record()
	for name, made := range map[string]func(Request) (*Prepared, error){
		"apply": func(q Request) (*Prepared, error) { return r.Plan(t.Context(), q) },
		"rollback": func(q Request) (*Prepared, error) {
			docs(&q).Files, q.Bundle = nil, r.name
			return r.Plan(t.Context(), q.For(Rollback))
		},
		"delete": func(q Request) (*Prepared, error) {
			docs(&q).Files, q.Bundle = nil, r.name
			return r.Plan(t.Context(), q.For(Delete))
		},
	} {
		fp, err := made(req)
		if err != nil || fp.Findings.HasErrors() {
			t.Errorf("%s: the plan: %v, %+v", name, err, fp.Findings)
			continue
		}
		out, err := r.Apply(t.Context(), fp, req)
		refused, _ := errors.AsType[*fleetplan.RefusedError](err)
		if refused == nil || len(refused.Findings) != 1 || refused.Findings[0].Code != rights.Code || out.Rollout != "" || len(out.Clusters) > 0 {
			t.Errorf("%s: %v, %+v", name, err, out)
		}
	}
	if now := r.record(); now.Revision != before.Revision || !r.has("new-two") {
		t.Errorf("something was written: %+v", now)
	}
}

// TestBindingAfterItsRole: who may neither bind nor escalate can install a Role together with what binds it, of another
// instance too: the server refuses a binding whose role is not there yet. What binds goes before the role.
func TestBindingAfterItsRole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var roles, bindings string
	for i := range 20 { // at most so many are written at once
		name := fmt.Sprintf("web-%d", i)
		roles += "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: " + name + "}\nrules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]\n"
		bindings += "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: " + name + "}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: " + name + "}\nsubjects: [{kind: ServiceAccount, name: web, namespace: " + r.name + "}]\n"
	}
	for _, name := range []string{object.SystemNamespace, r.name} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	user := "few-" + r.name
	r.grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "serviceaccounts", "namespaces"}, Verbs: rights.Managed},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}, Verbs: rights.Managed})
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	r.write("bundle.yaml", r.bundle(bindings+roles+r.configMap("app", "key: one")+"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"))
	check := req
	check.ServerCheck = true
	if fp := r.plan(check); fp.Findings.HasErrors() {
		t.Errorf("%+v", fp.Findings)
	}
	r.applied(req)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two")))
	r.applied(r.confirming(&req))
}
