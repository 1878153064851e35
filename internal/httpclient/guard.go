package httpclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// StallError is a server with which nothing moved for too long, or which took too long altogether.
type StallError struct {
	Host string
	// After is the time it was given; Whole says that it was for the whole exchange.
	After time.Duration
	Whole bool
}

func (e *StallError) Error() string {
	if e.Whole {
		return fmt.Sprintf("%s was not done after %s", e.Host, e.After)
	}
	return fmt.Sprintf("%s was silent for %s", e.Host, e.After)
}

// Timeout is true: the error is one of time.
func (e *StallError) Timeout() bool { return true }

// guard ends exchanges in which nothing moves.
type guard struct {
	base         http.RoundTripper
	stall, total time.Duration
}

// RoundTrip is http.RoundTripper's; the exchange ends when the response's body was read or closed.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{stall: g.stall, host: req.URL.Host, cancel: cancel}
	w.silence = time.AfterFunc(g.stall, func() { w.end(&StallError{Host: w.host, After: g.stall}) })
	w.whole = time.AfterFunc(g.total, func() { w.end(&StallError{Host: w.host, After: g.total, Whole: true}) })
	out := req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		out.Body = &moving{ReadCloser: req.Body, watch: w}
	}
	resp, err := g.base.RoundTrip(out)
	w.moved()
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
}

func (w *watch) moved() { w.silence.Reset(w.stall) }

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

// moving is a body whose every read is a sign of life; the response's ends the exchange.
type moving struct {
	io.ReadCloser
	watch *watch
	last  bool
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.watch.moved()
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
