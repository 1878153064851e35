package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/testfleet"
)

// killer is a proxy before one API server that counts requests and calls kill at exactly one of them: before the
// request is passed on, or after the API server has answered and before the answer is passed back.
type killer struct {
	*httptest.Server
	mu    sync.Mutex
	count int
	at    int // 1-based; 0 = never
	after bool
	kill  func()
	seen  []string
	sent  sync.WaitGroup // writes on their way
}

func newKiller(t *testing.T, cluster string) *killer {
	t.Helper()
	cfg := testfleet.Get().RESTConfig(cluster)
	upstream, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	proxy.Transport = transport
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Header.Get(killAfter) != "" {
			k.strike()
		}
		return nil
	}
	k.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strikes, after := k.next(r); strikes {
			if !after {
				k.strike()
				panic(http.ErrAbortHandler)
			}
			r.Header.Set(killAfter, "1")
		}
		r.Header.Del("Authorization")
		if r.Method != http.MethodGet { // what was sent is done, and noted by the server as done, though nobody hears of it
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
			defer cancel()
			k.sent.Add(1)
			defer k.sent.Done()
			r = r.WithContext(ctx)
		}
		proxy.ServeHTTP(w, r)
	}))
	k.EnableHTTP2 = true
	k.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	k.StartTLS()
	t.Cleanup(k.Close)
	return k
}

const killAfter = "X-Kill-After"

// arm sets the request to strike at and starts counting anew.
func (k *killer) arm(at int, after bool, kill func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count, k.at, k.after, k.kill, k.seen = 0, at, after, kill, nil
}

// next counts a request and reports whether it is the one to strike at, and whether only after it.
func (k *killer) next(r *http.Request) (strikes, after bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	k.seen = append(k.seen, r.Method+" "+r.URL.Path)
	return k.count == k.at, k.after
}

func (k *killer) strike() {
	k.mu.Lock()
	kill := k.kill
	k.mu.Unlock()
	if kill != nil { // else it ended before
		kill()
	}
}

// kills runs a command and kills it at one request; false when it ended before that, as it must with the exit code ends.
func (k *killer) kills(b *bench, args []string, at int, after bool, ends int) bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 15*time.Minute)
	defer cancel()
	cmd := b.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var struck atomic.Bool
	started := make(chan *exec.Cmd, 1)
	k.arm(at, after, func() {
		c := <-started
		struck.Store(true)
		_ = c.Process.Kill()
	})
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	started <- cmd
	err := cmd.Wait()
	if !struck.Load() && cmd.ProcessState.ExitCode() != ends {
		b.t.Fatalf("%v, request %d: not killed, and failed: %v\n%s", args, at, err, out.String())
	}
	k.arm(0, false, nil)
	k.sent.Wait() // the next run comes when all is there that this one sent
	return struck.Load()
}

// ca is the proxy's certificate as PEM.
func (k *killer) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate().Raw})
}
