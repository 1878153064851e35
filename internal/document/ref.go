package document

import (
	"errors"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// refKey is the one field of `{$cluster: PATH}`.
const refKey = "$cluster"

// clusterRef is one {$cluster: PATH} of a YAML or JSON file.
type clusterRef struct {
	path v1alpha1.Path
	// at is the data path of the place in the document.
	at  string
	pos diag.Pos
	// label is the position of the field that it is the value of, which values have after an evaluation.
	label diag.Pos
}

// refRoots are what a $cluster path may start with.
var refRoots = []string{"name", "group", "version", "labels", "vars", "values"}

// listRefs finds the cluster references of the bundles' YAML and JSON files and checks place and grammar.
func (p *Program) listRefs() diag.Findings {
	var fs diag.Findings
	for _, s := range p.files {
		for _, tree := range s.trees() {
			walkRefs(tree, token.NoPos, nil, func(x *ast.StructLit, label token.Pos, at []string) {
				ref, n := newRef(x, at)
				ref.label = cuelang.Pos(label)
				if n != nil {
					fs = append(fs, *n)
					return
				}
				p.refs = append(p.refs, ref)
			})
		}
	}
	if fs == nil {
		return nil
	}
	// Fields that do not exist come first: below them a fact has no place.
	if _, said := p.evaluate(fleet.Facts{}); said.Unknown() {
		return said.OnlyUnknown()
	}
	return fs
}

// walkRefs calls found for every struct that holds the key $cluster; the path it gets is used again.
func walkRefs(x ast.Expr, label token.Pos, at []string, found func(*ast.StructLit, token.Pos, []string)) {
	switch x := x.(type) {
	case *ast.StructLit:
		for _, d := range x.Elts {
			f, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			name := cuelang.LabelText(f.Label)
			if name == refKey {
				found(x, label, at)
				return
			}
			walkRefs(f.Value, f.Label.Pos(), append(at, name), found)
		}
	case *ast.ListLit:
		for _, e := range x.Elts {
			walkRefs(e, e.Pos(), append(at, "[]"), found)
		}
	}
}

func newRef(x *ast.StructLit, at []string) (clusterRef, *diag.Finding) {
	ref := clusterRef{at: strings.Join(at, ".")}
	f, _ := x.Elts[0].(*ast.Field)
	fail := func(what, fix string) (clusterRef, *diag.Finding) {
		n := diag.Errorf("cluster-reference", "%s", what)
		n.Pos, n.Path, n.Fix = cuelang.Pos(f.Label.Pos()), ref.at, fix
		return ref, &n
	}
	if len(x.Elts) != 1 {
		return fail("{$cluster: PATH} must stand alone", "it stands for one whole value")
	}
	text, ok := cuelang.StringLit(f.Value)
	if !ok {
		return fail("$cluster must be a path", "for example vars.region")
	}
	ref.pos = cuelang.Pos(f.Value.Pos())
	if !ref.pos.IsValid() {
		ref.pos = cuelang.Pos(f.Label.Pos())
	}
	path, err := v1alpha1.ParsePath(text)
	if err != nil {
		return fail(err.Error(), "")
	}
	if !slices.Contains(refRoots, path[0].Name) {
		fix := diag.DidYouMean(path[0].Name, refRoots)
		if fix == "" {
			fix = "it starts with one of: " + strings.Join(refRoots, ", ")
		}
		return fail("a cluster has no "+path[0].Name, fix)
	}
	if !refAllowed(at) {
		return fail("a cluster's fact cannot stand here", "it can in values, valuesFor, namespace and the source")
	}
	ref.path = path
	return ref, nil
}

// refAllowed says where in a document a cluster's fact may stand.
func refAllowed(at []string) bool {
	if len(at) == 0 {
		return false
	}
	switch at[0] {
	case rootBundle:
		at = at[1:]
	case rootBundles:
		at = at[min(2, len(at)):]
	default:
		return at[0] != rootFleet && at[0] != rootRuntime // a field some CUE file declares
	}
	if len(at) < 3 || at[0] != "instances" {
		return false
	}
	switch at[2] {
	case "values":
		return true
	case "valuesFor":
		return len(at) > 4 && at[4] == "values"
	case "namespace":
		return len(at) == 3
	case "module", "helm", "kustomize", "manifests":
		return len(at) == 4
	}
	return false
}

// refFacts are the facts a $cluster path leads through. What is not known is not there.
func refFacts(f fleet.Facts) map[string]any {
	values := map[string]any{}
	for name, v := range f.Values {
		if !v.Absent {
			values[name] = v.Value
		}
	}
	out := clusterFacts(f)
	out["values"] = values
	return out
}

// resolve replaces the references of one document by the cluster's facts, in a copy.
func (in *injection) resolve(x ast.Expr, at []string) ast.Expr {
	switch x := x.(type) {
	case *ast.StructLit:
		if len(x.Elts) == 1 {
			if f, ok := x.Elts[0].(*ast.Field); ok && cuelang.LabelText(f.Label) == refKey {
				if ref, n := newRef(x, at); n == nil {
					return in.fact(ref, f)
				}
			}
		}
		out := &ast.StructLit{Lbrace: x.Lbrace, Rbrace: x.Rbrace}
		for _, d := range x.Elts {
			if f, ok := d.(*ast.Field); ok {
				name := cuelang.LabelText(f.Label)
				out.Elts = append(out.Elts, cuelang.NewField(name, in.resolve(f.Value, append(at, name)), f.Label.Pos()))
			}
		}
		return out
	case *ast.ListLit:
		out := &ast.ListLit{Lbrack: x.Lbrack, Rbrack: x.Rbrack}
		for _, e := range x.Elts {
			out.Elts = append(out.Elts, in.resolve(e, append(at, "[]")))
		}
		return out
	}
	return cuelang.Clone(x)
}

// fact is the value of one reference.
func (in *injection) fact(ref clusterRef, f *ast.Field) ast.Expr {
	pos := f.Value.Pos()
	v, err := ref.path.Lookup(refFacts(in.facts))
	if err == nil {
		if name := runtimeName(ref.path); name != "" {
			rv := in.facts.Values[name]
			if rv.Secret {
				in.masker.Add(rv.Value)
			}
			if isForeignRef(rv) {
				n := foreignRef(name, rv)
				n.Pos, n.Path = ref.pos, ref.at
				in.findings = append(in.findings, n)
				return withPos(ast.NewNull(), pos)
			}
		}
		return cuelang.FromGo(v, pos)
	}
	n := fleet.MissingFact(in.facts.Name, ref.path.String())
	n.Pos, n.Path = ref.pos, ref.at
	var missing *v1alpha1.MissingError
	if errors.As(err, &missing) {
		n.Fix = "it has: " + listOf(missing.Have)
		if len(missing.At) > 0 {
			n.Fix = missing.At.String() + " has: " + listOf(in.declared(missing))
		}
		if s := diag.DidYouMean(missing.Step, missing.Have); s != "" {
			n.Fix = s
		}
	}
	switch rv := in.facts.Values[runtimeName(ref.path)]; {
	case rv.Absent:
		n.Why, n.Fix = "it is a secret, and facts files hold none", "run with a connection to the cluster"
	case ref.path[0].Name == "version":
		n.Why, n.Fix = "its version is not known offline", "run with a connection or with --facts FILE"
	}
	in.findings = append(in.findings, n)
	in.unresolved = append(in.unresolved, ref.at)
	return withPos(ast.NewNull(), pos)
}

// declared are the names beside one that is missing, without those that are the environment's alone: it has many, and they
// are the caller's.
func (in *injection) declared(m *v1alpha1.MissingError) []string {
	if m.At.String() != "values" {
		return m.Have
	}
	return slices.DeleteFunc(slices.Clone(m.Have), func(name string) bool { return in.facts.Values[name].Layer == fleet.LayerEnv })
}

// runtimeName is the NAME of values.NAME.
func runtimeName(p v1alpha1.Path) string {
	if len(p) == 2 && p[0].Name == "values" {
		return p[1].Name
	}
	return ""
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
