package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// loseRecord deletes the record of the rig's bundle.
func (r *rig) loseRecord(req Request) {
	r.t.Helper()
	if err := r.admin.CoreV1().Secrets("hawser-system").Delete(r.t.Context(), r.recordSecret(r.plan(req).Owner).Name, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// narrowed is a kubeconfig of somebody who has the records, and the ConfigMaps of the rig's namespace.
func (r *rig) narrowed() string {
	r.t.Helper()
	user := "narrow-" + r.name
	all := []string{"*"}
	for ns, rule := range map[string]rbacv1.PolicyRule{
		r.name:          {APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: all},
		"hawser-system": {APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "leases"}, Verbs: all},
	} {
		meta := metav1.ObjectMeta{Name: user, Namespace: ns}
		if _, err := r.admin.RbacV1().Roles(ns).Create(r.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
		if _, err := r.admin.RbacV1().RoleBindings(ns).Create(r.t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}}, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
		r.may(user, ns, rule)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "patch"}}}}
	if _, err := r.admin.RbacV1().ClusterRoles().Create(r.t.Context(), role, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.admin.RbacV1().ClusterRoleBindings().Create(r.t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}}, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.may(user, "", role.Rules...)
	return shared.fleet.UserKubeconfig(r.t, user)
}

// A status of a bundle whose record is lost says so, with the files and without; where nobody can look it is unknown, and a
// delete says what could not be looked at. Neither says "not installed".
func TestStatusOfALostRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	r.applied(req)
	r.loseRecord(req)
	bare := req
	docs(&bare).Files, bare.Bundle = nil, r.name
	for what, req := range map[string]Request{"with files": req, "without": bare} {
		report, err := r.Status(t.Context(), req)
		refused(t, what, err, plan.CodeLostRecord, "ConfigMap "+r.name+"/app", "apply the bundle")
		if row := report.Clusters[0]; !strings.Contains(row.Lost, "1 object") || row.NotPlaced || row.Unknown != "" {
			t.Errorf("%s: %+v", what, row)
		}
	}
	bare.Access.Kubeconfig = r.narrowed()
	report, err := r.Status(t.Context(), bare)
	if !errors.Is(err, fleetplan.ErrPartial) || !strings.Contains(report.Clusters[0].Unknown, "configmaps") || len(report.Findings.Errors()) > 0 {
		t.Errorf("with narrow rights: %v, %+v", err, report)
	}
	_, err = r.Plan(t.Context(), bare.For(Delete))
	refused(t, "delete with narrow rights", err, "not-installed", "nobody could see", "configmaps")
	if strings.Contains(err.Error(), "is not installed on") {
		t.Error(err)
	}
}

// A record that was made again when not everything could be looked at says so, until an apply has seen everything: what
// that one finds comes into the record and is pruned by the next. No delete forgets it before.
func TestIncompleteRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: old}\n"))
	req := r.request()
	r.applied(req)
	r.loseRecord(req)
	r.write("app.yaml", r.configMap("app", "key: one"))
	narrow := req
	narrow.Access.Kubeconfig = r.narrowed()
	narrow.TakeOver = true
	r.applied(narrow)
	if rec := r.record(); !slices.Contains(rec.Unseen, "secrets") || slices.Contains(rec.Unseen, "leases") {
		t.Fatalf("the record: %v", rec.Unseen)
	}
	bare := req
	docs(&bare).Files, bare.Bundle = nil, r.name
	report, err := r.Status(t.Context(), bare)
	if err != nil || !slices.ContainsFunc(report.Findings, func(f diag.Finding) bool {
		return f.Code == "incomplete-record" && strings.Contains(f.Why, "clusterroles.rbac.authorization.k8s.io")
	}) {
		t.Errorf("status: %v %v", err, report.Findings)
	}
	_, err = r.Plan(t.Context(), narrow.For(Delete))
	refused(t, "delete with narrow rights", err, plan.CodeLostRecord, "still unknown", "clusterroles.rbac.authorization.k8s.io")
	_, err = r.Plan(t.Context(), bare.For(Delete))
	refused(t, "delete", err, plan.CodeLostRecord, "lacks 1 object", "Secret "+r.name+"/old")
	if again := r.applied(narrow); again.Clusters[0].Revision > 1 || !slices.Contains(r.record().Unseen, "secrets") {
		t.Errorf("looked again with the same rights: %+v", again.Clusters[0])
	}
	fp := r.plan(req)
	if fp.Counts().Writes() > 0 || fp.settled() {
		t.Errorf("the plan with all rights: %+v %v", fp.Counts(), fp.Findings)
	}
	r.applied(req)
	if rec := r.record(); len(rec.Unseen) > 0 || !slices.ContainsFunc(rec.Inventory, func(o plan.InventoryEntry) bool { return o.Ref.Kind == "Secret" && o.Ref.Name == "old" }) {
		t.Errorf("the record: %v %+v", rec.Unseen, rec.Inventory)
	}
	if _, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "old", metav1.GetOptions{}); err != nil {
		t.Errorf("what was found again is gone: %v", err)
	}
	if fp = r.plan(req); fp.Counts().Delete != 1 {
		t.Errorf("the next plan: %+v", fp.Counts())
	}
}

// damage makes the record of the rig's bundle unreadable.
func (r *rig) damage() {
	r.t.Helper()
	secret := r.recordSecret(object.OwnerID("", "", r.name))
	secret.Data["record"] = []byte("nonsense")
	if _, err := r.admin.CoreV1().Secrets("hawser-system").Update(r.t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// adopted applies a bundle that has made one object, and then another one, and has taken over somebody's.
func (r *rig) adopted() (first, second string) {
	r.t.Helper()
	first = r.configMap("own", "key: one")
	second = first + r.configMap("made", "key: one") + r.configMap("foreign", "key: ours")
	r.write("bundle.yaml", r.bundle(first))
	r.applied(r.request())
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Create(r.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Data: map[string]string{"key": "theirs"}}, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.write("app.yaml", second)
	adopt := r.request()
	adopt.Adopt = true
	r.applied(adopt)
	return first, second
}

// What was adopted and then let go by a rollback carries the bundle's marks. Where its record is lost, or is gone with a delete of the bundle,
// it is not deleted by what makes the record again without the number of deletions, of an apply or of a delete, and never by a rollback.
func TestLetGoAndThenLost(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"deleted", "lost"} {
		r := newRig(t)
		first, _ := r.adopted()
		r.rolledBack(r.back(""))
		req := r.request()
		if how == "lost" {
			r.loseRecord(req)
		} else {
			fp, err := r.Plan(t.Context(), req.For(Delete))
			if err != nil {
				t.Fatal(err)
			}
			r.carried(fp, req.For(Delete))
		}
		r.write("app.yaml", first)
		req.TakeOver = true
		r.applied(req)
		req.TakeOver = false
		r.write("app.yaml", r.configMap("own", "key: two"))
		fp := r.plan(req)
		if fp.Counts().Delete == 0 {
			t.Logf("%s: nothing is in the record", how)
		} else {
			refused(t, how+": apply", fp.Findings.Err(), deletionguard.Code, "ConfigMap "+r.name+"/foreign", object.LabelOwner, "--confirm-delete=1")
		}
		gone, err := r.Plan(t.Context(), req.For(Delete))
		if err != nil {
			t.Fatal(err)
		}
		if gone.Counts().Delete > 1 {
			refused(t, how+": delete", gone.Findings.Err(), deletionguard.Code, "ConfigMap "+r.name+"/foreign")
		}
		gone.Close()
		if _, err := r.admin.CoreV1().ConfigMaps(r.name).Patch(t.Context(), "foreign", types.MergePatchType, []byte(`{"metadata":{"labels":{"`+object.LabelOwner+`":null}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		r.applied(req) // it is let go
		if got := r.keys("own", "foreign"); got != "two ours" {
			t.Errorf("%s: %s", how, got)
		}
	}
}

// A damaged record that is made again gets from the revisions that are kept what was made here and what was somebody's: a rollback deletes
// the one and lets the other go. What a rollback had let go is deleted by no later apply without the number. It runs alone: others read all records.
func TestLetGoAndThenDamaged(t *testing.T) {
	r := newRig(t)
	_, second := r.adopted()
	r.damage()
	again := r.request()
	again.TakeOver = true
	r.applied(again)
	back := r.back("1")
	fp, err := r.Plan(t.Context(), back.For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	if made, foreign := fateOf(fp, "made"), fateOf(fp, "foreign"); made != "delete dropped" || foreign != "release moved" || !slices.Contains(codes(fp), "taken-since") {
		t.Errorf("%s, %s: %v", made, foreign, fp.Findings)
	}
	r.carried(fp, back)
	r.damage()
	r.write("app.yaml", r.configMap("own", "key: one"))
	r.applied(again)
	r.write("app.yaml", r.configMap("own", "key: two"))
	fp = r.plan(r.request())
	refused(t, "apply", fp.Findings.Err(), deletionguard.Code, "ConfigMap "+r.name+"/foreign")
	fp.Close()
	r.write("app.yaml", second)
	r.applied(r.request())
	if got := r.keys("own", "made", "foreign"); got != "one one ours" {
		t.Error(got)
	}
}

// What the bundle made, a later release let go of and somebody else has in use carries the bundle's marks, and an older revision has it as made
// here: once the record is damaged, no apply deletes it without the number, and a rollback lets it go. It runs alone: others read all records.
func TestMadeLetGoAndThenDamaged(t *testing.T) {
	r := newRig(t)
	rest := r.configMap("x", "key: mine") + r.configMap("z", "key: mine")
	kept := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {hawser.dev/prune: disabled}}\ndata: {key: precious}\n"
	apply := func(files string, takeOver bool) {
		t.Helper()
		r.write("app.yaml", files)
		req := r.request()
		req.TakeOver = takeOver
		r.applied(req)
	}
	r.write("bundle.yaml", r.bundle(r.configMap("own", "key: zero")+rest))
	r.applied(r.request())
	apply(r.configMap("own", "key: one")+rest+kept, false)
	apply(r.configMap("own", "key: two")+rest, false)
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Patch(t.Context(), "kept", types.MergePatchType, []byte(`{"metadata":{"annotations":{"hawser.dev/prune":null}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.damage()
	apply(r.configMap("own", "key: two")+rest, true)
	fp := r.plan(r.request())
	refused(t, "apply", fp.Findings.Err(), deletionguard.Code, "ConfigMap "+r.name+"/kept", "--confirm-delete=1")
	fp.Close()
	fp, err := r.Plan(t.Context(), r.back("1").For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	if fate := fateOf(fp, "kept"); fate != "release moved" {
		t.Errorf("%s: %v", fate, fp.Findings)
	}
	r.carried(fp, r.back("1"))
	if got := r.keys("own", "x", "kept"); got != "zero mine precious" {
		t.Error(got)
	}
}
