package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// Resolve finds the digest of what a reference means: an exact version or tag what the registry has under it, a range
// the newest version in it, no version the newest stable one. Pre-releases are in a range only if it names one. A
// reference with a digest is answered without a request. What was resolved means the same for the rest of the process.
func (c *Client) Resolve(ctx context.Context, ref module.Reference) (module.Resolved, error) {
	p, err := fetchPlace(ref)
	if err != nil {
		return module.Resolved{}, err
	}
	if ref.Digest != "" {
		return module.Resolved{Version: ref.Version, Digest: ref.Digest}, nil
	}
	key := ref.URL + "\x00" + ref.Version
	c.mu.Lock()
	known, ok := c.resolved[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	w, err := readVersion(ref.Version)
	if err != nil {
		return module.Resolved{}, err
	}
	found, err := c.resolve(ctx, p, w, ref.Version)
	if err != nil {
		return module.Resolved{}, c.explain(p, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolved[key] = found
	return found, nil
}

// fetchPlace is the repository of a reference; tags and digests stand beside the URL of a bundle.
func fetchPlace(ref module.Reference) (place, error) {
	p, err := parsePlace(ref.URL)
	switch {
	case err != nil:
		return p, err
	case p.scheme != module.SchemeOCI:
		return p, badURL(ref.URL, "only oci:// is fetched")
	case p.tag != "" || p.digest != "":
		return p, failure("module-url", "the URL "+quote(ref.URL)+" has a tag or digest in it", "", "write them as version and digest beside the URL")
	case ref.Digest != "" && !cache.ValidDigest(ref.Digest):
		return p, failure("digest-syntax", "the digest "+quote(ref.Digest)+" cannot be used", "", "a digest is sha256: and 64 hexadecimal digits")
	}
	return p, nil
}

func (c *Client) resolve(ctx context.Context, p place, w wish, version string) (module.Resolved, error) {
	tags := w.tags
	if w.within != nil {
		all, err := c.tags(ctx, p)
		if err != nil {
			return module.Resolved{}, err
		}
		tag := newest(all, w.within)
		if tag == "" {
			return module.Resolved{}, noVersion(p, version, all)
		}
		tags = []string{tag}
	}
	for _, tag := range tags {
		data, err := c.manifest(ctx, p.at(tag))
		if isMissing(err) {
			continue
		}
		if err != nil {
			return module.Resolved{}, err
		}
		return module.Resolved{Version: nameOf(tag), Digest: digestOf(data)}, nil
	}
	all, err := c.tags(ctx, p)
	if err != nil {
		return module.Resolved{}, err
	}
	return module.Resolved{}, noVersion(p, version, all)
}

// nameOf is a tag as a version: the semantic version it spells, else the tag.
func nameOf(tag string) string {
	if versionOf(tag) != nil {
		return strings.ReplaceAll(tag, "_", "+")
	}
	return tag
}

func noVersion(p place, version string, tags []string) error {
	sortTags(tags)
	what := fmt.Sprintf("%s has no version %s", p, version)
	if version == "" {
		what = p.String() + " has no stable version"
	}
	why := "it has none"
	if len(tags) > 0 {
		shown := tags[:min(len(tags), 8)]
		why = "it has " + strings.Join(shown, ", ")
		if len(tags) > len(shown) {
			why += fmt.Sprintf(" and %d more", len(tags)-len(shown))
		}
	}
	return failure("version-not-found", what, why, "choose one of its versions, or a range that holds one; a pre-release has to be named")
}

// Fetch gets an artifact's files by digest; the layers are checked before they are extracted. With a digest and a cold
// cache, an exact version or a tag has to have that digest still, unless the reference is Kept. Errors are findings: not
// found, a digest that differs (both are named), refused content, and what the registry or the network did.
func (c *Client) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	p, err := fetchPlace(ref)
	if err != nil {
		return module.Content{}, err
	}
	found, err := c.Resolve(ctx, ref)
	if err != nil {
		return module.Content{}, err
	}
	pinned := p.at(found.Digest)
	key := cache.Key{Digest: found.Digest, Source: p.String()}
	expect := func(ctx context.Context, manifest []byte) ([]archive.File, error) {
		if got := digestOf(manifest); got != found.Digest {
			return nil, &cache.MismatchError{Want: found.Digest, Got: got}
		}
		layers, err := c.layers(ctx, pinned, manifest, module.PullOptions{})
		if err != nil {
			return nil, err
		}
		return archive.Sums(ctx, layers, c.o.Limits)
	}
	tree, err := c.o.Cache.Tree(ctx, key, expect, func(ctx context.Context, dir string) ([]byte, error) {
		if ref.Digest != "" && !ref.Kept {
			if err := c.checkTag(ctx, p, ref); err != nil {
				return nil, err
			}
		}
		return c.extract(ctx, pinned, dir, module.PullOptions{})
	})
	if err != nil {
		return module.Content{}, c.explain(pinned, err)
	}
	if got := digestOf(tree.Note); got != found.Digest {
		return module.Content{}, c.explain(pinned, &cache.MismatchError{Want: found.Digest, Got: got})
	}
	m, err := readManifest(pinned, tree.Note, c.o.Limits.Bytes)
	if err != nil {
		return module.Content{}, err
	}
	return contentOf(pinned, found, m, tree)
}

// checkTag refuses a digest that is not, or no longer, that of the version beside it. A range or "latest" beside a
// digest says nothing: they are meant to move.
func (c *Client) checkTag(ctx context.Context, p place, ref module.Reference) error {
	w, err := readVersion(ref.Version)
	if err != nil || w.tags == nil || ref.Version == "latest" {
		return err
	}
	now, err := c.resolve(ctx, p, w, ref.Version)
	if err != nil {
		return err
	}
	if now.Digest != ref.Digest {
		return failure("digest-mismatch", fmt.Sprintf("version %s of %s has digest %s, wanted is %s", ref.Version, p, now.Digest, ref.Digest),
			"the version was pushed again or the digest is another version's",
			"review what changed, then write the digest it has now, or remove the version to keep the digest")
	}
	return nil
}

// extract makes dir of an artifact's layers and returns its manifest.
func (c *Client) extract(ctx context.Context, p place, dir string, opts module.PullOptions) ([]byte, error) {
	data, err := c.manifest(ctx, p)
	if err != nil {
		return nil, err
	}
	sources, err := c.layers(ctx, p, data, opts)
	if err != nil {
		return nil, err
	}
	return data, archive.ExtractAll(ctx, sources, dir, c.o.Limits)
}

// layers are the archives that a manifest's content is in, each verified when it is opened.
func (c *Client) layers(ctx context.Context, p place, manifest []byte, opts module.PullOptions) ([]archive.Source, error) {
	m, err := readManifest(p, manifest, c.o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	list := m.content(opts.ContentType)
	if len(list) == 0 {
		return nil, notArtifact(p, m.types())
	}
	var sources []archive.Source
	for _, l := range list {
		sources = append(sources, func() (io.ReadCloser, error) {
			return c.cached(ctx, p, l)
		})
	}
	return sources, nil
}

// cached is a layer or config of a place, verified; it is in the cache afterwards.
func (c *Client) cached(ctx context.Context, p place, d descriptor) (*os.File, error) {
	return c.o.Cache.Blob(ctx, d.Digest, func(ctx context.Context, w io.Writer) error { return c.blob(ctx, p, d, w) })
}

// contentOf says where the files are. A chart's root is its own directory in the archive.
func contentOf(p place, found module.Resolved, m manifest, tree cache.Tree) (module.Content, error) {
	out := module.Content{Root: tree.Root, Digest: found.Digest, Version: found.Version, Files: tree.Files, Annotations: m.Annotations}
	if v := m.Annotations[module.VersionAnnotation]; versionForm.MatchString(v) { // it comes to stand in hawser.lock
		out.Version = v
	}
	if m.Config.MediaType != module.ChartConfigType {
		return out, nil
	}
	top := ""
	for _, f := range tree.Files {
		if dir, name := path.Split(f); name == "Chart.yaml" && strings.Count(dir, "/") == 1 {
			if top != "" {
				return out, notArtifact(p, "there are several charts in it")
			}
			top = dir
		}
	}
	if top == "" {
		return out, notArtifact(p, "there is no directory with a Chart.yaml in it")
	}
	out.Root, out.Files = filepath.Join(tree.Root, filepath.FromSlash(top)), nil
	for _, f := range tree.Files {
		if rest, ok := strings.CutPrefix(f, top); ok {
			out.Files = append(out.Files, rest)
		}
	}
	return out, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// limited copies at most n bytes and refuses more, or fewer.
func limited(w io.Writer, r io.Reader, n int64) error {
	got, err := io.Copy(w, io.LimitReader(r, n+1))
	switch {
	case err != nil:
		return err
	case got > n:
		return errors.New("the registry sent more than the manifest says")
	case got < n:
		return io.ErrUnexpectedEOF
	}
	return nil
}
