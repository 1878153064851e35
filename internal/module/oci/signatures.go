package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Limits of the signatures of one artifact, in each of the two forms.
const (
	maxSignatures     = 256
	maxSignature      = 1 << 20
	maxSignatureBytes = 64 << 20
	// ordinarySignature is what is read at once: what is larger waits until all others were looked at.
	ordinarySignature = 64 << 10
	// maxSignatureFaults is how often a registry may fail before it is asked for no more of them.
	maxSignatureFaults = 3
)

// Signatures are the bundles that refer to an artifact, then those of cosign's older form. What refers to it and is no
// signature is left out where the list or its manifest says so. Whoever may push can add some, so each stands for itself.
func (c *Client) Signatures(ctx context.Context, url, hash string, look func(module.Signature) (enough bool)) error {
	p, err := signedPlace(url, hash)
	if err != nil {
		return err
	}
	var first error
	for _, read := range []func(*signatures, context.Context) error{(*signatures).bundles, (*signatures).simple} {
		s := &signatures{c: c, p: p, look: look}
		err := read(s, ctx)
		switch {
		case s.enough:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case s.fault != nil:
			err = s.fault
		case err == nil && s.bounded:
			err = tooManySignatures(p)
		}
		if first == nil {
			first = c.explain(p, err)
		}
	}
	return first
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

// signatures is one look at the signatures of an artifact in one form.
type signatures struct {
	c    *Client
	p    place
	look func(module.Signature) bool

	later  []layer // read last: further ones of a manifest, and large ones
	bytes  int64
	faults int
	fault  error // the first one
	// enough says that no more are wanted, bounded that not all were read.
	enough, bounded bool
}

// layer is a signature that was not read yet.
type layer struct {
	descriptor
	in     place
	simple bool
}

// bundles looks at the Sigstore bundles that refer to the artifact: the first of each manifest, then what else there is.
func (s *signatures) bundles(ctx context.Context) error {
	found, err := s.referrers(ctx)
	for _, d := range found {
		if s.over(ctx) {
			return err
		}
		in := s.p.at(string(d.Digest))
		m, err := s.manifest(ctx, in)
		if err != nil {
			s.unreadable(in, err)
			continue
		}
		if said, told := m.Annotations[module.BundlePredicateAnnotation]; told && said != module.SignPredicate {
			continue
		}
		first := true
		for _, l := range m.Layers {
			if strings.HasPrefix(l.MediaType, module.BundleTypePrefix) {
				s.take(ctx, layer{l, in, false}, first)
				first = false
			}
		}
	}
	s.rest(ctx)
	return err
}

// referrers are the manifests that may be bundles, by the registry's own list or the tag that stands in for it. What was
// listed until an error is looked at, too.
func (s *signatures) referrers(ctx context.Context) ([]ocispec.Descriptor, error) {
	var found []ocispec.Descriptor
	seen := 0
	whole, cancel := context.WithTimeoutCause(ctx, s.c.o.ListTime, errSlow)
	defer cancel()
	repo := s.c.repository(ctx, s.p)
	err := repo.Referrers(whole, ocispec.Descriptor{MediaType: manifestType, Digest: digest.Digest(s.p.digest)}, "", func(page []ocispec.Descriptor) error {
		seen += len(page)
		for _, d := range page {
			said, told := d.Annotations[module.BundlePredicateAnnotation]
			if !mayBeBundle(d.ArtifactType) || told && said != module.SignPredicate {
				continue
			}
			if len(found) == maxSignatures {
				return errTooManySignatures
			}
			found = append(found, d)
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b ocispec.Descriptor) int { return cmp.Compare(a.Size, b.Size) })
	switch {
	case err != nil && context.Cause(whole) == errSlow:
		err = s.c.slow(s.p, fmt.Sprintf("it had told of %s that refer to it by then", diag.Counted(seen, "manifest")))
	case isMissing(err):
		err = nil
	case errors.Is(err, errTooManySignatures), errors.Is(err, errdef.ErrTooManyPages):
		err = tooManySignatures(s.p)
	}
	return found, err
}

// mayBeBundle reports whether a manifest of an artifact type may be a bundle. Some registries tell the config's type in the
// place of the artifact's.
func mayBeBundle(artifactType string) bool {
	return artifactType == "" || artifactType == ocispec.MediaTypeEmptyJSON || strings.HasPrefix(artifactType, module.BundleTypePrefix)
}

var errTooManySignatures = errors.New("too many signatures")

func tooManySignatures(p place) error {
	return failure("too-many-signatures", p.String()+" has more signatures than are read",
		fmt.Sprintf("at most %d of each form, of %d MiB together, on %d pages; none of those that were read is enough", maxSignatures, maxSignatureBytes>>20, maxTagPages),
		"remove those that are not needed")
}

// simple looks at the signatures of cosign's older form.
func (s *signatures) simple(ctx context.Context) error {
	in := s.p.at(strings.Replace(s.p.digest, ":", "-", 1) + ".sig")
	m, err := s.manifest(ctx, in)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		s.unreadable(in, err)
		return nil
	}
	number := 0
	for _, l := range m.Layers {
		if l.MediaType != module.SimpleSigningType {
			continue
		}
		if number++; number > maxSignatures {
			s.bounded = true
			break
		}
		s.take(ctx, layer{l, in, true}, true)
	}
	s.rest(ctx)
	return nil
}

// over reports whether nothing more is read.
func (s *signatures) over(ctx context.Context) bool {
	return s.enough || s.faults > maxSignatureFaults || ctx.Err() != nil
}

// take has a signature looked at: now, or with the rest.
func (s *signatures) take(ctx context.Context, l layer, now bool) {
	switch {
	case now && l.Size <= ordinarySignature:
		s.read(ctx, l)
	case len(s.later) < maxSignatures:
		s.later = append(s.later, l)
	default:
		s.bounded = true
	}
}

// rest looks at what was put off.
func (s *signatures) rest(ctx context.Context) {
	for _, l := range s.later {
		s.read(ctx, l)
	}
}

// read has a signature looked at, or what is wrong with it.
func (s *signatures) read(ctx context.Context, l layer) {
	if s.over(ctx) {
		return
	}
	if s.bytes+l.Size > maxSignatureBytes && l.Size <= maxSignature {
		s.bounded = true
		return
	}
	data, err := s.small(ctx, l)
	switch {
	case err != nil:
		s.unreadable(l.in, err)
	case l.simple:
		s.enough = s.look(module.Signature{Payload: data, Annotations: l.Annotations})
	default:
		s.enough = s.look(module.Signature{Bundle: data})
	}
}

// unreadable tells of a signature that cannot be read. That the registry fails is its fault, and the artifact's may be good.
func (s *signatures) unreadable(in place, err error) {
	err = s.c.explain(in, err)
	if fails(err) {
		if s.faults++; s.fault == nil {
			s.fault = err
		}
		return
	}
	f := diag.From(err, "")[0]
	s.enough = s.look(module.Signature{Broken: strings.TrimSuffix(f.What+": "+f.Why, ": ")})
}

// fails reports whether an error is the registry's, and not that of what is in it.
func fails(err error) bool {
	switch diag.From(err, "")[0].Code {
	case "not-an-artifact", "signature-too-large", "digest-mismatch", "digest-syntax", "artifact-not-found", "registry-cut-off", "registry-error":
		return false
	}
	return true
}

// manifest is the manifest of a signature. It may have any number of layers, as each is looked at by itself.
func (s *signatures) manifest(ctx context.Context, p place) (manifest, error) {
	if p.digest != "" && !cache.ValidDigest(p.digest) {
		return manifest{}, notArtifact(s.p, "a manifest that refers to it has the digest "+quote(p.digest))
	}
	data, err := s.c.manifest(ctx, p)
	if err != nil {
		return manifest{}, err
	}
	s.bytes += int64(len(data))
	return parseManifest(p, data)
}

// small is a blob in memory, verified by its digest.
func (s *signatures) small(ctx context.Context, d layer) ([]byte, error) {
	switch {
	case !cache.ValidDigest(d.Digest) || d.Size < 0:
		return nil, notArtifact(s.p, fmt.Sprintf("a layer of a signature has the digest %s and the size %d", quote(d.Digest), d.Size))
	case d.Size > maxSignature:
		return nil, failure("signature-too-large", fmt.Sprintf("a signature of %s has %d bytes", s.p, d.Size), fmt.Sprintf("at most %d are read", maxSignature), "")
	}
	s.bytes += d.Size
	var b bytes.Buffer
	if err := s.c.blob(ctx, d.in, d.descriptor, &b); err != nil {
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
