package engine

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/values"
)

const dbOfBoth = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter22, user: shop-user}\n"

// delivered is a rig with two bundles, installed: the first has a Secret, and the second takes the password of it.
func delivered(t *testing.T) (r *rig, a, b Request) {
	t.Helper()
	r = chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ .Values.v | quote }}}\n")
	a, b = r.pair("", dbOfBoth+"---\n"+r.configMap("stays", "k: v")+r.configMap("other", "k: v"), "")
	r.refers(&a, &b, `v: "ref://vault:db/password"`)
	r.requires(a, b)
	r.inTurn(a, b)
	return r, a, b
}

// inTurn carries two bundles out as one run does.
func (r *rig) inTurn(a, b Request) {
	r.t.Helper()
	first, second, req := r.both(a, b)
	r.carried(first, a)
	renewed, err := r.Renew(r.t.Context(), second, req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.carried(renewed, req)
}

// following are the findings of planning the second bundle with the plan of the first.
func (r *rig) following(a, b Request) diag.Findings {
	r.t.Helper()
	a.Among, a.Wait, b.Wait = []string{a.Bundle, b.Bundle}, true, true
	first := r.plan(a)
	b.Among, b.Before, b.Written = a.Among, map[string]*Prepared{a.Bundle: first}, []*fleetplan.FleetPlan{first.FleetPlan}
	second, err := r.Plan(r.t.Context(), b)
	if err != nil {
		return diag.From(err, "")
	}
	return second.Findings
}

// What a bundle of the run deletes, or declares without the key that is taken of it, is an error of the plan, which names that bundle and the place of the
// reference; as it is one when nothing but that bundle is done. What stays as others have it is taken as it is.
func TestSecretGoesBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first string
		lends bool // another manager has the key, too
		says  []string
	}{
		"the Secret":                      {"", false, []string{"deletes Secret NS/db"}},
		"its key":                         {strings.Replace(dbOfBoth, "password: hunter22, ", "", 1), false, []string{"declares Secret NS/db without password"}},
		"its key which others have too":   {strings.Replace(dbOfBoth, "password: hunter22, ", "", 1), true, nil},
		"the Secret which others have":    {"", true, []string{"deletes Secret NS/db"}},
		"another key":                     {strings.Replace(dbOfBoth, ", user: shop-user", "", 1), false, nil},
		"the key and all others":          {"apiVersion: v1\nkind: Secret\nmetadata: {name: db}\n", false, []string{"declares Secret NS/db without password"}},
		"nothing: another value":          {strings.Replace(dbOfBoth, "hunter22", "hunter33", 1), false, nil},
		"its key in one made immutable":   {strings.Replace(dbOfBoth, "password: hunter22, ", "", 1) + "immutable: true\n", false, []string{"declares Secret NS/db without password"}},
		"the Secret by another namespace": {strings.Replace(dbOfBoth, "{name: db}", "{name: db, namespace: default}", 1), false, []string{"deletes Secret NS/db"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, b := delivered(t)
			if c.lends {
				of := corev1ac.Secret("db", r.name).WithData(map[string][]byte{"password": []byte("hunter22")})
				if _, err := r.admin.CoreV1().Secrets(r.name).Apply(t.Context(), of, metav1.ApplyOptions{FieldManager: "others"}); err != nil {
					t.Fatal(err)
				}
			}
			r.write("first.yaml", c.first+"---\n"+r.configMap("stays", "k: w")+r.configMap("other", "k: v"))
			errs := r.following(a, b).Errors()
			if len(c.says) == 0 {
				if len(errs) > 0 {
					t.Errorf("%v", errs)
				}
				return
			}
			if len(errs) != 1 {
				t.Fatalf("%v", errs)
			}
			for _, s := range append(c.says, "ref://vault:db/password", "bundle "+a.Bundle, "bundle.yaml:") {
				if s = strings.ReplaceAll(s, "NS", r.name); !strings.Contains(errs[0].String(), s) {
					t.Errorf("%s\ndoes not say %q", errs[0], s)
				}
			}
			if errs[0].Path != "values.v" || errs[0].Instance != "app" || strings.Contains(errs[0].String(), "hunter22") {
				t.Errorf("%+v", errs[0])
			}
		})
	}
}

// What a bundle leaves to others is read as it is, and stays.
func TestReleasedSecretIsTaken(t *testing.T) {
	t.Parallel()
	r, a, b := delivered(t)
	keep := corev1ac.Secret("db", r.name)
	keep.WithAnnotations(map[string]string{"hawser.dev/prune": "disabled"})
	if _, err := r.admin.CoreV1().Secrets(r.name).Apply(t.Context(), keep, metav1.ApplyOptions{FieldManager: "others"}); err != nil {
		t.Fatal(err)
	}
	r.write("first.yaml", r.configMap("stays", "k: w")+r.configMap("other", "k: v"))
	if fs := r.following(a, b); fs.HasErrors() || slices.ContainsFunc(fs, func(f diag.Finding) bool { return f.Code == values.CodeNotRead }) {
		t.Errorf("%v", fs)
	}
	r.inTurn(a, b)
}

// A bundle that loses an object, and brings a Secret that another one will take, is done: also by itself. What that one declares is known without the value.
func TestSecretComesWhileAnObjectGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, ref string }{
		"a Secret": {strings.Replace(dbOfBoth, "{name: db}", "{name: db2}", 1), "db2/password"},
		"a key":    {strings.Replace(dbOfBoth, "user:", "more:", 1), "db/more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, b := delivered(t)
			r.write("first.yaml", c.first+"---\n"+r.configMap("other", "k: v"))
			r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "db/password", c.ref, 1))
			alone := r.plan(a)
			if err := alone.Findings.Err(); err != nil || fateOf(alone, "stays") != "delete dropped" {
				t.Fatalf("%v, %s", err, fateOf(alone, "stays"))
			}
			r.inTurn(a, b)
			if n := len(r.plan(b).Findings.Errors()); n > 0 {
				t.Errorf("%d errors", n)
			}
		})
	}
}
