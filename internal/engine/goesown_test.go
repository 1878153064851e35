package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// saysOnce fails the test unless there is one error, which says all of it.
func (r *rig) saysOnce(errs diag.Findings, says ...string) {
	r.t.Helper()
	if errs = errs.Errors(); len(errs) != 1 {
		r.t.Fatalf("%d errors: %v", len(errs), errs)
	}
	for _, s := range says {
		if s = strings.ReplaceAll(s, "NS", r.name); !strings.Contains(errs[0].String(), s) {
			r.t.Errorf("%s\ndoes not say %q", errs[0], s)
		}
	}
}

// An object that instances take values of is not deleted while they take them: a plan that would is an error. Where the instance that takes them goes
// with it, there is none.
func TestObjectGoesWhileItIsTaken(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ .Values.ip | quote }}}\n")
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {ports: [{port: 80}]}\n"
	r.write("svc/s.yaml", service)
	r.write("svc/other.yaml", r.configMap("other", "k: v"))
	r.values("ip: {from: {instance: svc, object: v1/Service/db, path: spec.clusterIP}}")
	whole := strings.Replace(r.read("bundle.yaml"), "    app:\n", "    svc: {namespace: "+r.name+", manifests: {paths: [svc]}}\n    app:\n", 1)
	r.write("bundle.yaml", whole)
	req := r.request()
	req.Wait = true
	r.carried(r.plan(req), req)

	r.write("svc/s.yaml", "")
	r.saysOnce(r.plan(req).Findings, "Service NS/db", "app takes a value of", "svc declares it no longer", "bundle.yaml:", "values.ip")
	r.write("svc/s.yaml", strings.Replace(service, "port: 80", "port: 81", 1))
	if errs := r.plan(req).Findings.Errors(); len(errs) > 0 {
		t.Errorf("changed: %v", errs)
	}
	r.write("svc/s.yaml", "")
	i := strings.Index(whole, "    app:\n")
	r.write("bundle.yaml", whole[:i])
	if errs := r.plan(req).Findings.Errors(); len(errs) > 0 {
		t.Errorf("both go: %v", errs)
	}
}

// A Secret that a reference leads to is neither deleted nor left without the key by the bundle that has the reference, nor by one that comes after it.
func TestSecretGoesAfterItIsTaken(t *testing.T) {
	t.Parallel()
	noKey := strings.Replace(dbOfBoth, "password: hunter22, ", "", 1)
	for name, c := range map[string]struct{ first, says string }{
		"the Secret":  {"", "deletes Secret NS/db"},
		"its key":     {noKey, "declares Secret NS/db without password"},
		"another key": {strings.Replace(dbOfBoth, ", user: shop-user", "", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, b := delivered(t)
			r.write("first.yaml", c.first+"---\n"+r.configMap("stays", "k: w")+r.configMap("other", "k: v"))
			errs := r.following(b, a).Errors()
			if c.says == "" {
				if len(errs) > 0 {
					t.Errorf("%v", errs)
				}
				return
			}
			r.saysOnce(errs, c.says, "ref://vault:db/password", "bundle "+a.Bundle+", which comes after "+b.Bundle, "values.v")
		})
	}
}

// A Secret of the bundle itself that a reference leads to is neither deleted nor left without the key.
func TestOwnSecretGoesWhileItIsTaken(t *testing.T) {
	t.Parallel()
	r, a, b := delivered(t)
	docs(&a).Files = []string{r.write("own.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+a.Bundle+"\n  instances:\n    app: {namespace: "+r.name+", manifests: {paths: [first.yaml]}}\n"+
		"    own: {namespace: "+r.name+", helm: {chart: ./other}, values: {v: \"ref://vault:db/password\"}}\n")}
	r.write("other/Chart.yaml", "apiVersion: v2\nname: other\nversion: 1.0.0\n")
	r.write("other/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {text: {{ .Values.v | sha256sum }}}\n")
	a.Wait, b.Wait = true, true
	r.carried(r.plan(a), a)
	for first, says := range map[string]string{
		"": "this bundle deletes Secret NS/db",
		strings.Replace(dbOfBoth, "password: hunter22, ", "", 1):                     "this bundle declares Secret NS/db without password",
		strings.Replace(dbOfBoth, "{name: db}", "{name: db, namespace: default}", 1): "this bundle deletes Secret NS/db",
	} {
		r.write("first.yaml", first+"---\n"+r.configMap("stays", "k: w")+r.configMap("other", "k: v"))
		r.saysOnce(r.plan(a).Findings, says, "ref://vault:db/password", "which own takes", "own.yaml:", "values.v")
	}
}
