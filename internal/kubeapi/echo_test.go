//go:build unix

package kubeapi

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// echoing is a client that logs in with a token, of a server that gives what answer makes of it.
func echoing(t *testing.T, token string, answer func(path, said string) any) *Client {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer(r.URL.Path, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	}))
	t.Cleanup(server.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}],
 users: [{name: u, user: {token: %s}}], contexts: [{name: a, context: {cluster: c, user: u}}]}`, server.URL, ca, token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Config{Name: "c", Access: fleet.Access{KubeconfigPaths: []string{file}, Context: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// An API server that gives back what it was sent as something that identifies (a version, a UID, a name, a kind), which nobody masks, is
// refused, in whatever form it gives it.
func TestCredentialsAreNoNames(t *testing.T) {
	for _, token := range []string{"k8s-9f8xkq7zz-t0ken", "3e0ef0f5-6a35-4d9e-8fd5-5d2f9c7f1a11", "x9f8kq7z"} {
		for name, form := range map[string]func(string) string{"as it is": strings.Clone, "in capitals": strings.ToUpper, "in base64": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
			"in a name": func(s string) string { return "a-" + s }} {
			meta := func(said string) map[string]any { return map[string]any{"name": "x", "uid": form(said)} }
			c := echoing(t, token, func(path, said string) any {
				switch path {
				case "/version":
					return map[string]any{"gitVersion": "v1.33.1+" + form(said)}
				case "/api/v1/namespaces/kube-system":
					return map[string]any{"metadata": map[string]any{"name": "kube-system", "uid": form(said)}}
				case "/rv":
					return map[string]any{"metadata": map[string]any{"name": "x", "resourceVersion": form(said)}}
				case "/manager":
					return map[string]any{"metadata": map[string]any{"name": "x", "managedFields": []any{map[string]any{"manager": form(said)}}}}
				case "/list", "/objects":
					return map[string]any{"kind": "List", "items": []any{map[string]any{"metadata": meta(said)}}}
				}
				return map[string]any{"kind": "APIGroupDiscoveryList", "items": []any{map[string]any{"metadata": map[string]any{"name": "g.example"}, "versions": []any{map[string]any{"version": "v1",
					"resources": []any{map[string]any{"resource": "xs", "responseKind": map[string]any{"kind": form(said)}}}}}}}}
			})
			for what, ask := range map[string]func() error{
				"version": func() error { _, err := c.ServerVersion(t.Context(), Request{}); return err },
				"uid":     func() error { _, _, err := c.ClusterUID(t.Context(), Request{}); return err },
				"kind":    func() error { return c.Discover(t.Context(), Request{}) },
				"rv":      func() error { var m Metadata; _, err := c.Do(t.Context(), Request{Path: "/rv", Into: &m}); return err },
				"manager": func() error {
					var m map[string]any
					_, err := c.Do(t.Context(), Request{Path: "/manager", Into: &m})
					return err
				},
				"list":    func() error { return c.ListMeta(t.Context(), "/list", nil, func() {}, func(Metadata) {}) },
				"objects": func() error { _, _, err := c.ListObjects(t.Context(), Request{Path: "/objects"}); return err },
			} {
				if err := ask(); err == nil || !strings.Contains(err.Error(), c.WrongAnswer("").Server) || strings.Contains(err.Error(), form(token)) {
					t.Errorf("%s %s as %s: %v", token, name, what, err)
				}
			}
		}
	}
}

// What an API server says its version and its UID are looks so, as those of all distributions do.
func TestWhoIsAVersionAndAUID(t *testing.T) {
	for text, want := range map[string]bool{"v1.33.1": true, "v1.33.1+k3s1": true, "v1.30.2-gke.1587003": true, "v1.29.4-eks-036c24b": true, "v1.27.3+vmware.1-fips.1": true, "v1.24": true, "1.28.3+kcp-v0.0.0-5cc1f0": true,
		"v1.34.0-alpha.0.123+4567abcdef-dirty": true, "v0.0.0-master+$Format:%H$": true, "": true,
		"latest": false, "v1.33.1 or so": false, "v1.33.1+\x1b[2J": false, "v1." + strings.Repeat("3", 80): false, "k8s-token": false} {
		c := echoing(t, "nothing-0f-that", func(string, string) any { return map[string]any{"gitVersion": text} })
		if got, err := c.ServerVersion(t.Context(), Request{}); (err == nil) != want || want && got != strings.TrimPrefix(text, "v") {
			t.Errorf("version %q: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]bool{"3e0ef0f5-6a35-4d9e-8fd5-5d2f9c7f1a11": true, "vc-1234": true, "": true, "eyJhbGciOi.eyJpc3MiOi.c2ln": false, "a b": false, strings.Repeat("a", 65): false} {
		c := echoing(t, "nothing-0f-that", func(string, string) any {
			return map[string]any{"metadata": map[string]any{"name": "kube-system", "uid": text}}
		})
		if got, _, err := c.ClusterUID(t.Context(), Request{}); (err == nil) != want || want && got != text {
			t.Errorf("UID %q: %q %v", text, got, err)
		}
	}
}

// A credential of words is given back as no version, UID or resource version, either; a name may well be what somebody has as a password.
func TestCredentialsOfWordsAreNoIDs(t *testing.T) {
	const token = "correct-horse-battery-staple"
	c := echoing(t, token, func(path, said string) any {
		switch path {
		case "/version":
			return map[string]any{"gitVersion": "v1.33.1+" + said}
		case "/rv":
			return map[string]any{"metadata": map[string]any{"name": "x", "resourceVersion": said}}
		case "/name":
			return map[string]any{"metadata": map[string]any{"name": said}}
		}
		return map[string]any{"metadata": map[string]any{"name": "kube-system", "uid": said}}
	})
	get := func(path string) error {
		var m Metadata
		_, err := c.Do(t.Context(), Request{Path: path, Into: &m})
		return err
	}
	_, version := c.ServerVersion(t.Context(), Request{})
	_, _, uid := c.ClusterUID(t.Context(), Request{})
	for what, err := range map[string]error{"version": version, "uid": uid, "rv": get("/rv")} {
		if err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := get("/name"); err != nil {
		t.Errorf("a name: %v", err)
	}
}
