package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
)

const embedded = `{{- $pw := randAlphaNum 20 }}
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData:
  password: {{ $pw }}
  dsn: "postgres://app:{{ $pw }}@{{ .Values.host }}/db"
  auth: {{ printf "{\"auth\": %q}" (printf "app:%s" $pw | b64enc) | b64enc | quote }}
  {{- if .Values.more }}
  more: {{ randAlphaNum 24 }}
  {{- end }}
  {{- if .Values.user }}
  entry: {{ htpasswd .Values.user "chosen-by-somebody" | quote }}
  {{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {host: {{ .Values.host }}}
`

// login is what the Secret holds.
func (r *rig) login() map[string]string {
	r.t.Helper()
	s, err := r.admin.CoreV1().Secrets(r.name).Get(r.t.Context(), "login", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range s.Data {
		out[k] = string(v)
	}
	return out
}

// backFrom plans a rollback in another process.
func (r *rig) backFrom(t *testing.T, to string) (*rig, *Prepared) {
	t.Helper()
	next := r.again(t)
	fp, err := next.Plan(t.Context(), next.back(to).For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fp.run.close)
	return next, fp
}

// TestRollbackOfMadeValues: a rollback keeps what was made up. A release that made more up, a text around a password that changed, and a
// call with other arguments bar none. A rotation stays, in every text and encoding of the release, and is told with its release.
func TestRollbackOfMadeValues(t *testing.T) {
	t.Parallel()
	r := chartRig(t, embedded)
	r.values("host: one, user: ada")
	r.applied(r.request())
	first := r.login()
	r.values("host: two, user: bob, more: yes")
	r.applied(r.request())
	if second := r.login(); second["entry"] == first["entry"] || second["password"] != first["password"] || second["more"] == "" {
		t.Fatalf("%v", second)
	}
	next, fp := r.backFrom(t, "1")
	if fs := fp.Findings.Errors(); len(fs) > 0 || slices.Contains(codes(fp), "kept-values-stay") {
		t.Fatalf("nothing was made anew: %v", fp.Findings)
	}
	next.carried(fp, next.back("1"))
	if now := r.login(); fmt.Sprint(now) != fmt.Sprint(first) {
		t.Errorf("%v, want %v", now, first)
	}

	r.values("host: one") // release 4
	r.applied(r.request())
	r.values("host: two, more: yes")
	req := r.request()
	req.Rotate = []string{"app/randAlphaNum"}
	r.applied(req) // release 5
	rotated := r.login()["password"]
	req.Rotate = nil
	r.values("host: three")
	r.applied(req)
	next, fp = r.backFrom(t, "4")
	text := fmt.Sprint(fp.Findings)
	if len(fp.Findings.Errors()) > 0 || !strings.Contains(text, "made anew for app in release 5 (") || !strings.Contains(text, "Secret "+r.name+"/login") {
		t.Fatalf("%s", text)
	}
	next.carried(fp, next.back("4"))
	now := r.login()
	want := strings.NewReplacer(first["password"], rotated).Replace(first["dsn"])
	if rotated == first["password"] || now["password"] != rotated || now["dsn"] != want || now["more"] != "" || r.keysOf("copy", "host") != "one" {
		t.Errorf("%v, want %s in %s", now, rotated, want)
	}
	last := r.again(t)
	last.values("host: one")
	if fp := last.plan(last.request()); fp.Counts().Writes() != 0 || len(fp.Findings.Errors()) > 0 {
		t.Errorf("the files of the release that was gone back to: %+v", fp.Counts())
	}
	if _, fp = r.backFrom(t, "4"); fp.Counts().Writes() != 0 {
		t.Errorf("again: %+v", fp.Counts())
	}
}

// TestRollbackOfDerivedValues: what was made of arguments may be of a password that was made anew since: it is refused, with
// the reason and a way out, and nothing is written. That way out is one.
func TestRollbackOfDerivedValues(t *testing.T) {
	t.Parallel()
	r := chartRig(t, strings.ReplaceAll(embedded, `"chosen-by-somebody"`, "$pw"))
	r.values("host: one, user: ada")
	r.applied(r.request())
	before := r.login()
	req := r.request()
	req.Rotate = []string{"app/randAlphaNum"}
	r.values("host: two, user: ada")
	r.applied(req)
	rotated := r.login()
	next, fp := r.backFrom(t, "1")
	f := slices.IndexFunc(fp.Findings, func(f diag.Finding) bool { return f.Code == "kept-values-former" })
	if f < 0 || !fp.Findings.HasErrors() || fp.Findings[f].Instance != "app" || !strings.Contains(fp.Findings[f].Object, "login") ||
		!strings.Contains(fp.Findings[f].Why, "it was made of another value") || !strings.Contains(fp.Findings[f].Fix, "apply the files of that release") {
		t.Fatalf("%v", fp.Findings)
	}
	if _, err := next.Apply(t.Context(), fp, next.back("1")); err == nil || fmt.Sprint(r.login()) != fmt.Sprint(rotated) {
		t.Errorf("%v", err)
	}
	r.values("host: one, user: ada")
	r.applied(r.request())
	if now := r.login(); now["password"] != rotated["password"] || !strings.HasSuffix(now["dsn"], "@one/db") || now["entry"] != rotated["entry"] || now["entry"] == before["entry"] {
		t.Errorf("%v", now)
	}
}

// keysOf is one value of a ConfigMap.
func (r *rig) keysOf(name, key string) string {
	r.t.Helper()
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return cm.Data[key]
}
