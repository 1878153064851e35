package kubeconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
)

// A kubeconfig that a fleet names in its own repository runs no command and reads no file outside of that, unless whoever runs Hawser
// says so; elsewhere it may.
func TestInRepository(t *testing.T) {
	repo, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(repo, "fleet")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, inside := write(filepath.Join(outside, "token"), "runner"), write(filepath.Join(repo, "token"), "x")
	if err := os.Symlink(secret, filepath.Join(repo, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, user, allow, want string
	}{
		{"inline", repo, "{token: x}", "", ""},
		{"a command", repo, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}", "", `runs the command "sh"`},
		{"a command, of whoever runs it", repo, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}", repo, ""},
		{"an auth-provider", repo, "{auth-provider: {name: gcp}}", "", `has the auth-provider "gcp"`},
		{"a token of the repository", repo, "{tokenFile: " + inside + "}", "", ""},
		{"a token of the machine", repo, "{tokenFile: " + secret + "}", "", "reads a file outside of it: tokenFile"},
		{"a token by a link", repo, "{tokenFile: ../link}", "", "reads a file outside of it: tokenFile"},
		{"a key of the machine", repo, "{client-certificate: " + inside + ", client-key: " + secret + "}", "", "reads a file outside of it: client-key"},
		{"outside", outside, "{tokenFile: " + secret + "}", "", ""},
		{"a command outside", outside, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(envDirs, c.allow)
			sub := filepath.Join(c.dir, "sub")
			if err := os.MkdirAll(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			path := write(filepath.Join(sub, "kc.yaml"), fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: x, user: %s}]
contexts: [{name: x, context: {cluster: x, user: x}}]
`, c.user))
			cluster := fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: path, Context: "x", Dir: filepath.Join(repo, "fleet")}}}
			_, findings := Resolve(cluster, fleet.AccessOptions{})
			if text := findings.Errors().Err(); c.want == "" && text != nil || c.want != "" && (text == nil || !strings.Contains(text.Error(), c.want) || findings[0].Fix == "") {
				t.Errorf("%v, want %q", text, c.want)
			}
		})
	}
}
