package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/testregistry"
)

// TestRegistryTagMoved: what is pinned stays, with a warm and a cold cache; outdated says it, and a digest in the bundle
// that is not the version's, or not the pin, is refused with both named.
func TestRegistryTagMoved(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)
	s.want(0, s.on("lock")...)
	s.apply()
	pinned := s.pin("manifests " + s.registry.OCI("manifests/config"))

	s.edit("sources/config/settings.yaml", "info", "debug")
	s.pushManifests()
	moved := s.want(2, s.on("outdated", "--detailed-exitcode")...)
	s.has(moved.Stdout, "tag moved")
	s.mark()
	s.forget()
	s.apply("--locked")
	s.untouched(clusters...)
	s.silent("an apply after a tag was moved")
	s.cold("cold")
	s.apply("--locked")
	s.untouched(clusters...)
	s.wantData(clusters[0], "settings", "log-level", "info")

	s.want(0, s.on("lock", "--upgrade", "config")...)
	now := s.pin("manifests " + s.registry.OCI("manifests/config"))
	if now == pinned {
		t.Fatalf("the upgrade kept %+v", pinned)
	}
	s.apply("--locked")
	for _, c := range clusters {
		s.wantData(c, "settings", "log-level", "debug")
	}

	// The bundle itself says a digest: it is neither the pin nor what the version means.
	s.edit("sources/sources.yaml", "version: 1.0.0}", "version: 1.0.0, digest: \""+pinned.Digest+"\"}")
	stale := s.want(5, s.on("apply", "-y", "--locked")...)
	s.has(flat(stale.Stderr), "is not what hawser.lock pins", pinned.Digest, now.Digest, "sources.yaml:6", "hawser lock")
	s.cold("colder")
	other := s.want(1, s.on("plan")...)
	s.has(flat(other.Stderr), pinned.Digest, now.Digest, "version 1.0.0", "sources.yaml:6", "config")

	// A chart is published again under its version: the registry has both by digest, the repository only the new one.
	chart := s.pin("helm " + s.files.URL)
	s.edit("sources/api/Chart.yaml", `appVersion: "2.0"`, `appVersion: "2.1"`)
	s.pushCharts("1.2.0")
	s.cold("coldest")
	again := s.want(1, s.on("plan")...)
	s.has(flat(again.Stderr), "1.2.0 has digest sha256:", chart.Digest+" is wanted", "sources.yaml:26")
	s.lacks(again.Stderr, "sources.yaml:13")
}

// TestRegistryContentChanged: what is not what the digest says is refused with both digests, from the registry and from
// the web server, and nothing is written.
func TestRegistryContentChanged(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)
	s.mark()
	pin := s.pageDigest()
	if err := os.WriteFile(filepath.Join(s.served, "page.yaml"), []byte(strings.ReplaceAll(registryPage, "from", "of")), 0o644); err != nil {
		t.Fatal(err)
	}
	page := s.want(1, s.on("apply", "-y")...)
	s.has(flat(page.Stderr), pin, "page.yaml", "sources.yaml:39")
	if strings.Count(page.Stderr, "sha256:") < 2 {
		t.Errorf("only one digest is named: %s", page)
	}
	s.registry.Fail(testregistry.On("GET /v2/modules/web/blobs/", s.registry.Change(func(body []byte) []byte {
		return append([]byte("x"), body[1:]...)
	})))
	s.cold("cold")
	changed := s.want(1, s.on("apply", "-y")...)
	s.has(flat(changed.Stderr), s.registry.Host+"/modules/web", "wanted is sha256:", "content with digest sha256:", "sources.yaml:30")
	s.untouched(clusters...)
	s.lacks(page.String()+changed.String(), registryPassword)
}

// pageDigest is what the bundle says of the file on the web server.
func (s *registryScene) pageDigest() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "sources", "sources.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), `digest: "`)
	if !ok {
		s.t.Fatal("the bundle says no digest")
	}
	return rest[:strings.Index(rest, `"`)]
}

// TestRegistryWrongCredentials: the registry is named, the command that helps too, the password never.
func TestRegistryWrongCredentials(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)
	s.mark()
	for name, c := range map[string]struct{ config, says string }{
		"wrong": {s.registry.DockerConfig(t, "ada", "wr0ng-canary"), "401"},
		"none":  {t.TempDir(), "none are known"},
	} {
		s.env = append(s.env, "DOCKER_CONFIG="+c.config)
		for _, verb := range [][]string{s.on("apply", "-y"), s.on("lock")} {
			got := s.want(1, verb...)
			s.has(flat(got.Stderr), "the registry "+s.registry.Host+" does not accept the credentials", c.says,
				"hawser registry login "+s.registry.Host, "sources.yaml:6", "sources.yaml:13", "sources.yaml:30")
			s.lacks(got.String(), "wr0ng-canary", registryPassword)
			if t.Failed() {
				t.Fatalf("%s credentials, %s: %s", name, verb[0], got)
			}
		}
	}
	s.untouched(clusters...)
	if _, err := os.Stat(filepath.Join(s.dir, "sources", lockfile.Name)); err == nil {
		t.Error("a lock file was written of what could not be resolved")
	}
}

// TestRegistryDown: what is pinned and in the cache is applied without registry, repository and web server; what is not is
// named, with the line of the bundle.
func TestRegistryDown(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)
	s.want(0, s.on("lock")...)
	s.registry.Stop()
	s.files.Stop()
	s.mark()
	s.apply("--locked")
	s.touched(clusters...)
	s.wantData(clusters[2], "settings", "log-level", "info")

	down := s.want(3, s.on("outdated")...)
	s.has(flat(down.Stdout), "unknown", "cannot be reached")
	unpinned := func(args ...string) {
		t.Helper()
		got := s.want(1, args...)
		s.has(flat(got.Stderr), "cannot be reached", s.registry.Host, "sources.yaml:13", "instance api")
		s.lacks(got.Stderr, "sources.yaml:6", "sources.yaml:30")
	}
	s.edit("sources/sources.yaml", "version: 1.x", "version: \">=1.1\"")
	s.mark()
	unpinned(s.on("apply", "-y")...)
	unpinned(s.on("lock")...)
	s.untouched(clusters...)
}

// TestRegistrySilent: a registry that takes the connection and says nothing more does not hold a run for ever.
func TestRegistrySilent(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)
	s.mark()
	s.registry.Fail(s.registry.Hang())
	got := s.want(1, s.on("apply", "-y")...)
	s.has(flat(got.Stderr), "the registry "+s.registry.Host+" did not answer in time", "sources.yaml:6")
	s.untouched(clusters...)
	s.registry.Fail(nil)
	s.apply()
}

// flat is a text without its line breaks and indentation.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
