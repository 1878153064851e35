package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// What a registry can do wrong, and what is said of it; nothing half-done is left in the cache.
func TestRegistryFaults(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	flip := func(body []byte) []byte { return bytes.Replace(body, []byte("timoni"), []byte("tim0ni"), 1) }
	for _, c := range []struct {
		name  string
		fault testregistry.Fault
		code  string
		texts []string
	}{
		{"manifest with another digest", testregistry.On("/manifests/sha256:", r.Change(flip)), "digest-mismatch", []string{digest, "digest sha256:"}},
		{"layer with another digest", testregistry.On("/blobs/", r.Change(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })), "digest-mismatch", nil},
		{"layer cut off", testregistry.On("/blobs/", r.CutOff()), "registry-cut-off", nil},
		{"layer longer than it should be", testregistry.On("/blobs/", r.Change(func(b []byte) []byte { return append(b, 'x') })), "registry-error", []string{"more than the manifest says"}},
		{"layer missing", testregistry.On("/blobs/", testregistry.Status(404, -1)), "artifact-not-found", nil},
		{"no manifest", testregistry.On("/manifests/", testregistry.Status(404, -1)), "artifact-not-found", []string{r.Host}},
		{"forbidden", testregistry.On("/manifests/", testregistry.Status(403, -1)), "registry-forbidden", []string{"told to fail", "login " + r.Host}},
		{"broken", testregistry.Status(500, -1), "registry-failed", []string{"told to fail"}},
		{"busy", testregistry.Status(429, 3600), "registry-busy", nil},
		{"garbage for a manifest", testregistry.On("/manifests/1.0.0", r.Change(func([]byte) []byte { return []byte("<html>") })), "digest-mismatch", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r.Fail(c.fault)
			ref := module.Reference{URL: r.OCI("mods/x"), Version: "latest", Digest: digest}
			if c.name == "garbage for a manifest" {
				ref.Version = "1.0.0"
			}
			_, err := client(dir).Fetch(t.Context(), ref)
			wantCode(t, err, c.code, c.texts...)
			r.Fail(nil)
			if got, err := client(dir).Fetch(t.Context(), ref); err != nil || got.Digest != digest {
				t.Errorf("afterwards: %+v %v", got, err)
			}
			if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
				t.Errorf("left in the cache: %v %v", left, err)
			}
		})
	}
	r.Fail(testregistry.Times(2, testregistry.Status(503, 0)))
	if _, err := client(t.TempDir()).Fetch(t.Context(), module.Reference{URL: r.OCI("mods/x"), Version: "1.0.0"}); err != nil {
		t.Errorf("busy for a moment: %v", err)
	}
	r.Fail(testregistry.EndlessTags)
	_, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("mods/x"), Version: "9.x"})
	wantCode(t, err, "too-many-tags")
}

// A registry that hangs costs the time it is given and no more, wherever it hangs; a caller may give up earlier.
func TestRegistryHangs(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	ref := module.Reference{URL: r.OCI("mods/x"), Version: "1.0.0"}
	hasty := func() *Client { return New(Options{HTTP: httpclient.Options{Stall: 50 * time.Millisecond}}) }
	for name, fault := range map[string]testregistry.Fault{
		"at once": r.Hang(), "in the tags": testregistry.On("/tags/", r.HangIn()), "in the manifest": testregistry.On("/manifests/", r.HangIn()),
		"in a layer": testregistry.On("/blobs/", r.HangIn()),
	} {
		r.Fail(fault)
		ref.Version = "1.0.0"
		if name == "in the tags" {
			ref.Version = "1.x"
		}
		_, err := hasty().Fetch(t.Context(), ref)
		wantCode(t, err, "registry-timeout", r.Host, " 50ms")
	}
	r.Fail(r.Hang())
	_, err := hasty().Push(t.Context(), r.OCI("mods/x")+":2.0.0", moduleOf(t, "2.0.0", moduleFiles), module.PushOptions{})
	wantCode(t, err, "registry-timeout")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := client("").Fetch(ctx, module.Reference{URL: ref.URL, Digest: digest}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller that gives up: %v", err)
	}
}

// Names that do not exist, ports that nobody listens on.
func TestUnreachable(t *testing.T) {
	quick := New(Options{HTTP: httpclient.Options{Connect: 5 * time.Second, Retries: -1}})
	_, err := quick.Resolve(t.Context(), module.Reference{URL: "oci://127.0.0.1:1/x", Version: "1.0.0"})
	wantCode(t, err, "registry-unreachable", "127.0.0.1:1")
	unknown := New(Options{HTTP: httpclient.Options{Dial: func(_ context.Context, network, address string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
	}}})
	_, err = unknown.Resolve(t.Context(), module.Reference{URL: "oci://registry.invalid/x", Version: "1.0.0"})
	wantCode(t, err, "registry-unknown-host", "registry.invalid")
}

// Credentials come from Docker's configuration and its helpers, by basic authentication and by token.
func TestCredentials(t *testing.T) {
	for name, token := range map[string]bool{"basic": false, "token": true} {
		t.Run(name, func(t *testing.T) {
			r := testregistry.Start(t, testregistry.Options{User: "me", Password: "s3cret-canary", Token: token})
			ref := module.Reference{URL: r.OCI("mods/x"), Version: "1.0.0"}
			t.Setenv("DOCKER_CONFIG", r.DockerConfig(t, "me", "s3cret-canary"))
			digest := push(t, r, "1.0.0", moduleFiles)
			if got, err := client("").Fetch(t.Context(), ref); err != nil || got.Digest != digest {
				t.Errorf("right ones: %v", err)
			}
			for what, config := range map[string]string{"none": t.TempDir(), "wrong ones": r.DockerConfig(t, "me", "wr0ng-canary")} {
				t.Setenv("DOCKER_CONFIG", config)
				_, err := client("").Fetch(t.Context(), ref)
				wantCode(t, err, "registry-unauthorized", "login "+r.Host)
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("%s: the error has the password: %v", what, err)
				}
			}
		})
	}
}

// helper installs a credential helper that keeps credentials in a file, and returns a DOCKER_CONFIG that names it.
func helper(t *testing.T, script string) (config string) {
	t.Helper()
	bin, config := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte("#!/bin/sh\n"+script), 0o755),
		os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"credsStore":"test"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("DOCKER_CONFIG", config)
	return config
}

func TestLogin(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{User: "me", Password: "s3cret-canary"})
	kept := filepath.Join(t.TempDir(), "kept")
	helper(t, `case $1 in
store) cat > `+kept+`;;
get) if [ -f `+kept+` ]; then cat `+kept+`; else echo "credentials not found in native keychain"; exit 1; fi;;
erase) rm -f `+kept+`;;
esac
`)
	ask := func() error {
		_, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("x"), Version: "1.x"})
		return err
	}
	wantCode(t, ask(), "registry-unauthorized")
	err := client("").Login(t.Context(), r.Host, "me", "wr0ng-canary")
	wantCode(t, err, "registry-unauthorized")
	if _, statErr := os.Stat(kept); statErr == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("wrong credentials were kept (%v) or said: %v", statErr, err)
	}
	if err := client("").Login(t.Context(), r.Host, "me", "s3cret-canary"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ask(), "artifact-not-found")
	if err := client("").Logout(t.Context(), r.Host); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ask(), "registry-unauthorized")
	wantCode(t, client("").Login(t.Context(), "no registry/", "me", "x"), "registry-name")
}

// Without a helper the credentials go into Docker's configuration, beside what is there.
func TestLoginWithoutHelper(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{User: "me", Password: "s3cret"})
	config := t.TempDir()
	file := filepath.Join(config, "config.json")
	if err := os.WriteFile(file, []byte(`{"auths":{"other":{"auth":"eDp5"}},"detachKeys":"ctrl-z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", config)
	if err := client("").Login(t.Context(), r.Host, "me", "s3cret"); err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Auths      map[string]any
		DetachKeys string
	}
	data, err := os.ReadFile(file)
	if err := errors.Join(err, json.Unmarshal(data, &kept)); err != nil || len(kept.Auths) != 2 || kept.Auths[r.Host] == nil || kept.DetachKeys != "ctrl-z" {
		t.Errorf("%s %v", data, err)
	}
}

// Helpers that fail and configurations that are broken are said to be the reason.
func TestBrokenHelper(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{User: "me", Password: "s3cret"})
	config := helper(t, "echo locked; exit 1\n")
	_, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("x"), Version: "1.x"})
	wantCode(t, err, "registry-credentials", "locked")
	if err := os.WriteFile(filepath.Join(config, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = client("").Resolve(t.Context(), module.Reference{URL: r.OCI("x"), Version: "1.x"})
	wantCode(t, err, "registry-credentials", "config.json")
}

// Content that does not fit, or is no artifact of ours.
func TestHostileArtifacts(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	r.PutBlob(t, "x", digestOf([]byte("{}")), []byte("{}"))
	layer := []byte("not a tar at all")
	r.PutBlob(t, "x", digestOf(layer), layer)
	config := descriptor{MediaType: module.FluxConfigType, Digest: digestOf([]byte("{}")), Size: 2}
	flux := descriptor{MediaType: module.FluxContentType, Digest: digestOf(layer), Size: int64(len(layer))}
	other := flux
	other.MediaType = "application/vnd.wasm"
	huge := flux
	huge.Size = 1 << 40
	bad := flux
	bad.Digest = "sha256:../../../../etc/passwd"
	lying := flux
	lying.Size--
	for name, c := range map[string]struct {
		manifest any
		code     string
	}{
		"no tar":        {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: []descriptor{flux}}, "archive-refused"},
		"no layers":     {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config}, "not-an-artifact"},
		"other layers":  {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: []descriptor{other}}, "not-an-artifact"},
		"huge":          {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: []descriptor{huge}}, "artifact-too-large"},
		"bad digest":    {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: []descriptor{bad}}, "not-an-artifact"},
		"wrong size":    {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: []descriptor{lying}}, "registry-error"},
		"many layers":   {manifest{SchemaVersion: 2, MediaType: manifestType, Config: config, Layers: make([]descriptor, 65)}, "not-an-artifact"},
		"an index":      {map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []any{}}, "not-an-artifact"},
		"old manifest":  {map[string]any{"schemaVersion": 1}, "not-an-artifact"},
		"not an object": {"manifest", "not-an-artifact"},
	} {
		data, err := json.Marshal(c.manifest)
		if err != nil {
			t.Fatal(err)
		}
		// The registry in process refuses layers it does not have; what it is told to say it cannot check.
		r.Fail(testregistry.On("/manifests/", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", manifestType)
			_, _ = w.Write(data)
			return true
		}))
		_, err = client(t.TempDir()).Fetch(t.Context(), module.Reference{URL: r.OCI("x"), Digest: digestOf(data)})
		if found := errorCode(err); found != c.code {
			t.Errorf("%s: %s (%v), want %s", name, found, err, c.code)
		}
	}
}

func errorCode(err error) string {
	for _, code := range []string{"archive-refused", "not-an-artifact", "artifact-too-large", "registry-error"} {
		if hasCode(err, code) {
			return code
		}
	}
	return "another"
}

// What is extracted is bounded by the limits, all layers together.
func TestLimits(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	for name, limits := range map[string]archive.Limits{"entries": {Entries: 4}, "bytes of files": {FileBytes: 5}} {
		c := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), Limits: limits})
		_, err := c.Fetch(t.Context(), module.Reference{URL: r.OCI("mods/x"), Digest: digest})
		if !hasCode(err, "archive-refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := New(Options{Limits: archive.Limits{Bytes: 100}})
	_, err := c.Fetch(t.Context(), module.Reference{URL: r.OCI("mods/x"), Digest: digest})
	wantCode(t, err, "artifact-too-large")
}

// A registry that gives its tags page by page, each in time, or tells of each tag slowly, costs the time of one list and no more, and says
// how far it came; a caller who gives up earlier is not told so.
func TestSlowLists(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	push(t, r, "1.0.0", moduleFiles)
	slow := func(on string) {
		r.Fail(func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.Contains(req.URL.Path, on) {
				return false
			}
			select {
			case <-req.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
			return on == "/tags/" && testregistry.EndlessTags(w, req)
		})
	}
	c := func(limit time.Duration) *Client { return New(Options{ListTime: limit}) }
	slow("/tags/")
	_, err := c(200*time.Millisecond).List(t.Context(), r.OCI("mods/x"), module.ListOptions{})
	wantCode(t, err, "registry-slow", r.Host, "was not done with its list after 200ms", "had come by then", "an exact version")
	_, err = c(200*time.Millisecond).Resolve(t.Context(), module.Reference{URL: r.OCI("mods/x"), Version: "9.x"})
	wantCode(t, err, "registry-slow")
	slow("/manifests/")
	_, err = c(10*time.Millisecond).List(t.Context(), r.OCI("mods/x"), module.ListOptions{Details: true})
	wantCode(t, err, "registry-slow")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c(time.Minute).List(ctx, r.OCI("mods/x"), module.ListOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
