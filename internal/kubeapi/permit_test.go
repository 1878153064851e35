package kubeapi

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/permit"
)

// heard is an API server that notes what it was asked for, whole requests only, and how long they may take there.
type heard struct {
	mu  sync.Mutex
	got []string
	// answer, when not nil, answers in place of "{}".
	answer func(w http.ResponseWriter)
	// ask, when not nil, answers too, and knows what was asked.
	ask func(w http.ResponseWriter, r *http.Request)
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		return
	}
	h.mu.Lock()
	h.got = append(h.got, r.Method+" "+r.URL.Query().Get("timeout"))
	h.mu.Unlock()
	w.Header().Set("Content-Type", JSONType)
	switch {
	case h.ask != nil:
		h.ask(w, r)
		return
	case h.answer != nil:
		h.answer(w)
		return
	}
	_, _ = w.Write([]byte("{}"))
}

// client is a Client of a server, which speaks HTTP/2 or only HTTP/1.1.
func (h *heard) client(t *testing.T, two bool) *Client {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = two
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]\nusers: [{name: u, user: {token: x}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u}}]\n", srv.URL, ca)
	c, err := Open(Config{Name: "c", Access: fleet.Access{KubeconfigPaths: []string{"k"}, Content: []byte(text), Context: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The context's permit is asked right before each attempt of a write, and once more when its body leaves: nothing is sent that
// may not be any more, and what is sent may take as long as is left. Reads and dry runs do not ask.
func TestPermit(t *testing.T) {
	lost := errors.New("the lock was lost")
	dry := map[string][]string{"dryRun": {"All"}}
	body := map[string]string{"a": "b"}
	for name, c := range map[string]struct {
		r      Request
		passes int // how often the permit says yes
		busy   bool
		want   []string
		err    error
	}{
		"a write that may be sent":               {r: Request{Method: http.MethodPatch, Body: body}, passes: 9, want: []string{"PATCH 7s"}},
		"a write that may not":                   {r: Request{Method: http.MethodPatch, Body: body, Finish: true}, err: lost},
		"nor a deletion without a body":          {r: Request{Method: http.MethodDelete}, err: lost},
		"nor a creation":                         {r: Request{Method: http.MethodPost, Body: body}, err: lost},
		"one that becomes too late on its way":   {r: Request{Method: http.MethodPatch, Body: body, Finish: true}, passes: 1, err: lost},
		"another attempt asks anew":              {r: Request{Method: http.MethodDelete}, passes: 1, busy: true, want: []string{"DELETE 7s"}, err: lost},
		"a read":                                 {r: Request{Method: http.MethodGet}, want: []string{"GET 30s"}},
		"a dry run":                              {r: Request{Method: http.MethodPatch, Body: body, Query: dry}, want: []string{"PATCH 30s"}},
		"a write that has less time by itself":   {r: Request{Method: http.MethodPatch, Body: body, Timeout: time.Second}, passes: 9, want: []string{"PATCH 1s"}},
		"one whose query says how long it takes": {r: Request{Method: http.MethodPut, Body: body, Query: map[string][]string{"timeout": {"5s"}}}, passes: 9, want: []string{"PUT 5s"}},
	} {
		for _, two := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %t", name, two), func(t *testing.T) {
				t.Parallel()
				h := &heard{}
				if c.busy {
					h.answer = func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }
				}
				api := h.client(t, two)
				var mu sync.Mutex
				asked := 0
				ctx := permit.With(t.Context(), func() (time.Duration, error) {
					mu.Lock()
					defer mu.Unlock()
					if asked++; asked > c.passes {
						return 0, lost
					}
					return 7 * time.Second, nil
				})
				r := c.r
				r.Path = "/api/v1/things/x"
				_, err := api.Do(context.WithoutCancel(ctx), r) // what is sent after the end asks too
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				h.mu.Lock()
				defer h.mu.Unlock()
				if !slices.Equal(h.got, c.want) {
					t.Errorf("the server got %v, want %v", h.got, c.want)
				}
			})
		}
	}
}
