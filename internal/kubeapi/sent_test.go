//go:build unix

package kubeapi

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/redact"
)

// An API server, or a proxy before it, that gives back what it was sent shows no credential, wherever that came from and in whatever form,
// nor in what is cut from its text.
func TestSentCredentialsAreHidden(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		text := strings.Join([]string{said, base64.StdEncoding.EncodeToString([]byte(said)), hex.EncodeToString([]byte(said)), url.QueryEscape(said), strings.ToLower(said)}, " and ")
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(said, "Basic ")); err == nil {
			text += " or " + string(pair)
		}
		if r.URL.Path == "/plain" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(strings.Repeat("x", 400) + " " + text)) // the cut is in the midst of it
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": strings.Repeat("x", errorText-len(text)/2) + " " + text, "reason": "Forbidden", "code": 403})
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	script := write("plugin", `#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "k8s-canary-exec.t0ken"}}'
`, 0o700)
	for name, user := range map[string]string{
		"token":     `token: canary-t0ken`,
		"tokenFile": `tokenFile: ` + write("token", "canary-file.t0ken\n", 0o600),
		"exec":      `exec: {apiVersion: client.authentication.k8s.io/v1, command: ` + script + `, interactiveMode: Never}`,
		"basic":     `{username: me, password: "canary:pa55w+rd"}`,
		"flag":      `{}`,
	} {
		user = strings.Trim(user, "{}")
		file := write("config-"+name, fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}],
 users: [{name: u, user: {%s}}], contexts: [{name: a, context: {cluster: c, user: u}}]}`, server.URL, ca, strings.TrimSuffix(user, "}")+strings.Repeat("}", strings.Count(user, "{"))), 0o600)
		r := redact.New()
		access := fleet.Access{KubeconfigPaths: []string{file}, Context: "a"}
		if name == "flag" {
			access.Override.Token = "canary-flag.t0ken"
		}
		c, err := Open(Config{Name: "c", Access: access, Redact: r.Redact, Tell: r.AddSent})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, path := range []string{"/api/v1/pods", "/plain"} {
			_, err = c.Do(t.Context(), Request{Method: http.MethodGet, Path: path, Attempts: 1})
			if err == nil {
				t.Fatal(name, "no error")
			}
			said := c.Failure(err).Error() + err.Error()
			for _, form := range []string{"canary", "t0ken", "pa55", hex.EncodeToString([]byte("canary")), "Y2FuYXJ5", "bWU6Y2F", "NhbmFye", "jYW5hcn"} {
				if strings.Contains(said, form) {
					t.Errorf("%s, %s: %q is in %s", name, path, form, strings.ReplaceAll(said, "x", ""))
				}
			}
			if !strings.Contains(said, redact.Mask) {
				t.Errorf("%s, %s: nothing was given back: %s", name, path, said)
			}
		}
	}
}
