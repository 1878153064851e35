// Package cue renders modules in Timoni's layout. A module's imports are loaded once per content digest; every render
// parses the few files of the root package again, injects tags, adds the merged values as a syntax tree that keeps the
// user's positions, evaluates in a CUE context of its own and drops it, so that no memory stays behind.
//
// cue must not know clusters, bundles' other instances or how objects are applied.
package cue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
)

// revision of this renderer's own rules; it changes when the same inputs may give other objects.
const revision = "cue-module/2"

// Options of a Renderer; the zero value is usable.
type Options struct {
	// Redact is applied to every text of the CUE library that reaches a finding.
	Redact func(string) string
	// Watch bounds evaluations; nil watches nothing.
	Watch  *cuelang.Watchdog
	Limits cuelang.Limits
	// CheckTime is how long one health check may take; 0 is health.CheckTime.
	CheckTime time.Duration
	// Beyond judges by health checks in other processes, which can be ended: it is asked about checks that are from a record, and about all
	// when too many evaluations that were given up go on in this one. nil: the former are evaluated here, and the latter not at all.
	Beyond func() health.Checker
}

// Renderer renders CUE modules and evaluates their health checks. It is safe for concurrent use.
type Renderer struct {
	opts     Options
	packages once.Map[string, *pkg]
	given    health.GivenUp
	behind   *behind
}

var (
	_ render.Renderer = (*Renderer)(nil)
	_ health.Checker  = (*Renderer)(nil)
)

// New returns a Renderer.
func New(opts Options) *Renderer {
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	opts.Limits = opts.Limits.WithDefaults()
	return &Renderer{opts: opts, behind: newBehind(), packages: once.Map[string, *pkg]{Most: maxPackages}}
}

// Name is "module".
func (r *Renderer) Name() string { return "module" }

// Key digests everything a render may depend on. It evaluates nothing: the user's values stand for the merged ones,
// since the module's own are part of the content digest.
func (r *Renderer) Key(_ context.Context, req render.Request) (string, error) {
	if req.Content.Digest == "" {
		return "", diag.Findings{diag.Errorf("no-content", "instance %s: the module was not fetched", req.Instance.Name)}.Err()
	}
	tags := slices.Sorted(slices.Values(req.Tags))
	h := sha256.New()
	for _, part := range []string{
		revision, cuelang.Version, req.Content.Digest, packageName(req), req.Instance.Name, req.Instance.Namespace,
		req.Content.Version, req.KubeVersion, cuelang.Digest(userValues(req)), strings.Join(tags, ","),
	} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Render evaluates the module for one instance. Errors are *diag.FindingsError with the user's positions; the result
// beside them holds what could still be said.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	out := render.Result{Version: req.Content.Version, Digest: req.Content.Digest}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	show := r.show(req)
	show.Redact = redact.Masking(ctx, show.Redact)
	pkg, err := r.load(ctx, req)
	if err != nil {
		return out, r.failed(req, cuelang.FindingsFor(err, show))
	}
	from := &origins{}
	show.At = from.at
	e, err := pkg.evaluate(req, from)
	if err != nil {
		fs := cuelang.FindingsFor(err, show)
		return out, r.failed(req, pkg.explain(req, fs, show))
	}
	findings := e.read(&out, req.Instance.Name, show, r.opts.Limits)
	out.Findings = onInstance(req, append(findings.Warnings(), e.notes...))
	if findings.HasErrors() {
		return out, r.failed(req, findings.Errors())
	}
	return out, nil
}

func (r *Renderer) failed(req render.Request, fs diag.Findings) error {
	return onInstance(req, fs).Sorted().Err()
}

func onInstance(req render.Request, fs diag.Findings) diag.Findings {
	for i := range fs {
		fs[i].Instance = req.Instance.Name
	}
	return fs
}

// show says how errors of this request are shown: files of the module by the path the user gave it.
func (r *Renderer) show(req render.Request) cuelang.Show {
	prefix := displayDir(req)
	return cuelang.Show{
		Redact: r.opts.Redact,
		Code:   "render",
		Behind: func(file string) bool { return strings.HasPrefix(file, modulePrefix) },
		Rename: func(file string) string {
			if rest, ok := strings.CutPrefix(file, modulePrefix); ok {
				return prefix + rest
			}
			return file
		},
	}
}

// displayDir is the module's directory as the user wrote it, with a trailing slash.
func displayDir(req render.Request) string {
	name := "module/"
	if m := req.Instance.Module; m != nil {
		if path, ok := strings.CutPrefix(m.URL, "file://"); ok {
			path = filepath.FromSlash(path)
			if !filepath.IsAbs(path) {
				path = filepath.Join(m.Dir, path)
			}
			name = render.DisplayPath(path) + "/"
		}
	}
	return name
}

func packageName(req render.Request) string {
	if req.Package == "" {
		return "main"
	}
	return req.Package
}

// userValues are the instance's values as data, nil when there are none.
func userValues(req render.Request) *v1alpha1.Value {
	if req.Instance.Values.Empty() {
		return nil
	}
	return req.Instance.Values.Struct
}
