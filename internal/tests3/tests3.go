// Package tests3 is an S3 server on loopback for tests: gofakes3, which honours conditional writes, behind a check of every request's
// signature (which gofakes3 leaves out) and with faults on request. It is imported by tests alone.
//
// tests3 must not know what is kept in a bucket.
package tests3

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// What requests must be signed with.
const (
	AccessKeyID     = "AKIDTEST"
	SecretAccessKey = "secret-of-the-test-server"
	Region          = "eu-test-1"
	Bucket          = "releases"
)

// Fault answers a request in place of the server and says true, or does something and lets it go on.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Server is one server with the bucket Bucket.
type Server struct {
	// URL is its endpoint.
	URL string

	backend *s3mem.Backend
	mu      sync.Mutex
	seen    []string
	fault   Fault
	ahead   time.Duration
}

// New starts a server whose clock is so far ahead, and ends it with the test.
func New(t testing.TB, ahead time.Duration) *Server {
	t.Helper()
	s := &Server{ahead: ahead}
	s.backend = s3mem.New(s3mem.WithTimeSource(clock{ahead}))
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(s.backend, gofakes3.WithTimeSource(clock{ahead}), gofakes3.WithTimeSkewLimit(0), gofakes3.WithHostBucketBase("localhost")).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.Path)
		fault := s.fault
		s.mu.Unlock()
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		if why := unsigned(r, body); why != "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>"+why+"</Message></Error>")
			return
		}
		if fault != nil && fault(w, r) {
			return
		}
		r.Host, _, _ = strings.Cut(r.Host, ":") // the bucket may be a part of it
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

type clock struct{ ahead time.Duration }

// Now is ahead.
func (c clock) Now() time.Time { return time.Now().Add(c.ahead) }

// Since is by the same clock.
func (c clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Fail lets every request pass a fault from now on, nil for none.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Seen are the requests since the last call, as "METHOD path".
func (s *Server) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

// Objects are the bodies of all objects, by key.
func (s *Server) Objects(t testing.TB) map[string][]byte {
	t.Helper()
	list, err := s.backend.ListBucket(Bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, c := range list.Contents {
		o, err := s.backend.GetObject(Bucket, c.Key, nil)
		if err != nil {
			continue // deleted meanwhile
		}
		if out[c.Key], err = io.ReadAll(o.Contents); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Then lets the server carry a request out and answers with a code all the same, "" body; code 0 answers nothing.
func (s *Server) Then(code int, when func(r *http.Request) bool) Fault {
	fake := gofakes3.New(s.backend, gofakes3.WithTimeSource(clock{s.ahead}), gofakes3.WithTimeSkewLimit(0)).Server()
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !when(r) {
			return false
		}
		fake.ServeHTTP(httptest.NewRecorder(), r)
		Answer(code)(w, r)
		return true
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

// unsigned says why the signature of a request is none (AWS Signature Version 4), "" for a good one.
func unsigned(r *http.Request, body []byte) string {
	auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "not signed"
	}
	part := map[string]string{}
	for _, p := range strings.Split(auth, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		part[name] = value
	}
	date, stamp := r.Header.Get("X-Amz-Date"), ""
	if len(date) >= 8 {
		stamp = date[:8]
	}
	scope := stamp + "/" + Region + "/s3/aws4_request"
	if part["Credential"] != AccessKeyID+"/"+scope {
		return "the credential is " + part["Credential"]
	}
	digest := r.Header.Get("X-Amz-Content-Sha256")
	if sum := sha256.Sum256(body); digest != "UNSIGNED-PAYLOAD" && digest != hex.EncodeToString(sum[:]) && !strings.HasPrefix(digest, "STREAMING-") {
		return "the digest of the content is another one"
	}
	var headers strings.Builder
	names := strings.Split(part["SignedHeaders"], ";")
	if !slices.Contains(names, "host") || r.Method == http.MethodPut && !slices.Contains(names, "if-none-match") {
		return "host or condition are not signed"
	}
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{r.Method, (&url.URL{Path: r.URL.Path}).EscapedPath(), query, headers.String(), part["SignedHeaders"], digest}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + SecretAccessKey)
	for _, p := range strings.Split(scope, "/") {
		key = mac(key, p)
	}
	if want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(sum[:]))); want != part["Signature"] {
		return "the signature is another one"
	}
	return ""
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
