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
			if got, err := signaturesOf(t, c, url, digest); err != nil || len(got) > 0 {
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
			got, err := signaturesOf(t, c, url, digest)
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

// signaturesOf are all signatures that are looked at, those that cannot be read included.
func signaturesOf(t *testing.T, c *Client, url, digest string) (out []module.Signature, err error) {
	t.Helper()
	err = c.Signatures(t.Context(), url, digest, func(s module.Signature) bool {
		out = append(out, s)
		return false
	})
	return out, err
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
		"blob refused":     {testregistry.On("/blobs/", testregistry.Status(403, -1)), "registry-forbidden"},
		"blob broken":      {testregistry.On("/blobs/", testregistry.Status(500, -1)), "registry-failed"},
		"older tag broken": {testregistry.On(".sig", testregistry.Status(500, -1)), "registry-failed"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Fail(c.fault)
			defer r.Fail(nil)
			_, err := signaturesOf(t, client(""), url, digest)
			wantCode(t, err, c.code)
		})
	}
	for name, c := range map[string]struct {
		fault testregistry.Fault
		why   string
	}{
		"blob changed": {testregistry.On("/blobs/", r.Change(flip)), "the registry sent content with digest"},
		"blob missing": {testregistry.On("/blobs/", testregistry.Status(404, -1)), "there is no such artifact"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Fail(c.fault)
			defer r.Fail(nil)
			got, err := signaturesOf(t, client(""), url, digest)
			if err != nil || len(got) != 1 || got[0].Bundle != nil || !strings.Contains(got[0].Broken, c.why) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	_, err := signaturesOf(t, client(""), "oci-layout:///x", digest)
	wantCode(t, err, "no-signatures-here")
	_, err = signaturesOf(t, client(""), url, "sha256:x")
	wantCode(t, err, "digest-syntax")
	wantCode(t, client("").Attach(t.Context(), url, "sha256:"+strings.Repeat("0", 64), []byte("{}")), "artifact-not-found")
}

// refer has a manifest of a type refer to another one, with layers of bundles that are there or are not.
func refer(t *testing.T, subject name.Digest, artifactType string, layers []descriptor, texts ...string) {
	t.Helper()
	desc, err := remote.Head(subject)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, "{}") {
		if err := remote.WriteLayer(subject.Context(), static.NewLayer([]byte(text), module.BundleType)); err != nil {
			t.Fatal(err)
		}
	}
	config := "application/vnd.oci.empty.v1+json"
	if artifactType != module.BundleType {
		config = artifactType // this registry lists it by that
	}
	data, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "artifactType": artifactType,
		"config": descriptor{MediaType: config, Size: 2, Digest: digestOf([]byte("{}"))}, "layers": layers, "subject": desc})
	if err != nil {
		t.Fatal(err)
	}
	m := rawManifest{data}
	if err := remote.Put(m.tag(t, subject), m); err != nil {
		t.Fatal(err)
	}
}

func bundleLayer(text string) descriptor {
	return descriptor{MediaType: module.BundleType, Size: int64(len(text)), Digest: digestOf([]byte(text))}
}

// Whoever may push to a repository keeps nobody from the good signature there: neither by broken ones of every kind, nor by very many things that
// are no signatures, nor by large ones; and none of them are given as anything but broken.
func TestBrokenSignaturesBesideAGoodOne(t *testing.T) {
	for _, referrers := range []bool{true, false} {
		r := testregistry.Start(t, testregistry.Options{Referrers: referrers})
		digest, url := push(t, r, "1.0.0", moduleFiles), r.OCI("mods/x")
		subject, err := name.NewDigest(r.Host+"/mods/x@"+digest, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		gone, short, long, odd, huge := bundleLayer(`{"gone":1}`), bundleLayer(`{"short":1}`), bundleLayer(`{"long":1}`), bundleLayer(`{"odd":1}`), bundleLayer(`{"huge":1}`)
		short.Size, long.Size, huge.Size, odd.Digest = short.Size+100, 2, maxSignature+1, "sha256:../../x"
		for _, l := range []descriptor{gone, short, long, odd, huge} {
			refer(t, subject, module.BundleType, []descriptor{l}, `{"short":1}`, `{"long":1}`, `{"huge":1}`)
		}
		large := `{"large":"` + strings.Repeat("x", maxSignature-64) + `"}`
		refer(t, subject, module.BundleType, []descriptor{bundleLayer(large)}, large)
		var many []descriptor
		for i := range maxLayers + 10 {
			many = append(many, bundleLayer(fmt.Sprintf(`{"one of many":%d}`, i)))
		}
		refer(t, subject, module.BundleType, many)
		if referrers {
			for i := range 2 * maxSignatures {
				refer(t, subject, fmt.Sprintf("application/vnd.example.%d", i), nil)
			}
		}
		if err := client("").Attach(t.Context(), url, digest, []byte(`{"good":1}`)); err != nil {
			t.Fatal(err)
		}
		got, err := signaturesOf(t, client(""), url, digest)
		if err != nil {
			t.Errorf("referrers=%t: %v", referrers, err)
		}
		var good []string
		broken := 0
		for _, s := range got {
			if s.Broken != "" && s.Bundle == nil {
				broken++
			} else {
				good = append(good, string(s.Bundle))
			}
		}
		if !slices.Equal(good, []string{`{"good":1}`, large}) || broken != 5+len(many) {
			t.Errorf("referrers=%t: %d broken, good %.100q", referrers, broken, good)
		}
		looked := 0
		if err := client("").Signatures(t.Context(), url, digest, func(s module.Signature) bool { looked++; return string(s.Bundle) == `{"good":1}` }); err != nil || looked > 7 {
			t.Errorf("referrers=%t: looked at %d, %v", referrers, looked, err)
		}
		// The list or what stands in the older form's place may be broken, too.
		if err := remote.Put(subject.Context().Tag(strings.Replace(digest, ":", "-", 1)+".sig"), rawManifest{[]byte(`{"schemaVersion":1}`)}); err != nil {
			t.Fatal(err)
		}
		if got, err := signaturesOf(t, client(""), url, digest); err != nil || !strings.Contains(got[len(got)-1].Broken, "its manifest has the type") {
			t.Errorf("referrers=%t: %v", referrers, err)
		}
		simpleSign(t, subject, `{"critical":{}}`, "c2ln")
		r.Fail(testregistry.On("/referrers/", testregistry.Status(403, -1)))
		if got, err := signaturesOf(t, client(""), url, digest); referrers && (err == nil || len(got) != 1 || got[0].Payload == nil) {
			t.Errorf("the list is refused: %+v, %v", got, err)
		}
	}
}

// How much is looked at is bounded, in number, in bytes and in how often the registry may fail; where that is reached and none was enough, it is
// said, and where one was, it is enough.
func TestSignaturesAreBounded(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{Referrers: true})
	digest, url := push(t, r, "1.0.0", moduleFiles), r.OCI("mods/x")
	subject, err := name.NewDigest(r.Host+"/mods/x@"+digest, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxSignatures + 1 {
		text := fmt.Sprintf(`{"n":%03d}`, i)
		refer(t, subject, module.BundleType, []descriptor{bundleLayer(text)}, text)
	}
	got, err := signaturesOf(t, client(""), url, digest)
	wantCode(t, err, "too-many-signatures", fmt.Sprint(maxSignatures), "MiB")
	if len(got) != maxSignatures {
		t.Errorf("%d were looked at", len(got))
	}
	if err := client("").Signatures(t.Context(), url, digest, func(s module.Signature) bool { return string(s.Bundle) == string(got[99].Bundle) }); err != nil {
		t.Error(err)
	}
	r.Forget()
	r.Fail(testregistry.On("/blobs/", testregistry.Status(403, -1)))
	_, err = signaturesOf(t, client(""), url, digest)
	wantCode(t, err, "registry-forbidden")
	if n := len(r.Requests()); n > 20 {
		t.Errorf("%d requests to a registry that fails", n)
	}
	r.Fail(nil)

	digest = push(t, r, "2.0.0", map[string]string{"cue.mod/module.cue": "module: \"x.test/x\"\n", "timoni.cue": "package main\n"})
	if subject, err = name.NewDigest(r.Host+"/mods/x@"+digest, name.Insecure); err != nil {
		t.Fatal(err)
	}
	for i := range maxSignatureBytes/(maxSignature-64) + 2 {
		text := fmt.Sprintf(`%03d`, i) + strings.Repeat("x", maxSignature-67)
		refer(t, subject, module.BundleType, []descriptor{bundleLayer(text)}, text)
	}
	got, err = signaturesOf(t, client(""), url, digest)
	wantCode(t, err, "too-many-signatures")
	if len(got) > maxSignatureBytes/(maxSignature-64) {
		t.Errorf("%d large ones were looked at", len(got))
	}

	digest = push(t, r, "3.0.0", map[string]string{"cue.mod/module.cue": "module: \"y.test/x\"\n", "timoni.cue": "package main\n"})
	var layers []mutate.Addendum
	for i := range maxSignatures + 1 {
		layers = append(layers, mutate.Addendum{Layer: static.NewLayer([]byte(fmt.Sprint(i)), module.SimpleSigningType), Annotations: map[string]string{module.SimpleSignatureAnnotation: "c2ln"}})
	}
	img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layers...)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(subject.Context().Tag(strings.Replace(digest, ":", "-", 1)+".sig"), img); err != nil {
		t.Fatal(err)
	}
	got, err = signaturesOf(t, client(""), url, digest)
	wantCode(t, err, "too-many-signatures")
	if len(got) != maxSignatures {
		t.Errorf("%d of the older form were looked at", len(got))
	}
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
	_, err := signaturesOf(t, client(""), url, digest)
	wantCode(t, err, "too-many-signatures", "100 pages")
	endless(5 * time.Millisecond)
	_, err = signaturesOf(t, New(Options{ListTime: 50 * time.Millisecond}), url, digest)
	wantCode(t, err, "registry-slow", r.Host)
	if pages > 50 {
		t.Errorf("%d pages were read", pages)
	}
}
