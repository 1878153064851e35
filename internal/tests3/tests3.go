// Package tests3 is an S3 server on loopback for tests: gofakes3, which honours conditional writes, behind a check of every request's
// signature (which gofakes3 leaves out), and with what testbucket puts before every server with a bucket. It is imported by tests alone.
//
// tests3 must not know what is kept in a bucket.
package tests3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"hawser.dev/hawser/internal/testbucket"
)

// What requests must be signed with.
const (
	AccessKeyID     = "AKIDTEST"
	SecretAccessKey = "secret-of-the-test-server"
	Region          = "eu-test-1"
	Bucket          = "releases"
)

// Server is one server with the bucket Bucket.
type Server struct {
	*testbucket.Front

	backend *s3mem.Backend
}

// New starts a server whose clock is so far ahead, and ends it with the test.
func New(t testing.TB, ahead time.Duration) *Server {
	t.Helper()
	s := &Server{backend: s3mem.New(s3mem.WithTimeSource(clock{ahead}))}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(s.backend, gofakes3.WithTimeSource(clock{ahead}), gofakes3.WithTimeSkewLimit(0), gofakes3.WithHostBucketBase("localhost")).Server()
	signed := func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		why := unsigned(r, body)
		if why != "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>"+why+"</Message></Error>")
		}
		return why == ""
	}
	s.Front = testbucket.Open(t, ahead, false, signed, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host, _, _ = strings.Cut(r.Host, ":") // the bucket may be a part of it
		fake.ServeHTTP(w, r)
	}))
	return s
}

type clock struct{ ahead time.Duration }

// Now is ahead.
func (c clock) Now() time.Time { return time.Now().Add(c.ahead) }

// Since is by the same clock.
func (c clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

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
