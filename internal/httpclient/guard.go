package httpclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// StallError is a server with which nothing moved for too long, or next to nothing, or which took too long altogether.
type StallError struct {
	Host string
	// After is the time it was given; Whole says that it was for the whole exchange.
	After time.Duration
	Whole bool
	// Moved is how many bytes of the response came in that time.
	Moved int64
}

func (e *StallError) Error() string {
	if e.Whole {
		return fmt.Sprintf("%s was not done after %s", e.Host, e.After)
	}
	if e.Moved > 0 {
		return fmt.Sprintf("%s sent no more than %s in %s", e.Host, diag.Counted(int(e.Moved), "byte"), e.After)
	}
	return fmt.Sprintf("%s was silent for %s", e.Host, e.After)
}

// Timeout is true: the error is one of time.
func (e *StallError) Timeout() bool { return true }

// least is how many bytes of a body have to move for an exchange to be given more time, but for its last ones: a server that sends
// a byte now and then is as good as silent.
const least = 4 << 10

// guard ends exchanges in which nothing moves, or next to nothing.
type guard struct {
	base         http.RoundTripper
	stall, total time.Duration
}

// RoundTrip is http.RoundTripper's; the exchange ends when the response's body was read or closed.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{stall: g.stall, host: req.URL.Host, cancel: cancel}
	w.silence = time.AfterFunc(g.stall, func() { w.end(&StallError{Host: w.host, After: g.stall, Moved: w.came.Load()}) })
	w.whole = time.AfterFunc(g.total, func() { w.end(&StallError{Host: w.host, After: g.total, Whole: true}) })
	out := req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		out.Body = &moving{ReadCloser: req.Body, watch: w}
	}
	resp, err := g.base.RoundTrip(out)
	w.moved(least) // the header
	if err != nil {
		w.stop()
		cancel(nil)
		return nil, w.explain(err)
	}
	resp.Body = &moving{ReadCloser: resp.Body, watch: w, last: true}
	return resp, nil
}

// watch is one exchange's clock.
type watch struct {
	stall          time.Duration
	host           string
	silence, whole *time.Timer
	cancel         context.CancelCauseFunc
	ended          atomic.Pointer[StallError]
	// bytes are those that moved since the time for the next ones began, came those of the response among them.
	bytes, came atomic.Int64
}

func (w *watch) moved(n int) {
	if w.bytes.Add(int64(n)) >= least {
		w.bytes.Store(0)
		w.came.Store(0)
		w.silence.Reset(w.stall)
	}
}

func (w *watch) end(why *StallError) {
	w.ended.CompareAndSwap(nil, why)
	w.cancel(why)
}

func (w *watch) stop() {
	w.silence.Stop()
	w.whole.Stop()
}

// explain puts the reason for which an exchange was ended in the place of what that looks like.
func (w *watch) explain(err error) error {
	if why := w.ended.Load(); why != nil && err != nil && err != io.EOF {
		return why
	}
	return err
}

// moving is a body whose bytes are signs of life; the response's ends the exchange.
type moving struct {
	io.ReadCloser
	watch *watch
	last  bool
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if m.last {
		m.watch.came.Add(int64(n))
	}
	m.watch.moved(n)
	if err != nil && m.last {
		m.watch.stop()
	}
	return n, m.watch.explain(err)
}

func (m *moving) Close() error {
	err := m.ReadCloser.Close()
	if m.last {
		m.watch.stop()
		m.watch.cancel(nil)
	}
	return err
}
