package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testfleet"
)

// failFleet is a staging and a production cluster, in Timoni's words: one after the other.
const failFleet = `
-- runtime.cue --
runtime: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: {
		staging: {group: "staging", kubeContext: "$STAGING"}
		production: {group: "production", kubeContext: "$PRODUCTION"}
	}
}
`

const failBundle = `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    config: {manifests: {paths: [./config]}, namespace: $NS}
    api: {manifests: {paths: [./api]}, namespace: $NS, dependsOn: [config]}
`

func failScene(t *testing.T, f *testfleet.Fleet, staging, production string) *scene {
	s := newSceneOn(t, f)
	s.files(strings.NewReplacer("$STAGING", staging, "$PRODUCTION", production).Replace(failFleet + failBundle))
	s.write("config/a.yaml", configMaps("1", "a"))
	s.write("api/b.yaml", configMaps("1", "b"))
	return s
}

// TestT17StagingFails: when a staging cluster fails, for whatever reason, production is not touched: its audit log has
// no write. The error says what failed and why, the table what was not begun, and running it again resumes.
func TestT17StagingFails(t *testing.T) {
	t.Parallel()
	real, err := testfleet.Start(testfleet.Options{Clusters: []string{"work-staging", "work-production"}, Workloads: true,
		Groups: map[string]string{"work-staging": "staging", "work-production": "production"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("an image that never comes", func(t *testing.T) { imageNeverComes(t, real) })
	t.Run("a webhook that refuses", webhookRefuses)
	t.Run("an API server that stops", func(t *testing.T) { serverStops(t, real) })
}

const deployment = `
-- api/b.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: "registry.example.com/shop/unpullable:2.4.1"}]}
`

func imageNeverComes(t *testing.T, f *testfleet.Fleet) {
	s := failScene(t, f, "work-staging", "work-production")
	s.files(deployment)
	apply := []string{"bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue"}
	s.mark()
	r := s.want(4, apply...)
	s.untouched("work-production")
	s.has(r.Stdout, "failed: api not ready")
	line := rowOf(r.Stdout, "production ")
	s.has(line, "not started")
	s.has(r.Stderr, "Error: rollout ", "stopped in wave 1: 1 failed, 1 not started (untouched)", "Deployment $NS/api: pod ", "0 of 2",
		" and 1 more, container api: ImagePullBackOff: registry.example.com/shop/unpullable:2.4.1: not found", "given up after ",
		"Next:", "hawser bundle apply -f bundle.yaml --fleet runtime.cue", "hawser status $B --fleet runtime.cue --cluster staging")
	if r.Elapsed > 270*time.Second {
		t.Errorf("a hopeless reason was waited for %s", r.Elapsed)
	}
	status := s.want(4, "status", s.bundle, "-r", "runtime.cue", "--cluster", "staging")
	s.has(status.Stdout, "failed", "ImagePullBackOff")

	// in time, exit 4
	r = s.want(4, append(apply, "--timeout", "10s")...)
	s.untouched("work-production")
	s.has(r.Stderr, "Deployment $NS/api: ", "0 of 2")

	s.edit("api/b.yaml", "unpullable", "api")
	r = s.want(0, apply...)
	s.has(r.Stdout, "Applied $B on 2 clusters")
	status = s.want(0, "status", s.bundle, "-r", "runtime.cue")
	s.has(status.Stdout, "2 ready")
}

// rowOf is the first line that begins with the text.
func rowOf(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
	return ""
}

// webhook makes an API server ask about every ConfigMap of the scene's namespace: verdict returns why it is refused.
func (s *scene) webhook(cluster string, verdict func(name string) string) {
	s.t.Helper()
	const probe = "is-the-webhook-there"
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID, Name string } }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest) // from an API server that stops in the middle of asking
			return
		}
		why := "here it is"
		if review.Request.Name != probe {
			why = verdict(review.Request.Name)
		}
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%t,"status":{"code":403,"message":%q}}}`,
			review.Request.UID, why == "", why)
	}))
	hook.Config.ErrorLog = log.New(io.Discard, "", 0) // an API server that is killed is no news
	hook.StartTLS()
	s.t.Cleanup(hook.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}))
	const path = "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	s.admin(cluster, http.MethodPost, path, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: friday.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 30
  clientConfig: {url: %q, caBundle: %s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
`, hook.URL, ca))
	client := s.client(cluster)
	s.t.Cleanup(func() {
		if err := client.Delete().AbsPath("/" + path + "/" + s.ns).Do(context.Background()).Error(); err != nil {
			s.t.Error(err)
		}
	})
	s.namespace(cluster)
	deadline := time.Now().Add(5 * time.Minute)
	for { // the API server takes a moment to see the webhook
		err := s.try(cluster, http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+probe+"}\n", "dryRun", "All")
		switch {
		case err != nil && strings.Contains(err.Error(), "here it is"):
			return
		case time.Now().After(deadline):
			s.t.Fatalf("the webhook is never asked: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func webhookRefuses(t *testing.T) {
	s := failScene(t, testfleet.Get(), "staging", "production-eu")
	var friday atomic.Bool
	friday.Store(true)
	s.webhook("staging", func(name string) string {
		if name == "b" && friday.Load() {
			return "no ConfigMap b on a Friday"
		}
		return ""
	})
	s.mark()
	r := s.want(1, "bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue")
	s.untouched("production-eu")
	s.there("staging", "a")
	s.gone("staging", "b")
	s.has(r.Stderr, "ConfigMap $NS/b", "no ConfigMap b on a Friday", "friday.example.com", "1 failed, 1 not started (untouched)")
	s.has(rowOf(r.Stdout, "production "), "not started")

	friday.Store(false)
	s.want(0, "bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue")
	s.there("staging", "b")
	s.there("production-eu", "a", "b")
}

func serverStops(t *testing.T, f *testfleet.Fleet) {
	s := failScene(t, f, "work-staging", "work-production")
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	s.write("config/a.yaml", configMaps("1", names...))
	var asked atomic.Int64
	var stopped atomic.Int64 // Unix seconds
	s.webhook("work-staging", func(name string) string {
		if strings.HasPrefix(name, "c") && asked.Add(1) == 10 { // in the middle of a write, as kill -9 would
			f.Stop(t, "work-staging")
			stopped.Store(time.Now().Unix())
		}
		return ""
	})
	s.mark()
	r := s.want(1, "bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue")
	if took := time.Since(time.Unix(stopped.Load(), 0)); took > 5*time.Minute {
		t.Errorf("ended %s after the API server", took)
	}
	s.untouched("work-production")
	s.has(r.Stderr, "1 failed, 1 not started (untouched)", "staging: ConfigMap $NS/", "connection refused")
	s.has(rowOf(r.Stdout, "production "), "not started")
	if row := rowOf(r.Stdout, "staging "); len(row) > 250 { // with what was not begun
		t.Errorf("a row of the table is too long: %s", row)
	}
	r = s.want(5, "bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue") // it does not answer: nothing is begun
	s.has(r.Stderr, "cluster staging does not answer", "--skip-unreachable", "Nothing was written")
	s.untouched("work-production")

	f.Start(t, "work-staging")
	s.want(0, "bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue")
	for _, c := range []string{"work-staging", "work-production"} {
		s.there(c, "c0", "c39", "b")
	}
}
