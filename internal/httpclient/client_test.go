package httpclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// server is a plain server whose handler is given.
func server(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// everywhere connects every host to one server; addresses are what hosts resolve to, one or several.
func everywhere(s *httptest.Server, addresses map[string]string) Options {
	return Options{
		Retries: -1,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		},
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			a, ok := addresses[host]
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			var out []netip.Addr
			for one := range strings.FieldsSeq(a) {
				out = append(out, netip.MustParseAddr(one))
			}
			return out, nil
		},
	}
}

func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(resp.Body)
	return string(data), errors.Join(err, resp.Body.Close())
}

// Where redirects lead, and where not.
func TestRedirects(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "content of "+r.Host)
	})
	addresses := map[string]string{"public.example": "198.51.100.1", "other.example": "2001:db8::1", "inside.example": "10.0.0.1", "six.example": "fd00::1",
		"mapped.example": "::ffff:127.0.0.1", "cloud.example": "169.254.169.254", "shared.example": "100.64.0.1",
		"both.example": "192.0.2.9 10.0.0.1", "behind.example": "10.0.0.1 192.0.2.9", "two.example": "10.0.0.1 fd00::1", "gateway.example": "64:ff9b::a9fe:a9fe"}
	c := New(everywhere(s, addresses))
	for _, x := range []struct{ from, to, reason string }{
		{"public.example", "http://other.example/", ""}, {"public.example", "/", ""}, {"inside.example", "http://six.example/", ""},
		{"inside.example", "http://public.example/", ""}, {"127.0.0.1", "http://inside.example/", ""},
		{"public.example", "http://inside.example/", "private"}, {"public.example", "http://six.example/", "private"}, {"public.example", "http://cloud.example/", "private"},
		{"public.example", "http://shared.example/", "private"}, {"public.example", "http://mapped.example/", "private"}, {"public.example", "http://127.0.0.1/", "private"},
		{"public.example", "http://[::1]/", "private"}, {"public.example", "http://0.0.0.0/", "private"}, {"public.example", "file:///etc/passwd", "HTTP"},
		{"public.example", "http://unknown.example/", "no such host"},
		// Whoever has a public name can give it a private address beside.
		{"public.example", "http://both.example/", "private"}, {"public.example", "http://behind.example/", "private"}, {"two.example", "http://inside.example/", ""},
		{"both.example", "http://inside.example/", "private"}, {"behind.example", "http://127.0.0.1/", "private"}, {"both.example", "http://public.example/", ""},
		{"both.example", "/", ""}, {"inside.example", "http://both.example/", ""}, {"public.example", "http://gateway.example/", "private"},
	} {
		_, err := get(t, c, "http://"+x.from+"/?to="+url.QueryEscape(x.to))
		if x.reason == "" && err != nil || x.reason != "" && (err == nil || !strings.Contains(err.Error(), x.reason)) {
			t.Errorf("%s -> %s: %v, want %q", x.from, x.to, err, x.reason)
		}
	}
	_, err := get(t, c, "http://public.example/?to="+url.QueryEscape("http://me:canary@inside.example/?token=canary"))
	if refused, ok := errors.AsType[*RedirectError](err); !ok || strings.Contains(refused.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	var n atomic.Int64
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, err := get(t, New(Options{}), s.URL)
	if _, ok := errors.AsType[*RedirectError](err); !ok || n.Load() != 6 {
		t.Errorf("after %d requests: %v", n.Load(), err)
	}
	secure := httptest.NewTLSServer(http.RedirectHandler(s.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	r := redirects{max: 5, proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}
	from, to := httptest.NewRequest(http.MethodGet, secure.URL, nil), httptest.NewRequest(http.MethodGet, s.URL, nil)
	if err := r.check(to, []*http.Request{from}); err == nil || !strings.Contains(err.Error(), "leaves TLS") {
		t.Errorf("away from TLS: %v", err)
	}
}

// Silence and slowness end an exchange, whichever way nothing moves; movement goes on for longer than silence may.
func TestDeadlines(t *testing.T) {
	stop := make(chan struct{})
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			<-stop
		case "/body":
			_, _ = io.WriteString(w, "begin")
			_ = http.NewResponseController(w).Flush()
			<-stop
		case "/steady":
			for range 6 {
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		case "/trickle":
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		case "/slow":
			for range 8 {
				_, _ = io.WriteString(w, strings.Repeat(".", least))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		}
	})
	t.Cleanup(func() { close(stop) })
	for path, whole := range map[string]bool{"/silent": false, "/body": false, "/endless": true} {
		o := Options{Stall: 50 * time.Millisecond, Retries: -1}
		if whole {
			o = Options{Stall: time.Minute, Total: 100 * time.Millisecond, Retries: -1}
		}
		_, err := get(t, New(o), s.URL+path)
		if stall, ok := errors.AsType[*StallError](err); !ok || stall.Whole != whole || !stall.Timeout() {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got, err := get(t, New(Options{Stall: 20 * time.Second}), s.URL+"/steady"); err != nil || got != "......" {
		t.Errorf("steady: %q %v", got, err)
	}
	if got, err := get(t, New(Options{Stall: 500 * time.Millisecond, Retries: -1}), s.URL+"/slow"); err != nil || len(got) != 8*least {
		t.Errorf("slow: %d bytes %v", len(got), err)
	}
	_, err := get(t, New(Options{Stall: 200 * time.Millisecond, Retries: -1}), s.URL+"/trickle")
	if stall, ok := errors.AsType[*StallError](err); !ok || stall.Whole || stall.Moved == 0 || !strings.Contains(err.Error(), "sent no more than") {
		t.Errorf("a byte now and then: %v", err)
	}
	// A server that does not read what it is sent.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), io.LimitReader(zeros{}, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := New(Options{Stall: 100 * time.Millisecond, Retries: -1}).Do(req)
	if _, ok := errors.AsType[*StallError](err); !ok {
		_ = resp.Body.Close()
		t.Errorf("a server that reads nothing: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A busy server is asked again, as often and as late as the options say and no later.
func TestRetries(t *testing.T) {
	var n atomic.Int64
	var status atomic.Int64
	s := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= 2 {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(int(status.Load()))
			return
		}
		_, _ = io.WriteString(w, "done")
	})
	for code, want := range map[int]int64{429: 3, 503: 3, 500: 3, 502: 3, 504: 3, 404: 1, 403: 1} {
		n.Store(0)
		status.Store(int64(code))
		if _, err := get(t, New(Options{Wait: time.Millisecond}), s.URL); err != nil || n.Load() != want {
			t.Errorf("%d: asked %d times (%v), want %d", code, n.Load(), err, want)
		}
	}
}

func TestSpeaksTLS(t *testing.T) {
	plain := server(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for address, want := range map[string]bool{plain.Listener.Addr().String(): false, secure.Listener.Addr().String(): true, "127.0.0.1:1": true} {
		if got := SpeaksTLS(t.Context(), address, Options{}); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "localhost:5000": true, "127.0.0.1:1": true, "127.9.9.9": true, "[::1]:5000": true, "::1": true,
		"example.com": false, "localhost.example.com": false, "10.0.0.1": false, "": false, "0.0.0.0": false} {
		if got := Loopback(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
