package kubeapi

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// TestInCluster: a pod reaches the cluster it runs in with the token that lies in its directory at the time; without one, nothing is
// taken in its place.
func TestInCluster(t *testing.T) {
	if _, err := InCluster(func(string) string { return "" }); !errors.Is(err, ErrNotInCluster) {
		t.Errorf("outside of a cluster: %v", err)
	}
	var got string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"kind":"Status"}`))
	}))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	access, err := InCluster(func(name string) string {
		return map[string]string{"KUBERNETES_SERVICE_HOST": at.Hostname(), "KUBERNETES_SERVICE_PORT": at.Port()}[name]
	})
	if err != nil || access.Server != server.URL || access.ServiceAccount != serviceAccount {
		t.Fatalf("%v %+v", err, access)
	}
	access.ServiceAccount = t.TempDir()
	if _, err := Open(Config{Name: "here", Access: access}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("without a token: %v", err)
	}
	for name, text := range map[string]string{"token": "t0ken-one", "ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))} {
		if err := os.WriteFile(filepath.Join(access.ServiceAccount, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := []string{}
	client, err := Open(Config{Name: "here", Access: access, Tell: func(credential string) { told = append(told, credential) }})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Do(t.Context(), Request{Method: http.MethodGet, Path: "/version"}); err != nil {
		t.Fatal(err)
	}
	if got != "Bearer t0ken-one" || len(told) == 0 {
		t.Errorf("sent %q, told %q", got, told)
	}
}

// secret is a Secret as an API server gives it.
func secret(data map[string]string) map[string]any {
	encoded := map[string]any{}
	for k, v := range data {
		encoded[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "eu", "namespace": "fleet"}, "data": encoded}
}

// TestFromSecret: a Secret's kubeconfig is found where Cluster API, Flux and people put it, and nothing in it leads out of it.
func TestFromSecret(t *testing.T) {
	for _, key := range kubeconfigKeys {
		access, err := FromSecret(secret(map[string]string{key: overridden, "other": "x"}), "", "")
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		cfg, err := restConfig(Config{Access: access})
		if err != nil || cfg.Host != "https://one.example" || string(cfg.CertData) != "cert" {
			t.Errorf("%s: %v %+v", key, err, cfg)
		}
	}
	for name, c := range map[string]struct {
		data     map[string]string
		key, ctx string
		want     string
	}{
		"no key":        {map[string]string{"password": "pa55word"}, "", "", "Secret fleet/eu has no kubeconfig"},
		"another key":   {map[string]string{"value": overridden}, "prod", "", "looked for prod"},
		"empty":         {map[string]string{"value": ""}, "", "", `key "value" is empty`},
		"no kubeconfig": {map[string]string{"value": "pa55word: ["}, "", "", ""},
		"other context": {map[string]string{"value": overridden}, "", "b", `context "b" is not in the kubeconfig`},
	} {
		t.Run(name, func(t *testing.T) {
			access, err := FromSecret(secret(c.data), c.key, c.ctx)
			if err == nil {
				_, err = restConfig(Config{Access: access})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pa55word") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestConfined: a kubeconfig of somebody who may not run commands here runs none, and reads no file, whatever of the context asks for it; what other
// contexts do is nobody's matter.
func TestConfined(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	for name, with := range map[string]string{
		"command":       `user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: touch, args: [` + marker + `]}}`,
		"auth-provider": `user: {auth-provider: {name: gcp}}`,
		"tokenFile":     `user: {tokenFile: /etc/passwd}`,
		"certificate":   `user: {client-certificate: /etc/passwd, client-key-data: a2V5}`,
		"key":           `user: {client-certificate-data: Y2VydA==, client-key: /etc/passwd}`,
	} {
		text := strings.Replace(overridden, `user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, username: me, password: p}`, with, 1)
		if text == overridden {
			t.Fatal(name)
		}
		_, err := Open(Config{Name: "eu", Access: fleet.Access{Content: []byte(text), Confined: true, From: "Secret fleet/eu"}})
		if err == nil || !strings.Contains(err.Error(), "Secret fleet/eu") || !strings.Contains(err.Error(), "only its own content is used") {
			t.Errorf("%s: %v", name, err)
		}
		text = strings.Replace(text, "contexts: [", "contexts: [{name: own, context: {cluster: c}}, ", 1)
		if cfg, err := restConfig(Config{Access: fleet.Access{Content: []byte(text), Confined: true, Context: "own"}}); err != nil || cfg.Host != "https://one.example" {
			t.Errorf("%s, of another context: %v", name, err)
		}
	}
	text := strings.Replace(overridden, "certificate-authority-data: Zm9v", "certificate-authority: /etc/passwd", 1)
	if _, err := restConfig(Config{Access: fleet.Access{Content: []byte(text), Confined: true}}); err == nil || !strings.Contains(err.Error(), "certificate-authority") {
		t.Errorf("certificate-authority: %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran")
	}
}
