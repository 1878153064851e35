package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

var _ module.Signatures = (*Client)(nil)

// Limits of the signatures of one artifact.
const (
	maxReferrers  = 1000
	maxSignatures = 64
	maxSignature  = 1 << 20
)

// Signatures are the bundles that refer to an artifact, then those of cosign's older form. What refers to it and is no
// signature is left out where its manifest says so.
func (c *Client) Signatures(ctx context.Context, url, hash string) ([]module.Signature, error) {
	p, err := signedPlace(url, hash)
	if err != nil {
		return nil, err
	}
	out, err := c.bundles(ctx, p)
	if err != nil {
		return nil, c.explain(p, err)
	}
	old, err := c.simple(ctx, p)
	if err != nil {
		return nil, c.explain(p, err)
	}
	return append(out, old...), nil
}

// signedPlace is an artifact whose signatures are meant. Layouts keep none.
func signedPlace(url, hash string) (place, error) {
	p, err := parsePlace(url)
	switch {
	case err != nil:
		return p, err
	case p.scheme != module.SchemeOCI:
		return p, failure("no-signatures-here", p.String()+" has no signatures", "they are kept in registries, beside what is signed", "name oci://REGISTRY/REPOSITORY")
	case !cache.ValidDigest(hash):
		return p, failure("digest-syntax", "the digest "+quote(hash)+" cannot be used", "", "a digest is sha256: and 64 hexadecimal digits")
	}
	return p.at(hash), nil
}

// bundles are the Sigstore bundles that refer to a place, by the registry's own list or the tag that stands in for it.
func (c *Client) bundles(ctx context.Context, p place) ([]module.Signature, error) {
	var found []ocispec.Descriptor
	seen := 0
	whole, cancel := context.WithTimeoutCause(ctx, c.o.ListTime, errSlow)
	defer cancel()
	repo := c.repository(ctx, p)
	err := repo.Referrers(whole, ocispec.Descriptor{MediaType: manifestType, Digest: digest.Digest(p.digest)}, "", func(page []ocispec.Descriptor) error {
		if seen += len(page); seen > maxReferrers {
			return errTooManySignatures
		}
		for _, d := range page {
			said, told := d.Annotations[module.BundlePredicateAnnotation]
			if mayBeBundle(d.ArtifactType) && (!told || said == module.SignPredicate) {
				found = append(found, d)
			}
		}
		return nil
	})
	if err != nil && context.Cause(whole) == errSlow {
		return nil, c.slow(p, fmt.Sprintf("it had told of %s that refer to it by then", diag.Counted(seen, "manifest")))
	}
	if isMissing(err) {
		return nil, nil
	}
	if len(found) > maxSignatures {
		err = errTooManySignatures
	}
	if errors.Is(err, errTooManySignatures) || errors.Is(err, errdef.ErrTooManyPages) {
		return nil, tooManySignatures(p)
	}
	if err != nil {
		return nil, err
	}
	var out []module.Signature
	for _, d := range found {
		m, err := c.signatureManifest(ctx, p.at(string(d.Digest)))
		if err != nil {
			return nil, err
		}
		if said, told := m.Annotations[module.BundlePredicateAnnotation]; told && said != module.SignPredicate {
			continue
		}
		for _, l := range m.Layers {
			if !strings.HasPrefix(l.MediaType, module.BundleTypePrefix) {
				continue
			}
			data, err := c.small(ctx, p, l)
			if err != nil {
				return nil, err
			}
			out = append(out, module.Signature{Bundle: data})
		}
	}
	return out, nil
}

// mayBeBundle reports whether a manifest of an artifact type may be a bundle. Some registries tell the config's type in the
// place of the artifact's.
func mayBeBundle(artifactType string) bool {
	return artifactType == "" || artifactType == ocispec.MediaTypeEmptyJSON || strings.HasPrefix(artifactType, module.BundleTypePrefix)
}

var errTooManySignatures = errors.New("too many signatures")

func tooManySignatures(p place) error {
	return failure("too-many-signatures", p.String()+" has more signatures than are read",
		fmt.Sprintf("at most %d, and %d things that refer to it, on %d pages", maxSignatures, maxReferrers, maxTagPages), "remove those that are not needed")
}

// simple are the signatures of cosign's older form.
func (c *Client) simple(ctx context.Context, p place) ([]module.Signature, error) {
	m, err := c.signatureManifest(ctx, p.at(strings.Replace(p.digest, ":", "-", 1)+".sig"))
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []module.Signature
	for _, l := range m.Layers {
		if l.MediaType != module.SimpleSigningType {
			continue
		}
		if len(out) == maxSignatures {
			return nil, tooManySignatures(p)
		}
		data, err := c.small(ctx, p, l)
		if err != nil {
			return nil, err
		}
		out = append(out, module.Signature{Payload: data, Annotations: l.Annotations})
	}
	return out, nil
}

func (c *Client) signatureManifest(ctx context.Context, p place) (manifest, error) {
	data, err := c.manifest(ctx, p)
	if err != nil {
		return manifest{}, err
	}
	return readManifest(p, data, maxSignatures*maxSignature)
}

// small is a blob in memory, verified by its digest.
func (c *Client) small(ctx context.Context, p place, d descriptor) ([]byte, error) {
	if d.Size > maxSignature {
		return nil, failure("signature-too-large", fmt.Sprintf("a signature of %s has %d bytes", p, d.Size), fmt.Sprintf("at most %d are read", maxSignature), "")
	}
	var b bytes.Buffer
	if err := c.blob(ctx, p, d, &b); err != nil {
		return nil, err
	}
	if got := digestOf(b.Bytes()); got != d.Digest {
		return nil, &cache.MismatchError{Want: d.Digest, Got: got}
	}
	return b.Bytes(), nil
}

// Attach stores a bundle as a manifest that refers to the artifact, as cosign does. Registries that keep no list of what
// refers to a manifest have one under a tag.
func (c *Client) Attach(ctx context.Context, url, hash string, bundle []byte) error {
	p, err := signedPlace(url, hash)
	if err != nil {
		return err
	}
	return c.explain(p, c.attach(ctx, p, bundle))
}

func (c *Client) attach(ctx context.Context, p place, bundle []byte) error {
	repo := c.repository(ctx, p)
	subject, err := repo.Resolve(ctx, p.digest)
	if err != nil {
		return err
	}
	layer := ocispec.Descriptor{MediaType: module.BundleType, Digest: digest.FromBytes(bundle), Size: int64(len(bundle))}
	m := ocispec.Manifest{MediaType: manifestType, ArtifactType: module.BundleType, Config: ocispec.DescriptorEmptyJSON,
		Layers:  []ocispec.Descriptor{layer},
		Subject: &ocispec.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
		Annotations: map[string]string{module.BundleContentAnnotation: "dsse-envelope", module.BundlePredicateAnnotation: module.SignPredicate,
			module.CreatedAnnotation: time.Now().UTC().Format(time.RFC3339)}}
	m.SchemaVersion = 2
	m.Config.Data = nil
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		desc ocispec.Descriptor
		data []byte
	}{{m.Config, []byte("{}")}, {layer, bundle}, {ocispec.Descriptor{MediaType: manifestType, ArtifactType: m.ArtifactType, Digest: digest.FromBytes(data), Size: int64(len(data))}, data}} {
		there, err := repo.Exists(ctx, b.desc)
		if err == nil && !there {
			err = repo.Push(ctx, b.desc, io.Reader(bytes.NewReader(b.data)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
