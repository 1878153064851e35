package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/outgoing"
	"hawser.dev/hawser/internal/redact"
)

const (
	// attempts bounds how often a request is sent whose answer is that the server is busy, or none.
	attempts = 4
	// smallBody is what a request moves in the time of one without data; slowest is how fast more moves at least.
	smallBody, slowest = 256 << 10, 128 << 10
	// maxAnswer bounds an answer with a blob, maxSmall one with neither a blob nor a list.
	maxAnswer, maxSmall = 1 << 28, 1 << 20
	// maxBlobs bounds a listing.
	maxBlobs = 200_000
	// maxRefusal bounds what is read of an answer that refuses, maxMessage what is repeated of it.
	maxRefusal, maxMessage = 64 << 10, 300
)

// Server says how a server with a bucket is asked.
type Server struct {
	UserAgent string
	// Attempt bounds one request without much data (default 15 s), Wait is the first pause before it is tried again (default 250 ms).
	Attempt, Wait time.Duration
	// Tell is called with each credential before it is sent, so that Redact knows it; Redact is applied to what servers say before it is
	// cut. Both may be nil.
	Tell   func(credential string)
	Redact func(string) string
}

func (s Server) withDefaults() Server {
	s.Attempt, s.Wait = cmp.Or(s.Attempt, 15*time.Second), cmp.Or(s.Wait, 250*time.Millisecond)
	return s
}

// vocabulary is what a kind of server calls things.
type vocabulary struct {
	// field is that of the fleet's file, bucket what is missing where there is none, rights what identities need.
	field, bucket, rights string
}

// refusal is a server's answer that is not what was asked for.
type refusal struct {
	status        int
	code, message string
	// bucketless: there is no such bucket.
	bucketless bool
}

func (r *refusal) said() string {
	out := cmp.Or(r.code, http.StatusText(r.status))
	if r.message != "" && r.message != out {
		out += ": " + r.message
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.status, out))
}

func (r *refusal) Error() string { return "the server answers " + r.said() }

// useless is an answer that no further try betters.
type useless struct{ why string }

func (u *useless) Error() string { return u.why }

// errCredentials is what is said where none are found.
var errCredentials = errors.New("no credentials were found")

// unsent is why a request was not sent at all: there were no credentials for it. again: there may be some later.
type unsent struct {
	error
	again bool
}

func (u *unsent) Unwrap() error { return u.error }

// try sends a request of so many bytes until it is answered, within bounds. unsure tells that one that failed may have been carried out.
func (s Server) try(ctx context.Context, size int, send func(context.Context) error) (unsure bool, err error) {
	limit := s.Attempt + time.Duration(max(0, size-smallBody)/slowest)*time.Second
	for n, wait := 1, s.Wait; ; n, wait = n+1, wait*2 {
		one, cancel := context.WithTimeout(ctx, limit)
		err = send(one)
		late := one.Err() != nil && ctx.Err() == nil
		cancel()
		again, maybe := worthwhile(err)
		unsure = unsure || maybe
		if err == nil || ctx.Err() != nil || !again || n == attempts {
			if late && err != nil {
				err = fmt.Errorf("no answer within %s: %w", limit.Round(time.Second), err)
			}
			return unsure, err
		}
		select {
		case <-ctx.Done():
			return unsure, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// worthwhile reports whether a request may fare better when it is sent again, and whether it may have been carried out.
func worthwhile(err error) (again, maybe bool) {
	if err == nil || errors.Is(err, errCredentials) {
		return false, false
	}
	if u, ok := errors.AsType[*unsent](err); ok {
		return u.again, false
	}
	if _, ok := errors.AsType[*useless](err); ok {
		return false, false
	}
	r, ok := errors.AsType[*refusal](err)
	switch {
	case !ok: // no answer
		return true, true
	case r.status == http.StatusNotImplemented:
		return false, false
	case r.status >= 500:
		return true, true
	}
	// A 409 is that somebody else writes it at this moment: the next try tells who did.
	return r.status == http.StatusTooManyRequests || r.status == http.StatusConflict || r.status == http.StatusRequestTimeout, false
}

// told says what the server's answers mean.
func (v vocabulary) told(err error) error {
	r, ok := errors.AsType[*refusal](err)
	switch {
	case !ok:
		return err
	case r.bucketless:
		return fmt.Errorf("there is no %s (%s): make it, or correct %s of the fleet's file", v.bucket, r.said(), v.field)
	case r.status == http.StatusNotFound:
		return ErrAbsent
	case r.status == http.StatusPreconditionFailed:
		return ErrExists
	case r.status == http.StatusNotImplemented:
		return fmt.Errorf("the server does not know conditional writes, without which it can hold neither locks nor records (%s)", r.said())
	case r.status == http.StatusForbidden, r.status == http.StatusUnauthorized:
		return fmt.Errorf("the server lets these credentials not do that (%s): %s", r.said(), v.rights)
	case r.status/100 == 3:
		return fmt.Errorf("the server leads to another one (%s), to which nothing is sent: correct %s of the fleet's file", r.said(), v.field)
	}
	return err
}

// settled is the outcome of a Create. A blob that is there after a try of which nobody knows is ours when it holds the same: what is
// sealed is sealed only once.
func settled(ctx context.Context, b Bucket, key string, data []byte, unsure bool, err error) error {
	if unsure && errors.Is(err, ErrExists) {
		if there, look := b.Get(ctx, key, len(data)); look == nil && bytes.Equal(there, data) {
			return nil
		}
	}
	return err
}

// read takes a blob of so many bytes, by what its server says, out of an answer.
func read(body io.Reader, size int64, limit int) ([]byte, error) {
	if size > int64(limit) {
		return nil, &useless{fmt.Sprintf("it has %d bytes, at most %d are read", size, limit)}
	}
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err == nil && (len(data) > limit || int64(len(data)) != size) {
		err = fmt.Errorf("it has %d bytes, of which %d came", size, len(data))
	}
	return data, err
}

// listing is what a server lists below a prefix; all of its names begin with root.
type listing struct {
	root, prefix string
	entries      []Entry
}

// add takes one blob of the server's list.
func (l *listing) add(name string, modified time.Time) error {
	key, ok := strings.CutPrefix(name, l.root)
	if !ok || !strings.HasPrefix(key, l.prefix) {
		return &useless{"the list has " + oneLine(name) + ", for which nobody asked"}
	}
	if len(l.entries) == maxBlobs {
		return &useless{fmt.Sprintf("the list has more than %d objects", maxBlobs)}
	}
	l.entries = append(l.entries, Entry{key, modified})
	return nil
}

// sorted are the entries by key.
func (l *listing) sorted() []Entry {
	slices.SortFunc(l.entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return l.entries
}

// rooted is a prefix as all names begin with it: "" or one that ends in a slash.
func rooted(prefix string) string {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return prefix
}

// named is a bucket for people: "S3 bucket acme/prod at https://minio.example.com".
func named(kind, bucket, prefix, endpoint string) string {
	out := kind + " " + strings.Trim(bucket+"/"+strings.Trim(prefix, "/"), "/")
	if endpoint != "" {
		out += " at " + endpoint
	}
	return out
}

// endpointURL reads an endpoint; path: it may have one.
func endpointURL(endpoint string, path bool) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil || !path && strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("the endpoint %q is none: https://HOST or https://HOST:PORT", endpoint)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// below reports whether an endpoint is a host of a domain, over TLS: one that the machine's own credentials may go to.
func below(u *url.URL, domains ...string) bool {
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && slices.ContainsFunc(domains, func(d string) bool { return strings.HasSuffix(host, "."+d) })
}

// longestWord is how long a text is at most between blanks; the ends of lines are none, as servers wrap what is long.
func longestWord(text string) (most int) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '\t' }) {
		most = max(most, len(word))
	}
	return most
}

// said is what a server says, without secrets in any form, in one line.
func (s Server) said(text string, secrets ...string) string {
	own, longest := redact.New(), longestWord(text)
	for _, secret := range secrets {
		if len(secret) <= longest { // else it stands there in no form: none is shorter
			own.AddSent(secret)
		}
	}
	text = own.Redact(text)
	if s.Redact != nil {
		text = s.Redact(text)
	}
	return oneLine(text, secrets...)
}

// oneLine is what a server says, short and without what a terminal would obey; secrets are left out.
func oneLine(s string, secrets ...string) string {
	for _, hidden := range secrets {
		if hidden != "" {
			s = strings.ReplaceAll(s, hidden, "...")
		}
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "..."
	}
	return s
}

// dated takes the server's time of an answer.
type dated struct{}

// atServer sends a request whose answer tells the server's time.
func atServer(ctx context.Context, send func(context.Context) error) (at time.Time, err error) {
	if err = send(context.WithValue(ctx, dated{}, &at)); err == nil && at.IsZero() {
		err = &useless{"the server tells no time (header Date)"}
	}
	return at, err
}

// bounded lets no answer be larger than what we asked for (expected), tells its time, and follows no redirect.
type bounded struct {
	http.RoundTripper

	mu     sync.Mutex
	signed []string // the signatures of the last requests
}

// maxSigned is of how many requests the signatures are known: more are not sent at once.
const maxSigned = 128

// signature finds that of a request, of Amazon's form and of Azure's.
var signature = lazyregexp.New(`(?:Signature=|^SharedKey [^:]*:)([^,\s]+)`)

// note takes the signature of a request that is sent.
func (b *bounded) note(req *http.Request) {
	m := signature.FindStringSubmatch(req.Header.Get("Authorization"))
	if m == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.signed = append(b.signed, m[1]); len(b.signed) > maxSigned {
		b.signed = slices.Delete(b.signed, 0, 1)
	}
}

// signatures are those of the last requests.
func (b *bounded) signatures() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.signed)
}

func newTransport(tell func(string)) *bounded {
	return &bounded{RoundTripper: outgoing.Tell(&http.Transport{Proxy: outgoing.Proxy(http.ProxyFromEnvironment, tell), DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20, DisableCompression: true}, tell)}
}

// Do is RoundTrip.
func (b *bounded) Do(req *http.Request) (*http.Response, error) { return b.RoundTrip(req) }

// RoundTrip sends one request.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	b.note(req)
	resp, err := b.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if at, ok := req.Context().Value(dated{}).(*time.Time); ok {
		*at, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	want, ok := req.Context().Value(expected{}).(expected)
	if !ok {
		want.bytes = maxSmall
	}
	var body io.Reader = io.LimitReader(resp.Body, want.bytes)
	if want.sign != "" && resp.StatusCode/100 == 2 {
		data, err := want.page(resp.Body)
		if err != nil {
			return nil, errors.Join(err, resp.Body.Close())
		}
		body = bytes.NewReader(data)
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{body, resp.Body}
	return resp, nil
}

// expected is how large an answer may be, and of a page of a list how often a sign stands in it that begins each entry: a few bytes of
// a page become many in memory, so that it is looked at before it is decoded.
type expected struct {
	bytes int64
	sign  string
	signs int
}

// What servers may answer. A page of S3 has 1,000 keys of 1,024 bytes (three times that as it is sent) with some 15 elements each, one of
// Azure 5,000 blobs with 60 at most, one of Google 1,000 names and times.
var (
	aBlob      = expected{bytes: maxAnswer}
	s3Page     = expected{8 << 20, "<", 60_000}
	azurePage  = expected{16 << 20, "<", 750_000}
	googlePage = expected{8 << 20, "{", 5000}
)

// in is a context of requests with such an answer.
func (e expected) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, expected{}, e)
}

// page reads a page of a list.
func (e expected) page(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, e.bytes+1))
	switch {
	case int64(len(data)) > e.bytes:
		return nil, &useless{fmt.Sprintf("a page of the list has more than %d MiB", e.bytes>>20)}
	case bytes.Count(data, []byte(e.sign)) > e.signs:
		return nil, &useless{"a page of the list has more entries than any server gives"}
	}
	return data, err
}
