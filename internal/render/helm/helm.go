// Package helm renders Helm charts with the library's own engine, without a cluster and without anything that changes
// from one render to the next: look-ups answer with nothing and say so, and functions of chance and time give the answers
// that are kept, new ones where the request has a source of them, or placeholders. What comes out is what `helm template`
// gives for the same capabilities.
//
// helm must not know clusters, where a chart was fetched from, nor how hooks are run.
package helm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
)

// revision of this renderer's own rules; it changes when the same inputs may give other objects.
const revision = "helm-chart/3"

// Version is that of the Helm library the renderer is built with; a test compares it with what is linked.
const Version = "v4.3.1"

// Options of a Renderer; the zero value is usable.
type Options struct {
	// Redact is applied to every text of a template or the Helm library that reaches a finding.
	Redact func(string) string
	// Watch bounds renders; nil watches nothing.
	Watch *cuelang.Watchdog
	// Limits bound the chart (SourceBytes for one file, Files) and what it renders (OutputBytes).
	Limits cuelang.Limits
}

// Renderer renders charts. It keeps every chart it has read by its digest. It is safe for concurrent use.
type Renderer struct {
	opts   Options
	charts *once.Map[string, *loaded]
}

var _ render.Renderer = (*Renderer)(nil)

// New returns a Renderer.
func New(opts Options) *Renderer {
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	opts.Limits = opts.Limits.WithDefaults()
	return &Renderer{opts: opts, charts: newCharts()}
}

// Name is "helm".
func (r *Renderer) Name() string { return "helm" }

// Key digests everything a render may depend on. A chart that names no capabilities anywhere does not depend on the
// cluster's version and kinds: they are left out then, so that a new kind on a cluster renders nothing again.
func (r *Renderer) Key(ctx context.Context, req render.Request) (string, error) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	ch, err := r.read(ctx, req)
	if err != nil {
		return "", r.failed(req, diag.From(err, "chart"))
	}
	src := source(req)
	h := sha256.New()
	for _, part := range []string{
		revision, Version, req.Content.Digest, releaseName(req), req.Instance.Name, req.Instance.Namespace,
		cuelang.Digest(userValues(req)), flags(src.SkipCRDs, src.SkipHooks, src.SkipSchema, req.Tests),
		ch.environment(req), ch.madeOf(req),
	} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Render renders the chart for one instance: objects of the crds folder first, then the others in Helm's order of kinds,
// then the hooks. Errors are *diag.FindingsError that name the template and its line.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	r = &Renderer{opts: r.opts, charts: r.charts}
	r.opts.Redact = redact.Masking(ctx, r.opts.Redact)
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	out := render.Result{Version: req.Content.Version, Digest: req.Content.Digest, Stages: []string{""}}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	ch, err := r.read(ctx, req)
	if err != nil {
		return out, r.failed(req, diag.From(err, "chart"))
	}
	j := &job{req: req, opts: r.opts, chart: ch, prefix: displayRoot(req, ch), out: &out}
	objects, err := j.run(ctx)
	if err != nil {
		return out, r.failed(req, diag.From(err, "chart"))
	}
	found := slices.Concat(j.warnings, j.vet(objects), j.misspelt())
	found = r.onInstance(req, found)
	out.Objects, out.Findings = objects, found.Warnings().Sorted()
	return out, found.Errors().Sorted().Err()
}

func (r *Renderer) failed(req render.Request, fs diag.Findings) error {
	return r.onInstance(req, fs).Sorted().Err()
}

func (r *Renderer) onInstance(req render.Request, fs diag.Findings) diag.Findings {
	for i := range fs {
		fs[i].Instance = req.Instance.Name
		for _, text := range []*string{&fs[i].What, &fs[i].Why, &fs[i].Object, &fs[i].Path} {
			*text = r.opts.Redact(*text)
		}
		if !fs[i].Pos.IsValid() {
			fs[i].Pos = diag.Pos(source(req).Pos)
		}
	}
	return fs
}

// vet checks the objects as every renderer does, hooks apart: Helm allows a hook the name of a lasting object.
func (j *job) vet(objects []object.Object) diag.Findings {
	var found diag.Findings
	var lasting []object.Object
	for _, o := range objects {
		found = append(found, j.duplicates(o, render.VetObject(o))...)
		if o.Hook == nil {
			lasting = append(lasting, o)
		}
	}
	return append(found, render.VetIdentity(lasting)...)
}

// source is the instance's chart as the bundle writes it.
func source(req render.Request) v1alpha1.HelmSource {
	if req.Instance.Helm == nil {
		return v1alpha1.HelmSource{}
	}
	return *req.Instance.Helm
}

func releaseName(req render.Request) string {
	if name := source(req).ReleaseName; name != "" {
		return name
	}
	return req.Instance.Name
}

// userValues are the instance's values as data, nil when there are none.
func userValues(req render.Request) *v1alpha1.Value {
	if req.Instance.Values.Empty() {
		return nil
	}
	return req.Instance.Values.Struct
}

func flags(on ...bool) string {
	var b strings.Builder
	for _, x := range on {
		b.WriteString(strconv.FormatBool(x) + ",")
	}
	return b.String()
}
