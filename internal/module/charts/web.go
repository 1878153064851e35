package charts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
)

// web makes the requests: GET only, bounded in size.
type web struct{ client *http.Client }

// statusError is an answer that is none.
type statusError struct{ code int }

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

// get writes what is at an address to w, at most limit bytes; nothing is written before a good answer. The repository's credentials go to
// its own host alone.
func (c *web) get(ctx context.Context, repo, at *url.URL, w io.Writer, limit int64) error {
	bare := *at
	bare.User = nil
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil) // http.NoBody would not be sent again
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
		return &statusError{code: res.StatusCode}
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
