package engine

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/oci"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/signature/sigstore"
	"hawser.dev/hawser/internal/testregistry"
)

// signedRig is a rig whose manifests come from a registry, with a fleet that wants them signed by release.pub.
type signedRig struct {
	*rig
	registry *testregistry.Registry
	url      string
	digest   string
}

func newSignedRig(t *testing.T) *signedRig {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	r := &signedRig{rig: newRig(t), registry: testregistry.Start(t, testregistry.Options{Referrers: true})}
	r.connect(t.TempDir())
	r.url = r.registry.OCI("shop/manifests")
	r.write("files/app.yaml", r.configMap("app", "key: one"))
	pushed, err := oci.New(oci.Options{}).Push(t.Context(), r.url, module.Artifact{ConfigType: module.FluxConfigType, Layers: []module.Layer{
		{MediaType: module.FluxContentType, Root: r.dir + "/files", Files: []string{"app.yaml"}}}}, module.PushOptions{Tags: []string{"1.0.0"}})
	if err != nil {
		t.Fatal(err)
	}
	r.digest = pushed.Digest
	for _, name := range []string{"release", "other"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		private, _ := x509.MarshalPKCS8PrivateKey(key)
		public, _ := x509.MarshalPKIXPublicKey(key.Public())
		r.write(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
		r.write(name+".pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	}
	r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  instances:\n    app:\n      namespace: "+r.name+
		"\n      manifests: {url: \""+r.url+"\", version: 1.0.0}\n")
	r.wants("release.pub")
	return r
}

// connect gives the engine a registry's client with a cache, as another process has one.
func (r *signedRig) connect(dir string) {
	kept := cache.Open(cache.Options{Dir: dir})
	client := oci.New(oci.Options{Cache: kept})
	r.Fetchers = map[string]module.Fetcher{"oci": client}
	r.Signatures = &signature.Checker{Store: client, Verifier: sigstore.New(sigstore.Options{}), Notes: kept}
}

// wants makes the fleet ask for a signature of a key.
func (r *signedRig) wants(key string) {
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters: {engine: {kubeContext: engine}}\n  signatures:\n    required:\n    - sources: [\"127.0.0.1:*/shop/**\"]\n      by: [{key: "+key+"}]\n")
}

func (r *signedRig) sign(key string) {
	r.t.Helper()
	s, err := sigstore.New(sigstore.Options{}).Signer(r.t.Context(), signature.Sign{Key: r.dir + "/" + key})
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := s.Bundle(r.t.Context(), r.digest)
	if err == nil {
		err = r.Signatures.Store.Attach(r.t.Context(), r.url, r.digest, data)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// verbs are all that fetch.
func (r *signedRig) verbs(req Request) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"plan": func(ctx context.Context) error {
			p, err := r.Plan(ctx, req)
			if err == nil {
				err = p.Findings.Err()
			}
			return err
		},
		"build": func(ctx context.Context) error { _, err := r.Build(ctx, req); return err },
		"vet":   func(ctx context.Context) error { _, err := r.Vet(ctx, req); return err },
		"lock":  func(ctx context.Context) error { _, err := r.Lock(ctx, req); return err },
	}
}

func (r *signedRig) refused(what string, req Request) {
	r.t.Helper()
	for verb, run := range r.verbs(req) {
		err := run(r.t.Context())
		if err == nil || !strings.Contains(err.Error(), r.digest) || !strings.Contains(err.Error(), "is not signed") {
			r.t.Errorf("%s, %s: %v", what, verb, err)
		}
	}
}

func (r *signedRig) accepted(what string, req Request) {
	r.t.Helper()
	for verb, run := range r.verbs(req) {
		if err := run(r.t.Context()); err != nil {
			r.t.Errorf("%s, %s: %v", what, verb, err)
		}
	}
}

// What the fleet wants signed is verified in every verb, before anything of it is fetched, with pins and from the cache as
// well, and again when a saved plan is applied.
func TestSignaturePolicy(t *testing.T) {
	r := newSignedRig(t)
	before := len(r.registry.Requests())
	r.refused("unsigned", r.request())
	asked := r.registry.Requests()[before:]
	if i := slices.IndexFunc(asked, func(q string) bool {
		return strings.HasPrefix(q, "GET") && (strings.Contains(q, "/blobs/") || strings.Contains(q, "/manifests/"+r.digest))
	}); i >= 0 {
		t.Errorf("content was asked for before it was verified: %s", asked[i])
	}
	r.sign("other.key")
	r.refused("signed by another", r.request())
	r.sign("release.key")
	dir := t.TempDir()
	r.connect(dir)
	r.accepted("signed", r.request())
	fp := r.plan(r.request())
	var file bytes.Buffer
	if _, _, err := r.SavePlan(fp, &file); err != nil {
		t.Fatal(err)
	}

	locked := r.request()
	locked.Locked = true
	r.registry.Stop()
	r.connect(dir)
	r.accepted("pinned and cached, without the registry", locked)
	r.wants("other.pub")
	r.connect(dir)
	for verb, run := range r.verbs(locked) {
		if err := run(t.Context()); err == nil {
			t.Errorf("cached, another key is wanted: %s accepts it", verb)
		}
	}
	if _, err := r.LoadPlan(t.Context(), &file, locked); err == nil {
		t.Error("a saved plan is loaded whose content nobody trusts any more")
	}
}
