package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/testregistry"
)

// pushApp publishes a version of the test module that says its version.
func pushApp(s *scene, r *testregistry.Registry, version string) {
	s.t.Helper()
	values, err := os.ReadFile(filepath.Join(s.dir, "modules/app/values.cue"))
	if err != nil {
		s.t.Fatal(err)
	}
	at := strings.Index(string(values), "message: \"")
	end := at + strings.Index(string(values[at:]), "\n")
	s.write("modules/app/values.cue", string(values[:at])+"message: \"v"+version+"\""+string(values[end:]))
	s.want(0, "module", "push", "modules/app", r.OCI("mods/app"), "--version", version)
}

// A range is resolved once, into hawser.lock. From then on the pin is used: when newer versions come, when the registry
// is down, and when the tag is moved; --upgrade moves it, --locked insists on it.
func TestLockedSources(t *testing.T) {
	t.Parallel()
	s, r := newScene(t), testregistry.Start(t, testregistry.Options{})
	s.env = append(s.env, "HAWSER_CACHE_DIR="+filepath.Join(s.dir, "cache"))
	s.files(appModule)
	bundle := "bundle:\n  apiVersion: v1alpha1\n  name: $B\n  instances:\n    app:\n      module: {url: \"" + r.OCI("mods/app") + "\", version: 1.x}\n      namespace: $NS\n      values: {client: false}\n"
	s.write("shop.yaml", s.fill(bundle))
	on := func(args ...string) []string { return append(args, "-f", "shop.yaml") }
	to := func(args ...string) []string { return append(on(args...), "--kube-context", "staging") }
	pushApp(s, r, "1.0.0")
	pushApp(s, r, "1.1.0")

	// not pinned: taken as of now, and said; --locked and CI refuse it before any cluster is asked
	s.has(s.want(0, to("plan")...).Stdout, "taken as of now", "1.1.0", "hawser lock")
	s.mark()
	for _, args := range [][]string{to("apply", "-y", "--locked"), to("plan", "--locked"), on("vet", "--locked"), on("build", "--locked")} {
		s.has(s.want(5, args...).Stderr, "is not pinned", "shop.yaml:")
	}
	ci := *s.bench
	ci.env = append(ci.env[:len(ci.env):len(ci.env)], "CI=true")
	ci.want(5, to("apply", "-y")...)
	s.quiet("staging")

	// pinned: newer versions do not come in, and the registry is not asked
	s.has(s.want(0, on("lock")...).Stdout, "mods/app 1.x 1.1.0 sha256:", "(new)")
	pushApp(s, r, "1.2.0")
	pushApp(s, r, "2.0.0")
	r.Forget()
	ci.want(0, to("apply", "-y")...)
	s.wantData("staging", "app", "message", "v1.1.0")
	if asked := r.Requests(); len(asked) > 0 {
		t.Errorf("the registry was asked: %v", asked)
	}

	// what there is by now
	out := s.want(2, on("outdated", "-o", "json", "--detailed-exitcode")...).Stdout
	var report struct {
		Sources []struct {
			Locked, Newest, Overall lockfile.Pin
			Verdict                 string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Sources) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	if row := report.Sources[0]; row.Locked.Version != "1.1.0" || row.Newest.Version != "1.2.0" || row.Overall.Version != "2.0.0" || row.Verdict != "newerInRange" {
		t.Errorf("outdated says %+v", row)
	}

	// lock alone keeps the pin, --upgrade moves it within the range
	s.lacks(s.want(0, on("lock")...).Stdout, "1.2.0", "(")
	s.has(s.want(1, on("lock", "--upgrade", "api")...).Stderr, "no instance and no source", "app")
	s.has(s.want(0, on("lock", "--upgrade", "app")...).Stdout, "1.2.0", "(was 1.1.0)")
	s.want(0, to("apply", "-y", "--locked")...)
	s.wantData("staging", "app", "message", "v1.2.0")
	s.want(0, on("outdated", "--detailed-exitcode")...)

	// another range is not what was pinned
	s.edit("shop.yaml", "1.x", "^2.0")
	s.has(s.want(5, to("apply", "-y", "--locked")...).Stderr, "mods/app ^2.0 is not pinned")
	s.edit("shop.yaml", "^2.0", "1.x")

	// the registry is down: the pinned one comes from the cache, what is to be resolved does not
	r.Stop()
	s.write("shop.yaml", s.fill(strings.Replace(bundle, "client: false", "client: true", 1)))
	s.want(0, to("apply", "-y", "--locked")...)
	s.wantData("staging", "app-client", "message", "v1.2.0")
	s.want(3, on("outdated")...)
	s.want(1, on("lock", "--upgrade", "*")...)
}

// quiet fails the test when anything at all was asked of a cluster since mark.
func (s *scene) quiet(cluster string) {
	s.t.Helper()
	if asked := s.requests(cluster); len(asked) > 0 {
		s.t.Errorf("%s was asked:\n%s", cluster, show(asked))
	}
}
