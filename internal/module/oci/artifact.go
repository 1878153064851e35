package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// Pull extracts an artifact's files into dir, which must not exist; nothing is left there after an error.
func (c *Client) Pull(ctx context.Context, url, dir string, opts module.PullOptions) (module.Pulled, error) {
	p, err := parsePlace(url)
	if err != nil {
		return module.Pulled{}, err
	}
	data, err := c.manifest(ctx, p)
	if err != nil {
		return module.Pulled{}, c.explain(p, err)
	}
	out := module.Pulled{Digest: digestOf(data)}
	if opts.Digest != "" && opts.Digest != out.Digest {
		return out, failure("digest-mismatch", fmt.Sprintf("%s has digest %s, wanted is %s", p, out.Digest, opts.Digest), "",
			"review what changed before you take the new digest")
	}
	if data, err = c.extract(ctx, p.at(out.Digest), dir, opts); err != nil {
		return out, c.explain(p, err)
	}
	m, err := readManifest(p, data, c.o.Limits.Bytes)
	if err != nil {
		return out, err
	}
	out.ConfigType, out.Annotations = m.Config.MediaType, m.Annotations
	out.Files, err = filesBelow(dir)
	return out, err
}

// Digest is that of the manifest at the URL.
func (c *Client) Digest(ctx context.Context, url string) (string, error) {
	p, err := parsePlace(url)
	if err != nil {
		return "", err
	}
	data, err := c.manifest(ctx, p)
	if err != nil {
		return "", c.explain(p, err)
	}
	return digestOf(data), nil
}

func filesBelow(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(files)
	return files, err
}

// detailsAtOnce is how many tags are asked about at a time.
const detailsAtOnce = 8

// List tells the tags of a repository: semantic versions first, newest first, then the other names. Those whose details cannot be had, while
// others' can, are told without, beside an error that names each.
func (c *Client) List(ctx context.Context, url string, opts module.ListOptions) ([]module.Tag, error) {
	p, err := parsePlace(url)
	if err != nil {
		return nil, err
	}
	names, err := c.tags(ctx, p)
	if err != nil {
		return nil, c.explain(p, err)
	}
	if opts.Filter != nil {
		names = slices.DeleteFunc(names, func(tag string) bool { return !opts.Filter(tag) })
	}
	sortTags(names)
	if opts.Limit > 0 && len(names) > opts.Limit {
		names = names[:opts.Limit]
	}
	out := make([]module.Tag, len(names))
	whole, cancel := context.WithTimeoutCause(ctx, c.o.ListTime, errSlow)
	defer cancel()
	each, stop := context.WithCancelCause(whole)
	defer stop(nil)
	var told atomic.Int64
	broken := make([]error, len(names))
	dag.Each(len(names), detailsAtOnce, func(i int) {
		out[i].Name = names[i]
		if !opts.Details || each.Err() != nil {
			return
		}
		if err := c.detail(each, p.at(names[i]), &out[i]); err != nil && (each.Err() != nil || !ofTag(p.at(names[i]), err)) {
			stop(err) // the first one stands
			return
		} else if err != nil {
			broken[i] = c.explain(p.at(names[i]), err)
		}
		told.Add(1)
	})
	if opts.Details && int(told.Load()) < len(names) {
		err = context.Cause(each)
	}
	if err != nil && context.Cause(whole) == errSlow {
		return nil, c.slow(p, fmt.Sprintf("it had told of %d of %s by then", told.Load(), diag.Counted(len(names), "tag")))
	}
	if err != nil {
		return nil, c.explain(p, err)
	}
	var all diag.Findings
	for _, err := range broken {
		if err != nil {
			all = append(all, diag.From(err, "tag-broken")...)
		}
	}
	return out, all.Err()
}

// ofTag reports whether an error is about one tag, whatever that is, and says nothing of the others: what it names is missing, cannot be given
// or is nothing that is known.
func ofTag(p place, err error) bool {
	if _, found := errors.AsType[*diag.FindingsError](err); found || p.path != "" {
		return true
	}
	_, content := ofContent(p, err)
	return content || slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusInternalServerError}, statusOf(err))
}

func (c *Client) detail(ctx context.Context, p place, tag *module.Tag) error {
	data, err := c.manifest(ctx, p)
	if err != nil {
		return err
	}
	tag.Digest = digestOf(data)
	if m, err := readManifest(p, data, c.o.Limits.Bytes); err == nil { // a tag that is something else has no date
		tag.Created = m.Annotations[module.CreatedAnnotation]
	}
	return nil
}

// Tag gives the artifact at the URL more names and returns its digest.
func (c *Client) Tag(ctx context.Context, url string, tags ...string) (string, error) {
	p, err := parsePlace(url)
	if err != nil {
		return "", err
	}
	if p.scheme == module.SchemeArchive {
		return "", badURL(url, "an archive is not changed once it is made")
	}
	if _, err := tagsOf(place{}, module.PushOptions{Tags: tags}); err != nil {
		return "", err
	}
	data, err := c.manifest(ctx, p)
	if err != nil {
		return "", c.explain(p, err)
	}
	t, done, err := c.target(ctx, p, false)
	if err != nil {
		return "", err
	}
	desc, err := t.Resolve(ctx, digestOf(data))
	for i := 0; err == nil && i < len(tags); i++ {
		err = t.Tag(ctx, desc, tags[i])
	}
	return digestOf(data), c.explain(p, errors.Join(err, done(err == nil)))
}

// Copy stores the artifact at from under to, byte for byte.
func (c *Client) Copy(ctx context.Context, from, to string, opts module.PushOptions) (module.Pushed, error) {
	source, err := parsePlace(from)
	if err != nil {
		return module.Pushed{}, err
	}
	p, err := parsePlace(to)
	if err != nil {
		return module.Pushed{}, err
	}
	data, err := c.manifest(ctx, source)
	if err != nil {
		return module.Pushed{}, c.explain(source, err)
	}
	m, err := readManifest(source, data, c.o.Limits.Bytes)
	if err != nil {
		return module.Pushed{}, err
	}
	pushed, err := c.deliver(ctx, p, opts, digestOf(data), func(t oras.Target) error {
		for _, d := range append(slices.Clone(m.Layers), m.Config) {
			if err := c.carry(ctx, source, t, d); err != nil {
				return err
			}
		}
		return putBytes(ctx, t, manifestTypeOf(m), data)
	})
	return pushed, c.explain(p, err)
}

func manifestTypeOf(m manifest) string {
	if m.MediaType == "" {
		return manifestType
	}
	return m.MediaType
}

// carry brings one blob from a place to a target that does not have it.
func (c *Client) carry(ctx context.Context, from place, t oras.Target, d descriptor) error {
	desc := ocispec.Descriptor{MediaType: d.MediaType, Digest: digest.Digest(d.Digest), Size: d.Size}
	if there, err := t.Exists(ctx, desc); err != nil || there {
		return err
	}
	blob, err := c.cached(ctx, from, d)
	if err != nil {
		return c.explain(from, err)
	}
	return errors.Join(t.Push(ctx, desc, blob), closeFile(blob))
}
