//go:build unix

package kubeconfig

import (
	"errors"
	"fmt"
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
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s is waited for", path)
		}
	}
}

// TestPipe: what a shell's <(program) writes is read once, whoever asks how often, and goes with the access; beside other
// files it is refused.
func TestPipe(t *testing.T) {
	text := "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: x}}]\n" +
		"contexts: [{name: x, context: {cluster: c, user: u}}]\n"
	pipe := func() string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		return fmt.Sprintf("/dev/fd/%d", r.Fd())
	}
	path, resolver := pipe(), new(Resolver)
	for range 2 {
		access, fs := resolver.Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: path})
		if fs.HasErrors() || access.Server != "https://127.0.0.1:1" || access.Context != "x" || string(access.Content) != text {
			t.Errorf("%v %+v", fs, access)
		}
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if access, fs := resolver.Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: file}); fs.HasErrors() || access.Content != nil {
		t.Errorf("a file: %v %q", fs, access.Content)
	}
	if _, fs := resolver.Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: pipe() + ":" + file}); !fs.HasErrors() || !strings.Contains(fs[0].What, "a pipe is no kubeconfig beside others") {
		t.Errorf("beside a file: %v", fs)
	}
}

// TestPipeHasNoDirectory: relative paths of a kubeconfig that comes from a pipe, or from an open file by its descriptor, are refused, whatever lies in the current directory; what is
// found in PATH, absolute, or replaced by flags is used, and in a file they begin at its directory.
func TestPipeHasNoDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]os.FileMode{"bin/plug.sh": 0o755, "plug.sh": 0o755, "t": 0o600} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("#!/bin/sh\n"), mode)); err != nil {
			t.Fatal(err)
		}
	}
	text := func(user, cluster string) string {
		return "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'" + cluster + "}}]\n" +
			"users: [{name: u, user: {" + user + "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
	}
	runs := func(command string) string {
		return "exec: {apiVersion: client.authentication.k8s.io/v1, command: " + command + "}"
	}
	for name, c := range map[string]struct {
		user, cluster, want string
		over                fleet.Override
	}{
		"command":           {user: runs("bin/plug.sh"), want: "runs the command bin/plug.sh by a relative path"},
		"command, dot":      {user: runs("./plug.sh"), want: "runs the command ./plug.sh by a relative path"},
		"command, replaced": {user: runs("bin/plug.sh"), over: fleet.Override{Token: "t"}},
		"command, absolute": {user: runs(filepath.Join(dir, "plug.sh"))},
		"command in PATH":   {user: runs("sh")},
		"command not there": {user: runs("plug.sh"), want: "is not found"},
		"token":             {user: "tokenFile: t", want: "names the file t (tokenFile) by a relative path"},
		"token, absolute":   {user: "tokenFile: " + filepath.Join(dir, "t")},
		"certificate":       {user: "client-certificate: t, client-key: " + filepath.Join(dir, "t"), want: "names the file t (client-certificate)"},
		"key":               {user: "client-key: t, client-certificate: " + filepath.Join(dir, "t"), want: "names the file t (client-key)"},
		"authority":         {user: "token: x", cluster: ", certificate-authority: t", want: "names the file t (certificate-authority)"},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			_, err = w.WriteString(text(c.user, c.cluster))
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			_, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: fmt.Sprintf("/dev/fd/%d", r.Fd()), Override: c.over})
			if c.want == "" && fs.HasErrors() || c.want != "" && (len(fs) != 1 || !strings.Contains(fs[0].What, c.want)) {
				t.Errorf("from a pipe: %v, want %q", fs, c.want)
			}
			file := filepath.Join(dir, "config")
			if err := os.WriteFile(file, []byte(text(c.user, c.cluster)), 0o600); err != nil {
				t.Fatal(err)
			}
			open, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = open.Close() }()
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(fmt.Sprintf("/dev/fd/%d", open.Fd()), link); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{fmt.Sprintf("/dev/fd/%d", open.Fd()), fmt.Sprintf("/dev/../dev/fd/%d", open.Fd()), link} { // < config
				access, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: name, Override: c.over})
				if c.want == "" && (fs.HasErrors() || len(access.Content) == 0) || c.want != "" && (len(fs) != 1 || !strings.Contains(fs[0].What, c.want)) {
					t.Errorf("%s, an open file: %v, want %q", name, fs, c.want)
				}
			}
			_, fs = Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: file, Override: c.over})
			if fs.HasErrors() && !strings.Contains(c.want, "is not found") {
				t.Errorf("from a file: %v", fs)
			}
		})
	}
}

// TestSyntaxErrorHasItsLine: a file that is no YAML is told with the line.
func TestSyntaxErrorHasItsLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("{{x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: file}); len(fs) != 1 || !strings.HasPrefix(fs[0].Why, "line 1: ") {
		t.Errorf("%v", fs)
	}
}

// TestDescriptors: what is open is told by its name, also where that is a link; files beside it are none.
func TestDescriptors(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Symlink("/dev/stdin", filepath.Join(dir, "in")), os.Symlink("in", filepath.Join(dir, "twice")), os.Symlink("round", filepath.Join(dir, "round")),
		os.Symlink("/dev/null", filepath.Join(dir, "null")), os.WriteFile(filepath.Join(dir, "fd"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, want := range map[string]bool{"/dev/stdin": true, "/dev/fd/0": true, "/dev/../dev/stdin": true, "in": true, "twice": true, "round": false, "null": false, "fd": false,
		"missing": false, filepath.Join(dir, "in"): true, "/dev/null": false} {
		if isDescriptor(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
