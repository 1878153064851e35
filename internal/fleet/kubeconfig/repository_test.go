package kubeconfig

import (
	"errors"
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

// A narrower root gives no less protection: what a relative path leads to, or lies in the superproject of a submodule, or in the tree that
// is the current directory, may have come with the fleet's file as what lies beside it.
func TestCameWithTheFleet(t *testing.T) {
	const command = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}"
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	text := `apiVersion: v1
kind: Config
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: x, user: ` + command + `}]
contexts: [{name: x, context: {cluster: x, user: x}}]
`
	for name, data := range map[string]string{
		"super/.git/modules/sm/HEAD": "x", "super/sm/.git": "gitdir: ../.git/modules/sm\n", "super/sm/fleet/f": "", "super/evil.kc": text,
		"up/.git/HEAD": "", "up/.git/worktrees/wt/commondir": "../..\n", "up/evil.kc": text, "wt/.git": "gitdir: " + at("up/.git/worktrees/wt"), "wt/f": "", "wt/evil.kc": text,
		"nest/.git/HEAD": "", "nest/evil.kc": text, "nest/in/.git/HEAD": "", "dots/.git/HEAD": "", "dots/own/.git/HEAD": "", "dots/kc": text,
		"tar/sub/f": "", "tar/evil.kc": text, "home/.kube/config": text, "home/infra/f": "", "else/f": "", "broken/.git": "gitdir: loop", "broken/kc/f": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("loop", at("broken/loop")), os.Symlink(at("home/.kube/config"), at("tar/sub/link.kc"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", at("home"))
	for _, c := range []struct {
		name, here, dir, path, allow string
		refused                      bool
	}{
		{"a submodule's parent, relative", "else", "super/sm/fleet", "../../evil.kc", "", true},
		{"a submodule's parent, absolute", "else", "super/sm/fleet", at("super/evil.kc"), "", true},
		{"a tree without .git, relative", "else", "tar/sub", "../evil.kc", "", true},
		{"a tree without .git, absolute, from its top", "tar", "tar/sub", at("tar/evil.kc"), "", true},
		{"from the repository's own top", "super", "tar/sub", at("super/evil.kc"), "", true},
		{"relative, by a link", "else", "tar/sub", "link.kc", "", true},
		{"a .git that cannot be followed", "else", "broken/kc", at("home/.kube/config"), "", true},
		{"a worktree's repository, absolute", "else", "wt", at("up/evil.kc"), "", true},
		{"a repository's worktree, absolute", "else", "up", at("wt/evil.kc"), "", true},
		{"a worktree's repository, from there", "wt", "tar/sub", at("up/evil.kc"), "", true},
		{"a repository around another one", "else", "nest/in", at("nest/evil.kc"), "", true},
		{"relative by way of the home", "else", "tar/sub", "~/../tar/evil.kc", "", true},
		{"of the home, by its own name", "else", "tar/sub", "~/./.kube/config", "", false},
		{"relative, of whoever runs it", "else", "tar/sub", "../evil.kc", at("tar"), false},
		{"of the home", "else", "super/sm/fleet", "~/.kube/config", "", false},
		{"of the home, from there", "home", "home/infra", "~/.kube/config", "", false},
		{"absolute, elsewhere", "else", "super/sm/fleet", at("tar/evil.kc"), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(envDirs, c.allow)
			t.Chdir(at(c.here))
			cluster := fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: c.path, Context: "x", Dir: at(c.dir)}}}
			_, findings := Resolve(cluster, fleet.AccessOptions{})
			if err := findings.Errors().Err(); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), `runs the command "sh"`) {
				t.Errorf("%v, refused should be %v", err, c.refused)
			}
		})
	}
	t.Setenv("HOME", at("dots"))
	if _, findings := Resolve(fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: "~/kc", Context: "x", Dir: at("dots/own")}}}, fleet.AccessOptions{}); findings.HasErrors() {
		t.Errorf("of a home that is a repository around the fleet's: %v", findings)
	}
	_, findings := Resolve(fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: "../gone.kc", Dir: at("tar/sub")}}}, fleet.AccessOptions{})
	if err := findings.Errors().Err(); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("one that is not there: %v", err)
	}
}

// What Hawser itself has unpacked has authors of its own, whichever path leads there: it counts as come with the fleet's file.
func TestUnpacked(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	const user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}"
	for name, user := range map[string]string{"home/cache/x/evil.kc": user, "home/cache/x/file.kc": "{tokenFile: " + at("home/token") + "}", "home/cache/x/good.kc": "{token: x}", "home/mine.kc": user, "home/token": "", "fleet/.git/f": ""} {
		text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: x, user: %s}]
contexts: [{name: x, context: {cluster: x, user: x}}]
`, user)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", at("home"))
	r := &Resolver{Filled: func(path string) bool { return strings.HasPrefix(path, at("home/cache")+"/") }}
	for _, c := range []struct {
		dir, path, allow, want string
	}{
		{at("fleet"), "~/cache/x/evil.kc", "", "runs the command"}, {at("fleet"), at("home/cache/x/evil.kc"), "", "runs the command"}, {"", "~/cache/x/evil.kc", "", "runs the command"},
		{at("fleet"), "~/cache/x/evil.kc", at("home"), "runs the command"}, {at("fleet"), "~/cache/x/evil.kc", at("home/cache/x"), ""},
		{at("fleet"), "~/cache/x/file.kc", "", "reads a file outside"}, {"", "~/cache/x/file.kc", "", "reads a file outside"}, {at("fleet"), "~/cache/x/good.kc", "", ""}, {at("fleet"), "~/mine.kc", "", ""},
	} {
		t.Setenv(envDirs, c.allow)
		_, findings := r.Resolve(fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: c.path, Context: "x", Dir: c.dir}}}, fleet.AccessOptions{})
		if err := findings.Errors().Err(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || findings[0].Why == "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
