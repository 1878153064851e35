// Package sigstore signs and verifies with Sigstore's own library: by keys, and by certificates for identities, in the forms
// that cosign stores and reads.
//
// sigstore must not know registries or policies: it is given signatures and signers.
package sigstore

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/theupdateframework/go-tuf/v2/metadata/fetcher"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/signature"
)

// Addresses of the public Sigstore.
const (
	publicFulcio = "https://fulcio.sigstore.dev"
	publicRekor  = "https://rekor.sigstore.dev"
)

// Options of a Sigstore. The zero value has every default.
type Options struct {
	// Dir is where the public Sigstore's root is kept between runs; "" keeps it for the process.
	Dir string
	// Getenv looks variables up, os.Getenv by default.
	Getenv func(string) string
	// TokenFile is where a token may lie that nobody named.
	TokenFile string
	// Redact is applied to what servers and proxies say; nil leaves it as it is.
	Redact func(string) string
	// Tell is called with each credential before it is sent, so that Redact knows it; nil tells nobody.
	Tell func(credential string)
	// Mirror is the address of the public root, for tests.
	Mirror string
}

// Sigstore signs and verifies.
type Sigstore struct {
	o      Options
	client *http.Client
	public func(ctx context.Context) (root.TrustedMaterial, error)
}

var (
	_ signature.Verifier = (*Sigstore)(nil)
	_ signature.Maker    = (*Sigstore)(nil)
)

// New makes a Sigstore; nobody is contacted before it is used.
func New(o Options) *Sigstore {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.TokenFile == "" {
		o.TokenFile = "/var/run/sigstore/cosign/oidc-token" // cosign's
	}
	// No redirect is followed, whatever client the transport is given to: the libraries' own would send an identity token, which stands in a
	// body, to wherever it is told.
	s := &Sigstore{o: o, client: httpclient.New(httpclient.Options{Tell: o.Tell, Straight: true, Retries: -1})}
	s.client.Timeout = 30 * time.Second
	s.public = once(s.fetchRoot)
	return s
}

// redact is what of a text may be said.
func (s *Sigstore) redact(text string) string {
	if s.o.Redact == nil {
		return text
	}
	return s.o.Redact(text)
}

// once asks once, and remembers the answer for the process; that somebody was interrupted is none. The others wait as long as they want to.
func once[T any](ask func(context.Context) (T, error)) func(context.Context) (T, error) {
	var got T
	var err error
	done, turn := false, make(chan struct{}, 1)
	return func(ctx context.Context) (T, error) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
		if !done {
			got, err = ask(ctx)
			done = err == nil || ctx.Err() == nil
		}
		return got, err
	}
}

// fetchRoot gets the public Sigstore's root: by TUF, from a root of trust that is built in.
func (s *Sigstore) fetchRoot(ctx context.Context) (root.TrustedMaterial, error) {
	public := fetcher.NewDefaultFetcher()
	public.SetHTTPClient(httpclient.New(httpclient.Options{Tell: s.o.Tell}))
	o := tuf.DefaultOptions().WithContext(ctx).WithCachePath(s.o.Dir).WithFetcher(public)
	if s.o.Dir == "" {
		o = o.WithDisableLocalCache()
	} else {
		_ = os.MkdirAll(s.o.Dir, 0o700) // the library lets others in, also into the cache's directory, which may be among what is made
	}
	if s.o.Mirror != "" {
		o = o.WithRepositoryBaseURL(s.o.Mirror)
	}
	got, err := root.FetchTrustedRootWithOptions(o)
	if err != nil {
		f := diag.Errorf("signature-root", "the trusted root of the public Sigstore cannot be had")
		f.Why = s.redact(err.Error())
		f.Fix = "check the network, or name a trusted_root.json: trustedRoot in the fleet, --trusted-root for one command"
		return nil, diag.Findings{f}.Err()
	}
	return got, nil
}

// trusted is the authorities and logs of a root.
func (s *Sigstore) trusted(ctx context.Context, r signature.Root) (root.TrustedMaterial, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.Name == "" && len(r.JSON) == 0 {
		return s.public(ctx)
	}
	got, err := root.NewTrustedRootFromJSON(r.JSON)
	if err != nil {
		f := diag.Errorf("signature-root", "%s is no trusted root", r.Name)
		f.Why = err.Error()
		f.Fix = "it is the trusted_root.json of a Sigstore: cosign trusted-root create makes one"
		return nil, diag.Findings{f}.Err()
	}
	return got, nil
}
