package toolchain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	fluxoci "github.com/fluxcd/pkg/oci"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/crane"

	"hawser.dev/hawser/internal/module/oci"
	"hawser.dev/hawser/internal/testregistry"
	"hawser.dev/hawser/internal/toolchain"
)

// online are the tools with a registry.
func online(t *testing.T) (*toolchain.Tools, *testregistry.Registry) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	tt, r, client := tools(t), testregistry.Start(t, testregistry.Options{}), oci.New(oci.Options{})
	tt.Registry, tt.Fetchers["oci"] = client, client
	return tt, r
}

// TestFlux: what artifact push publishes, Flux's own client pulls, with the same digest and files; and the other way round.
func TestFlux(t *testing.T) {
	tt, r := online(t)
	tt.Getenv = func(name string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1767225600"}[name] }
	files := t.TempDir()
	write(t, files, map[string]string{"staging-eu/web/v1_service_web.yaml": "kind: Service\n", "production-eu/web/apps_v1_deployment_web.yaml": "kind: Deployment\n"})
	pushed, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("shop/manifests"), Files: []string{files}, Tags: []string{"1.4.2"},
		Annotations: map[string]string{"org.opencontainers.image.revision": "main@sha1:0123", "org.opencontainers.image.source": "https://example.com/shop"}})
	if err != nil {
		t.Fatal(err)
	}
	flux := fluxoci.NewClient([]crane.Option{crane.Insecure})
	got := t.TempDir()
	meta, err := flux.Pull(t.Context(), r.Host+"/shop/manifests:1.4.2", got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, files), tree(t, got)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(meta.Digest, "@"+pushed.Digest) || meta.Revision != "main@sha1:0123" || meta.Source != "https://example.com/shop" || meta.Created != "2026-01-01T00:00:00Z" {
		t.Errorf("Flux sees %+v, pushed was %+v", meta, pushed)
	}

	if _, err := flux.Push(t.Context(), r.Host+"/shop/flux:1.0.0", files); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if _, err := tt.PullArtifact(t.Context(), toolchain.PullRequest{URL: r.OCI("shop/flux"), Version: "1.0.0", Dir: back}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, files), tree(t, back)); diff != "" {
		t.Error(diff)
	}
}

// TestPushReproducible: copies of a module have one digest, whatever their times and order of files, and a version never
// changes without force.
func TestPushReproducible(t *testing.T) {
	tt, r := online(t)
	a, b := begun(t, tt), begun(t, tt)
	req := toolchain.PushRequest{Dir: a, URL: r.OCI("mods/web"), Version: "1.0.0"}
	first, err := tt.Push(t.Context(), req)
	if err != nil || first.Unchanged {
		t.Fatal(first, err)
	}
	req.Dir = b
	again, err := tt.Push(t.Context(), req)
	if err != nil || again.Digest != first.Digest || !again.Unchanged {
		t.Errorf("the copy has %+v %v, the first %s", again, err, first.Digest)
	}
	write(t, b, map[string]string{"README.md": "# another\n"})
	if _, err := tt.Push(t.Context(), req); err == nil || !strings.Contains(err.Error(), first.Digest) {
		t.Errorf("other content under the same version: %v", err)
	}
	req.Force = true
	forced, err := tt.Push(t.Context(), req)
	if err != nil || forced.Digest == first.Digest {
		t.Errorf("forced: %+v %v", forced, err)
	}
	write(t, b, map[string]string{"timoni.ignore": "secret.txt\n", "secret.txt": "s3cret"})
	req.Version = "1.1.0"
	if _, err := tt.Push(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := filepath.Join(t.TempDir(), "got")
	if _, err := tt.Pull(t.Context(), toolchain.PullRequest{URL: r.OCI("mods/web"), Dir: got}); err != nil {
		t.Fatal(err)
	}
	if _, ok := tree(t, got)["secret.txt"]; ok {
		t.Error("an ignored file was published")
	}
}

// TestPushGit: source and revision come from the files of a repository, without credentials.
func TestPushGit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		name             string
		git              map[string]string
		source, revision string
	}{
		{"branch", map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": commit + "\n",
			"config": "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://ada:s3cret@example.com/team/web.git\n"}, "https://example.com/team/web.git", commit},
		{"packed", map[string]string{"HEAD": "ref: refs/heads/main", "packed-refs": "# pack-refs\n" + commit + " refs/heads/main\n"}, "", commit},
		{"detached", map[string]string{"HEAD": commit, "config": "[remote \"origin\"]\n\turl = git@example.com:team/web.git\n"}, "git@example.com:team/web.git", commit},
		{"no commit", map[string]string{"HEAD": "ref: refs/heads/main\n"}, "", ""},
		{"climbing ref", map[string]string{"HEAD": "ref: refs/../../secret\n"}, "", ""},
		{"not a commit", map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "hello\n"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tt, _ := online(t)
			dir := begun(t, tt)
			write(t, filepath.Join(filepath.Dir(dir), ".git"), c.git)
			out := filepath.Join(t.TempDir(), "web.tar")
			got, err := tt.Push(t.Context(), toolchain.PushRequest{Dir: dir, Output: out, Version: "1.0.0"})
			if err != nil {
				t.Fatal(err)
			}
			if s, r := got.Annotations["org.opencontainers.image.source"], got.Annotations["org.opencontainers.image.revision"]; s != c.source || r != c.revision {
				t.Errorf("source %q revision %q, want %q and %q", s, r, c.source, c.revision)
			}
		})
	}
}

// TestGatherRefuses: links and what is no file are not published.
func TestGatherRefuses(t *testing.T) {
	tt, r := online(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.yaml": "a", "sub/b.yaml": "b"})
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{nil, {dir}, {filepath.Join(dir, "link")}, {filepath.Join(dir, "none")}, {dir, filepath.Join(dir, "a.yaml")},
		{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "sub/b.yaml")}} {
		if _, err := tt.PushArtifact(t.Context(), toolchain.ArtifactRequest{URL: r.OCI("x/y"), Files: files}); err == nil {
			t.Errorf("%q was published", files)
		}
	}
	if n := len(r.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestPullRefuses: a failed pull leaves nothing behind.
func TestPullRefuses(t *testing.T) {
	tt, r := online(t)
	at := filepath.Join(t.TempDir(), "got")
	for _, req := range []toolchain.PullRequest{
		{URL: r.OCI("mods/none"), Dir: at},
		{URL: r.OCI("mods/none"), Version: "1.x", Dir: at},
		{URL: "http://" + r.Host + "/mods/none", Dir: at},
		{URL: "oci-archive://none.tar", Dir: at},
	} {
		if _, err := tt.Pull(t.Context(), req); err == nil {
			t.Errorf("%+v succeeded", req)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(at)); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestVendorKubernetesAdds: a choice of types adds to what a module has, and nothing is taken away.
func TestVendorKubernetesAdds(t *testing.T) {
	tt := tools(t)
	dir := begun(t, tt)
	version, _ := built{t}.where("k8s.io/api")
	minor := "1." + strings.SplitN(version, ".", 3)[1]
	got, err := tt.VendorKubernetes(t.Context(), toolchain.KubernetesRequest{Dir: dir, Version: minor, Packages: []string{"batch/v1.CronJob", "networking.k8s.io/v1.Ingress"}})
	if err != nil {
		t.Fatal(err)
	}
	text := tree(t, filepath.Join(dir, "cue.mod/gen/k8s.io/api"))
	for file, def := range map[string]string{"batch/v1/types_go_gen.cue": "#CronJob: {", "networking/v1/types_go_gen.cue": "#Ingress: {", "core/v1/types_go_gen.cue": "#Service: {"} {
		if !strings.Contains(text[file], def) {
			t.Errorf("%s has no %s", file, def)
		}
	}
	if len(got.Sources) != 2 || !strings.HasPrefix(got.Sources[0], "k8s.io/api "+version+" h1:") {
		t.Errorf("sources %q", got.Sources)
	}
	if _, err := tt.Vet(t.Context(), toolchain.BuildRequest{Module: toolchain.Module{Place: dir}}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ version, only, code string }{{"latest", "", "version"}, {"1.9999", "", "version"}, {"1.2", "", "no-such-version"}, {minor, "apps/v1.Deploymnt", "no-package"}} {
		_, err := tt.VendorKubernetes(t.Context(), toolchain.KubernetesRequest{Dir: dir, Version: c.version, Packages: []string{c.only}})
		if code(err) != c.code {
			t.Errorf("version %s only %q: %v, want %s", c.version, c.only, err, c.code)
		}
	}
}
