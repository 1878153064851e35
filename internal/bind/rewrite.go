package bind

import (
	"errors"
	"path"
	"slices"
	"strconv"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
)

// rewrite gives data with every node replaced that visit has a replacement for; what lies below such a node is not
// visited. Nodes without replacements below them are shared with x, others are new: x is not changed. The path that visit
// gets is used again: it must not be kept.
func rewrite(x *v1alpha1.Value, at v1alpha1.Path, visit func(*v1alpha1.Value, v1alpha1.Path) (*v1alpha1.Value, bool)) *v1alpha1.Value {
	if got, done := visit(x, at); done {
		return got
	}
	out := x
	own := func() {
		if out == x {
			fresh := *x
			fresh.Fields, fresh.Items = slices.Clone(x.Fields), slices.Clone(x.Items)
			out = &fresh
		}
	}
	for i, f := range x.Fields {
		if value := rewrite(f.Value, append(at, v1alpha1.Step{Name: f.Name}), visit); value != f.Value {
			own()
			out.Fields[i].Value = value
		}
	}
	for i, e := range x.Items {
		if value := rewrite(e, append(at, v1alpha1.Step{Name: strconv.Itoa(i), Index: true}), visit); value != e {
			own()
			out.Items[i] = value
		}
	}
	return out
}

// seal marks a struct so that merging layers takes it for one value: it is replaced as a whole.
func seal(s *v1alpha1.Value) *v1alpha1.Value {
	out := *s
	out.Whole = true
	return &out
}

// fromStruct is the struct {from: {...}} that a node is, sealed or not; nil for anything else. It has exactly the one
// field from, a struct with instance or file.
func fromStruct(x *v1alpha1.Value) *v1alpha1.Value {
	if len(x.Fields) != 1 || !isSource(x.Lookup("from")) {
		return nil
	}
	return x
}

// isSource reports whether a value is a struct with instance or file.
func isSource(x *v1alpha1.Value) bool {
	return x.Lookup("instance") != nil || x.Lookup("file") != nil
}

// plain warns of {from: ...} that is plain data and hardly meant as that: other fields stand beside it, or it names files
// in a way that from does not have.
func plain(v v1alpha1.Values) diag.Findings {
	if v.Struct == nil {
		return nil
	}
	var fs diag.Findings
	rewrite(v.Struct, nil, func(x *v1alpha1.Value, at v1alpha1.Path) (*v1alpha1.Value, bool) {
		if fromStruct(x) != nil {
			return x, true
		}
		from := x.Lookup("from")
		if from == nil {
			return nil, false
		}
		why, fix := "", "give it a field of its own, or put the other fields into a layer of valuesFor"
		switch {
		case len(x.Fields) > 1 && isSource(from):
			why = "other fields stand beside it"
		case namesFiles(from, len(at) == 0 && len(x.Fields) == 1):
			why, fix = "one file is named by {from: {file: PATH}}", "for one file write {from: {file: PATH}}; each further file is a layer without a selector: valuesFor: {NAME: {values: {from: {file: PATH}}}}"
		default:
			return nil, false
		}
		n := diag.Warnf("value-from", "from is plain data here: %s", why)
		n.Pos, n.Path, n.Fix = diag.Pos(from.Pos), at.String(), fix
		fs = append(fs, n)
		return nil, false
	})
	return fs
}

// namesFiles reports whether what stands in from is files as somebody would write them who does not know how: a list with
// {file: ...} or names in it, {files: ...}, or, where all the values would come from it, the name of a file.
func namesFiles(from *v1alpha1.Value, all bool) bool {
	switch from.Kind {
	case v1alpha1.KindList:
		return slices.ContainsFunc(from.Items, func(e *v1alpha1.Value) bool { return e.Lookup("file") != nil || namesFiles(e, all) })
	case v1alpha1.KindStruct:
		return from.Lookup("files") != nil
	case v1alpha1.KindString:
		return all && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(from.Text))
	}
	return false
}

// cycleOf is a cycle of the graph, each node needing the next, the first repeated at the end; nil when there is none.
func cycleOf(g *dag.Graph[string]) []string {
	var cycle *dag.CycleError[string]
	if !errors.As(g.Cycle(), &cycle) {
		return nil
	}
	return cycle.Path
}
