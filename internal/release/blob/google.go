package blob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"hawser.dev/hawser/internal/broke"
)

// googleScope is what tokens are asked for.
const googleScope = "https://www.googleapis.com/auth/devstorage.read_write"

// googleTokens are the access tokens of a service account, or of what Google's own tools find on the machine.
type googleTokens struct {
	server Server
	client *http.Client
	mu     sync.Mutex
	source oauth2.TokenSource
}

// newGoogleTokens reads a key; "" stands for the usual chain, which is asked with the first token.
func newGoogleTokens(key []byte, server Server, transport http.RoundTripper) (*googleTokens, error) {
	g := &googleTokens{server: server, client: &http.Client{Transport: transport, Timeout: server.Attempt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if len(key) == 0 {
		return g, nil
	}
	// Keys of service accounts alone: other kinds of credentials name files to read and servers to send them to.
	config, err := google.JWTConfigFromJSON(key, googleScope)
	if err != nil || config.Email == "" || len(config.PrivateKey) == 0 {
		return nil, errors.New("releases.store.gcs.credentials of the fleet's file is no key of a service account: give what `gcloud iam service-accounts keys create` writes")
	}
	g.source = config.TokenSource(g.context())
	return g, nil
}

// context gives the tokens' own client to the library.
func (g *googleTokens) context() context.Context {
	return context.WithValue(context.Background(), oauth2.HTTPClient, g.client)
}

// token is one that is good for some time yet. The library knows no context: the client's limit ends what nobody waits for any more.
func (g *googleTokens) token(ctx context.Context) (string, error) {
	type result struct {
		*oauth2.Token
		err error
	}
	done := make(chan result, 1)
	broke.Go(func() {
		got, err := g.ask()
		done <- result{got, err}
	})
	select {
	case <-ctx.Done():
		return "", &unsent{context.Cause(ctx), true}
	case got := <-done:
		if got.err != nil {
			return "", g.server.refusedToken(got.err)
		}
		return got.AccessToken, nil
	}
}

func (g *googleTokens) ask() (*oauth2.Token, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.source == nil {
		if err := pathsGiven("a key of a service account", "GOOGLE_APPLICATION_CREDENTIALS"); err != nil {
			return nil, fmt.Errorf("%w (%w)", errCredentials, err)
		}
		found, err := google.FindDefaultCredentials(g.context(), googleScope)
		if err != nil {
			return nil, fmt.Errorf("%w (%s): set GOOGLE_APPLICATION_CREDENTIALS, run `gcloud auth application-default login`, or give releases.store.gcs.credentials in the fleet's file", errCredentials, g.server.said(err.Error()))
		}
		g.source = found.TokenSource
	}
	return g.source.Token()
}

// refusedToken is why there is no token, without what the server of tokens says beyond its own code.
func (s Server) refusedToken(err error) error {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case errors.Is(err, errCredentials):
		return err
	case !ok || answer.Response == nil:
		return &unsent{fmt.Errorf("no access token from Google: %s", s.said(err.Error())), true}
	}
	var said struct{ Error, Description string }
	_ = json.Unmarshal(answer.Body, &struct {
		Error       *string `json:"error"`
		Description *string `json:"error_description"`
	}{&said.Error, &said.Description})
	r := &refusal{status: answer.Response.StatusCode, code: s.said(said.Error), message: s.said(said.Description)}
	return &unsent{fmt.Errorf("no access token from Google (%s): correct the credentials of releases.store.gcs", r.said()), r.status >= 500 || r.status == http.StatusTooManyRequests}
}
