package engine

import (
	"errors"
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

// TestRightsThatAreGiven: who may not give what a role of the bundle gives is told so by the check and the plan, and the apply is refused before it
// writes. A role that is as declared takes nothing.
func TestRightsThatAreGiven(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{object.SystemNamespace, r.name} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	user := "few-" + r.name
	r.grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: rights.Managed},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}, Verbs: rights.Managed})
	role := "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: web}\nrules: [{apiGroups: [''], resources: [configmaps, pods], verbs: [get]}]\n"
	r.write("bundle.yaml", r.bundle(role+r.configMap("app", "key: one")))
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	says := func(f diag.Finding) bool {
		return f.Code == rights.Code && strings.Contains(f.Why, "get on configmaps, pods in namespace "+r.name+", which Role "+r.name+"/web gives")
	}

	looked := req
	looked.ShowDiff, looked.Reads = true, true
	if fp := r.plan(looked); fp.Findings.HasErrors() || !slices.ContainsFunc(fp.Clusters[0].Plan.Findings.Warnings(), says) {
		t.Errorf("plan: %+v, %+v", fp.Findings, fp.Clusters[0].Plan.Findings)
	}
	if rep, err := r.Check(t.Context(), req); err == nil || !slices.ContainsFunc(diag.From(err, "").Errors(), says) || len(rep.Clusters[0].Missing) != 1 {
		t.Errorf("check: %v, %+v", err, rep)
	}
	fp := r.plan(req)
	out, err := r.Apply(t.Context(), fp, req)
	refused, _ := errors.AsType[*fleetplan.RefusedError](err)
	if refused == nil || !slices.ContainsFunc(refused.Findings, says) || out.Rollout != "" || r.has("app") {
		t.Errorf("apply: %v, %+v", err, out)
	}

	r.applied(r.request())
	r.write("bundle.yaml", r.bundle(role+r.configMap("app", "key: two")))
	if _, err := r.Check(t.Context(), req); err != nil {
		t.Errorf("as declared: %v", err)
	}
	r.applied(req)
}

// TestRightsToDelete: the check warns of the Namespaces and definitions of a bundle that somebody could not delete; an apply does without.
func TestRightsToDelete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := "widgets." + r.name + ".example.com"
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: "+r.name+"}\n---\n"+
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "+name+"}\nspec: {group: "+r.name+
		".example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n"))
	r.applied(r.request())
	user := "few-" + r.name
	r.grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: rights.Managed})
	subject := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"", "apiextensions.k8s.io"}, Resources: []string{"namespaces", "customresourcedefinitions"}, Verbs: rights.Managed}}
	if _, err := r.admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}
	if _, err := r.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subject, RoleRef: ref}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.may(user, "", rules...)
	req := r.request()
	check := func() (why []string) {
		rep, err := r.Check(t.Context(), req)
		if err != nil || len(rep.Clusters[0].Missing) > 0 {
			t.Errorf("%v, %+v", err, rep)
		}
		for _, f := range rep.Findings {
			if f.Code == rights.CodeDelete {
				why = append(why, f.Why)
			}
		}
		return why
	}
	if why := check(); len(why) > 0 {
		t.Errorf("an administrator: %q", why)
	}
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, user)
	why := strings.Join(check(), "\n")
	for _, want := range []string{"list on " + name + " in the cluster", " more in namespace " + r.name} {
		if !strings.Contains(why, want) {
			t.Errorf("no %q in %q", want, why)
		}
	}
}
