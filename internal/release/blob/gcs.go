package blob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// GCSOptions say which bucket of Google Cloud Storage, and how it is reached.
type GCSOptions struct {
	Bucket, Prefix string
	// Endpoint is https://HOST[:PORT] (or http://), "" for Google's.
	Endpoint string
	// Key is the content of a service account's key file; nil stands for what Google's own tools find, which goes to Google's servers
	// alone: another endpoint is asked without credentials then, as emulators are.
	Key []byte
	Server
}

// GCS is a Bucket that speaks the JSON API of Google Cloud Storage. Whether a blob is absent is decided by the server
// (ifGenerationMatch=0).
type GCS struct {
	options   GCSOptions
	base      *url.URL
	transport *bounded
	tokens    *googleTokens // nil for none
	prefix    string
}

var _ Bucket = (*GCS)(nil)

// NewGCS returns the bucket. Nobody is asked for anything yet.
func NewGCS(o GCSOptions) (*GCS, error) {
	o.Server = o.withDefaults()
	endpoint := "https://storage.googleapis.com"
	if o.Endpoint != "" {
		endpoint = o.Endpoint
	}
	base, err := endpointURL(endpoint, false)
	if err != nil {
		return nil, err
	}
	if err := allowed(base, below(base, "googleapis.com")); err != nil && len(o.Key) > 0 {
		return nil, fmt.Errorf("releases.store.gcs.endpoint of the fleet's file is %s: %w", o.Endpoint, err)
	}
	g := &GCS{options: o, base: base, transport: newTransport(o.Tell), prefix: rooted(o.Prefix)}
	if len(o.Key) > 0 || below(base, "googleapis.com") {
		g.tokens, err = newGoogleTokens(o.Key, o.Server, g.transport)
	}
	return g, err
}

func (g *GCS) String() string { return g.options.String() }

// String names the bucket for people: "Google Cloud Storage bucket acme/prod".
func (o GCSOptions) String() string {
	return named("Google Cloud Storage bucket", o.Bucket, o.Prefix, o.Endpoint)
}

// gcsRequest is one of the few that a Bucket needs.
type gcsRequest struct {
	method, path string
	query        url.Values
	body         []byte
	// object: a 404 says that there is no such object.
	object bool
}

// ask sends a request until it is answered; the answer's body is given to take.
func (g *GCS) ask(ctx context.Context, r gcsRequest, take func(*http.Response) error) (unsure bool, err error) {
	unsure, err = g.options.try(ctx, len(r.body), func(ctx context.Context) error { return g.once(ctx, r, take) })
	return unsure, g.vocabulary().told(err)
}

func (g *GCS) vocabulary() vocabulary {
	return vocabulary{"releases.store.gcs", "bucket " + g.options.Bucket,
		"storage.objects.list, storage.objects.get, storage.objects.create and storage.objects.delete of the bucket are needed (the role Storage Object User has them)"}
}

// once sends a request.
func (g *GCS) once(ctx context.Context, r gcsRequest, take func(*http.Response) error) error {
	u, err := url.Parse(g.base.String() + r.path)
	if err != nil {
		return &useless{err.Error()}
	}
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return &useless{err.Error()}
	}
	req.Header.Set("User-Agent", g.options.UserAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	token := ""
	if g.tokens != nil {
		if token, err = g.tokens.token(ctx); err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := g.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 == 2 {
		return take(resp)
	}
	return g.options.refusedGCS(resp, r.object, token)
}

// refusedGCS reads what an answer says.
func (s Server) refusedGCS(resp *http.Response, object bool, token string) error {
	var said struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if text := strings.TrimSpace(string(data)); err == nil && json.Unmarshal(data, &said) != nil && !strings.HasPrefix(text, "<") {
		said.Error.Message = text // what is asked for as it is, is refused in plain text; a proxy's page says nothing
	}
	r := &refusal{status: resp.StatusCode, message: s.said(said.Error.Message, token)}
	if len(said.Error.Errors) > 0 {
		r.code = s.said(said.Error.Errors[0].Reason, token)
	}
	// Both are "notFound": of a bucket, the text alone tells where an object was asked for.
	r.bucketless = r.status == http.StatusNotFound && (!object || r.message == "The specified bucket does not exist.")
	return r
}

func (g *GCS) bucket() string { return "/storage/v1/b/" + url.PathEscape(g.options.Bucket) + "/o" }

func (g *GCS) object(key string) string { return g.bucket() + "/" + url.PathEscape(g.prefix+key) }

// Get reads an object.
func (g *GCS) Get(ctx context.Context, key string, limit int) (data []byte, err error) {
	_, err = g.ask(aBlob.in(ctx), gcsRequest{method: http.MethodGet, path: g.object(key), query: url.Values{"alt": {"media"}}, object: true}, func(resp *http.Response) error {
		data, err = read(resp.Body, resp.ContentLength, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Create makes an object where there is none, that is: where its generation is 0.
func (g *GCS) Create(ctx context.Context, key string, data []byte) error {
	query := url.Values{"uploadType": {"media"}, "name": {g.prefix + key}, "ifGenerationMatch": {"0"}, "fields": {"generation"}}
	unsure, err := g.ask(ctx, gcsRequest{method: http.MethodPost, path: "/upload" + g.bucket(), query: query, body: data}, func(*http.Response) error { return nil })
	return settled(ctx, g, key, data, unsure, err)
}

// gcsPage is one of a listing.
type gcsPage struct {
	NextPageToken string
	Items         []struct {
		Name        string
		TimeCreated time.Time
	}
}

// List reads all pages of a listing.
func (g *GCS) List(ctx context.Context, prefix string) ([]Entry, error) {
	list := listing{root: g.prefix, prefix: prefix}
	for page, n := "", 0; ; n++ {
		if n > maxBlobs {
			return nil, fmt.Errorf("the list does not end after %d pages", n)
		}
		query := url.Values{"prefix": {g.prefix + prefix}, "fields": {"nextPageToken,items(name,timeCreated)"}}
		if page != "" {
			query.Set("pageToken", page)
		}
		var got gcsPage
		_, err := g.ask(googlePage.in(ctx), gcsRequest{method: http.MethodGet, path: g.bucket(), query: query}, func(resp *http.Response) error {
			got = gcsPage{}
			return json.NewDecoder(resp.Body).Decode(&got)
		})
		for _, o := range got.Items {
			if err == nil {
				err = list.add(o.Name, o.TimeCreated)
			}
		}
		if err != nil {
			return nil, err
		}
		if page = got.NextPageToken; page == "" {
			return list.sorted(), nil
		}
	}
}

// Delete removes an object.
func (g *GCS) Delete(ctx context.Context, key string) error {
	_, err := g.ask(ctx, gcsRequest{method: http.MethodDelete, path: g.object(key), object: true}, func(*http.Response) error { return nil })
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

// Now is what the server says the time is.
func (g *GCS) Now(ctx context.Context) (at time.Time, err error) {
	list := gcsRequest{method: http.MethodGet, path: g.bucket(), query: url.Values{"maxResults": {"1"}, "fields": {"kind"}}}
	_, err = g.options.try(ctx, 0, func(ctx context.Context) error {
		at, err = atServer(ctx, func(ctx context.Context) error { return g.once(ctx, list, func(*http.Response) error { return nil }) })
		return err
	})
	return at, g.vocabulary().told(err)
}
