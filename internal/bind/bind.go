// Package bind replaces what stands for a value by the value: {from: {file: ...}}, {from: {instance: ...}}, {generate: ...}
// and the references of secrets (ref://...), in an instance's values. Order, number types and positions stay.
//
// The order of things: Spec reads the files and seals what comes from other instances, before the layers of valuesFor
// are merged (a sealed value is replaced as a whole, never merged with); Instances adds the dependencies on one
// cluster; Bind puts the values in when they are known, or stand-ins while they are not.
//
// bind must not know where secrets are kept, how an object is read from a cluster, or what values are for. It reads no
// file but those that Files confines.
package bind

import (
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

// Ref is one reference to a secret in the values: a text that is the reference and nothing else.
type Ref struct {
	secret.Ref
	// At is the data path below the values, Pos the place in the user's file.
	At  string
	Pos diag.Pos
}

// Fill says what values become. From and Ref get each occurrence once, in order, and give the value as CUE data
// (Ref.Text, Files.Value, ValueOf and StandIn make it) or what is wrong; a nil function leaves its occurrences as they are.
type Fill struct {
	From     func(From) (*v1alpha1.Value, *diag.Finding)
	Ref      func(Ref) (*v1alpha1.Value, *diag.Finding)
	Generate func(Generate) (*v1alpha1.Value, *diag.Finding)
}

// Bind gives the values with everything replaced that fill has functions for; what it puts in is not looked at again,
// so that a text from a cluster is never taken for a reference. Findings carry position and data path below the
// values, the caller adds instance and cluster; with errors among them the values are not complete.
func Bind(v v1alpha1.Values, fill Fill) (v1alpha1.Values, diag.Findings) {
	if v.Struct == nil {
		return v, nil
	}
	out, fs := bindIn(v.Struct, fill)
	if out.Kind != v1alpha1.KindStruct {
		n := diag.Errorf("value-from", "values must be a struct")
		n.Pos = diag.Pos(v.Struct.Pos)
		return v, append(fs, n)
	}
	return v1alpha1.Values{Struct: out}, fs
}

// bindIn is Bind for any data.
func bindIn(data *v1alpha1.Value, fill Fill) (*v1alpha1.Value, diag.Findings) {
	var fs diag.Findings
	out := rewrite(data, nil, func(x *v1alpha1.Value, at v1alpha1.Path) (*v1alpha1.Value, bool) {
		var got *v1alpha1.Value
		var n *diag.Finding
		if s := fromStruct(x); s != nil {
			f, bad := newFrom(s, at)
			if fs = append(fs, bad...); len(bad) == 0 && fill.From != nil {
				got, n = fill.From(f)
			}
		} else if s := generateStruct(x); s != nil {
			g, bad := newGenerate(s, at, byKey(data, at))
			if fs = append(fs, bad...); len(bad) == 0 && fill.Generate != nil {
				got, n = fill.Generate(g)
			}
		} else if text, ok := refText(x); ok {
			var r Ref
			if r, n = newRef(x, text, at); n == nil && fill.Ref != nil {
				got, n = fill.Ref(r)
			}
		} else {
			return nil, false
		}
		if n != nil {
			fs = append(fs, *n)
		}
		if got == nil {
			return x, true
		}
		return got, true
	})
	return out, fs
}

// Froms lists what the values take from elsewhere, in order, without reading anything.
func Froms(v v1alpha1.Values) ([]From, diag.Findings) {
	var out []From
	_, fs := Bind(v, Fill{From: func(f From) (*v1alpha1.Value, *diag.Finding) {
		out = append(out, f)
		return nil, nil
	}})
	return out, fs
}

// Spec prepares a bundle before it is placed: in the values and every layer of valuesFor, files are read by file
// (Files.Value; nil leaves them sealed), values of other instances are checked and sealed, references checked. The spec
// given is not changed. Findings name the instance.
func Spec(spec v1alpha1.BundleSpec, file func(From) (*v1alpha1.Value, *diag.Finding)) (v1alpha1.BundleSpec, diag.Findings) {
	names := make([]string, 0, len(spec.Instances))
	for _, in := range spec.Instances {
		names = append(names, in.Name)
	}
	var fs diag.Findings
	out := spec
	out.Instances = slices.Clone(spec.Instances)
	for i := range out.Instances {
		in := &out.Instances[i]
		var notes diag.Findings
		read := file
		if file != nil {
			read = func(f From) (*v1alpha1.Value, *diag.Finding) {
				f.chart, f.note = in.Helm != nil, func(fs diag.Findings) { notes = append(notes, fs...) }
				return file(f)
			}
		}
		prepare := func(layer string, v v1alpha1.Values) v1alpha1.Values {
			own := append(unquoted(v.Struct, nil, asText), mistaken(v.Struct, nil)...)
			v, found := sealed(v, in.Name, names, read)
			for _, n := range slices.Concat(found, own, notes) {
				n.Instance, n.Path = in.Name, strings.TrimSuffix(layer+"."+n.Path, ".")
				fs = append(fs, n)
			}
			notes = nil
			return v
		}
		in.Values = prepare("values", in.Values)
		in.ValuesFor = slices.Clone(in.ValuesFor)
		for k := range in.ValuesFor {
			w := &in.ValuesFor[k]
			w.Values = prepare("valuesFor."+w.Name+".values", w.Values)
		}
	}
	return out, fs
}

// sealed is one layer with files read and the rest sealed.
func sealed(v v1alpha1.Values, self string, names []string, file func(From) (*v1alpha1.Value, *diag.Finding)) (v1alpha1.Values, diag.Findings) {
	fs := plain(v)
	v, more := Bind(v, Fill{Generate: func(g Generate) (*v1alpha1.Value, *diag.Finding) { return seal(g.node), nil }, From: func(f From) (*v1alpha1.Value, *diag.Finding) {
		switch {
		case f.File != "" && file == nil && f.At == "":
			return nil, nil
		case f.File != "" && file != nil:
			return file(f)
		case f.File == "" && f.Instance == self:
			return nil, f.Finding("value-from", "an instance cannot take values of its own objects")
		case f.File == "" && !slices.Contains(names, f.Instance):
			n := f.Finding("unknown-instance", "there is no instance %q", f.Instance)
			if n.Fix = diag.DidYouMean(f.Instance, names); n.Fix == "" {
				n.Fix = "there is: " + strings.Join(names, ", ")
			}
			return nil, n
		}
		return seal(f.node), nil
	}})
	return v, append(fs, more...)
}

// Instances adds to the instances placed on one cluster what they take values from, as dependencies. An instance that
// is not placed there and a cycle are errors; the slice given is not changed.
func Instances(placed []v1alpha1.Instance) ([]v1alpha1.Instance, diag.Findings) {
	here := map[string]bool{}
	for _, in := range placed {
		here[in.Name] = true
	}
	var fs diag.Findings
	var g dag.Graph[string]
	out := slices.Clone(placed)
	first := map[[2]string]From{}
	for i := range out {
		in := &out[i]
		froms, _ := Froms(in.Values)
		depends := slices.Clone(in.DependsOn)
		for _, f := range froms {
			switch {
			case f.Instance == "":
			case !here[f.Instance]:
				n := f.Finding("value-from", "%s takes a value of %s, which is not placed on this cluster", in.Name, f.Instance)
				n.Instance = in.Name
				fs = append(fs, *n)
			case !slices.Contains(depends, f.Instance):
				depends = append(depends, f.Instance)
			}
			if _, ok := first[[2]string{in.Name, f.Instance}]; !ok {
				first[[2]string{in.Name, f.Instance}] = f
			}
		}
		in.DependsOn = depends
		for _, target := range depends {
			g.Edge(target, in.Name)
		}
	}
	return out, append(fs, cycle(&g, first)...)
}

// cycle is the finding for a cycle, at the first value on it that is taken from elsewhere.
func cycle(g *dag.Graph[string], first map[[2]string]From) diag.Findings {
	path := cycleOf(g)
	if path == nil {
		return nil
	}
	n := diag.Errorf("cycle", "instances need each other: %s", strings.Join(path, " -> "))
	for i := range path[1:] {
		if f, ok := first[[2]string{path[i], path[i+1]}]; ok {
			n.Pos, n.Path, n.Instance = f.Pos, f.At, path[i]
			break
		}
	}
	return diag.Findings{n}
}

// newRef reads a reference.
func newRef(x *v1alpha1.Value, text string, at v1alpha1.Path) (Ref, *diag.Finding) {
	r := Ref{At: at.String(), Pos: diag.Pos(x.Pos)}
	var err error
	if r.Ref, err = secret.ParseRef(text); err != nil {
		n := diag.Errorf("invalid-reference", "%v", err)
		n.Pos, n.Path = r.Pos, r.At
		n.Fix = "ref://[STORE:]NAME[/...]/PROPERTY"
		return r, &n
	}
	return r, nil
}

// Finding is an Error about the reference, with its place.
func (r Ref) Finding(code, format string, args ...any) *diag.Finding {
	n := diag.Errorf(code, format, args...)
	n.Pos, n.Path = r.Pos, r.At
	return &n
}

// From is the reference as a value from elsewhere: one that is known when a bundle is done, "" where it is known.
func (r Ref) From(bundle string) From {
	return From{At: r.At, Pos: r.Pos, Ref: r.Ref.String(), Bundle: bundle, node: &v1alpha1.Value{Pos: v1alpha1.Position(r.Pos)}}
}

// Text is a text as data at the reference's place.
func (r Ref) Text(s string) *v1alpha1.Value { return text(s, v1alpha1.Position(r.Pos)) }

// refText is the text of a literal that is meant as a reference.
func refText(x *v1alpha1.Value) (string, bool) {
	s, ok := x.Str()
	return s, ok && secret.IsRef(s)
}
