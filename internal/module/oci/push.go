package oci

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/rootfs"
)

// Push makes a manifest of the artifact and stores it. The same files, types and annotations give the same digest. A
// tag that must not change and has another digest is an error before anything is stored; registries know no
// compare-and-swap, so two pushes at the same moment are not kept apart.
func (c *Client) Push(ctx context.Context, url string, a module.Artifact, opts module.PushOptions) (module.Pushed, error) {
	p, err := parsePlace(url)
	if err != nil {
		return module.Pushed{}, err
	}
	temp, err := os.MkdirTemp("", "hawser-push-")
	if err != nil {
		return module.Pushed{}, err
	}
	pushed, err := c.push(ctx, p, a, opts, temp)
	return pushed, c.explain(p, errors.Join(err, os.RemoveAll(temp)))
}

func (c *Client) push(ctx context.Context, p place, a module.Artifact, opts module.PushOptions, temp string) (module.Pushed, error) {
	parts, err := pack(ctx, a, temp)
	if err != nil {
		return module.Pushed{}, err
	}
	return c.deliver(ctx, p, opts, parts.digest(), func(t oras.Target) error { return parts.send(ctx, t) })
}

// deliver brings one artifact to a place under its tags; send stores its blobs and manifest.
func (c *Client) deliver(ctx context.Context, p place, opts module.PushOptions, digest string, send func(oras.Target) error) (module.Pushed, error) {
	tags, err := tagsOf(p, opts)
	if err != nil {
		return module.Pushed{}, err
	}
	if opts.Private {
		if err := p.private(); err != nil {
			return module.Pushed{}, err
		}
	}
	out := module.Pushed{Digest: digest, Tags: tags}
	out.Unchanged, err = c.settled(ctx, p, tags, opts.Immutable, digest)
	if err != nil || out.Unchanged {
		return out, err
	}
	t, done, err := c.target(ctx, p, opts.Private)
	if err != nil {
		return module.Pushed{}, err
	}
	if err := send(t); err != nil {
		return module.Pushed{}, errors.Join(err, done(false))
	}
	desc, err := t.Resolve(ctx, digest)
	for i := 0; err == nil && i < len(tags); i++ {
		err = t.Tag(ctx, desc, tags[i])
	}
	if err != nil {
		return module.Pushed{}, errors.Join(err, done(false))
	}
	return out, done(true)
}

// tagsOf is every name an artifact is pushed under.
func tagsOf(p place, opts module.PushOptions) ([]string, error) {
	if p.digest != "" {
		return nil, badURL(p.String(), "a digest cannot be pushed to")
	}
	var tags []string
	for _, tag := range append([]string{p.tag}, slices.Concat(opts.Tags, opts.Immutable)...) {
		if tag == "" || slices.Contains(tags, tag) {
			continue
		}
		if !tagForm.MatchString(tag) {
			return nil, failure("tag-syntax", "the tag "+quote(tag)+" cannot be used", "", "a tag has at most 128 letters, digits, dots, hyphens and underscores")
		}
		tags = append(tags, tag)
	}
	return tags, nil
}

// settled reports whether all tags have the digest already. A tag that must not change and has another is an error.
func (c *Client) settled(ctx context.Context, p place, tags, immutable []string, digest string) (bool, error) {
	all := len(tags) > 0
	for _, tag := range tags {
		data, err := c.manifest(ctx, p.at(tag))
		switch {
		case isMissing(err):
			all = false
		case err != nil:
			return false, err
		case digestOf(data) == digest:
		case slices.Contains(immutable, tag):
			return false, failure("version-exists", fmt.Sprintf("%s is there already with digest %s, this one has %s", p.at(tag), digestOf(data), digest), "",
				"push under a new version; a published version does not change, unless with --force")
		default:
			all = false
		}
	}
	return all, nil
}

// packed is an artifact ready to be sent.
type packed struct {
	manifest, config []byte
	layers           []packedLayer
	configType       string
}

type packedLayer struct {
	file string
	desc descriptor
	diff string // the digest before compression
}

func (p packed) digest() string { return digestOf(p.manifest) }

// pack writes the layers into temp and makes config and manifest of them.
func pack(ctx context.Context, a module.Artifact, temp string) (packed, error) {
	out := packed{configType: a.ConfigType}
	m := manifest{SchemaVersion: 2, MediaType: manifestType, Layers: []descriptor{}, Annotations: a.Annotations}
	for i, l := range a.Layers {
		file, err := packLayer(ctx, l, filepath.Join(temp, fmt.Sprintf("layer-%d", i)))
		if err != nil {
			return packed{}, err
		}
		out.layers, m.Layers = append(out.layers, file), append(m.Layers, file.desc)
	}
	var err error
	if out.config, err = configOf(out.layers); err != nil {
		return packed{}, err
	}
	m.Config = descriptor{MediaType: a.ConfigType, Size: int64(len(out.config)), Digest: digestOf(out.config)}
	out.manifest, err = json.Marshal(m)
	return out, err
}

func packLayer(ctx context.Context, l module.Layer, file string) (packedLayer, error) {
	out, err := os.Create(file)
	if err != nil {
		return packedLayer{}, err
	}
	size, sum, diff := new(counter), sha256.New(), sha256.New()
	z := gzip.NewWriter(io.MultiWriter(out, sum, size))
	err = archive.Write(ctx, io.MultiWriter(z, diff), l.Root, l.Files)
	if err := errors.Join(err, z.Close(), out.Close()); err != nil {
		return packedLayer{}, err
	}
	return packedLayer{file: file, diff: "sha256:" + hex.EncodeToString(diff.Sum(nil)), desc: descriptor{
		MediaType: l.MediaType, Size: int64(*size), Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Annotations: l.Annotations}}, nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// configOf is the config of an artifact as the clients of Timoni and Flux write it: an image's, empty but for the
// layers. Its times are those of year one, so that it is reproducible.
func configOf(layers []packedLayer) ([]byte, error) {
	const never = "0001-01-01T00:00:00Z"
	type history struct {
		Created string `json:"created"`
	}
	type rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	c := struct {
		Architecture string    `json:"architecture"`
		Created      string    `json:"created"`
		History      []history `json:"history"`
		OS           string    `json:"os"`
		RootFS       rootFS    `json:"rootfs"`
		Config       struct{}  `json:"config"`
	}{Created: never, RootFS: rootFS{Type: "layers", DiffIDs: []string{}}}
	for _, l := range layers {
		c.History, c.RootFS.DiffIDs = append(c.History, history{never}), append(c.RootFS.DiffIDs, l.diff)
	}
	return json.Marshal(c)
}

// send stores what the target does not have yet, the manifest last.
func (p packed) send(ctx context.Context, t oras.Target) error {
	for _, l := range p.layers {
		in, err := rootfs.OpenFile(l.file)
		if err != nil {
			return err
		}
		if err := errors.Join(put(ctx, t, l.desc.MediaType, l.desc.Digest, l.desc.Size, in), closeFile(in)); err != nil {
			return err
		}
	}
	if err := putBytes(ctx, t, p.configType, p.config); err != nil {
		return err
	}
	return putBytes(ctx, t, manifestType, p.manifest)
}

// closeFile closes a file that may have been closed by who was given it to read.
func closeFile(f *os.File) error {
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func putBytes(ctx context.Context, t oras.Target, mediaType string, data []byte) error {
	return put(ctx, t, mediaType, digestOf(data), int64(len(data)), bytes.NewReader(data))
}

func put(ctx context.Context, t oras.Target, mediaType, hash string, size int64, content io.Reader) error {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.Digest(hash), Size: size}
	if there, err := t.Exists(ctx, d); err != nil || there {
		return err
	}
	return t.Push(ctx, d, content)
}
