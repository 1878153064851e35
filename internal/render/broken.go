package render

import (
	"context"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
)

// KeyOf is the request's key; a renderer that panics is an error that shows where, and not what it said, which may be a value.
func KeyOf(ctx context.Context, r Renderer, req Request) (key string, err error) {
	defer broken(r, req, &err)
	return r.Key(ctx, req)
}

// Rendered renders the request; a renderer that panics is an error as with KeyOf.
func Rendered(ctx context.Context, r Renderer, req Request) (res Result, err error) {
	defer broken(r, req, &err)
	return r.Render(ctx, req)
}

// broken, deferred, makes an error of a panic of the renderer: with the code that broke. The text of a panic is shown only where
// the Go runtime wrote it: any other may be made of values, secret ones too.
func broken(r Renderer, req Request, err *error) {
	p := broke.Of(recover())
	if p == nil {
		return
	}
	f := diag.Errorf("renderer-broke", "the renderer of %s broke on instance %s, which is a mistake in hawser", r.Name(), req.Instance.Name)
	f.Instance, f.Why = req.Instance.Name, p.Error()
	f.Fix = "report it with this message and the kind of source; other instances can be delivered without this one"
	*err = diag.Findings{f}.Err()
}
