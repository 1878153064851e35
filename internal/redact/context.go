package redact

import "context"

type key struct{}

// With is a context of a run whose secrets r knows.
func With(ctx context.Context, r *Redactor) context.Context { return context.WithValue(ctx, key{}, r) }

// Of is the Redactor of a context's run, nil where there is none.
func Of(ctx context.Context) *Redactor {
	r, _ := ctx.Value(key{}).(*Redactor)
	return r
}

// Masking is Redact of the context's run; without a run it is what is given.
func Masking(ctx context.Context, otherwise func(string) string) func(string) string {
	if r := Of(ctx); r != nil {
		return r.Redact
	}
	return otherwise
}
