package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fluxoci "github.com/fluxcd/pkg/oci"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/crane"

	"hawser.dev/hawser/internal/testregistry"
)

// TestBuildForFlux: what build --output-dir wrote for several clusters is published, and Flux's own client pulls it with the
// same digest and files. Nobody but the registry is asked.
func TestBuildForFlux(t *testing.T) {
	b, registry := newBench(t), testregistry.Start(t, testregistry.Options{User: "ada", Password: "pa55word"})
	b.env = append(b.env, "DOCKER_CONFIG="+filepath.Join(b.dir, "docker"), "HAWSER_CACHE_DIR="+filepath.Join(b.dir, "cache"))
	b.write("fleet.yaml", fluxFleet)
	b.write("shop.yaml", fluxShop)
	b.want(0, "module", "init", "web")
	b.want(0, "build", "-f", "shop.yaml", "--fleet", "fleet.yaml", "--output-dir", "rendered")

	b.stdin = "pa55word\n"
	said := b.want(0, "registry", "login", registry.Host, "-u", "ada", "--password-stdin")
	b.stdin = ""
	pushed := b.want(0, "artifact", "push", registry.OCI("shop/manifests"), "-f", "rendered", "-t", "1.4.2")
	if strings.Contains(said.String()+pushed.String(), "pa55word") {
		t.Errorf("the password is shown: %s %s", said, pushed)
	}
	_, digest, _ := strings.Cut(strings.TrimSpace(pushed.Stdout), "@")

	t.Setenv("DOCKER_CONFIG", filepath.Join(b.dir, "docker"))
	got := t.TempDir()
	meta, err := fluxoci.NewClient([]crane.Option{crane.Insecure}).Pull(t.Context(), registry.Host+"/shop/manifests:1.4.2", got)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(meta.Digest, "@"+digest) || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("Flux has %s, pushed was %s", meta.Digest, digest)
	}
	want := filesOf(t, filepath.Join(b.dir, "rendered"))
	delete(want, ".hawser-build") // what builds know of their own files
	if diff := cmp.Diff(want, filesOf(t, got)); diff != "" {
		t.Error(diff)
	}
	for _, cluster := range clusters {
		if text := want[cluster+"/web/apps_v1_deployment_web.yaml"]; !strings.Contains(text, "kind: Deployment") {
			t.Errorf("no Deployment for %s: %q", cluster, text)
		}
		if text := want[cluster+"/web/v1_namespace_apps.yaml"]; !strings.Contains(text, "kustomize.toolkit.fluxcd.io/prune: disabled") {
			t.Errorf("no Namespace for %s, or one that Flux prunes: %q", cluster, text)
		}
	}
	if n := strings.Count(want["production-eu/web/v1_configmap_web.yaml"], "Hello production-eu"); n != 1 {
		t.Errorf("the values of production-eu are not in its ConfigMap: %s", want["production-eu/web/v1_configmap_web.yaml"])
	}
}

const fluxFleet = `fleet:
  apiVersion: v1alpha1
  name: shop
  clusters:
    staging: {group: staging, kubeContext: staging}
    production-eu: {group: production, kubeContext: production-eu}
    production-us: {group: production, kubeContext: production-us}
`

const fluxShop = `bundle:
  apiVersion: v1alpha1
  name: shop
  instances:
    web:
      module: {url: "file://./web"}
      namespace: apps
      values: {message: Hello}
      valuesFor:
        eu: {clusters: [production-eu], values: {message: Hello production-eu}}
`

// filesOf is every file below a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
