//go:build unix

package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleet"
)

// TestNoFiles: a kubeconfig, and a file that it names, is a file: pipes nobody writes and devices without an end are refused.
func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, config := filepath.Join(dir, "pipe"), filepath.Join(dir, "config")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', certificate-authority: " + pipe +
		"}}]\nusers: [{name: u, user: {token: x}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "it is a pipe", "/dev/zero": "it is a device", config: "it is a pipe"} {
		said := make(chan string, 1)
		go func() {
			_, fs := new(Resolver).Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: path})
			var out []string
			for _, f := range fs {
				out = append(out, f.String())
			}
			said <- strings.Join(out, "\n")
		}()
		select {
		case got := <-said:
			if !strings.Contains(got, want) || !strings.Contains(got, path) && path != config {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s is waited for", path)
		}
	}
}
