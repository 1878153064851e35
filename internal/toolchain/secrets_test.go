package toolchain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/toolchain"
)

// utf16LE is a text as PowerShell writes it.
func utf16LE(text string) string {
	out := []byte{0xff, 0xfe}
	for _, r := range text {
		out = append(out, byte(r), 0)
	}
	return string(out)
}

// TestBuiltSecretsAreNotPublishedUnasked: what a build noted to hold values of a store is refused, of whatever kind it is.
func TestBuiltSecretsAreNotPublishedUnasked(t *testing.T) {
	tt, r := online(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"out/w/dsn.yaml": "kind: ConfigMap\n", "out/w/plain.yaml": "kind: ConfigMap\n",
		"out/.hawser-build": `{"v": 1, "files": {"w/dsn.yaml": {"bundle": "b"}, "w/plain.yaml": {"bundle": "b", "digest": "sha256:x"}}}`})
	_, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}})
	if err == nil || !strings.Contains(err.Error(), "out/w/dsn.yaml") || strings.Contains(err.Error(), "plain.yaml") {
		t.Error(err)
	}
}

// TestSecretsAreNotPublishedUnasked: a folder with a Secret that has values is refused, by name, unless that is asked for; then
// what is packed and pulled is for its owner alone.
func TestSecretsAreNotPublishedUnasked(t *testing.T) {
	tt, r := online(t)
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"data.yaml":      {secret + "data: {token: YQ==}\n", true},
		"text.yml":       {"kind: ConfigMap\n---\n" + secret + "stringData: {token: a}\n", true},
		"json.json":      {`{"apiVersion": "v1", "kind": "Secret", "data": {"token": "YQ=="}}`, true},
		"list.yaml":      {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  data: {token: YQ==}\n", true},
		"without.yaml":   {secret + "type: kubernetes.io/service-account-token\n", false},
		"empty.yaml":     {secret + "data: {}\n", false},
		"encrypted.yaml": {secret + "data: {token: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: x}\n", false},
		"sealed.yaml":    {"apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nspec: {encryptedData: {a: b}}\n", false},
		"config.yaml":    {"apiVersion: v1\nkind: ConfigMap\ndata: {a: 'kind: Secret'}\n", false},
		"template.yaml":  {"kind: Secret\n{{ if .x }}\n", false},
		"notes.txt":      {secret + "data: {token: YQ==}\n", true},
		"README.md":      {"# Example\n\n```yaml\n" + secret + "data: {token: YQ==}\n```\n", false},
		"two.json":       {`{"apiVersion": "v1", "kind": "Service"}` + "\n" + `{"apiVersion": "v1", "kind": "Secret", "data": {"token": "YQ=="}}`, true},
		"broken.yaml":    {"a: [\n" + secret + "data: {token: YQ==}\n", true},
		"utf16.yaml":     {utf16LE(secret + "data: {token: YQ==}\n"), true},
		"secrets.yaml":   {"apiVersion: v1\nkind: SecretList\nitems:\n- data: {token: YQ==}\n", true},
		"anchor.yaml":    {"apiVersion: v1\nkind: Secret\nx: &a {token: YQ==}\nstringData: *a\n", true},
		"merge.yaml":     {"apiVersion: v1\nkind: Secret\nx: &a {token: YQ==}\ndata:\n  <<: *a\n", true},
		"mergeall.yaml":  {"x: &a {kind: Secret, data: {token: YQ==}}\napiVersion: v1\n<<: *a\n", true},
		"applied.yaml":   {secret[:len(secret)-len("metadata: {name: a}\n")] + "metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"a\":\"YQ==\"}}'}}\n", true},
		"upper.YAML":     {secret + "data: {token: YQ==}\n", true},
		"old.yaml.bak":   {secret + "data: {token: YQ==}\n", true},
		"old.yaml~":      {secret + "data: {token: YQ==}\n", true},
		"filled.tmpl":    {secret + "data:\n  {{- if .x }}\n  token: YQ==\n  {{- end }}\n", true},
		"values.tmpl":    {secret + "data:\n  {{- if .x }}\n  token: {{ .token | b64enc }}\n  {{- end }}\n", false},
		"nosops.yaml":    {secret + "data: {token: YQ==}\nsops: {}\n", true},
		"half.yaml":      {secret + "data: {token: YQ==}\nsops: {mac: x}\n", true},
		"blank.yaml":     {secret + "data: {token: ''}\n", false},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"eu/" + name: c.text, "other.yaml": "kind: Service\n"})
		req := toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}}
		_, err := tt.PushArtifact(t.Context(), req)
		if refused := err != nil && strings.Contains(err.Error(), "eu/"+name) && strings.Contains(err.Error(), "--include-secrets"); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: %v, want refused %v", name, err, c.refused)
		}
		if !c.refused {
			continue
		}
		req.IncludeSecrets, req.Output = true, filepath.Join(t.TempDir(), "m.tar")
		if _, err := tt.PushArtifact(t.Context(), req); err != nil {
			t.Errorf("%s: asked for: %v", name, err)
			continue
		}
		got := filepath.Join(t.TempDir(), "got")
		if _, err := tt.PullArtifact(t.Context(), toolchain.PullRequest{URL: r.OCI("shop/m"), Dir: got}); err != nil {
			t.Fatal(err)
		}
		for file, mode := range map[string]os.FileMode{req.Output: 0o600, filepath.Join(got, "eu", name): 0o600, filepath.Join(got, "other.yaml"): 0o644} {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v %v, want mode %v", file, info, err, mode)
			}
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"s.yaml": secret + "data: {token: YQ==}\n"})
	if digest, err := tt.DigestOf(t.Context(), toolchain.ArtifactRequest{Files: []string{dir}}); err != nil || digest == "" {
		t.Errorf("a digest publishes nothing: %v", err)
	}
}

// TestArtifactVersionsDoNotMove: a version is not given to other files unless that is forced; other tags move.
func TestArtifactVersionsDoNotMove(t *testing.T) {
	tt, r := online(t)
	dir := t.TempDir()
	push := func(text string, force bool, tags ...string) (toolchain.PushResult, error) {
		write(t, dir, map[string]string{"a.yaml": text})
		return tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/m"), Files: []string{dir}, Tags: tags, Force: force})
	}
	first, err := push("a: 1\n", false, "1.4.2", "stable")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := push("a: 1\n", false, "1.4.2", "stable"); err != nil || !again.Unchanged {
		t.Errorf("the same again: %+v %v", again, err)
	}
	if _, err := push("a: 2\n", false, "stable", "latest"); err != nil {
		t.Errorf("a tag that is no version: %v", err)
	}
	if _, err := push("a: 2\n", false, "1.4.2"); err == nil || !strings.Contains(err.Error(), first.Digest) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a version moved: %v", err)
	}
	if is, err := tt.List(t.Context(), toolchain.ListRequest{URL: r.OCI("shop/m"), Versions: true, Details: true}); err != nil || len(is) != 1 || is[0].Digest != first.Digest {
		t.Errorf("1.4.2 is %+v %v, was %s", is, err, first.Digest)
	}
	if moved, err := push("a: 2\n", true, "1.4.2"); err != nil || moved.Digest == first.Digest {
		t.Errorf("forced: %+v %v", moved, err)
	}
	if _, err := tt.TagArtifact(t.Context(), r.OCI("shop/m")+":stable", []string{"sha256-" + strings.TrimPrefix(first.Digest, "sha256:") + ".sig", "sha256-" + strings.TrimPrefix(first.Digest, "sha256:")}); err != nil {
		t.Fatal(err)
	}
	list, err := tt.List(t.Context(), toolchain.ListRequest{URL: r.OCI("shop/m")})
	for _, tag := range list {
		if err != nil || strings.HasPrefix(tag.Name, "sha256-") {
			t.Errorf("listed: %+v %v", tag, err)
		}
	}
	if len(list) != 3 {
		t.Errorf("listed: %+v", list)
	}
}

// TestFailedPullLeavesNothing: not the directory that it made, and what was there stays.
func TestFailedPullLeavesNothing(t *testing.T) {
	tt, r := online(t)
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "there"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, into := range []string{"new", "deep/new", "there", "there/new"} {
		if _, err := tt.PullArtifact(t.Context(), toolchain.PullRequest{URL: r.OCI("shop/none"), Dir: filepath.Join(top, into)}); err == nil {
			t.Fatal("pulled what is not there")
		}
	}
	left, err := os.ReadDir(top)
	if err != nil || len(left) != 1 || left[0].Name() != "there" {
		t.Errorf("left: %v %v", left, err)
	}
	if left, err = os.ReadDir(filepath.Join(top, "there")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
