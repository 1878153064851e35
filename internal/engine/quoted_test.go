package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// quotes lets a policy refuse that a ConfigMap of the rig's namespace goes, with the value of its key in the reason.
func (r *rig) quotes(name, key string) {
	r.t.Helper()
	policies := r.admin.AdmissionregistrationV1()
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": r.name}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Delete, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}}}},
		Validations: []admissionv1.Validation{{Expression: "false", MessageExpression: "'not with ' + oldObject.data." + key}}}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: r.name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	if _, err := policies.ValidatingAdmissionPolicies().Create(r.t.Context(), policy, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := policies.ValidatingAdmissionPolicyBindings().Create(r.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = policies.ValidatingAdmissionPolicyBindings().Delete(context.Background(), r.name, metav1.DeleteOptions{})
		_ = policies.ValidatingAdmissionPolicies().Delete(context.Background(), r.name, metav1.DeleteOptions{})
	})
	r.soon(func() bool { // the API server learns of policies by watching them
		err := r.admin.CoreV1().ConfigMaps(r.name).Delete(r.t.Context(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "not with")
	})
}

// TestQuotedSecret: what was secret when it was applied is hidden where a policy quotes it of an object that goes, whatever lets it
// go: nothing is rendered then that would tell.
func TestQuotedSecret(t *testing.T) {
	t.Parallel()
	const canary = "Zq3-CANARY-x9"
	for verb, plans := range map[string]func(*rig, Request) (*Prepared, error){
		"delete": func(r *rig, req Request) (*Prepared, error) { return r.Plan(t.Context(), req.For(Delete)) },
		"eject":  func(r *rig, req Request) (*Prepared, error) { return r.Plan(t.Context(), req.For(Eject)) },
		"prune": func(r *rig, req Request) (*Prepared, error) {
			r.write("bundle.yaml", r.bundle(r.configMap("other", "key: one")))
			return r.Plan(t.Context(), r.request())
		},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("bundle.yaml", r.bundle(r.configMap("app", "pw: "+canary)+r.configMap("other", "key: one")))
			r.applied(r.request())
			r.forges(1, func(_ *release.Record, objects []object.Object) []object.Object {
				for i := range objects {
					if objects[i].Ref().Name == "app" {
						objects[i].Sensitive = []string{"data.pw"}
					}
				}
				return objects
			})
			r.quotes("app", "pw")
			req := r.request()
			if verb != "prune" {
				req.Bundle, docs(&req).Files = r.name, nil
			}
			fp, err := plans(r, req)
			if err != nil {
				t.Fatal(err)
			}
			defer fp.run.close()
			out, err := r.Apply(t.Context(), fp, req)
			if out == nil || out.Result == fleetplan.Succeeded {
				t.Fatalf("%+v, %v", out, err)
			}
			data, _ := json.Marshal(out)
			events, _ := json.Marshal(r.events)
			if said := fmt.Sprint(string(data), string(events), err); strings.Contains(said, canary) || !strings.Contains(said, "not with ***") {
				t.Errorf("%s", said)
			}
		})
	}
}
