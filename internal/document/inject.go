package document

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/secret"
)

// injection is what one evaluation puts into the files, and what it did.
type injection struct {
	facts fleet.Facts
	// done are the injected attributes by position, missing those without a value and without a default.
	done    map[diag.Pos]*injected
	missing []Attribute
	// masker knows every injected value that is not the cluster's own name or group.
	masker   *redact.Redactor
	findings diag.Findings
	// unresolved are the data paths of references without a fact.
	unresolved []string
}

type injected struct {
	Attribute
	origin string
	// constraint is the field's own expression, "" when it was replaced.
	constraint string
}

func newInjection(f fleet.Facts) *injection {
	return &injection{facts: f, done: map[diag.Pos]*injected{}, masker: redact.New()}
}

// key is the memo key: all that the files can see of the facts.
func (p *Program) key(f fleet.Facts) string {
	var b strings.Builder
	vars := map[string]bool{}
	for _, a := range p.attrs {
		if a.Cluster() {
			vars[""] = true
			continue
		}
		vars[a.Var] = true
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if name == "" {
			b.WriteString(jsonText(clusterFacts(f)) + "\n")
			continue
		}
		v, ok := f.Values[name]
		b.WriteString(strconv.Quote(name) + strconv.FormatBool(ok) + strconv.Quote(v.Value) +
			strconv.FormatBool(v.DefaultOnly) + strconv.FormatBool(v.Absent) + strconv.Quote(originOf(v)) + "\n")
	}
	for _, r := range p.refs {
		v, err := r.path.Lookup(refFacts(f))
		text := jsonText(v)
		if err != nil {
			text = "!" + f.Name + err.Error()
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// file injects into one parsed CUE file, on its syntax tree.
func (in *injection) file(f *ast.File) {
	used := cuelang.Used(f)
	replaced := map[ast.Node]ast.Node{}
	ast.Walk(f, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		a, at, err := attributeOf(field)
		if at == nil || err != nil {
			return true
		}
		was := field.Value
		if a.Cluster() {
			in.cluster(a, field, at.Pos())
		} else {
			in.field(a, field, at.Pos())
		}
		if field.Value != was {
			replaced[was] = field.Value
		}
		return true
	}, nil)
	relink(f, replaced)
	cuelang.DropUnused(f, used)
}

// relink points identifiers at the new values of fields: CUE resolves them when it parses.
func relink(f *ast.File, replaced map[ast.Node]ast.Node) {
	if len(replaced) == 0 {
		return
	}
	ast.Walk(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Node != nil && replaced[id.Node] != nil {
			id.Node = replaced[id.Node]
		}
		return true
	}, nil)
}

// field injects one runtime value: it replaces a plain value and is unified with everything else.
func (in *injection) field(a Attribute, field *ast.Field, pos token.Pos) {
	was, isPlain := cuelang.PlainExpr(field.Value)
	v, known := in.facts.Values[a.Var]
	if known && v.DefaultOnly && (isPlain || hasDefault(field.Value)) {
		known = false
	}
	if !known {
		if !isPlain && !hasDefault(field.Value) && field.Constraint != token.OPTION {
			in.missing = append(in.missing, a)
		}
		return
	}
	if v.Absent {
		n := diag.Errorf("secret-not-saved", "the value of %s is a secret, and facts files hold none", a.Text)
		n.Pos, n.Fix = a.Pos, "run with a connection to the cluster"
		in.findings = append(in.findings, n)
		return
	}
	if v.Layer != fleet.LayerDeclared && v.Layer != fleet.LayerImplicit {
		in.masker.Add(v.Value)
	}
	if isForeignRef(v) {
		n := foreignRef(a.Var, v)
		n.Pos, n.Path = a.Pos, a.Field
		in.findings = append(in.findings, n)
		return
	}
	lit, err := runtimeLiteral(a.Type, v.Value, pos)
	if err != nil {
		n := attributeFailure(a, err)
		n.Why += " (" + originOf(v) + ")"
		in.findings = append(in.findings, n)
		return
	}
	done := &injected{Attribute: a, origin: originOf(v)}
	in.done[cuelang.Pos(pos)] = done
	if !isPlain {
		if b, err := format.Node(field.Value); err == nil {
			done.constraint = string(b)
		}
		field.Value = &ast.BinaryExpr{X: &ast.ParenExpr{X: field.Value}, OpPos: pos, Op: token.AND, Y: lit}
		return
	}
	if was != cuelang.UnknownKind && was != cuelang.NullKind && string(was) != a.Type {
		n := diag.Errorf("attribute-type", "the default beside '%s' is a %s", a.Text, was)
		n.Pos, n.Path, n.Fix = a.Pos, a.Field, "give it the attribute's type"
		in.findings = append(in.findings, n)
		return
	}
	field.Value = lit
}

// isForeignRef reports that a value read from a cluster would be taken for a reference to a secret: who may write there
// could read any secret of the stores.
func isForeignRef(v fleet.Value) bool { return v.Layer == fleet.LayerQuery && secret.IsRef(v.Value) }

func foreignRef(name string, v fleet.Value) diag.Finding {
	n := diag.Errorf("foreign-reference", "the value of %s is a reference to a secret (%s)", name, originOf(v))
	n.Why, n.Fix = "what is read from a cluster names no secret", "write the reference into the bundle or the fleet"
	return n
}

// originOf says where a value comes from. A declared cluster is not named: findings name it anyway, and clusters of one
// group share an evaluation.
func originOf(v fleet.Value) string {
	if v.Origin != "" && v.Layer != fleet.LayerDeclared {
		return v.Origin
	}
	return string(v.Layer)
}

// hasDefault reports whether an expression marks a default with `*`.
func hasDefault(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return hasDefault(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.MUL
	case *ast.BinaryExpr:
		return (x.Op == token.OR || x.Op == token.AND) && (hasDefault(x.X) || hasDefault(x.Y))
	case *ast.Ident:
		if x.Node != nil {
			if target := cuelang.Resolve(x); target != nil && target != ast.Expr(x) {
				if u, ok := target.(*ast.BinaryExpr); ok {
					return hasDefault(u)
				}
			}
		}
	}
	return false
}

// cluster unifies the cluster's facts with the field.
func (in *injection) cluster(a Attribute, field *ast.Field, pos token.Pos) {
	lit := cuelang.FromGo(clusterFacts(in.facts), pos)
	done := &injected{Attribute: a, origin: "cluster " + in.facts.Name}
	in.done[cuelang.Pos(pos)] = done
	if b, err := format.Node(field.Value); err == nil {
		done.constraint = string(b)
	}
	field.Value = &ast.BinaryExpr{X: &ast.ParenExpr{X: field.Value}, OpPos: pos, Op: token.AND, Y: lit}
}

// clusterFacts is the struct of @hawser(cluster). What is not known is left out.
func clusterFacts(f fleet.Facts) map[string]any {
	labels := map[string]any{}
	for k, v := range f.Labels {
		labels[k] = v
	}
	vars := f.Vars
	if vars == nil {
		vars = map[string]any{}
	}
	out := map[string]any{"name": f.Name, "group": f.Group, "labels": labels, "vars": vars}
	if f.Version != "" {
		out["version"] = f.Version
	}
	return out
}

// missingOnce are the attributes without a value, one per variable and place.
func (in *injection) missingOnce() []Attribute {
	out := slices.Clone(in.missing)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Pos.String() < out[j].Pos.String() })
	return slices.Compact(out)
}
