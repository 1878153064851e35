// Package testbucket has servers with a bucket on loopback for tests: Google Cloud Storage and Azure Blob Storage as their documentation
// has them, as far as records need it, and what stands before every such server: faults on request, and a clock of its own. It is
// imported by tests alone.
//
// testbucket must not know what is kept in a bucket.
package testbucket

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault answers a request in place of the server and says true, or does something and lets it go on.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Front stands before a server.
type Front struct {
	// URL is its endpoint, Server what listens there.
	URL    string
	Server *httptest.Server

	behind http.Handler
	mu     sync.Mutex
	seen   []string
	fault  Fault
}

// Open starts to listen, and ends it with the test. vouched says why a request is not let in, by an answer of its own, true for one that is.
// The clock of all answers is so far ahead.
func Open(t testing.TB, ahead time.Duration, tls bool, vouched func(w http.ResponseWriter, r *http.Request, body []byte) bool, behind http.Handler) *Front {
	t.Helper()
	f := &Front{behind: behind}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.mu.Lock()
		f.seen = append(f.seen, r.Method+" "+r.URL.Path)
		fault := f.fault
		f.mu.Unlock()
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		if !vouched(w, r, body) || fault != nil && fault(w, r) {
			return
		}
		behind.ServeHTTP(w, r)
	}))
	if tls {
		f.Server.StartTLS()
	} else {
		f.Server.Start()
	}
	t.Cleanup(f.Server.Close)
	f.URL = f.Server.URL
	return f
}

// Fail lets every request pass a fault from now on, nil for none.
func (f *Front) Fail(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// Seen are the requests since the last call, as "METHOD path".
func (f *Front) Seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.seen
	f.seen = nil
	return out
}

// Then lets the server carry a request out and answers with a code all the same, "" body; code 0 answers nothing.
func (f *Front) Then(code int, when func(r *http.Request) bool) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !when(r) {
			return false
		}
		f.behind.ServeHTTP(httptest.NewRecorder(), r)
		return Answer(code)(w, r)
	}
}

// Cut lets the server carry a request out and sends the first half of its answer.
func (f *Front) Cut(when func(r *http.Request) bool) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !when(r) {
			return false
		}
		whole := httptest.NewRecorder()
		f.behind.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", "1000000") // of which this is the beginning
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		if flush, ok := w.(http.Flusher); ok {
			flush.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

// Answer answers with a code; 0 ends the connection without an answer.
func Answer(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if code == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(code)
		return true
	}
}

// Elsewhere leads to another server.
func Elsewhere(to string) Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
}

// Hang answers nothing until the channel is closed.
func Hang(until <-chan struct{}) Fault {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-until:
		case <-r.Context().Done():
		}
		return true
	}
}

// blobs are what a bucket holds.
type blobs struct {
	mu    sync.Mutex
	ahead time.Duration
	held  map[string]held
}

type held struct {
	data []byte
	at   time.Time
}

// create makes a blob; false: there is one.
func (b *blobs) create(key string, data []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.held[key]; there {
		return false
	}
	if b.held == nil {
		b.held = map[string]held{}
	}
	b.held[key] = held{data, time.Now().Add(b.ahead)}
	return true
}

func (b *blobs) get(key string) (held, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, ok := b.held[key]
	return h, ok
}

func (b *blobs) remove(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.held[key]
	delete(b.held, key)
	return ok
}

// page are at most so many keys with a prefix that come after one, and whether there are more.
func (b *blobs) page(prefix, after string, most int) (keys []string, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.held {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > most {
		return keys[:most], true
	}
	return keys, false
}

// Objects are the bodies of all objects, by key.
func (b *blobs) Objects(testing.TB) map[string][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]byte{}
	for key, h := range b.held {
		out[key] = h.data
	}
	return out
}

// Bucket is what the servers' bucket or container is called.
const Bucket = "releases"

// pageSize is how many blobs a page of a listing has at most: few, so that every listing has pages.
const pageSize = 5
