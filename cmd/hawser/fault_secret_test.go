package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hides fails the test when a text has one of the values, as it is or in base64, in any alignment that would show it.
func hides(t *testing.T, where, text string, values ...string) {
	t.Helper()
	for _, v := range values {
		for _, form := range []string{v, base64.StdEncoding.EncodeToString([]byte(v)), strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(v)), "=")} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s shows a secret value: ...%s...", where, text[max(0, i-80):min(len(text), i+len(form)+20)])
			}
		}
	}
}

const (
	oldSecret = "s3cr3t-old-pa55word"
	newSecret = "s3cr3t-new-pa55word"
)

const secretBundle = `
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m]}, namespace: $NS}
-- m/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: "s3cr3t-old-pa55word"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: "1"}
`

// Whatever is said of a Secret that is created, changed, drifted and deleted, its values are in none of it: plan, diff,
// plan file, events, outcome, status, in text and JSON.
func TestFault22SecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(secretBundle)
	show := func(code int, args ...string) result {
		t.Helper()
		r := s.want(code, args...)
		hides(t, "hawser "+strings.Join(args, " "), r.Stdout+r.Stderr, oldSecret, newSecret)
		return r
	}
	show(0, onOne("staging", "plan", "-v", "-o", "json")...)
	show(0, onOne("staging", "apply", "-y", "-o", "json")...)

	s.edit("m/secret.yaml", oldSecret, newSecret)
	s.has(show(0, onOne("staging", "plan", "--full")...).Stdout, "Secret", "password")
	for _, form := range []string{"json", "yaml", "markdown"} {
		show(0, onOne("staging", "plan", "-o", form)...)
	}
	show(1, onOne("staging", "diff")...)
	show(0, onOne("staging", "plan", "--out", "shop.plan")...)
	show(0, "plan", "show", "shop.plan", "-o", "json")
	file, err := os.ReadFile(filepath.Join(s.dir, "shop.plan"))
	if err != nil {
		t.Fatal(err)
	}
	hides(t, "the plan file", string(file), oldSecret, newSecret)
	show(0, "apply", "-y", "shop.plan")

	// drift: the live value is a secret too
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/s", `{"stringData": {"password": "s3cr3t-live-pa55word"}}`, "fieldManager", "intruder")
	for _, args := range [][]string{onOne("staging", "plan", "--full"), onOne("staging", "plan", "-o", "json"), onOne("staging", "diff")} {
		r := s.run(args...)
		hides(t, strings.Join(args, " "), r.Stdout+r.Stderr, newSecret, "s3cr3t-live-pa55word")
		s.has(r.Stdout, "password")
	}
	s.want(4, "status", s.bundle, "--kube-context", "staging") // drifted
	show(0, onOne("staging", "apply", "-y", "--diff")...)
	if got := s.get("staging", "api/v1/namespaces/$NS/secrets/s").Data["password"]; got != base64.StdEncoding.EncodeToString([]byte(newSecret)) {
		t.Errorf("the drift was not corrected: %s", got)
	}
	show(0, "status", s.bundle, "--kube-context", "staging", "-o", "json")
	hides(t, "hawser.lock", s.read("hawser.lock"), oldSecret, newSecret)
	show(0, "delete", s.bundle, "-y", "--kube-context", "staging", "-o", "json")
}

// read is a file of the directory, "" when it is not there.
func (s *scene) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(data)
}

// An API server, a webhook or a proxy on the way that repeats the body in its error does not bring the value out.
func TestFault22ServersThatEcho(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"invalid": 422, "bad request": 400, "denied by a webhook": 403, "internal": 500, "conflict": 409, "no status at all": 418, "unavailable": 503} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(secretBundle)
			s.interpose("staging", func(w http.ResponseWriter, r *http.Request, pass func()) {
				if !writesOf(r, "secrets") || strings.Contains(r.URL.Path, "hawser-system") {
					pass()
					return
				}
				body, _ := io.ReadAll(r.Body)
				text := fmt.Sprintf(`admission webhook "w.example.com" denied the request: Secret "s" is invalid: data: Invalid value: %s`, body)
				if code == 418 {
					http.Error(w, text, code)
					return
				}
				status(w, code, "Invalid", text)
			})
			for _, args := range [][]string{onOne("staging", "apply", "-y"), onOne("staging", "apply", "-y", "-o", "json"), onOne("staging", "plan", "--server-check")} {
				r := s.run(args...)
				if r.Code == 0 && args[0] == "apply" {
					t.Errorf("nothing failed: %s", r)
				}
				hides(t, strings.Join(args, " "), r.Stdout+r.Stderr, oldSecret)
			}
			hides(t, "status", s.run("status", s.bundle, "--kube-context", "staging", "-o", "json").String(), oldSecret)
		})
	}
}

// Damaged base64, a value repeated in an annotation of the Secret, and kubectl's copy of it in the live object stay
// hidden too.
func TestFault22OddPlaces(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(secretBundle)
	s.namespace("staging")
	manifest := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"},
		"stringData": map[string]any{"password": "s3cr3t-live-pa55word"}}
	last, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	manifest["metadata"] = map[string]any{"name": "s", "annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(last)}}
	body, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/secrets", string(body), "fieldManager", "kubectl-client-side-apply")
	for _, args := range [][]string{onOne("staging", "plan", "--full"), onOne("staging", "plan", "--full", "--adopt"),
		onOne("staging", "plan", "--adopt", "-o", "json"), onOne("staging", "diff", "--adopt")} {
		r := s.run(args...)
		hides(t, strings.Join(args, " "), r.Stdout+r.Stderr, oldSecret, "s3cr3t-live-pa55word")
	}
	s.want(0, onOne("staging", "apply", "-y", "--adopt", "--diff")...)

	s.write("m/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: \"s3cr3t+not+base64!\"}\n")
	for _, verb := range []string{"vet", "plan", "apply"} {
		args := onOne("staging", verb)
		if verb == "apply" {
			args = append(args, "-y")
		}
		r := s.run(args...)
		if r.Code == 0 {
			t.Errorf("%s took it: %s", verb, r)
		}
		hides(t, verb, r.Stdout+r.Stderr, "s3cr3t+not+base64!")
		s.has(r.Stderr+r.Stdout, "password")
	}
	for _, broken := range []string{"stringData: {password: [s3cr3t-old-pa55word}\n", "stringData: {password: s3cr3t-old-pa55word, password: x}\n",
		"stringData: {password: s3cr3t-old-pa55word\x00}\n", "stringData: {password: [s3cr3t-old-pa55word]}\n"} {
		s.write("m/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"+broken)
		r := s.want(1, onOne("staging", "plan")...)
		hides(t, broken, r.Stdout+r.Stderr, oldSecret)
	}
}
