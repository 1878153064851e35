package values

import (
	"context"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/secret"
)

// Ref gives the value of a reference as data at the reference's place, where bind.Bind wants it, and the reference as a value from elsewhere:
// of what is known when a bundle is done, the value is what stands in for it. Findings carry that place.
func (r *Reader) Ref(ctx context.Context, t Target, ref bind.Ref) (*v1alpha1.Value, bind.From, *diag.Finding) {
	value, bundle, f := r.Resolve(ctx, t, ref.Ref)
	from := ref.From(bundle)
	from.Secret, from.Key = r.leadsTo(ref.Ref)
	if f != nil {
		f.Pos, f.Path = ref.Pos, ref.At
		if f.Severity == diag.Error {
			return nil, from, f
		}
		from.Stood = bundle == ""
	}
	if bundle != "" {
		return bind.StandIn(from), from, f
	}
	return ref.Text(value), from, f
}

// leadsTo is the Secret of a target cluster that a reference leads to, and the key; zero for any other.
func (r *Reader) leadsTo(ref secret.Ref) (at object.Ref, key string) {
	if spec, f := r.declared(ref); f == nil && spec.Kube != nil {
		return object.Ref{Kind: "Secret", Namespace: spec.Kube.Namespace, Name: ref.Path}, ref.Property
	}
	return at, ""
}

// Object gives the value that the instance by takes from a live object (bind.ValueOf). What comes from a Secret is known to
// the redactor before it is given back.
func (r *Reader) Object(by string, from bind.From, obj map[string]any) (*v1alpha1.Value, *diag.Finding) {
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

// hide makes every scalar of data secret that an instance takes; names of fields are none.
func (r *Reader) hide(by string, x *v1alpha1.Value) {
	switch x.Kind {
	case v1alpha1.KindString, v1alpha1.KindInt, v1alpha1.KindFloat:
		r.options.Redactor.AddFor(by, x.Text)
	}
	for _, f := range x.Fields {
		r.hide(by, f.Value)
	}
	for _, e := range x.Items {
		r.hide(by, e)
	}
}
