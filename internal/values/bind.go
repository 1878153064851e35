package values

import (
	"context"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Ref gives the value of a reference as CUE data at the reference's place, where bind.Bind wants it; findings carry that
// place.
func (r *Reader) Ref(ctx context.Context, t Target, ref bind.Ref) (ast.Expr, *diag.Finding) {
	value, f := r.Resolve(ctx, t, ref.Ref)
	if f != nil {
		f.Pos, f.Path = ref.Pos, ref.At
		if f.Severity == diag.Error {
			return nil, f
		}
	}
	return ref.Text(value), f
}

// Object gives the value that the instance by takes from a live object (bind.ValueOf). What comes from a Secret is known to
// the redactor before it is given back.
func (r *Reader) Object(by string, from bind.From, obj map[string]any) (ast.Expr, *diag.Finding) {
	if (object.Object{Body: obj}).Ref().IsSecret() {
		whole := from
		whole.As = bind.Inherent
		if x, f := bind.ValueOf(whole, obj); f == nil {
			r.hide(by, x)
		}
	}
	x, f := bind.ValueOf(from, obj)
	if f == nil && (object.Object{Body: obj}).Ref().IsSecret() {
		r.hide(by, x)
	}
	if f != nil {
		f.Why = r.options.Redactor.Said(by, f.Why)
	}
	return x, f
}

// hide makes every scalar of data secret that an instance takes.
func (r *Reader) hide(by string, x ast.Expr) {
	ast.Walk(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			r.hide(by, n.Value)
			return false // its label is a name
		case *ast.BasicLit:
			if v, err := cuelang.ToJSON(n); err == nil {
				if text, ok := v.(string); ok {
					r.options.Redactor.AddFor(by, text)
				} else if n.Kind == token.INT || n.Kind == token.FLOAT {
					r.options.Redactor.AddFor(by, n.Value)
				}
			}
		}
		return true
	}, nil)
}
