package render_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// fake renders nothing, counts, and waits for gate when there is one.
type fake struct {
	count atomic.Int64
	gate  chan struct{}
	err   error
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Key(_ context.Context, req render.Request) (string, error) {
	if req.Instance.Name == "" {
		return "", errors.New("no name")
	}
	return req.Instance.Name, nil
}

func (f *fake) Render(ctx context.Context, req render.Request) (render.Result, error) {
	f.count.Add(1)
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return render.Result{}, ctx.Err()
		}
	}
	return render.Result{Version: req.Instance.Name}, f.err
}

func named(name string) render.Request {
	return render.Request{Instance: v1alpha1.Instance{Name: name}}
}

func TestMemoRendersOnce(t *testing.T) {
	f := &fake{gate: make(chan struct{})}
	var m render.Memo
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			res, key, err := m.Render(t.Context(), f, named("a"))
			if err != nil || key != "a" || res.Version != "a" {
				t.Errorf("got %v, %q, %v", res, key, err)
			}
		})
	}
	close(f.gate)
	wg.Wait()
	if _, _, err := m.Render(t.Context(), f, named("b")); err != nil {
		t.Fatal(err)
	}
	if f.count.Load() != 2 || m.Renders() != 2 {
		t.Errorf("%d renders, counted %d", f.count.Load(), m.Renders())
	}
}

func TestMemoKeepsErrors(t *testing.T) {
	f := &fake{err: errors.New("bad values")}
	var m render.Memo
	for range 2 {
		if _, _, err := m.Render(t.Context(), f, named("a")); !errors.Is(err, f.err) {
			t.Errorf("got %v", err)
		}
	}
	if m.Renders() != 1 {
		t.Errorf("a failed render ran %d times", m.Renders())
	}
	if _, _, err := m.Render(t.Context(), f, named("")); err == nil {
		t.Error("an error of the key is lost")
	}
}

func TestMemoForgetsCancelledRenders(t *testing.T) {
	f := &fake{gate: make(chan struct{})}
	var m render.Memo
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := m.Render(ctx, f, named("a")); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(f.gate)
	if _, _, err := m.Render(t.Context(), f, named("a")); err != nil {
		t.Errorf("the next caller gets the first one's cancellation: %v", err)
	}
}

// TestMemoForgetsWhatEndedWithItsCaller: also when the error does not say that it was cancelled.
func TestMemoForgetsWhatEndedWithItsCaller(t *testing.T) {
	f := &fake{err: errors.New("the registry did not answer")}
	var m render.Memo
	ctx, cancel := context.WithCancel(t.Context())
	ending := renderFunc(func() (render.Result, error) { cancel(); return render.Result{}, f.err })
	if _, _, err := m.Render(ctx, ending, named("a")); !errors.Is(err, f.err) {
		t.Fatalf("got %v", err)
	}
	f.err = nil
	if _, _, err := m.Render(t.Context(), f, named("a")); err != nil {
		t.Errorf("the next caller gets the failure of one that was cancelled: %v", err)
	}
}

// renderFunc is a fake that does what it is told.
type renderFunc func() (render.Result, error)

func (renderFunc) Name() string { return "fake" }

func (renderFunc) Key(_ context.Context, req render.Request) (string, error) {
	return req.Instance.Name, nil
}

func (f renderFunc) Render(context.Context, render.Request) (render.Result, error) { return f() }

// TestRendererThatPanics: a renderer that panics, in rendering or before, ends no process, whoever asks: it is an error that names
// instance and place, and holds nothing of what a panic says but what the runtime itself does.
func TestRendererThatPanics(t *testing.T) {
	const secret = "hunter2-canary"
	var nothing []string
	for name, c := range map[string]struct {
		key, render func()
		says        string
	}{
		"a text":           {render: func() { panic("bad value " + secret) }, says: "panicked with a string"},
		"an error":         {render: func() { panic(errors.New(secret)) }, says: "*errors.errorString"},
		"in the key":       {key: func() { panic(secret) }, says: "panicked with a string"},
		"of the runtime":   {render: func() { _ = nothing[len(secret)] }, says: "index out of range"},
		"a runtime's, too": {render: func() { panic(fmt.Errorf("%s: %w", secret, ofRuntime())) }, says: "interface conversion"},
	} {
		t.Run(name, func(t *testing.T) {
			var m render.Memo
			for range 2 {
				_, _, err := m.Render(t.Context(), breaks{c.key, c.render}, named("web"))
				if err == nil || strings.Contains(err.Error(), secret) {
					t.Fatalf("%v", err)
				}
				for _, want := range []string{"web", "the renderer of fake broke", c.says, "TestRendererThatPanics"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is not in: %v", want, err)
					}
				}
			}
		})
	}
}

// ofRuntime is an error as the runtime panics with.
func ofRuntime() (err error) {
	defer func() { err, _ = recover().(error) }()
	_ = any(1).(string)
	return nil
}

type breaks struct{ key, render func() }

func (breaks) Name() string { return "fake" }

func (b breaks) Key(_ context.Context, req render.Request) (string, error) {
	if b.key != nil {
		b.key()
	}
	return req.Instance.Name, nil
}

func (b breaks) Render(context.Context, render.Request) (render.Result, error) {
	b.render()
	return render.Result{}, nil
}

// TestMemoIsBounded: a memo that many runs share keeps so many bytes, and no run's failure for the next one.
func TestMemoIsBounded(t *testing.T) {
	f := &sized{}
	m := render.Memo{Most: 10_000}
	for i := range 100 {
		if _, _, err := m.Render(t.Context(), f, named(fmt.Sprintf("n%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"n99", "n98"} {
		if _, _, err := m.Render(t.Context(), f, named(name)); err != nil || f.count.Load() != 100 {
			t.Errorf("%s was rendered again: %d, %v", name, f.count.Load(), err)
		}
	}
	if _, _, _ = m.Render(t.Context(), f, named("n0")); f.count.Load() != 101 {
		t.Error("100 results of 2 kB are kept in 10 kB")
	}
	failing := &fake{err: errors.New("not now")}
	for range 2 {
		if _, _, err := m.Render(t.Context(), failing, named("x")); err == nil {
			t.Error("it did not fail")
		}
	}
	m.Forgive()
	failing.err = nil
	if _, _, err := m.Render(t.Context(), failing, named("x")); err != nil || failing.count.Load() != 2 {
		t.Errorf("%v, rendered %d times", err, failing.count.Load())
	}
}

// sized renders 2 kB.
type sized struct{ fake }

func (s *sized) Name() string { return "sized" }

func (s *sized) Render(ctx context.Context, req render.Request) (render.Result, error) {
	res, err := s.fake.Render(ctx, req)
	res.Objects = []object.Object{{Body: map[string]any{"data": strings.Repeat("x", 2000)}}}
	return res, err
}
