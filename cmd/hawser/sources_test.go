package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// sourcesToken is what examples/sources/secrets/api.enc.yaml holds.
const sourcesToken = "a-token-that-is-not-in-the-repository"

// sourcesScene is a copy of examples/sources, and its part of the examples' modules, under a name and a namespace of its own.
func sourcesScene(t *testing.T, f *testfleet.Fleet) *scene {
	t.Helper()
	s := newSceneOn(t, f)
	for from, to := range map[string]string{"../../examples/sources": "sources", "../../examples/modules": "modules"} {
		if err := os.CopyFS(filepath.Join(s.dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	s.write("cue.mod/module.cue", "module: \"sources.test\"\nlanguage: version: \"v0.9.0\"\n") // one directory for both, as a repository is
	s.edit("sources/sources.yaml", "name: sources\n", "name: $B\n")
	s.edit("sources/sources.yaml", "namespace: sources", "namespace: $NS")
	fleet := "fleet:\n  apiVersion: v1alpha1\n  name: sources\n  clusters:\n"
	for _, name := range f.Names() {
		c := f.Cluster(name)
		fleet += "    " + c.Name + ": {group: " + c.Group + ", kubeContext: " + c.Context() + "}\n"
	}
	s.write("fleet.yaml", fleet)
	return s
}

// secretOf is a value of a Secret in the scene's namespace.
func (s *scene) secretOf(cluster, name, key string) string {
	s.t.Helper()
	raw, err := s.client(cluster).Get().AbsPath("/api/v1/namespaces/" + s.ns + "/secrets/" + name).DoRaw(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var secret struct{ Data map[string]string }
	if err := json.Unmarshal(raw, &secret); err != nil {
		s.t.Fatal(err)
	}
	value, err := base64.StdEncoding.DecodeString(secret.Data[key])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(value)
}

// TestExampleSources: one bundle with all four kinds of sources, dependencies between them, a value from an object of
// another instance and one from an encrypted file, on three clusters with values of their own.
func TestExampleSources(t *testing.T) {
	t.Parallel()
	names := []string{"sources-staging", "sources-eu", "sources-us"}
	f, err := testfleet.Start(testfleet.Options{Clusters: names, Workloads: true,
		Groups: map[string]string{"sources-staging": "staging", "sources-eu": "production", "sources-us": "production"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	s := sourcesScene(t, f)
	on := []string{"-f", "sources/sources.yaml", "--fleet", "fleet.yaml", "--fleet", "sources/stores.yaml"}
	verb := func(name string, more ...string) []string { return append(append([]string{name}, on...), more...) }

	s.mark()
	plan := s.want(2, verb("plan", "--detailed-exitcode")...)
	s.has(plan.Stdout, "StatefulSet $NS/db", "Deployment $NS/api", "ConfigMap $NS/settings")
	s.untouched(names...)
	first := s.want(0, verb("apply", "-y")...)
	for _, c := range names {
		if got := s.secretOf(c, "api", "database"); got != "postgres://sources@db.sources:5432/sources" {
			t.Errorf("%s: database is %q", c, got)
		}
		if got := s.secretOf(c, "api", "token"); got != sourcesToken {
			t.Errorf("%s: token is %q", c, got)
		}
	}
	for c, replicas := range map[string]string{"sources-staging": `"replicas":1`, "sources-eu": `"replicas":3`, "sources-us": `"replicas":3`} {
		raw, err := s.client(c).Get().AbsPath("/apis/apps/v1/namespaces/" + s.ns + "/deployments/api").DoRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.has(string(raw), replicas, `"value":"`+c+`"`)
	}
	status := s.want(0, "status", s.bundle, "--fleet", "fleet.yaml")
	s.has(status.Stdout, "ready")

	s.mark()
	again := s.want(0, verb("apply", "-y")...)
	s.untouched(names...)
	s.has(again.Stderr, "0 renders for 12 instances")

	s.mark()
	s.edit("sources/config/settings.yaml", "info", "debug")
	changed := s.want(0, verb("apply", "-y", "--diff")...)
	for _, c := range names {
		if w := s.written(c); !slices.Contains(w, "PATCH configmaps/settings") || slices.ContainsFunc(w, func(x string) bool {
			return strings.Contains(x, "deployments") || strings.Contains(x, "statefulsets")
		}) {
			t.Errorf("%s: one change wrote %v", c, w)
		}
	}

	// what another instance's object says has changed: the chart is rendered again in the same run
	s.edit("sources/db/overlay/connection.env", "5432", "6432")
	late := s.want(0, verb("apply", "-y")...)
	for _, c := range names {
		if got := s.secretOf(c, "api", "database"); got != "postgres://sources@db.sources:6432/sources" {
			t.Errorf("%s: database is %q after it changed", c, got)
		}
	}
	for _, r := range []result{plan, first, again, changed, late, status} {
		s.lacks(r.Stdout+r.Stderr, sourcesToken, base64.StdEncoding.EncodeToString([]byte(sourcesToken)), "postgres://sources@")
	}
	s.want(0, "delete", s.bundle, "--fleet", "fleet.yaml", "-y")
	for _, c := range names {
		s.gone(c, "settings")
	}
}
