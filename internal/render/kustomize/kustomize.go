// Package kustomize renders kustomizations with kustomize's own library, on files that were read beforehand: the library
// sees nothing but a file system in memory.
//
// kustomize must not know clusters, values or how objects are applied. It starts no process and asks no network.
package kustomize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
)

// revision of this renderer's rules and of the library; it changes when the same files may give other objects.
const revision = "kustomize/2 v0.21.2"

// version is that of the kustomize program made with this library: what buildMetadata: [managedByLabel] says of the builder. The
// library itself tells it only in the program's own releases.
const version = "v5.8.2"

// Options of a Renderer; the zero value is usable.
type Options struct {
	// Redact is applied to texts of the library that reach a finding.
	Redact func(string) string
	// Learn is told the values that generators put into Secrets, and their instance, before anything is said about them: those that stand for nothing
	// else. A level of logging, a host or a number in an env file hides nothing but in the Secret, and in what the library says.
	Learn func(instance, value string)
	// Watch bounds renders; nil watches nothing.
	Watch  *cuelang.Watchdog
	Limits cuelang.Limits
}

// Renderer renders kustomizations. It is safe for concurrent use.
type Renderer struct{ opts Options }

var _ render.Renderer = (*Renderer)(nil)

// New returns a Renderer.
func New(opts Options) *Renderer {
	if opts.Learn == nil {
		opts.Learn = func(string, string) {}
	}
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	opts.Limits = opts.Limits.WithDefaults()
	return &Renderer{opts: opts}
}

// in is the Renderer for the run of a context, whose secrets it masks by and tells of.
func (r *Renderer) in(ctx context.Context) *Renderer {
	opts := r.opts
	if run := redact.Of(ctx); run != nil {
		opts.Redact, opts.Learn = run.Redact, run.AddFor
	}
	return &Renderer{opts: opts}
}

// Name is "kustomize".
func (r *Renderer) Name() string { return "kustomize" }

// Key digests the files that the kustomization reads, where it starts among them, the instance's name and its namespace.
func (r *Renderer) Key(ctx context.Context, req render.Request) (string, error) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	r = r.in(ctx)
	t, err := r.read(ctx, req)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range []string{revision, req.Instance.Name, req.Instance.Namespace, t.start, t.digest()} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Render builds the kustomization. Errors are *diag.FindingsError with the kustomization's file, and its line where one
// is to blame.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	r = r.in(ctx)
	t, err := r.read(ctx, req)
	if err != nil {
		return render.Result{}, err
	}
	res := render.Result{Digest: t.digest(), Stages: []string{""}}
	bodies, err := t.build(r.opts)
	if err != nil {
		return res, onInstance(diag.Findings{t.explain(err, r.saying(t, req))}, req).Err()
	}
	var found diag.Findings
	size := 0
	for _, data := range bodies {
		if size += len(data); size > r.opts.Limits.OutputBytes {
			f := diag.Errorf("too-large", "the kustomization makes more than %d MiB of objects", r.opts.Limits.OutputBytes>>20)
			f.Pos = t.at
			found = append(found, f)
			break
		}
		o := object.Object{Instance: req.Instance.Name, Pos: t.at}
		if err := kjson.Unmarshal(data, &o.Body); err != nil {
			return res, fmt.Errorf("an object of the kustomization: %w", err)
		}
		found = append(found, t.placed(o, render.VetObject(o))...)
		res.Objects = append(res.Objects, o)
	}
	found = append(found, render.VetIdentity(res.Objects)...)
	found = append(found, t.notes...)
	if len(res.Objects) == 0 && !found.HasErrors() {
		f := diag.Warnf("no-objects", "the kustomization makes no objects")
		f.Pos = t.at
		found = append(found, f)
	}
	found = onInstance(found, req)
	res.Findings = found.Warnings()
	return res, found.Errors().Sorted().Err()
}

func onInstance(fs diag.Findings, req render.Request) diag.Findings {
	for i := range fs {
		fs[i].Instance = req.Instance.Name
	}
	return fs
}

// reading is what a kustomization's files are and what is to be said of them; it is not changed.
type reading struct {
	tree  *tree
	found diag.Findings
}

// readingKey is what a reading depends on.
type readingKey struct{ dir, path, root string }

// saying hides in what the library says also what is common of what generators put into Secrets. t may be nil.
func (r *Renderer) saying(t *tree, req render.Request) func(string) string {
	return func(text string) string {
		own := redact.New()
		if t != nil {
			for _, v := range t.generated {
				own.AddFor(req.Instance.Name, v)
			}
		}
		return r.opts.Redact(own.Said(req.Instance.Name, text))
	}
}

// read collects everything the kustomization reads, or says what it must not.
func (r *Renderer) read(ctx context.Context, req render.Request) (*tree, error) {
	src := req.Instance.Kustomize
	if src == nil {
		return nil, fmt.Errorf("instance %s has no kustomization", req.Instance.Name)
	}
	got, err := module.ReadOnce(ctx, req.Content.Reading, readingKey{src.Dir, src.Path, src.Root}, func() (reading, error) {
		t, fs := collect(ctx, src, r.opts.Limits)
		return reading{t, fs}, ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	t, fs := got.tree, slices.Clone(got.found)
	if t != nil {
		for _, v := range t.generated {
			if !redact.Common(v) {
				r.opts.Learn(req.Instance.Name, v)
			}
		}
	}
	if t != nil && !fs.HasErrors() && src.Digest != "" && src.Digest != t.digest() {
		f := diag.Errorf("digest-mismatch", "the kustomization has digest %s, the bundle wants %s", t.digest(), src.Digest)
		f.Fix = "its files were changed: review them, then set the digest they have now or remove the field"
		fs = append(fs, f)
	}
	for i := range fs {
		if !fs[i].Pos.IsValid() {
			fs[i].Pos = diag.Pos(src.Pos)
		}
		fs[i].Why = r.saying(t, req)(fs[i].Why)
	}
	return t, onInstance(fs, req).Sorted().Err()
}

// oneAtATime: the library keeps the schema of kinds in a global variable.
var oneAtATime sync.Mutex

// build runs the library on the files alone and returns the objects as JSON, in its order.
func (t *tree) build(opts Options) (out [][]byte, err error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	if t.schema {
		defer openapi.ResetOpenAPI()
	}
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("the kustomize library gave up: %v", p)
		}
	}()
	o := krusty.MakeDefaultOptions()
	o.Reorder = krusty.ReorderOptionUnspecified // the order that kustomize build has
	m, err := krusty.MakeKustomizer(o).Run(filesOf(t.files), path.Join("/", t.start))
	if err != nil {
		return nil, err
	}
	labelled := t.labelled()
	for _, res := range m.Resources() {
		if labelled {
			labels := res.GetLabels()
			labels[konfig.ManagedbyLabelKey] = "kustomize-" + version
			if err := res.SetLabels(labels); err != nil {
				return nil, err
			}
		}
		data, err := res.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// labelled reports whether the kustomization has its objects say what built them.
func (t *tree) labelled() bool {
	docs, err := documents(t.files[t.kustomizations[0].file])
	return err == nil && slices.ContainsFunc(docs, func(doc *yaml.Node) bool {
		var k struct {
			BuildMetadata []string `yaml:"buildMetadata"`
		}
		return doc.Decode(&k) == nil && slices.Contains(k.BuildMetadata, types.ManagedByLabelOption)
	})
}

// digest is over the names and contents of all files.
func (t *tree) digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(t.files[name]))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// lines are what the library quotes of the sources of a generator and of the values of replacements and patches; they may
// hold a password.
var lines = []struct {
	quote *lazyregexp.Regexp
	kind  string
}{
	{lazyregexp.New(`line \[[0-9 ]*\] has invalid utf8 bytes : (?s:.*)`), "a line has invalid utf8 bytes"},
	{lazyregexp.New(`unknown anchor '(?s:.*?)' referenced`), "an alias of an anchor that is not there"},
	{lazyregexp.New("cannot (?:decode|unmarshal) \\S+ `(?s:.*?)` (?:as|into) "), "a value does not fit its type, "},
	{lazyregexp.New(`(?:mapping )?key "(?:[^"\\]|\\.)*" already (?:set in map|defined)`), "a key is given twice"},
	{lazyregexp.New(`literal sources \[(?s:.*)\]:`), "literal sources:"},
	{lazyregexp.New(`invalid literal source (?s:.*?), expected key=value`), "invalid literal source, expected key=value"},
	{lazyregexp.New(`(?s:"(?:[^"\\]|\\.)*") is not a valid (key|environment)`), "a line does not begin with a valid $1"},
	{lazyregexp.New(`(options\.index -?\d+ is out of bounds) for value (?s:.*)`), "$1 for the value that is replaced"},
	{lazyregexp.New(`(wrong node kind: expected \S+ but got \S+): node contents:(?s:.*)`), "$1"},
	{lazyregexp.New(`decoding ["{\[](?s:.*): (json: |invalid |unexpected )`), "decoding the patch: $1"},
	{lazyregexp.New(`decoding ["{\[](?s:.*)`), "decoding the patch"},
	{lazyregexp.New("(cannot (?:un)?marshal !!\\w+) `(?s:.*?)` into"), "$1 into"},
}

// unquoted is a text of the library without such quotes.
func unquoted(text string) string {
	for _, l := range lines {
		text = l.quote.ReplaceAllString(text, l.kind)
	}
	return text
}

// explain is the library's error for people: its paths are the user's, and what it wraps around the reason goes.
func (t *tree) explain(err error, redact func(string) string) diag.Finding {
	text := err.Error()
	for _, name := range slices.SortedFunc(maps.Keys(t.files), func(a, b string) int { return len(b) - len(a) }) {
		text = strings.ReplaceAll(text, "'/"+name+"'", "'"+t.shown(name)+"'")
		text = strings.ReplaceAll(text, `"/`+name+`"`, `"`+t.shown(name)+`"`)
	}
	f := diag.Errorf("kustomize", "the kustomization cannot be built")
	f.Why, f.Pos = redact(unquoted(text)), t.at
	for _, k := range t.kustomizations {
		if strings.Contains(text, "'/"+k.dir+"'") || strings.Contains(text, "'"+t.shown(k.file)+"'") {
			f.Pos = diag.Pos{File: t.shown(k.file), Line: 1}
		}
	}
	return f
}
