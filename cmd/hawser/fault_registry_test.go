package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testregistry"
)

// A registry with TLS and tokens, and the ways in which it fails: everything goes through the product's own process.
func TestFaultRegistry(t *testing.T) {
	t.Parallel()
	r := testregistry.Start(t, testregistry.Options{TLS: true, User: "me", Password: "s3cret-canary", Token: true})
	b := newBench(t)
	b.env = append(b.env, "SSL_CERT_FILE="+r.CAFile, "HAWSER_CACHE_DIR="+filepath.Join(b.dir, "kept"), "DOCKER_CONFIG="+r.DockerConfig(t, "me", "s3cret-canary"))
	b.write("out/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-registry, namespace: default}\ndata: {a: first}\n")
	bundle := func(more string) string {
		return b.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: registry\n  instances:\n    x:\n      manifests: {url: \""+r.OCI("out")+"\", "+more+"}\n")
	}
	b.want(0, "artifact", "push", r.OCI("out"), "-f", "out", "-t", "1.0.0")
	build := []string{"build", "-f", "bundle.yaml", "--kube-context", clusters[0]}

	bundle("version: 1.x")
	if got := b.want(0, build...); !strings.Contains(got.Stdout, "a: first") {
		t.Fatalf("from the registry: %s", got)
	}
	listed := b.want(0, "artifact", "list", r.OCI("out"), "-o", "json").Stdout
	at := strings.Index(listed, "sha256:")
	if at < 0 {
		t.Fatalf("no digest in %s", listed)
	}
	digest := listed[at : at+71]

	// Wrong credentials and a moved tag are said, and nothing is rendered of them.
	wrong := *b
	wrong.env = append(wrong.env[:len(wrong.env):len(wrong.env)], "DOCKER_CONFIG="+r.DockerConfig(t, "me", "wr0ng-canary"))
	if got := wrong.want(1, build...); !strings.Contains(got.Stderr, "does not accept the credentials") || strings.Contains(got.String(), "canary") {
		t.Errorf("wrong credentials: %s", got)
	}
	b.write("out/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-registry, namespace: default}\ndata: {a: second}\n")
	b.want(0, "artifact", "push", r.OCI("out"), "-f", "out", "-t", "1.0.0", "--force")
	bundle("version: 1.0.0, digest: \"" + digest + "\"")
	cold := *b
	cold.env = append(cold.env[:len(cold.env):len(cold.env)], "HAWSER_CACHE_DIR="+filepath.Join(b.dir, "cold"))
	if got := cold.want(1, build...); !strings.Contains(got.Stderr, digest) || strings.Contains(got.Stdout, "second") {
		t.Errorf("moved, with a cold cache: %s", got)
	}

	// What is pinned and cached needs no registry. A damaged cache is noticed, and then it does.
	r.Forget()
	r.Stop()
	if got := b.want(0, build...); !strings.Contains(got.Stdout, "a: first") || len(r.Requests()) > 0 {
		t.Errorf("down, with a warm cache: %s\nasked: %v", got, r.Requests())
	}
	if got := b.want(0, "cache", "ls"); !strings.Contains(got.Stdout, r.OCI("out")) {
		t.Errorf("cache ls: %s", got)
	}
	damage(t, filepath.Join(b.dir, "kept"))
	if got := b.want(1, build...); !strings.Contains(got.Stderr, "cannot be reached") {
		t.Errorf("down, with a damaged cache: %s", got)
	}
}

// damage changes every file of a cache.
func damage(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "inventory.json" {
			return err
		}
		return os.WriteFile(path, []byte("a: 1"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
