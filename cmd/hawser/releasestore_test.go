package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testbucket"
	"hawser.dev/hawser/internal/tests3"
)

// storeFleet is two clusters, one after the other, and where their records are.
const storeFleet = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    staging: {group: staging, kubeContext: staging}
    production-eu: {group: production, kubeContext: production-eu}
  rollout: {waves: [{groups: [staging]}, {groups: [production]}]}
  secretStores: {default: {env: {}}}
  $RELEASES
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app: {namespace: $NS, manifests: {paths: [m]}}
-- m/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {k: one}
---
apiVersion: v1
kind: Secret
metadata: {name: app}
stringData: {password: canary-password-one}
`

// aServer is one with a bucket.
type aServer interface {
	Seen() []string
	Objects(t testing.TB) map[string][]byte
}

// bucketKinds are what releases.store may be besides a directory: a server, the store as the fleet's file has it, and the credentials that it refers to.
var bucketKinds = map[string]func(t *testing.T, prefix string) (server aServer, store, credentials string){
	"s3": func(t *testing.T, prefix string) (aServer, string, string) {
		server := tests3.New(t, 0)
		return server, "s3: {bucket: releases, prefix: " + prefix + ", region: " + tests3.Region + ", endpoint: \"" + server.URL +
			"\", credentials: {accessKeyID: " + tests3.AccessKeyID + ", secretAccessKey: \"ref://STORE_SECRET\"}}", tests3.SecretAccessKey
	},
	"gcs": func(t *testing.T, prefix string) (aServer, string, string) {
		server := testbucket.NewGCS(t, 0)
		return server, "gcs: {bucket: releases, prefix: " + prefix + ", endpoint: \"" + server.URL + "\", credentials: {key: \"ref://STORE_SECRET\"}}", string(server.Key(t))
	},
	"azure": func(t *testing.T, prefix string) (aServer, string, string) {
		server := testbucket.NewAzure(t, 0, false)
		return server, "azure: {account: " + testbucket.Account + ", container: releases, prefix: " + prefix + ", endpoint: \"" + server.URL + "/" + testbucket.Account +
			"\", credentials: {key: \"ref://STORE_SECRET\"}}", testbucket.Key
	},
}

// storeScene is a scene whose records are in a store; stored are all that the store holds.
func storeScene(t *testing.T, kind string) (s *scene, releases string, stored func() [][]byte, server aServer) {
	t.Helper()
	s = newScene(t)
	dir := filepath.Join(s.dir, "releases")
	credentials := ""
	if kind == "file" {
		releases = "releases: {store: {file: {path: ./releases}}}"
		stored = func() (out [][]byte) {
			_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					data, _ := os.ReadFile(path)
					out = append(out, data)
				}
				return nil
			})
			return out
		}
	} else {
		var store string
		server, store, credentials = bucketKinds[kind](t, s.ns)
		releases = "releases: {store: {" + store + "}, encryption: {key: \"ref://STORE_KEY\"}}"
		stored = func() (out [][]byte) {
			for _, data := range server.Objects(t) {
				out = append(out, data)
			}
			return out
		}
	}
	s.env = append(s.env, "STORE_SECRET="+credentials, "STORE_KEY=a key of the fleet, long enough")
	s.files(strings.ReplaceAll(storeFleet, "$RELEASES", releases))
	return s, releases, stored, server
}

// TestReleaseStores: two clusters keep their records in a directory, or on a server with a bucket: every verb finds them there, the clusters hold no
// record, and the store nothing that can be read.
func TestReleaseStores(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"file", "s3", "gcs", "azure"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, releases, stored, server := storeScene(t, kind)
			on := []string{"--fleet", "fleet.yaml"}
			apply := append([]string{"apply", "-f", "bundle.yaml", "-y"}, on...)
			s.want(0, append([]string{"vet", "-f", "bundle.yaml"}, on...)...)
			s.want(0, apply...)
			if server != nil {
				server.Seen()
			}
			s.mark()
			if r := s.want(0, apply...); !strings.Contains(r.Stderr, "No changes") {
				t.Errorf("%s", r)
			}
			s.untouched("staging", "production-eu")
			if server != nil {
				seen := slices.DeleteFunc(server.Seen(), func(r string) bool { return r == "POST /token" })
				if len(seen) > 2*2 || slices.ContainsFunc(seen, func(r string) bool { return !strings.HasPrefix(r, "GET ") }) {
					t.Errorf("an unchanged apply asks the store %d times: %v", len(seen), seen)
				}
			}
			for _, c := range []string{"staging", "production-eu"} {
				for _, e := range s.requests(c) {
					if e.Resource == "secrets" && strings.HasPrefix(e.Name, "hawser-") && e.Name != "hawser-release-key" {
						t.Errorf("%s: an unchanged apply reads %s", c, e.Name)
					}
				}
			}
			s.edit("m/app.yaml", "k: one", "k: two")
			s.edit("m/app.yaml", "canary-password-one", "canary-password-two")
			s.want(0, append([]string{"plan", "-f", "bundle.yaml"}, on...)...)
			s.want(0, apply...)
			for args, want := range map[string]string{"history " + s.bundle: "2", "history diff 1 2 --bundle " + s.bundle: "ConfigMap", "history show 1 --bundle " + s.bundle: "release 1",
				"status " + s.bundle: "ready", "list": s.bundle, "drift " + s.bundle: ""} {
				if r := s.want(0, append(strings.Fields(args), on...)...); !strings.Contains(strings.ToLower(r.Stdout), strings.ToLower(want)) || strings.Contains(r.Stdout+r.Stderr, "canary-password") {
					t.Errorf("%s says no %q: %s", args, want, r)
				}
			}
			s.want(0, append([]string{"rollback", s.bundle, "-y"}, on...)...)
			for _, c := range []string{"staging", "production-eu"} {
				s.wantData(c, "app", "k", "one")
			}
			for _, data := range stored() {
				if bytes.Contains(data, []byte("canary")) || bytes.Contains(data, []byte(s.ns)) || bytes.Contains(data, []byte("ConfigMap")) {
					t.Error("something in the store can be read by anybody")
				}
			}
			if len(stored()) < 6 {
				t.Errorf("%d blobs", len(stored()))
			}
			moveAway(s, releases, apply, on)
		})
	}
}

// moveAway takes the store out of the fleet's file: nothing is done until the records have moved, and then nothing is lost.
func moveAway(s *scene, releases string, apply, on []string) {
	s.t.Helper()
	before, err := os.ReadFile(filepath.Join(s.dir, "fleet.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("before.yaml", string(before))
	s.edit("fleet.yaml", releases, "health: []")
	s.write("another.yaml", strings.Replace(strings.Replace(string(before), releases, "health: []", 1), "name: "+s.bundle, "name: another", 1))
	s.mark()
	for _, args := range [][]string{apply, {"status", s.bundle, "--fleet", "fleet.yaml"}, {"history", s.bundle, "--fleet", "fleet.yaml"}, {"delete", s.bundle, "-y", "--fleet", "fleet.yaml"}} {
		r := s.run(args...)
		if r.Code == 0 || !strings.Contains(strings.Join(strings.Fields(r.Stdout+r.Stderr), " "), "hawser release move "+s.bundle) {
			s.t.Errorf("%v: %s", args, r)
		}
	}
	for _, verb := range []string{"list", "status", "history", "drift"} { // without a name, too
		r := s.run(verb, "--fleet", "fleet.yaml")
		if r.Code != 3 || !strings.Contains(strings.Join(strings.Fields(r.Stdout+r.Stderr), " "), "hawser release move "+s.bundle) {
			s.t.Errorf("%s: %s", verb, r)
		}
		if r := s.run(verb, "--fleet", "another.yaml"); strings.Contains(r.Stdout+r.Stderr, "hawser release move "+s.bundle) {
			s.t.Errorf("%s of another fleet: %s", verb, r)
		}
	}
	s.untouched("staging", "production-eu")
	if r := s.want(0, "release", "move", s.bundle, "--fleet", "fleet.yaml", "--from", "before.yaml", "-y"); strings.Count(r.Stdout, "3 kept revisions moved") != 2 {
		s.t.Errorf("%s", r)
	}
	s.mark()
	s.want(0, append([]string{"rollback", s.bundle, "--to", "2", "-y"}, on...)...)
	s.wantData("staging", "app", "k", "two")
	if r := s.want(0, "history", s.bundle, "--fleet", "fleet.yaml"); !regexp.MustCompile(`(?m)^\S+ +4 `).MatchString(r.Stdout) || !regexp.MustCompile(`(?m)^\S+ +1 `).MatchString(r.Stdout) {
		s.t.Errorf("%s", r)
	}
	s.want(0, "release", "move", s.bundle, "--fleet", "before.yaml", "-y") // and back
	s.want(0, "delete", s.bundle, "--fleet", "before.yaml", "-y")
	for _, c := range []string{"staging", "production-eu"} {
		s.gone(c, "app")
		if list := s.get(c, "api/v1/namespaces/hawser-system/secrets/hawser-"+object.OwnerID("", "", s.bundle)); list != nil {
			s.t.Errorf("%s still says where the records are", c)
		}
	}
}

// TestReleaseStoreSecondOperator: of two operators with one store one is told of the other, who can be looked at and unlocked; a run that
// is killed leaves a record that the next one goes on with.
func TestReleaseStoreSecondOperator(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"file", "s3"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, _, _, _ := storeScene(t, kind)
			s.write("m/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {a: b}}, "+
				"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: example.com/web:1}]}}}\n")
			apply := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
			first := s.start(append(apply, "--timeout", "5m")...)
			eventually(t, "the first run waits", func() bool { return s.get("staging", "apis/apps/v1/namespaces/$NS/deployments/web") != nil })
			r := s.run(append(apply, "--timeout", "2s")...)
			if r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, "locked by") {
				t.Errorf("%s", r)
			}
			if r := s.want(0, "release", "unlock", s.bundle, "--fleet", "fleet.yaml", "-y"); !strings.Contains(r.Stderr+r.Stdout, "locked by") || !strings.Contains(r.Stdout, "taken from") {
				t.Errorf("%s", r)
			}
			if err := first.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			first.end()
			if r := s.want(0, "release", "unlock", s.bundle, "--fleet", "fleet.yaml"); !strings.Contains(r.Stdout, "nobody holds the lock") {
				t.Errorf("%s", r)
			}
			s.write("m/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
			s.want(0, append(apply, "--confirm-delete", "1")...)
			if r := s.want(0, "status", s.bundle, "--fleet", "fleet.yaml"); strings.Contains(r.Stdout, "applying") {
				t.Errorf("%s", r)
			}
			s.there("production-eu", "web", "app")
		})
	}
}
