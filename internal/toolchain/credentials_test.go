package toolchain_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/toolchain"
)

// TestCredentialsAreNamed: files that look like somebody's credentials are pushed, as Timoni does, with one warning that names them and the way
// to leave them out; examples, encrypted, empty and public ones are none. What is written on this machine is for its owner alone.
func TestCredentialsAreNamed(t *testing.T) {
	tt, r := online(t)
	const key = "-----BEGIN " + "PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	age := "AGE-SECRET-KEY-1" + strings.Repeat("Q", 58)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		".env": {"A=b\n", true}, "app/.env": {"A=b\n", true}, ".env.production": {"A=b\n", true}, ".env.example": {"A=b\n", false}, "x.env": {"A=b\n", false},
		".env.local": {"\n", false}, "sops/.env": {"A=ENC[AES256_GCM,data:x]\nsops_mac=x\n", false},
		".docker/config.json": {`{"auths":{}}`, true}, "config.json": {`{"auths":{}}`, false},
		".netrc": {"machine x\n", true}, ".npmrc": {"x\n", true}, ".pypirc": {"x\n", true}, ".git-credentials": {"x\n", true}, ".aws/credentials": {"[default]\n", true}, "docs/credentials": {"x", false},
		"id_rsa": {"x", true}, "keys/id_ed25519": {"x", true}, "id_rsa.pub": {"x", false},
		"tls.key": {key, true}, "ca.pem": {key, true}, "public.pem": {"-----BEGIN PUBLIC KEY-----\n", false}, "sort.key": {"x", false}, "README.md": {key, false},
		"kubeconfig": {"users:\n- name: a\n  user:\n    client-key-data: QUFBQUFBQUE=\n", true}, "eu.kubeconfig": {"    token: abcdefghijk\n", true}, "kubeconfig.cue": {"token: string\n", false},
		"keys.txt": {"# created\n" + age + "\n", true}, "notes.md": {"AGE-SECRET-KEY-1...", false}, "terraform.tfstate": {"{}", true}, "old.tfstate.backup": {"{}", true}, "main.tf": {"{}", false},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{name: c.text, "a.yaml": "kind: Service\n"})
		req := toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Output: filepath.Join(t.TempDir(), "m.tar"), Files: []string{dir}}
		got, err := tt.PushArtifact(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := len(got.Findings) == 1 && got.Findings[0].Code == "credentials-in-clear" && got.Findings[0].Severity == diag.Warning &&
			strings.Contains(got.Findings[0].What, name) && strings.Contains(got.Findings[0].Fix, filepath.Join(dir, "timoni.ignore"))
		if said != c.want || len(got.Findings) > 1 {
			t.Errorf("%s: %v, want %t", name, got.Findings, c.want)
		}
		if info, err := os.Stat(req.Output); err != nil || (info.Mode().Perm() == 0o600) != c.want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/.env": "A=b", "b/.env": "A=b", "c/.netrc": "x", "d/id_rsa": "x", "e/id_rsa": "x", "f/id_rsa": "x", "a.yaml": "kind: Service\n"})
	got, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}})
	if err != nil || len(got.Findings) != 1 || !strings.Contains(got.Findings[0].String(), "f/id_rsa") && !strings.Contains(got.Findings[0].String(), "1 more") {
		t.Errorf("several: %v %v", got.Findings, err)
	}
	got, err = tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{filepath.Join(dir, "c/.netrc")}})
	if err != nil || len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Fix, "with -f") {
		t.Errorf("one file: %v %v", got.Findings, err)
	}
	mod := filepath.Join(t.TempDir(), "web")
	if _, err := tt.Init(t.Context(), toolchain.InitRequest{Name: "web", Dir: mod}); err != nil {
		t.Fatal(err)
	}
	write(t, mod, map[string]string{".env": "A=b"})
	push := toolchain.PushRequest{Dir: mod, URL: r.OCI("mods/web"), Version: "1.0.0"}
	if got, err := tt.Push(t.Context(), push); err != nil || len(got.Findings) != 1 || got.Findings[0].Code != "credentials-in-clear" {
		t.Errorf("a module: %v %v", got.Findings, err)
	}
}

// TestIgnoredIsNotPushed: what timoni.ignore names is left out of an artifact, as Timoni does, also a link; what is pulled is not measured by
// an ignore file in it.
func TestIgnoredIsNotPushed(t *testing.T) {
	tt, r := online(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"timoni.ignore": ".env\n/private/\n*.tmp\n!keep.tmp\nlink\n", ".env": "A=b", "b/.env": "A=b", "private/x": "x", "c/private/x": "x", "a.tmp": "x", "keep.tmp": "x"})
	if err := os.Symlink("/nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	out, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}})
	if err != nil || len(out.Findings) > 0 {
		t.Fatal(out.Findings, err)
	}
	got, err := tt.PullArtifact(t.Context(), toolchain.PullRequest{URL: r.OCI("shop/m"), Dir: filepath.Join(t.TempDir(), "got")})
	if err != nil || !slices.Equal(got.Files, []string{"c/private/x", "keep.tmp", "timoni.ignore"}) {
		t.Errorf("%v, %v", got.Files, err)
	}
	write(t, dir, map[string]string{"timoni.ignore": "*\n"})
	if _, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}}); err == nil || !strings.Contains(err.Error(), "holds no files") {
		t.Error(err)
	}
	other := t.TempDir()
	write(t, other, map[string]string{"timoni.ignore": "!*\n", "a.txt": "x"})
	if _, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/n"), Files: []string{filepath.Join(dir, "timoni.ignore"), filepath.Join(dir, "a.tmp")}}); err != nil {
		t.Fatal("files that are named:", err)
	}
	pulled := filepath.Join(t.TempDir(), "got")
	if _, err := tt.PullArtifact(t.Context(), toolchain.PullRequest{URL: r.OCI("shop/n"), Dir: pulled}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"timoni.ignore", "a.tmp"} {
		if _, err := os.Stat(filepath.Join(pulled, name)); err != nil {
			t.Error(err)
		}
	}
}
