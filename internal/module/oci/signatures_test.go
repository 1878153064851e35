package oci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// What is attached is what cosign's own client of registries finds, with and without a list of referrers; and what cosign
// stores, in both of its forms, is found here.
func TestSignaturesAsCosign(t *testing.T) {
	for _, referrers := range []bool{true, false} {
		t.Run(fmt.Sprint("referrers=", referrers), func(t *testing.T) {
			r := testregistry.Start(t, testregistry.Options{Referrers: referrers})
			digest, url := push(t, r, "1.0.0", moduleFiles), r.OCI("mods/x")
			c := client("")
			if got, err := c.Signatures(t.Context(), url, digest); err != nil || len(got) > 0 {
				t.Fatal(got, err)
			}
			for _, text := range []string{`{"bundle":1}`, `{"bundle":2}`} {
				if err := c.Attach(t.Context(), url, digest, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			subject, err := name.NewDigest(r.Host+"/mods/x@"+digest, name.Insecure)
			if err != nil {
				t.Fatal(err)
			}
			if got := theirReferrers(t, subject); !slices.Equal(got, []string{`{"bundle":1}`, `{"bundle":2}`}) {
				t.Error(got)
			}
			attest(t, subject, `{"bundle":"theirs"}`, module.SignPredicate)
			attest(t, subject, `{"bundle":"provenance"}`, "https://slsa.dev/provenance/v1")
			simpleSign(t, subject, `{"critical":{}}`, "c2ln")
			got, err := c.Signatures(t.Context(), url, digest)
			if err != nil {
				t.Fatal(err)
			}
			var bundles []string
			for _, s := range got[:len(got)-1] {
				bundles = append(bundles, string(s.Bundle))
			}
			slices.Sort(bundles)
			if want := []string{`{"bundle":"theirs"}`, `{"bundle":1}`, `{"bundle":2}`}; !slices.Equal(bundles, want) {
				t.Errorf("bundles %v, want %v", bundles, want)
			}
			if last := got[len(got)-1]; string(last.Payload) != `{"critical":{}}` || last.Annotations[module.SimpleSignatureAnnotation] != "c2ln" {
				t.Errorf("%+v", last)
			}
		})
	}
}

// theirReferrers are the bundles that refer to a manifest, as cosign reads them: by type, one layer each.
func theirReferrers(t *testing.T, subject name.Digest) (out []string) {
	t.Helper()
	index, err := remote.Referrers(subject)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Manifests {
		img, err := remote.Image(subject.Context().Digest(d.Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := img.RawManifest()
		if err != nil || !bytes.Contains(raw, []byte(`"artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json"`)) {
			t.Errorf("%v: the manifest has another type: %s", err, raw)
		}
		layers, err := img.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatal(layers, err)
		}
		in, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.String())
		if said := annotationsOf(t, img)["dev.sigstore.bundle.predicateType"]; said != "https://sigstore.dev/cosign/sign/v1" {
			t.Errorf("predicate %q", said)
		}
	}
	slices.Sort(out)
	return out
}

func annotationsOf(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return m.Annotations
}

// rawManifest is a manifest as cosign puts it.
type rawManifest struct {
	data []byte
}

func (m rawManifest) RawManifest() ([]byte, error)        { return m.data, nil }
func (m rawManifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (m rawManifest) tag(t *testing.T, in name.Digest) name.Digest {
	return in.Context().Digest(digestOf(m.data))
}

// attest stores a bundle as cosign does.
func attest(t *testing.T, subject name.Digest, bundle, predicate string) {
	t.Helper()
	desc, err := remote.Head(subject)
	if err != nil {
		t.Fatal(err)
	}
	layer := static.NewLayer([]byte(bundle), module.BundleType)
	config := static.NewLayer([]byte("{}"), "application/vnd.oci.empty.v1+json")
	for _, l := range []v1.Layer{layer, config} {
		if err := remote.WriteLayer(subject.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "artifactType": module.BundleType,
		"config":      descriptor{MediaType: "application/vnd.oci.empty.v1+json", Size: 2, Digest: digestOf([]byte("{}"))},
		"layers":      []descriptor{{MediaType: module.BundleType, Size: int64(len(bundle)), Digest: digestOf([]byte(bundle))}},
		"subject":     desc,
		"annotations": map[string]string{"dev.sigstore.bundle.content": "dsse-envelope", "dev.sigstore.bundle.predicateType": predicate}})
	if err != nil {
		t.Fatal(err)
	}
	m := rawManifest{data}
	if err := remote.Put(m.tag(t, subject), m); err != nil {
		t.Fatal(err)
	}
}

// simpleSign stores a signature in cosign's older form.
func simpleSign(t *testing.T, subject name.Digest, payload, sig string) {
	t.Helper()
	img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer: static.NewLayer([]byte(payload), module.SimpleSigningType), Annotations: map[string]string{module.SimpleSignatureAnnotation: sig}})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(subject.Context().Tag(strings.Replace(subject.DigestStr(), ":", "-", 1)+".sig"), img); err != nil {
		t.Fatal(err)
	}
}

// What a hostile or broken registry says of signatures is an error, never "there are none".
func TestSignatureFaults(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{Referrers: true})
	digest, url := push(t, r, "1.0.0", moduleFiles), r.OCI("mods/x")
	if err := client("").Attach(t.Context(), url, digest, []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	flip := func(b []byte) []byte { return bytes.Replace(b, []byte(`"a"`), []byte(`"b"`), 1) }
	for name, c := range map[string]struct {
		fault testregistry.Fault
		code  string
	}{
		"list refused":     {testregistry.On("/referrers/", testregistry.Status(403, -1)), "registry-forbidden"},
		"list broken":      {testregistry.On("/referrers/", testregistry.Status(500, -1)), "registry-failed"},
		"blob changed":     {testregistry.On("/blobs/", r.Change(flip)), "digest-mismatch"},
		"blob missing":     {testregistry.On("/blobs/", testregistry.Status(404, -1)), "artifact-not-found"},
		"older tag broken": {testregistry.On(".sig", testregistry.Status(500, -1)), "registry-failed"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Fail(c.fault)
			defer r.Fail(nil)
			_, err := client("").Signatures(t.Context(), url, digest)
			wantCode(t, err, c.code)
		})
	}
	for range maxSignatures {
		if err := client("").Attach(t.Context(), url, digest, []byte(`{"n":"`+fmt.Sprint(len(r.Requests()))+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := client("").Signatures(t.Context(), url, digest)
	wantCode(t, err, "too-many-signatures")
	_, err = client("").Signatures(t.Context(), "oci-layout:///x", digest)
	wantCode(t, err, "no-signatures-here")
	_, err = client("").Signatures(t.Context(), url, "sha256:x")
	wantCode(t, err, "digest-syntax")
	wantCode(t, client("").Attach(t.Context(), url, "sha256:"+strings.Repeat("0", 64), []byte("{}")), "artifact-not-found")
}

// A registry whose list of what refers to an artifact has no end, by pages of nothing that lead to themselves or by pages that come slowly, is
// asked a bounded number of times and for a bounded time.
func TestEndlessSignatures(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{Referrers: true})
	digest, url := push(t, r, "1.0.0", moduleFiles), r.OCI("mods/x")
	pages := 0
	endless := func(pause time.Duration) {
		pages = 0
		r.Fail(testregistry.On("/referrers/", func(w http.ResponseWriter, req *http.Request) bool {
			time.Sleep(pause)
			if pages++; pages > 2*maxTagPages {
				return false
			}
			w.Header().Set("Link", "<"+req.URL.Path+`>; rel="next"`)
			w.Header().Set("Content-Type", indexType)
			_, _ = w.Write([]byte(`{"schemaVersion":2,"manifests":[]}`))
			return true
		}))
	}
	endless(0)
	_, err := client("").Signatures(t.Context(), url, digest)
	wantCode(t, err, "too-many-signatures", "100 pages")
	endless(5 * time.Millisecond)
	_, err = New(Options{ListTime: 50 * time.Millisecond}).Signatures(t.Context(), url, digest)
	wantCode(t, err, "registry-slow", r.Host)
	if pages > 50 {
		t.Errorf("%d pages were read", pages)
	}
}
