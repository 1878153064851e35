package values

import (
	"context"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Values gives an instance's values with every reference of a secret replaced by its value, for one cluster. Findings
// carry the place of the reference; with errors among them the values are not to be used.
func (r *Reader) Values(ctx context.Context, t Target, in v1alpha1.Instance) (v1alpha1.Values, diag.Findings) {
	var warnings diag.Findings
	out, findings := bind.Bind(in.Values, bind.Fill{Ref: func(ref bind.Ref) (ast.Expr, *diag.Finding) {
		value, f := r.Resolve(ctx, t, ref.Ref)
		if f != nil {
			f.Pos, f.Path = ref.Pos, ref.At
			if f.Severity == diag.Error {
				return nil, f
			}
			warnings = append(warnings, *f)
		}
		return ref.Text(value), nil
	}})
	findings = append(findings, warnings...)
	for i := range findings {
		findings[i].Path = strings.TrimSuffix("values."+findings[i].Path, ".")
		findings[i].Instance = in.Name
	}
	return out, findings
}

// Object gives the value that an instance takes from a live object (bind.ValueOf). What comes from a Secret is known to
// the redactor before it is given back.
func (r *Reader) Object(from bind.From, obj map[string]any) (ast.Expr, *diag.Finding) {
	if (object.Object{Body: obj}).Ref().IsSecret() {
		whole := from
		whole.As = bind.Inherent
		if x, f := bind.ValueOf(whole, obj); f == nil {
			r.hide(x)
		}
	}
	x, f := bind.ValueOf(from, obj)
	if f == nil && (object.Object{Body: obj}).Ref().IsSecret() {
		r.hide(x)
	}
	if f != nil {
		f.Why = r.options.Redactor.Redact(f.Why)
	}
	return x, f
}

// hide makes every scalar of data secret.
func (r *Reader) hide(x ast.Expr) {
	ast.Walk(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			r.hide(n.Value)
			return false // its label is a name
		case *ast.BasicLit:
			if v, err := cuelang.ToJSON(n); err == nil {
				if text, ok := v.(string); ok {
					r.options.Redactor.Add(text)
				} else if n.Kind == token.INT || n.Kind == token.FLOAT {
					r.options.Redactor.Add(n.Value)
				}
			}
		}
		return true
	}, nil)
}
