// Package plain renders plain manifests: YAML and JSON files, globs and directories.
//
// plain must not know clusters (whether a kind is namespaced, which versions are served) nor change what it reads.
package plain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/rootfs"
)

// revision of this renderer's rules; it changes when the same files may give other objects.
const revision = "manifests/1"

// Options of a Renderer; the zero value is usable.
type Options struct {
	// Redact is applied to texts of the YAML and JSON libraries that reach a finding.
	Redact func(string) string
	Limits cuelang.Limits
}

// Renderer reads manifests. It is safe for concurrent use.
type Renderer struct{ opts Options }

var _ render.Renderer = (*Renderer)(nil)

// New returns a Renderer.
func New(opts Options) *Renderer {
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	opts.Limits = opts.Limits.WithDefaults()
	return &Renderer{opts: opts}
}

// Name is "manifests".
func (r *Renderer) Name() string { return "manifests" }

// Key digests the files' paths, as the manifests name them, and contents in the order they are read, the instance's name
// and its namespace.
func (r *Renderer) Key(ctx context.Context, req render.Request) (string, error) {
	in, err := r.read(ctx, req)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range []string{revision, req.Instance.Name, req.Instance.Namespace, in.digest} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Render reads the instance's manifests. All findings of all files are returned together; errors are
// *diag.FindingsError, each with file and line.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	opts := r.opts
	opts.Redact = redact.Masking(ctx, opts.Redact)
	in, err := r.read(ctx, req)
	if err != nil {
		return render.Result{}, err
	}
	res := render.Result{Digest: in.digest, Stages: []string{""}}
	var found diag.Findings
	for _, f := range in.files {
		docs, fs := parse(f, opts)
		found = append(found, fs...)
		for _, d := range docs {
			found = append(found, r.add(&res, req, d)...)
		}
	}
	found = append(found, render.VetIdentity(res.Objects)...)
	if len(res.Objects) == 0 && !found.HasErrors() {
		f := diag.Warnf("no-objects", "the manifests hold no objects")
		f.Pos = diag.Pos(req.Instance.Manifests.Pos)
		found = append(found, f)
	}
	for i := range found {
		found[i].Instance = req.Instance.Name
	}
	res.Findings = found.Warnings()
	return res, found.Errors().Sorted().Err()
}

// add takes one document, or the items of a List.
func (r *Renderer) add(res *render.Result, req render.Request, d document) diag.Findings {
	kind, _ := d.body["kind"].(string)
	version, _ := d.body["apiVersion"].(string)
	if _, ok := d.body["items"]; ok && strings.HasSuffix(kind, "List") {
		items, fs := d.items()
		for _, item := range items {
			item.body = render.ListItem(d.body, item.body)
			fs = append(fs, r.add(res, req, item)...)
		}
		return fs
	}
	if kind == "Kustomization" && strings.HasPrefix(version, "kustomize.config.k8s.io/") {
		f := diag.Warnf("kustomization", "a kustomization is no object of a cluster and is left out")
		f.Pos = d.pos
		return diag.Findings{f}
	}
	if f, ok := foreign(d.body); ok {
		f.Pos = d.pos
		return diag.Findings{f}
	}
	o := object.Object{Body: d.body, Instance: req.Instance.Name, Pos: d.pos}
	fs := render.VetObject(o)
	for i := range fs {
		if p := d.locate(fs[i].Path); p.IsValid() {
			fs[i].Pos = p
		}
	}
	res.Objects = append(res.Objects, o)
	return fs
}

// reading is what a request's files held, and their digest.
type reading struct {
	files  []file
	digest string
}

// readingKey is what a reading depends on.
type readingKey struct {
	dir, paths, except, url, root string
	given                         bool
}

// read is what the files of the request hold, read once in a run.
func (r *Renderer) read(ctx context.Context, req render.Request) (*reading, error) {
	src := req.Instance.Manifests
	if src == nil {
		return nil, fmt.Errorf("instance %s has no manifests", req.Instance.Name)
	}
	if src.URL != "" && req.Content.Root == "" {
		return nil, fmt.Errorf("instance %s: %s was not fetched", req.Instance.Name, src.URL)
	}
	var found diag.Findings
	if !req.Instance.Values.IsZero() {
		f := diag.Errorf("values-on-manifests", "manifests take no values")
		f.Fix = "remove values, or make the manifests a module"
		found = append(found, f)
	}
	key := readingKey{dir: src.Dir, paths: strings.Join(src.Paths, "\x00"), except: strings.Join(src.Except, "\x00"), url: src.URL, root: req.Content.Root, given: src.Given}
	in, err := module.ReadOnce(ctx, req.Content.Reading, key, func() (*reading, error) {
		files, err := r.list(ctx, src, req.Content.Root)
		return &reading{files: files, digest: digest(files)}, err
	})
	if more, ok := errors.AsType[*diag.FindingsError](err); ok {
		found = append(found, more.Findings...)
	} else if err != nil {
		return nil, fmt.Errorf("instance %s: %w", req.Instance.Name, err)
	}
	for i := range found {
		found[i].Instance = req.Instance.Name
		if !found[i].Pos.IsValid() {
			found[i].Pos = diag.Pos(src.Pos)
		}
	}
	return in, found.Err()
}

// list lists and reads the files of manifests; root holds them where they were fetched.
func (r *Renderer) list(ctx context.Context, src *v1alpha1.ManifestsSource, root string) ([]file, error) {
	l := &lister{limits: r.opts.Limits, seen: map[string]bool{}, reals: map[string]string{}, show: render.Displayer(), except: resolved(src.Except)}
	defer l.close()
	dir, paths := src.Dir, src.Paths
	switch {
	case src.URL != "":
		dir, l.root, l.show = root, root, fetchedName(redact.Addresses(src.URL), root)
		if len(paths) == 0 {
			paths = []string{"."}
		}
	case !src.Given:
		var err error
		if l.bound, err = rootfs.Bounds(dir); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		l.fail("no-manifests", "manifests.paths is empty", "name at least one file, glob or directory")
	}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.path(dir, p)
	}
	return l.files, l.found.Err()
}

// fetchedName shows a fetched file by where it comes from.
func fetchedName(url, root string) func(string) string {
	return func(name string) string {
		if rel, err := filepath.Rel(root, name); err == nil {
			return strings.TrimSuffix(url, "/") + "/" + filepath.ToSlash(rel)
		}
		return url
	}
}

func digest(files []file) string {
	h := sha256.New()
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(h, "%q %x\n", f.path, sum)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
