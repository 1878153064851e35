//go:build unix

package kubeapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/object"
)

// waiter waits for one object of a server whose n-th watch tells what told does of it.
type waiter struct {
	stream  *Stream
	changed chan struct{}
	watches atomic.Int64
	lists   atomic.Int64
}

func (w *waiter) join(t *testing.T, told func(ctx context.Context, w io.Writer, n int64)) {
	h := &heard{ask: func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			w.lists.Add(1)
			_, _ = io.WriteString(rw, `{"kind": "DeploymentList", "metadata": {"resourceVersion": "1"}, "items": []}`)
			return
		}
		told(r.Context(), rw, w.watches.Add(1))
	}}
	c := served(h.client(t, false))
	streams := c.Streams(t.Context(), "a=b")
	t.Cleanup(streams.Close)
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "x"}
	k, _ := c.ByGroupKind(ref.GroupKind())
	w.changed = make(chan struct{}, 1)
	w.stream, _ = streams.Join(ref, k, false, func() {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	})
}

// until waits for the object, or the error why it is not watched.
func (w *waiter) until(t *testing.T) (map[string]any, error) {
	t.Helper()
	for end := time.After(20 * time.Second); ; {
		select {
		case <-w.changed:
			if obj, _, err := w.stream.Look("x"); obj != nil || err != nil {
				return obj, err
			}
		case <-end:
			t.Fatal("nothing was told within 20 s")
		}
	}
}

// garbage is what a broken proxy may make of an event.
var garbage = map[string]string{
	"no JSON":                `c4nary`,
	"an object that is none": `{"type": "ADDED", "object": "c4nary"}`,
	"an error that is none":  `{"type": "ERROR", "object": "c4nary"}`,
	"a type that is none":    `{"type": 424242}`,
}

// TestGarbledEventIsNotTheEnd: an event that cannot be understood ends a watch, not the stream, which begins anew.
func TestGarbledEventIsNotTheEnd(t *testing.T) {
	for name, text := range garbage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waiter
			w.join(t, func(ctx context.Context, rw io.Writer, n int64) {
				if n <= 2 {
					_, _ = io.WriteString(rw, text)
					return
				}
				_, _ = io.WriteString(rw, `{"type": "ADDED", "object": {"metadata": {"name": "x"}}}`+"\n")
				rw.(http.Flusher).Flush()
				<-ctx.Done()
			})
			if obj, err := w.until(t); err != nil || obj == nil {
				t.Fatalf("after two garbled events the stream ends: %v", err)
			}
			if n := w.watches.Load(); n != 3 {
				t.Errorf("%d watches, want 3", n)
			}
			if told := w.stream.Told(nil); told != nil {
				t.Errorf("of a stream that works it is told %q", told)
			}
		})
	}
}

// TestGarbageEndsTheStream: a server that tells nothing else is given up after a few watches, and that is said, without anything of it.
func TestGarbageEndsTheStream(t *testing.T) {
	for name, text := range garbage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waiter
			w.join(t, func(_ context.Context, rw io.Writer, _ int64) { _, _ = io.WriteString(rw, text) })
			_, err := w.until(t)
			if !isWrong(err) || strings.Contains(err.Error(), "c4n") {
				t.Errorf("the stream ends with %v", err)
			}
			if n := w.watches.Load(); n != wrongInARow {
				t.Errorf("%d watches, want %d", n, wrongInARow)
			}
			told := w.stream.Told([]string{"first"})
			if len(told) != 2 || told[0] != "first" || !strings.Contains(told[1], "cannot be watched") || !strings.Contains(told[1], "cannot be understood") || strings.Contains(fmt.Sprint(told), "c4n") {
				t.Errorf("told is %q", told)
			}
		})
	}
}

// TestWatchesThatEndAtOnce: whatever ends a watch before it told anything (in order, as too old, by its connection), the next ones come with pauses.
func TestWatchesThatEndAtOnce(t *testing.T) {
	for name, text := range map[string]string{
		"in order": "",
		"too old":  `{"type": "ERROR", "object": {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}}`,
		"cut":      `{"type": "ADDED", "obj`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waiter
			w.join(t, func(_ context.Context, rw io.Writer, _ int64) { _, _ = io.WriteString(rw, text) })
			time.Sleep(2 * time.Second)
			if n, lists := w.watches.Load(), w.lists.Load(); n > 5 || n < 2 || lists > 5 {
				t.Errorf("%d watches and %d lists in two seconds", n, lists)
			}
			if _, _, err := w.stream.Look("x"); err != nil {
				t.Errorf("the stream ends with %v", err)
			}
		})
	}
}
