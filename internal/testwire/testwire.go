// Package testwire holds renderers to what another process has of a request: what is handed over and comes back is all of it.
//
// testwire must not know which renderer it is.
package testwire

import (
	"reflect"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/wire"
)

// Carried is a value as it comes out in another process.
func Carried[T any](t testing.TB, v T) T {
	t.Helper()
	var out T
	data, err := wire.Marshal(v)
	if err == nil {
		err = wire.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Same fails the test unless the request has the given outcome, key included, when it is handed over and its outcome handed back.
func Same(t testing.TB, r render.Renderer, req render.Request, res render.Result, err error) {
	t.Helper()
	there := Carried(t, req)
	again, errAgain := r.Render(t.Context(), there)
	if got := Carried(t, again); !reflect.DeepEqual(got, res) {
		t.Errorf("in another process it is\n%+v\nwant\n%+v", got, res)
	}
	if got, want := Carried(t, diag.From(errAgain, "")), diag.From(err, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("in another process it is wrong with\n%+v\nwant\n%+v", got, want)
	}
	a, errA := r.Key(t.Context(), req)
	b, errB := r.Key(t.Context(), there)
	if a != b || !reflect.DeepEqual(diag.From(errA, ""), diag.From(errB, "")) {
		t.Errorf("in another process its key is %s %v, want %s %v", b, errB, a, errA)
	}
}
