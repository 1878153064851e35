package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/rights"
)

// reader is a request of somebody who may read everything, and may do more in the rig's namespace.
func (r *rig) reader(more ...rbacv1.PolicyRule) Request {
	r.t.Helper()
	user := "reader-" + r.name
	read := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}}
	meta := metav1.ObjectMeta{Name: user}
	if _, err := r.admin.RbacV1().ClusterRoles().Create(r.t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: read}, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}}
	if _, err := r.admin.RbacV1().ClusterRoleBindings().Create(r.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.may(user, "", read...)
	if len(more) > 0 {
		r.grant(user, more...)
	}
	req := r.request()
	req.Access.Kubeconfig = shared.fleet.UserKubeconfig(r.t, user)
	req.ShowDiff, req.Reads = true, true
	return req
}

// paths are the fields that a plan shows of an object of a kind.
func paths(fp *Prepared, name string) []string {
	var out []string
	for _, ch := range fp.Clusters[0].Plan.Changes {
		for _, f := range ch.Fields {
			if ch.Ref.Name == name {
				out = append(out, f.Path+" "+f.Old+" -> "+f.New)
			}
		}
	}
	return out
}

// TestPlanOfAReader: who may only read gets a plan. What the API server cannot be asked is told from the declarations and the
// live objects, with one warning that says so; what was asked for on purpose, and what is to be applied, stays an error.
func TestPlanOfAReader(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.PlanKey = planfile.KeyFile{Path: r.dir + "/key"}
	r.write("bundle.yaml", r.bundle(r.configMap("moved", "key: one")+r.configMap("app", "key: one", "gone: yes-it-was")+r.deployment("web")))
	first := r.request()
	first.Wait = false
	r.applied(first)
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Patch(t.Context(), "moved", types.MergePatchType, []byte(`{"data":{"key":"theirs"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.write("bundle.yaml", r.bundle(r.configMap("moved", "key: one")+r.configMap("app", "key: two")+strings.Replace(r.deployment("web"), "replicas: 1", "replicas: 2", 1)+r.configMap("new", "key: one")))
	req := r.reader()
	fp := r.plan(req)
	warned := slices.DeleteFunc(slices.Clone(fp.Findings), func(f diag.Finding) bool { return f.Code != "unconfirmed" })
	if fp.Findings.HasErrors() || len(warned) != 1 || warned[0].Severity != diag.Warning {
		t.Fatalf("%+v", fp.Findings)
	}
	for _, want := range []string{"may not patch ConfigMap in namespace " + r.name, "may not patch Deployment in namespace " + r.name} {
		if !strings.Contains(warned[0].Why, want) {
			t.Errorf("no %q in %q", want, warned[0].Why)
		}
	}
	for name, want := range map[string][]string{"web": {"spec.replicas 1 -> 2"}, "moved": {`data.key "theirs" -> "one"`}, "app": {`data.gone "yes-it-was" -> `, `data.key "one" -> "two"`}} {
		if got := paths(fp, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := fp.Counts(); got.Create != 1 || got.Update != 3 {
		t.Errorf("%+v", got)
	}

	for name, change := range map[string]func(*Request){"to be applied": func(q *Request) { q.Reads = false }, "asked on purpose": func(q *Request) { q.ServerCheck = true }} {
		q := req
		change(&q)
		if fp := r.plan(q); !slices.Contains(codes(fp), rights.Code) || slices.Contains(codes(fp), "unconfirmed") || !fp.Findings.HasErrors() {
			t.Errorf("%s: %+v", name, fp.Findings)
		}
	}

	// whoever may write asks the API server before he applies what the reader saved
	var file bytes.Buffer
	if _, _, err := r.SavePlan(fp, &file); err != nil {
		t.Fatal(err)
	}
	mine := r.request()
	mine.Wait = false
	saved, err := r.LoadPlan(t.Context(), &file, mine)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), saved, mine); err != nil || out.Result != fleetplan.Succeeded {
		t.Errorf("%v, %+v", err, out)
	}
}

// TestRefusedIsNoMissingRight: what a policy of the cluster forbids is refused, also for who only looks.
func TestRefusedIsNoMissingRight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	forbidden := metav1.StatusReasonForbidden
	r.policy(&forbidden)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two")))
	req := r.reader(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"patch"}})
	var said []string
	for range 400 { // the API server learns of the policy a little later
		fp := r.plan(req)
		if said = codes(fp); slices.Contains(said, "forbidden") && fp.Findings.HasErrors() {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	t.Errorf("%q", said)
}

// TestPolicyIsNoImmutableField: what a policy refuses as invalid is not deleted and made again to get past it.
func TestPolicyIsNoImmutableField(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	r.policy(nil)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: two")))
	req := r.request()
	req.Recreate = true
	for range 400 { // the API server learns of the policy a little later
		fp := r.plan(req)
		if fp.Counts().Recreate > 0 {
			t.Fatalf("it would be made again: %v", fp.Findings)
		}
		if i := slices.IndexFunc(fp.Findings, func(f diag.Finding) bool {
			return strings.Contains(f.Why, r.name) && strings.Contains(f.Why, "cannot patch resource")
		}); i >= 0 {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	t.Error("the policy is not told")
}

// policy refuses the value "two" of ConfigMaps in the rig's namespace.
func (r *rig) policy(reason *metav1.StatusReason) {
	t := r.t
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": r.name}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{"*"},
				Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"configmaps"}}}}}},
		Validations: []admissionv1.Validation{{Expression: "object.data.key != 'two'", Message: "cannot patch resource", Reason: reason}}}}
	if _, err := r.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: r.name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: r.name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	if _, err := r.admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(context.Background(), r.name, metav1.DeleteOptions{})
	})
}
