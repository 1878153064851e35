package charts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/outgoing"
)

// Timeouts of requests; a zero field is its default.
type Timeouts struct {
	// Connect is for a connection and its handshake (10 s), Stall for an answer's beginning and for every wait for more of
	// it (30 s).
	Connect, Stall time.Duration
	// Pause stands between attempts, doubled each time (500 ms).
	Pause time.Duration
}

const (
	maxRedirects = 5
	attempts     = 3
	maxPause     = 10 * time.Second
)

// web makes the requests: GET only, bounded in size, time, redirects and attempts.
type web struct {
	client *http.Client
	Timeouts
}

func newWeb(t Timeouts, tell func(string)) *web {
	if t.Connect <= 0 {
		t.Connect = 10 * time.Second
	}
	if t.Stall <= 0 {
		t.Stall = 30 * time.Second
	}
	if t.Pause <= 0 {
		t.Pause = 500 * time.Millisecond
	}
	transport := &http.Transport{
		Proxy:                 outgoing.Proxy(http.ProxyFromEnvironment, tell),
		DialContext:           (&net.Dialer{Timeout: t.Connect}).DialContext,
		TLSHandshakeTimeout:   t.Connect,
		ResponseHeaderTimeout: t.Stall,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
	}
	return &web{Timeouts: t, client: &http.Client{Transport: outgoing.Tell(transport, tell), CheckRedirect: redirect}}
}

// redirect follows a few, never from https to http, and not from a public address into a private network.
func redirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case req.URL.Scheme != "https" && via[0].URL.Scheme == "https":
		return errors.New("it redirects to an address that is not encrypted")
	case isPrivate(req.URL.Hostname()) && !isPrivate(via[0].URL.Hostname()):
		return errors.New("it redirects into a private network")
	}
	if req.URL.Host != via[0].URL.Host {
		req.Header.Del("Authorization")
	}
	return nil
}

func isPrivate(host string) bool {
	ip := net.ParseIP(host)
	if ip == nil {
		return host == "localhost"
	}
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

// statusError is an answer that is none.
type statusError struct {
	code  int
	after time.Duration
}

// Error is the status in words.
func (e *statusError) Error() string {
	return fmt.Sprintf("it answers %d %s", e.code, http.StatusText(e.code))
}

func (e *statusError) fix() string {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "give it a user and password in the URL (https://USER:PASSWORD@HOST/...)"
	case http.StatusNotFound:
		return "look at the address of the repository"
	}
	return ""
}

func (e *statusError) again() bool { return e.code == http.StatusTooManyRequests || e.code >= 500 }

// get writes what is at an address to w, at most limit bytes. The repository's credentials go to its own host alone.
// Answers that ask for patience are asked again; what was written stays written only by the last attempt, since nothing
// is written before a good answer.
func (c *web) get(ctx context.Context, repo, at *url.URL, w io.Writer, limit int64) error {
	pause := c.Pause
	for try := 1; ; try++ {
		err := c.once(ctx, repo, at, w, limit)
		var se *statusError
		if !errors.As(err, &se) || !se.again() || try == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(pause, min(se.after, maxPause))):
		}
		pause *= 2
	}
}

func (c *web) once(ctx context.Context, repo, at *url.URL, w io.Writer, limit int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bare := *at
	bare.User = nil
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), http.NoBody)
	if err != nil {
		return err
	}
	if repo.User != nil && repo.Host == at.Host && repo.Scheme == at.Scheme {
		password, _ := repo.User.Password()
		req.SetBasicAuth(repo.User.Username(), password)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return &statusError{code: res.StatusCode, after: time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	}
	stalled := time.AfterFunc(c.Stall, func() { cancel(fmt.Errorf("nothing came for %s", c.Stall)) })
	defer stalled.Stop()
	n, err := io.Copy(w, io.LimitReader(&alive{res.Body, stalled, c.Stall}, limit+1))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if n > limit {
		return fmt.Errorf("it has more than %d MiB", limit>>20)
	}
	return nil
}

// alive puts the end of waiting off whenever something came.
type alive struct {
	r     io.Reader
	timer *time.Timer
	stall time.Duration
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		a.timer.Reset(a.stall)
	}
	return n, err
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
