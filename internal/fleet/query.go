package fleet

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// Query is a parsed `k8s:<apiVersion>:<Kind>:[<namespace>:]<name>`.
type Query struct {
	// APIVersion is "v1" or "group/version".
	APIVersion, Kind string
	// Namespace is "" for an object without one.
	Namespace, Name string
}

var (
	apiVersionRule = lazyregexp.New(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$`)
	kindRule       = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
	namespaceRule  = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	varRule        = lazyregexp.New(`^[A-Za-z0-9_-]+$`)
	rbacKinds      = []string{"ClusterRole", "ClusterRoleBinding"}
)

// ParseQuery reads a query. Names may hold colons (`system:node`), so that what follows the kind is read by this rule:
// kinds of rbac.authorization.k8s.io without a namespace (ClusterRole, ClusterRoleBinding) take all of it as the name;
// for every other kind the text up to the first colon is the namespace and the rest the name; without a colon all is the
// name.
func ParseQuery(s string) (Query, error) {
	parts := strings.SplitN(s, ":", 4)
	if len(parts) < 4 || parts[0] != "k8s" {
		return Query{}, fmt.Errorf("a query is k8s:APIVERSION:KIND:[NAMESPACE:]NAME")
	}
	q := Query{APIVersion: parts[1], Kind: parts[2], Name: parts[3]}
	if !apiVersionRule.MatchString(q.APIVersion) {
		return Query{}, fmt.Errorf("%q is no apiVersion", q.APIVersion)
	}
	if !kindRule.MatchString(q.Kind) {
		return Query{}, fmt.Errorf("%q is no kind", q.Kind)
	}
	whole := strings.HasPrefix(q.APIVersion, "rbac.authorization.k8s.io/") && slices.Contains(rbacKinds, q.Kind)
	if ns, name, ok := strings.Cut(q.Name, ":"); ok && !whole {
		q.Namespace, q.Name = ns, name
		if !namespaceRule.MatchString(ns) {
			return Query{}, fmt.Errorf("%q is no namespace", ns)
		}
	}
	if q.Name == "" || q.Name == "." || q.Name == ".." || strings.ContainsAny(q.Name, "/% \t\r\n") {
		return Query{}, fmt.Errorf("%q is no name", q.Name)
	}
	return q, nil
}

// String is the query as written.
func (q Query) String() string {
	out := "k8s:" + q.APIVersion + ":" + q.Kind + ":"
	if q.Namespace != "" {
		out += q.Namespace + ":"
	}
	return out + q.Name
}

// Secret reports whether the query reads a core Secret.
func (q Query) Secret() bool { return q.APIVersion == "v1" && q.Kind == "Secret" }

// ValidVar reports whether a runtime value may have the name: letters, digits, '-' and '_'.
func ValidVar(name string) bool { return varRule.MatchString(name) }

// maxExpr bounds the length of a query expression.
const maxExpr = 16 << 10

// CheckExpr checks that a text is one CUE expression.
func CheckExpr(expr string) error {
	_, err := parseExpr(expr)
	return err
}

func parseExpr(expr string) (ast.Expr, error) {
	if fs := cuelang.CheckSource("expression", []byte(expr), cuelang.Limits{SourceBytes: maxExpr, Nesting: 100}); fs != nil {
		return nil, fmt.Errorf("%s", fs[0].What)
	}
	x, err := parser.ParseExpr("expression", expr)
	if err != nil {
		return nil, fmt.Errorf("%s", cuelang.Findings(err, nil, "")[0].What)
	}
	return x, nil
}

// EvaluateQuery evaluates a query's expressions over the object it named: CUE over the variable obj, with a string, number or
// bool as result. Of core Secrets, data values are decoded first where they are base64 of text, and every result
// that may stem from data is Secret. Findings never carry such a value.
func EvaluateQuery(q v1alpha1.RuntimeQuery, obj map[string]any) (map[string]Value, diag.Findings) {
	parsed, err := ParseQuery(q.Query)
	if err != nil {
		n := diag.Errorf("invalid-query", "%v", err)
		n.Pos = diag.Pos(q.Pos)
		return nil, diag.Findings{n}
	}
	if parsed.Secret() {
		obj = decoded(obj)
	}
	out := map[string]Value{}
	var fs diag.Findings
	for _, v := range q.For {
		text, secret, err := evaluate(v.Expr, obj, parsed.Secret())
		if err != nil {
			n := diag.Errorf("query-failed", "%s: %v", v.Name, err)
			n.Pos, n.Object = diag.Pos(v.ExprPos), parsed.String()
			if !n.Pos.IsValid() {
				n.Pos = diag.Pos(q.Pos)
			}
			if _, ok := errors.AsType[*absentError](err); ok {
				n.Fix = "correct the expression, or give the object what it reads"
			}
			fs = append(fs, n)
			continue
		}
		out[v.Name] = Value{Value: text, Layer: LayerQuery, Origin: parsed.String(), Secret: secret}
	}
	return out, fs
}

// decoded is the Secret with its data values as text.
func decoded(obj map[string]any) map[string]any {
	data, ok := obj["data"].(map[string]any)
	if !ok {
		return obj
	}
	out, plain := maps.Clone(obj), make(map[string]any, len(data))
	for k, v := range data {
		plain[k] = v
		if s, isString := v.(string); isString {
			if b, err := base64.StdEncoding.DecodeString(s); err == nil && utf8.Valid(b) {
				plain[k] = string(b)
			}
		}
	}
	out["data"] = plain
	return out
}

func evaluate(expr string, obj map[string]any, isSecret bool) (text string, secret bool, err error) {
	x, err := parseExpr(expr)
	if err != nil {
		return "", false, err
	}
	secret = isSecret && readsData(x)
	ctx := cuecontext.New()
	scope := ctx.Encode(map[string]any{"obj": obj})
	v, _ := ctx.BuildExpr(x, cue.Scope(scope), cue.InferBuiltins(true)).Default()
	if path := absent(x, obj); v.Err() != nil && path != nil {
		return "", secret, &absentError{path}
	}
	if v.Err() != nil {
		why := "the expression cannot be evaluated"
		if fs := cuelang.Findings(v.Err(), nil, ""); !secret && len(fs) > 0 {
			why = fs[0].What
		}
		return "", secret, fmt.Errorf("%s", why)
	}
	switch v.Kind() {
	case cue.StringKind:
		text, err = v.String()
	case cue.BoolKind, cue.IntKind, cue.FloatKind, cue.NumberKind:
		var b []byte
		b, err = format.Node(v.Syntax(cue.Final()))
		text = strings.TrimSpace(string(b))
	default:
		err = fmt.Errorf("the result must be a string, number or bool, is %s", v.IncompleteKind())
	}
	return text, secret, err
}

// absentError is that an object has nothing at a path that an expression reads.
type absentError struct{ path []string }

func (e *absentError) Error() string { return "the object has no " + strings.Join(e.path, ".") }

// absent is the first path into obj that an expression reads, up to the step at which a struct has no such field; nil where all are there.
func absent(x ast.Expr, obj map[string]any) (missing []string) {
	ast.Walk(x, func(n ast.Node) bool {
		read, ok := n.(ast.Expr)
		if !ok || missing != nil {
			return missing == nil
		}
		path, fromObj := pathOf(read)
		var at any = obj
		for i, name := range path {
			fields, isStruct := at.(map[string]any)
			if !fromObj || !isStruct {
				break
			}
			next, there := fields[name]
			if !there {
				missing = path[:i+1]
				break
			}
			at = next
		}
		return missing == nil
	}, nil)
	return missing
}

// pathOf are the fields by which an expression leads into obj; false where it does not, or by other ways.
func pathOf(x ast.Expr) (path []string, ok bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return nil, x.Name == "obj"
	case *ast.SelectorExpr:
		path, ok = pathOf(x.X)
		name, _, err := ast.LabelName(x.Sel)
		return append(path, name), ok && err == nil
	case *ast.IndexExpr:
		path, ok = pathOf(x.X)
		lit, isLit := x.Index.(*ast.BasicLit)
		if !ok || !isLit || lit.Kind != token.STRING {
			return nil, false
		}
		name, err := literal.Unquote(lit.Value)
		return append(path, name), err == nil
	}
	return nil, false
}

// Fields of a Secret that never hold a value of it. Its annotations may: kubectl keeps a copy of the whole object in one.
var (
	plainFields   = []string{"kind", "apiVersion", "type", "immutable"}
	plainMetadata = []string{"name", "namespace", "labels", "uid", "generation", "resourceVersion", "creationTimestamp"}
)

// readsData reports whether an expression may read more of obj than those fields.
func readsData(x ast.Expr) bool {
	harmless := map[*ast.Ident]bool{}
	reads := false
	ast.Walk(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			name, _, _ := ast.LabelName(n.Sel)
			if id, ok := n.X.(*ast.Ident); ok && id.Name == "obj" && slices.Contains(plainFields, name) {
				harmless[id] = true
			}
			if in, ok := n.X.(*ast.SelectorExpr); ok && slices.Contains(plainMetadata, name) {
				id, _ := in.X.(*ast.Ident)
				if of, _, _ := ast.LabelName(in.Sel); of == "metadata" && id != nil && id.Name == "obj" {
					harmless[id] = true
				}
			}
		case *ast.Ident:
			if n.Name == "obj" && !harmless[n] {
				reads = true
			}
		}
		return true
	}, nil)
	return reads
}
