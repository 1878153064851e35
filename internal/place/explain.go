package place

import (
	"slices"
	"strconv"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Explanation says which layer decided a value of an instance on one cluster.
type Explanation struct {
	Cluster  string `json:"cluster"`
	Instance string `json:"instance"`
	// Path is the path below the instance's values.
	Path string `json:"path"`
	// Layer is the name of the layer that won, "package default" when no layer has the path.
	Layer string `json:"layer"`
	// Value is the value as CUE text on one line; "" when no layer has it. It may be secret: who prints it redacts it.
	Value string   `json:"value,omitempty"`
	Pos   diag.Pos `json:"pos,omitzero"`
	// Replaced: a layer has something else in place of what the path leads through, and what the package has there is gone too.
	Replaced bool `json:"-"`
	// Unread: what the package itself says could not be had.
	Unread bool `json:"-"`
	// Hint is a name beside it that was perhaps meant, when no layer has the path.
	Hint string `json:"hint,omitempty"`
	// Layers are all layers, lowest first, with what each says.
	Layers []LayerValue `json:"layers"`
}

// LayerValue is what one layer says of the path.
type LayerValue struct {
	Layer string `json:"layer"`
	// Applies is false for a layer of other clusters; Why says why.
	Applies bool   `json:"applies"`
	Why     string `json:"why,omitempty"`
	// Value is "" when the layer does not have the path.
	Value string   `json:"value,omitempty"`
	Pos   diag.Pos `json:"pos,omitzero"`
	// From is the reference that the value came from, {$cluster: PATH}; "" for one that the layer itself has.
	From string `json:"from,omitempty"`
}

// PackageDefault is the layer of values that no document sets.
const PackageDefault = "package default"

// Explain explains INSTANCE.PATH on one cluster; a path of the instance alone explains all its values. An instance
// that is not placed on the cluster gives no explanation and an Info; one that does not exist, or takes no values, an
// Error. from tells the reference that stands at a position, "" for none.
func Explain(spec v1alpha1.BundleSpec, c fleet.Cluster, f fleet.Facts, path string, from func(diag.Pos) string) ([]Explanation, diag.Findings) {
	steps, err := v1alpha1.ParsePath(path)
	if err != nil {
		return nil, diag.Findings{diag.Errorf("invalid-path", "%v", err)}
	}
	var names []string
	for _, in := range spec.Instances {
		names = append(names, in.Name)
		if in.Name != steps[0].Name {
			continue
		}
		if in.Kustomize != nil || in.Manifests != nil {
			n := diag.Errorf("not-supported", "instance %s takes no values", in.Name)
			n.Why, n.Pos = "values are for module and helm; kustomizations and plain manifests have none", diag.Pos(in.Pos)
			return nil, diag.Findings{n}
		}
		if why := notHere(in.Placement, c, f); why != "" {
			n := diag.Finding{Severity: diag.Info, Code: "not-placed", What: in.Name + " is not placed here", Why: why,
				Cluster: c.Name, Instance: in.Name}
			return nil, diag.Findings{n}
		}
		values, fs := merged(in, c, f)
		return []Explanation{explain(in, c, f, values, steps[1:], from)}, fs
	}
	n := diag.Errorf(codeUnknownInstance, "there is no instance %q", steps[0].Name)
	n.Fix = diag.DidYouMean(steps[0].Name, names)
	return nil, diag.Findings{n}
}

// codeUnknownInstance is the code of the error that a bundle has no instance of a name.
const codeUnknownInstance = "unknown-instance"

// OfAnother decides what becomes of the error of Explain that a bundle has no such instance where another bundle of the same files has it: it is none
// in a run of all bundles (among), and else says which bundle has it. found reports that another one has it.
func OfAnother(fs diag.Findings, others []v1alpha1.BundleSpec, path string, among bool) (_ diag.Findings, found bool) {
	steps, err := v1alpha1.ParsePath(path)
	if err != nil || len(fs) != 1 || fs[0].Code != codeUnknownInstance {
		return fs, false
	}
	for _, other := range others {
		if !slices.ContainsFunc(other.Instances, func(in v1alpha1.Instance) bool { return in.Name == steps[0].Name }) {
			continue
		}
		if among {
			return nil, true
		}
		fs = slices.Clone(fs)
		fs[0].Fix = "bundle " + other.Name + " of the same files has it: --bundle " + other.Name
		return fs, true
	}
	return fs, false
}

func explain(in v1alpha1.Instance, c fleet.Cluster, f fleet.Facts, values v1alpha1.Values, path v1alpha1.Path, from func(diag.Pos) string) Explanation {
	out := Explanation{Cluster: c.Name, Instance: in.Name, Path: path.String(), Layer: PackageDefault}
	final, _ := at(values, path)
	gone := 0
	if final != nil {
		out.Value, out.Pos = cuelang.Line(final), diag.Pos(final.Pos)
	} else if gone = replaced(values, path, in.Helm != nil); gone == 0 {
		out.Hint = meant(values, path)
	}
	if in.Helm == nil { // what a selector chose is the same item in every layer: lists merge by index
		path = indexed(values, path)
	}
	for _, l := range Layers(in, f) {
		lv := LayerValue{Layer: l.Name, Applies: l.Why == "", Why: l.Why}
		x, label := at(l.Values, path)
		if x != nil {
			lv.Value, lv.Pos, lv.From = cuelang.Line(x), diag.Pos(x.Pos), from(diag.Pos(x.Pos))
			if label.File != "" {
				lv.Pos = diag.Pos(label)
			}
		}
		if lv.Applies && x != nil && final != nil {
			out.Layer, out.Pos = l.Name, lv.Pos
		}
		if lv.Applies && gone > 0 && replaced(l.Values, path, in.Helm != nil) > 0 {
			out.Layer, out.Replaced, out.Hint = l.Name, true, l.Name+" sets "+path[:gone].String()+" as a whole"
			_, label = at(l.Values, path[:gone])
			out.Pos = diag.Pos(label)
		}
		out.Layers = append(out.Layers, lv)
	}
	return out
}

// replaced is how many steps of a path that leads nowhere lead to what stands in place of whatever is below: what has no
// fields (or not that entry) for the rest of the path and, in the values of a chart, any list. 0 when nothing does.
func replaced(v v1alpha1.Values, path v1alpha1.Path, chart bool) int {
	for i := range path {
		before, _ := at(v, path[:i])
		if chart && before != nil && before.Kind == v1alpha1.KindList {
			return i
		}
		if x, _ := at(v, path[:i+1]); x != nil {
			continue
		}
		if before == nil || before.Kind == v1alpha1.KindStruct {
			return 0
		}
		return i
	}
	return 0
}

// at follows a path through data; nil when it leads nowhere. label is the position of the last field's label.
func at(v v1alpha1.Values, path v1alpha1.Path) (x *v1alpha1.Value, label v1alpha1.Position) {
	x = v.Struct
	for _, step := range path {
		if x, label = x.Step(step); x == nil {
			return nil, label
		}
	}
	return x, label
}

// meant is the name like the first step of a path that leads nowhere, among those that stand beside it.
func meant(v v1alpha1.Values, path v1alpha1.Path) string {
	for i, step := range path {
		if x, _ := at(v, path[:i+1]); x != nil {
			continue
		}
		beside, _ := at(v, path[:i])
		if beside == nil || beside.Kind != v1alpha1.KindStruct || step.Key != "" || step.Index {
			return ""
		}
		return diag.DidYouMean(step.Name, fieldNames(beside))
	}
	return ""
}

func fieldNames(x *v1alpha1.Value) []string {
	if x == nil {
		return nil
	}
	var names []string
	for _, f := range x.Fields {
		names = append(names, f.Name)
	}
	return names
}

// ByPackage adds the value that the package itself has there, below all layers: it holds where no layer has the path.
func (e *Explanation) ByPackage(x *v1alpha1.Value, pos diag.Pos) {
	if x == nil {
		return
	}
	e.Layers = slices.Insert(e.Layers, 0, LayerValue{Layer: PackageDefault, Applies: true, Value: cuelang.Line(x), Pos: pos})
	if e.Value == "" && !e.Replaced {
		e.Value, e.Pos, e.Hint = cuelang.Line(x), pos, ""
	}
}

// Beside takes a hint from what the package has beside a name that nothing sets.
func (e *Explanation) Beside(x *v1alpha1.Value, name string) {
	if e.Hint == "" && e.Value == "" {
		e.Hint = diag.DidYouMean(name, fieldNames(x))
	}
}

// indexed is the path with every [key=value] replaced by the index it chooses in the data.
func indexed(v v1alpha1.Values, path v1alpha1.Path) v1alpha1.Path {
	out := slices.Clone(path)
	for i, step := range path {
		if step.Key == "" {
			continue
		}
		list, _ := at(v, out[:i])
		item, _ := at(v, out[:i+1])
		if list == nil || item == nil {
			return out
		}
		out[i] = v1alpha1.Step{Name: strconv.Itoa(slices.Index(list.Items, item)), Index: true}
	}
	return out
}
