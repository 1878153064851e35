package charts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
)

// web makes the requests: GET only, bounded in size.
type web struct {
	client *http.Client
	ofHost func(ctx context.Context, host string) (user, password string, err error)

	mu    sync.Mutex
	known map[string]*url.Userinfo // by scheme and host, of those that asked
}

// statusError is an answer that is none.
type statusError struct {
	code int
	host string
}

// Error is the status in words.
func (e *statusError) Error() string {
	return fmt.Sprintf("it answers %d %s", e.code, http.StatusText(e.code))
}

func (e *statusError) fix() string {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "give its user and password with --creds " + e.host + "=USER:PASSWORD, or keep them in Docker's configuration for that host"
	case http.StatusNotFound:
		return "look at the address of the repository"
	}
	return ""
}

// get writes what is at an address to w, at most limit bytes; nothing is written before a good answer. The repository's credentials go to
// its own host alone: those of its address at once, others where it asks for some.
func (c *web) get(ctx context.Context, repo, at *url.URL, w io.Writer, limit int64) error {
	own := repo.Host == at.Host && repo.Scheme == at.Scheme
	var user *url.Userinfo
	if own {
		user = c.of(repo)
	}
	res, err := c.ask(ctx, at, user)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusUnauthorized && own && user == nil {
		if user, err = c.asked(ctx, repo); err == nil && user != nil {
			_ = res.Body.Close()
			if res, err = c.ask(ctx, at, user); err != nil {
				return err
			}
		}
	}
	defer res.Body.Close()
	if err != nil { // of what is kept for the host
		return err
	}
	if res.StatusCode != http.StatusOK {
		return &statusError{code: res.StatusCode, host: at.Host}
	}
	n, err := io.Copy(w, io.LimitReader(res.Body, limit+1))
	if err != nil {
		return err
	}
	if n > limit {
		return fmt.Errorf("it has more than %d MiB", limit>>20)
	}
	return nil
}

// ask makes one request.
func (c *web) ask(ctx context.Context, at *url.URL, user *url.Userinfo) (*http.Response, error) {
	bare := *at
	bare.User = nil
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil) // http.NoBody would not be sent again
	if err != nil {
		return nil, err
	}
	if user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return c.client.Do(req)
}

// of is what is known of a repository before it is asked; nil for nothing.
func (c *web) of(repo *url.URL) *url.Userinfo {
	if repo.User != nil {
		return repo.User
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[repo.Scheme+"://"+repo.Host]
}

// asked is what is kept for a repository that asks for a user, nil for nothing. Nobody on the way may see it.
func (c *web) asked(ctx context.Context, repo *url.URL) (*url.Userinfo, error) {
	if c.ofHost == nil || repo.Scheme != "https" && !httpclient.Loopback(repo.Host) {
		return nil, nil
	}
	name, password, err := c.ofHost(ctx, repo.Host)
	if err != nil || name == "" && password == "" {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]*url.Userinfo{}
	}
	user := url.UserPassword(name, password)
	c.known[repo.Scheme+"://"+repo.Host] = user
	return user, nil
}

// plainReason is the innermost cause, without the URL that Go's client puts in front of it.
func plainReason(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return "there is no host " + dns.Name
	}
	return err.Error()
}

// explain turns a mismatch found by the cache into one that names the chart.
func (r repo) explain(err error) error {
	var mm *cache.MismatchError
	if !errors.As(err, &mm) {
		return err
	}
	f := diag.Errorf("digest-mismatch", "chart %s has digest %s, %s is wanted", r, mm.Got, mm.Want)
	f.Why = "the archive is not what the index or the pin says"
	f.Fix = "fetch it again later; if it stays so, find out who changed it"
	return diag.Findings{f}.Err()
}
