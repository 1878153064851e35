package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

func TestPreviewShowsFieldsAndHidesSecrets(t *testing.T) {
	f := testfleet.Get()
	ns := f.Namespace(t, one)
	c := config(f.Kubeconfig(), one)
	c.Redact = func(s string) string { return strings.ReplaceAll(s, "topsecret", "***") }
	s := connectTo(t, c)
	text := scaled + `---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: NS}
stringData: {password: hunter2hunter2, user: root}
`
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, text)...)
	text = strings.NewReplacer(`"registry.example/api:1"`, `"registry.example/api:1", workingDir: /topsecret`, "hunter2hunter2", "changed-value").Replace(text)
	b.opts.Diff = true
	p, _ := b.plan(t, s, objs(t, ns, text))
	raw, _ := json.Marshal(p)
	for _, leak := range []string{"hunter2", "changed-value", "topsecret", base64.StdEncoding.EncodeToString([]byte("changed-value"))} {
		if strings.Contains(string(raw), leak) {
			t.Errorf("the plan shows %q: %s", leak, raw)
		}
	}
	if len(p.Changes) != 2 {
		t.Fatalf("%+v", p.Changes)
	}
	for _, ch := range p.Changes {
		switch ch.Ref.Kind {
		case "Deployment":
			if len(ch.Fields) != 1 || ch.Fields[0].Path != "spec.template.spec.containers[api].workingDir" || ch.Fields[0].New != `"/***"` || !ch.Checked {
				t.Errorf("%+v", ch)
			}
		case "Secret":
			if len(ch.Fields) != 1 || ch.Fields[0].Path != "data.password" || !ch.Fields[0].Hidden {
				t.Errorf("%+v", ch)
			}
		}
	}
}

func TestServerErrorsNeverEchoASecret(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.opts.ServerCheck = true
	bad := objs(t, ns, "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: NS}\ndata: {password: 'hunter2 is not base64!'}")
	p, bodies := b.plan(t, s, bad)
	r := b.execute(t.Context(), s, p, bodies)
	raw, _ := json.Marshal([]any{p, r.Problems})
	if !p.Findings.HasErrors() || len(r.Problems) != 1 || strings.Contains(string(raw), "hunter2") || strings.Contains(r.Problems[0].Err.Error(), "hunter2") {
		t.Errorf("%s %v", raw, r.Problems)
	}
}

func TestPreviewDefersWhatIsNew(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t)
	b := newBundle(t)
	b.opts.ServerCheck = true
	p, _ := b.plan(t, s, objs(t, ns, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\n"+cmA+"\n---"+crontabs+crontab))
	want := map[string]string{"ConfigMap": "namespace " + ns + " is new", "CronTab": "namespace " + ns + " is new", "Namespace": "", "CustomResourceDefinition": ""}
	for _, ch := range p.Changes {
		if ch.Deferred != want[ch.Ref.Kind] || ch.Checked != (ch.Deferred == "") {
			t.Errorf("%s: deferred %q, checked %v", ch.Ref, ch.Deferred, ch.Checked)
		}
	}
	ns = f.Namespace(t, one)
	p, _ = newBundleWith(t, b.opts).plan(t, s, objs(t, ns, crontabs+crontab))
	for _, ch := range p.Changes {
		if ch.Ref.Kind == "CronTab" && ch.Deferred != "CRD crontabs."+ns+".example.com is new" {
			t.Errorf("%+v", ch)
		}
	}
}

func newBundleWith(t *testing.T, o plan.Options) *bundle {
	b := newBundle(t)
	b.opts = o
	return b
}

func TestPreviewFindsInvalidObjects(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, scaled)...)
	b.opts.Diff = true
	p, _ := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "replicas: 2", "replicas: -2", 1)))
	if !hasFinding(p.Findings, "invalid-object") || only(t, p).Action == plan.Recreate {
		t.Errorf("invalid is not immutable: %+v", p)
	}
}

// webhook is a validating webhook that refuses objects whose data says so. It returns its CA bundle and URL.
func webhook(t *testing.T) (ca, url string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhook"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		_ = json.Unmarshal(body, &review)
		allowed := !strings.Contains(string(body), `"x":"refused"`)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": review.Request.UID, "allowed": allowed, "status": map[string]any{"message": "house rules"}}})
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), srv.URL
}

const hook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks:
- name: rules.example.com
  clientConfig: {url: "URL/check"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 2
`

func TestWebhooks(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ca, url := webhook(t)
	for _, c := range []struct{ name, url, code, text string }{
		{"refuses", url, "webhook-refused", "house rules"},
		{"does not answer", "https://127.0.0.1:1", "webhook-unreachable", "rules.example.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := f.Namespace(t, one)
			owner := newBundle(t)
			config := objs(t, ns, strings.Replace(hook, "URL", c.url, 1))
			config[0].Body["webhooks"].([]any)[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = ca
			owner.apply(t, s, config...)
			t.Cleanup(func() { owner.delete(t, s) })
			b := newBundle(t)
			b.opts.ServerCheck = true
			refused := objs(t, ns, strings.ReplaceAll(cmA, "x: ours", "x: refused"))
			eventually(t, func() bool { // the API server learns of the configuration a little later
				p, _ := b.plan(t, s, refused)
				return hasFinding(p.Findings, c.code) && strings.Contains(p.Findings[0].String(), c.text) && strings.Contains(p.Findings[0].String(), "rules.example.com")
			})
			b.opts.ServerCheck = false
			p, bodies := b.plan(t, s, refused)
			r := b.execute(t.Context(), s, p, bodies)
			if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Status.Reason, "rules.example.com") {
				t.Errorf("%+v", r)
			}
		})
	}
}

const operator = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS}
---
apiVersion: v1
kind: Service
metadata: {name: operator, namespace: NS}
spec: {selector: {app: api}, ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks:
- name: operator.example.com
  clientConfig: {service: {name: operator, namespace: NS, path: /}}
  rules:
  - {apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: [configmaps, deployments, crontabs]}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 1
`

func TestWebhookOfTheSetComesAfterItsBackend(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, operator+"---"+scaled+"---"+crontabs+crontab))
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	r := b.execute(t.Context(), s, p, bodies)
	t.Cleanup(func() {
		b.adjust = nil
		if r := b.delete(t, s); !r.OK() {
			t.Errorf("delete: %+v", r.Problems)
		}
	})
	// nothing answers at the Service's address in a sandbox, so the custom resource is refused; everything else is there
	for _, pr := range r.Problems {
		if pr.Ref.Kind != "CronTab" || !strings.Contains(pr.Status.Reason, "operator.example.com") {
			t.Errorf("%s: %s", pr.Ref, pr.Status.Reason)
		}
	}
	var written []string
	for _, e := range b.events {
		if e.Type == cluster.Written || e.Type == cluster.Ready {
			written = append(written, string(e.Type)+" "+e.Ref.Kind)
		}
	}
	at := func(s string) int {
		for i, w := range written {
			if w == s {
				return i
			}
		}
		return -1
	}
	if hook := at("written ValidatingWebhookConfiguration"); hook < 0 || hook < at("ready Deployment") || hook < at("written ConfigMap") || hook < at("written Service") || at("ready Deployment") < 0 {
		t.Errorf("order: %q", written)
	}
	if ref := (object.Ref{Group: ns + ".example.com", Kind: "CronTab", Namespace: ns, Name: "one"}); len(r.Problems) == 0 && at("written "+ref.Kind) < at("written ValidatingWebhookConfiguration") {
		t.Errorf("order: %q", written)
	}
}

// TestDefinitionAndObjectChangeTogether: a field that the definition gets in the same plan is no error of its object, which is
// there or new, and is written once the definition is served; whether the definition itself is asked about or not.
func TestDefinitionAndObjectChangeTogether(t *testing.T) {
	for _, asking := range []bool{true, false} {
		t.Run(fmt.Sprintf("asking-%t", asking), func(t *testing.T) {
			f, s := testfleet.Get(), connect(t)
			ns := f.Namespace(t, one)
			b := newBundle(t)
			crontab := strings.Replace(crontab, "metadata: {name: one", "metadata: {annotations: {gone: soon}, name: one", 1)
			b.apply(t, s, objs(t, ns, crontabs+crontab)...)
			crontab = strings.Replace(crontab, "annotations: {gone: soon}, ", "", 1)
			text := strings.Replace(crontabs, "extra: {type: string}", "extra: {type: string}\n              added: {type: string}", 1) +
				strings.Replace(crontab, "daily", "daily, added: now", 1) + strings.NewReplacer("daily", "daily, added: too", "name: one", "name: two").Replace(crontab)
			b.opts.Diff, b.opts.ServerCheck = asking, asking
			p, bodies := b.plan(t, s, objs(t, ns, text))
			if p.Findings.HasErrors() {
				t.Fatalf("the plan is refused: %v", p.Findings)
			}
			for _, ch := range p.Changes {
				if ch.Ref.Kind == "CronTab" && (asking || ch.Action == plan.Update) && ch.Deferred != "CRD crontabs."+ns+".example.com changes with this plan" {
					t.Errorf("%+v", ch)
				}
				goes := func(f plan.FieldChange) bool { return strings.HasPrefix(f.Path, "metadata.annotations") && f.New == "" }
				if ch.Ref.Kind == "CronTab" && ch.Action == plan.Update && asking && !slices.ContainsFunc(ch.Fields, goes) {
					t.Errorf("what is declared no longer is not shown: %+v", ch.Fields)
				}
			}
			mustOK(t, b.execute(t.Context(), s, p, bodies))
			for _, name := range []string{"one", "two"} {
				o, err := s.Get(t.Context(), ns+".example.com/v1", "CronTab", ns, name)
				spec, _ := o["spec"].(map[string]any)
				if err != nil || spec["added"] == nil {
					t.Errorf("%s: %v %v", name, o, err)
				}
			}
		})
	}
}

// TestEntriesOfOthersAreNotImmutable: a list that does not go together with an entry that somebody added is refused for what
// the API server says, and nothing has to be deleted for it.
func TestEntriesOfOthersAreNotImmutable(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	text := objs(t, ns, "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NS}\nspec: {ports: [{name: http, port: 80}, {name: https, port: 443}], selector: {app: web}}")
	b.apply(t, s, text...)
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	patch(t, "kubectl-patch", services, ns, "web", `{"spec":{"ports":[{"name":"http","port":8080,"protocol":"TCP"}]}}`)
	p, _ := b.plan(t, s, text)
	fs := p.Findings.Errors()
	if len(fs) != 1 || fs[0].Code != "invalid-object" || !strings.Contains(fs[0].Why, "Duplicate value") || !strings.Contains(fs[0].Fix, "take theirs out") {
		t.Errorf("%+v", p.Findings)
	}
	for _, ch := range p.Changes {
		if ch.Action == plan.Recreate || ch.Code == plan.CodeImmutable {
			t.Errorf("%+v", ch)
		}
	}
}

// TestCombinationsAreNotImmutable: an object that is invalid together with what a default or somebody has in the live one, and
// valid without, is refused in the API server's words, and never deleted for it, whatever was allowed.
func TestCombinationsAreNotImmutable(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: NS}\nspec: {ports: [{port: 80}], selector: {app: api}}"
	withEnv := strings.Replace(scaled, "containers: [{", "containers: [{env: [{name: A, value: a}], ", 1)
	for name, c := range map[string]struct {
		first, then, patch string
		gvr                schema.GroupVersionResource
		says, fix, field   string
	}{
		"an unnamed port that was renumbered": {service, service, `{"spec":{"ports":[{"port":8080,"protocol":"TCP"}]}}`, services, "spec.ports[0].name: Required value", "kubectl-patch", "spec.ports["},
		"a default that nobody set": {scaled, strings.Replace(scaled, "spec:", "spec:\n  strategy: {type: Recreate}", 1), "", deployments,
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'", "it is a default", "spec.strategy"},
		"a value that somebody takes from elsewhere": {withEnv, withEnv,
			`{"spec":{"template":{"spec":{"containers":[{"name":"api","env":[{"name":"A","value":"","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"image":"registry.example/api:1"}]}}}}`,
			deployments, "env[0].valueFrom", "kubectl-patch", "spec.template.spec.containers[api].env[A].value"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := f.Namespace(t, one)
			b := newBundle(t)
			b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
			b.apply(t, s, objs(t, ns, c.first)...)
			if c.patch != "" {
				patch(t, "kubectl-patch", c.gvr, ns, "api", c.patch)
			}
			b.opts.Diff, b.opts.Recreate = true, true
			p, _ := b.plan(t, s, objs(t, ns, c.then))
			fs := p.Findings.Errors()
			if len(fs) != 1 || fs[0].Code != "invalid-object" || !strings.Contains(fs[0].What, "together with") || !strings.Contains(fs[0].Why, c.says) || !strings.Contains(fs[0].Fix, c.fix) {
				t.Errorf("%+v", fs)
			}
			if ch := only(t, p); ch.Action == plan.Recreate || ch.Code == plan.CodeImmutable || !slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool { return strings.HasPrefix(f.Path, c.field) }) {
				t.Errorf("%+v", ch)
			}
		})
	}
}

// TestRulesOfCustomResources: a rule of a custom resource says in words of its own that a field cannot be changed. That it is so is
// found by trying what would come out as a new object; a rule about what stands beside a field refuses that, too.
func TestRulesOfCustomResources(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	ruled := strings.Replace(crontabs, "            properties:\n              schedule", `            x-kubernetes-validations:
            - {rule: "!has(oldSelf.schedule) || !has(self.schedule) || self.schedule == oldSelf.schedule", message: "no way back"}
            - {rule: "!(has(self.extra) && has(self.other))", message: "only one of them"}
            properties:
              other: {type: string}
              schedule`, 1)
	if ruled == crontabs {
		t.Fatal("the definition has another form")
	}
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, ruled+crontab)...)
	b.opts.Diff = true
	p, _ := b.plan(t, s, objs(t, ns, ruled+strings.Replace(crontab, "daily", "weekly", 1)))
	if ch := only(t, p); ch.Action != plan.Recreate || !hasFinding(p.Findings, "immutable") || !strings.Contains(p.Findings[0].Why, "no way back") {
		t.Errorf("%+v %+v", ch, p.Findings)
	}
	patch(t, "kubectl-patch", schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "crontabs"}, ns, "one", `{"spec":{"other":"x"}}`)
	p, _ = b.plan(t, s, objs(t, ns, ruled+strings.Replace(crontab, "daily", "daily, extra: x", 1)))
	if ch := only(t, p); ch.Action == plan.Recreate || !hasFinding(p.Findings, "invalid-object") || !strings.Contains(p.Findings[0].Why, "only one of them") {
		t.Errorf("%+v %+v", ch, p.Findings)
	}
}
