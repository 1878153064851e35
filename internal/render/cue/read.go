package cue

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// reader collects what an evaluated module says.
type reader struct {
	show     cuelang.Show
	instance string
	out      *render.Result
	left     int // bytes of output that may still be decoded
	found    diag.Findings
}

// read fills the result: objects stage by stage in field order, health checks, images.
func (e *evaluation) read(out *render.Result, instance string, show cuelang.Show, limits cuelang.Limits) diag.Findings {
	r := &reader{show: show, instance: instance, out: out, left: limits.OutputBytes}
	it, err := e.root.LookupPath(applyPath).Fields()
	if err != nil {
		return cuelang.FindingsFor(err, show)
	}
	for it.Next() {
		out.Stages = append(out.Stages, it.Selector().Unquoted())
		r.stage(it.Value(), len(out.Stages)-1)
	}
	r.checks(e.root.LookupPath(checksPath))
	r.rules(e.root.LookupPath(rulesPath))
	images := map[string]bool{}
	collectImages(e.root.LookupPath(configPath), images)
	for ref := range images {
		out.Images = append(out.Images, ref)
	}
	slices.Sort(out.Images)
	return append(r.found, render.VetIdentity(out.Objects)...)
}

func (r *reader) fail(err error, code string) {
	for _, f := range cuelang.FindingsFor(err, r.show) {
		f.Code = code
		r.found = append(r.found, f)
	}
}

func (r *reader) stage(v cue.Value, stage int) {
	items, err := v.List()
	if err != nil {
		r.fail(err, "render")
		return
	}
	for items.Next() {
		item := items.Value()
		if item.Null() == nil && item.IncompleteKind() == cue.NullKind {
			continue
		}
		body, err := r.decode(item)
		if err != nil {
			r.fail(err, "render")
			continue
		}
		m, ok := body.(map[string]any)
		if !ok {
			r.fail(cuelang.Errorf(item.Pos(), cuelang.PathOf(item), "an object is expected, not %v", item.Kind()), "render")
			continue
		}
		r.object(m, item, stage)
	}
}

// object takes one decoded object, or the items of a List; kustomizations are no objects of a cluster.
func (r *reader) object(m map[string]any, at cue.Value, stage int) {
	kind, _ := m["kind"].(string)
	version, _ := m["apiVersion"].(string)
	if items, isList := m["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		for _, x := range items {
			if item, ok := x.(map[string]any); ok {
				r.object(render.ListItem(m, item), at, stage)
			}
		}
		return
	}
	if kind == "Kustomization" && strings.HasPrefix(version, "kustomize.config.k8s.io/") {
		return
	}
	o := object.Object{Body: m, Instance: r.instance, Stage: stage, Pos: r.place(at)}
	for _, f := range render.VetObject(o) {
		f.Path = strings.TrimSuffix(strings.Join(cuelang.PathOf(at), ".")+"."+f.Path, ".")
		r.found = append(r.found, f)
	}
	r.out.Objects = append(r.out.Objects, o)
}

var kindPath = cue.ParsePath("kind")

// place is the line of the object in the module's templates: that of its kind, since the item itself often is a
// comprehension over all objects.
func (r *reader) place(v cue.Value) diag.Pos {
	p := v.LookupPath(kindPath).Pos()
	if !p.IsValid() {
		p = v.Pos()
	}
	if !p.IsValid() {
		return diag.Pos{}
	}
	p = r.show.At(p)
	return diag.Pos{File: r.show.Rename(p.Filename()), Line: p.Line(), Column: p.Column()}
}

// decode turns a concrete value into JSON types as Kubernetes' libraries have them: integers are int64, floats without
// a fraction become integers and bytes strings (both as if written as YAML).
func (r *reader) decode(v cue.Value) (any, error) {
	kind := v.Kind()
	if kind == cue.BottomKind {
		v, _ = v.Default()
		kind = v.Kind()
	}
	switch kind {
	case cue.StructKind:
		it, err := v.Fields()
		if err != nil {
			return nil, err
		}
		m := map[string]any{}
		for it.Next() {
			x, err := r.decode(it.Value())
			if err != nil {
				return nil, err
			}
			name := it.Selector().Unquoted()
			m[name] = x
			if err := r.spend(v, len(name)+4); err != nil {
				return nil, err
			}
		}
		return m, nil
	case cue.ListKind:
		it, err := v.List()
		if err != nil {
			return nil, err
		}
		list := []any{}
		for it.Next() {
			x, err := r.decode(it.Value())
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	case cue.StringKind:
		s, err := v.String()
		if err == nil {
			err = r.spend(v, len(s))
		}
		return s, err
	case cue.BytesKind:
		b, err := v.Bytes()
		if err == nil && !utf8.Valid(b) {
			err = cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "bytes are no valid UTF-8: encode them with base64")
		}
		if err == nil {
			err = r.spend(v, len(b))
		}
		return string(b), err
	case cue.BoolKind:
		return v.Bool()
	case cue.NullKind:
		return nil, nil
	}
	return decodeNumber(v)
}

func decodeNumber(v cue.Value) (any, error) {
	if v.Kind() == cue.IntKind {
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
	}
	if v.IncompleteKind()&cue.NumberKind == 0 {
		if err := v.Err(); err != nil {
			return nil, err
		}
		return nil, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "incomplete value %v", v.IncompleteKind())
	}
	f, err := v.Float64()
	if err != nil && !errors.Is(err, cue.ErrBelow) && !errors.Is(err, cue.ErrAbove) || math.IsInf(f, 0) {
		return nil, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "number does not fit into 64 bits")
	}
	if i, acc := big.NewFloat(f).Int64(); acc == big.Exact && v.Kind() == cue.FloatKind {
		return i, nil
	}
	return f, nil
}

func (r *reader) spend(v cue.Value, n int) error {
	if r.left -= n; r.left >= 0 {
		return nil
	}
	return cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "the rendered objects are larger than allowed")
}

// collectImages adds the reference of every struct that describes a container image.
func collectImages(v cue.Value, into map[string]bool) {
	switch v.IncompleteKind() {
	case cue.StructKind:
		if ref, ok := imageReference(v); ok {
			into[ref] = true
			return
		}
		it, err := v.Fields()
		if err != nil {
			return
		}
		for it.Next() {
			collectImages(it.Value(), into)
		}
	case cue.ListKind:
		it, err := v.List()
		if err != nil {
			return
		}
		for it.Next() {
			collectImages(it.Value(), into)
		}
	}
}

func imageReference(v cue.Value) (string, bool) {
	for _, name := range []string{"repository", "tag", "digest"} {
		if _, err := v.LookupPath(cue.MakePath(cue.Str(name))).String(); err != nil {
			return "", false
		}
	}
	ref, err := v.LookupPath(cue.MakePath(cue.Str("reference"))).String()
	return ref, err == nil && ref != ""
}
