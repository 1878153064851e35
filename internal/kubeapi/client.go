// Package kubeapi is one API server's connection: access from a kubeconfig or from flags, one transport of its own,
// requests that are sent again where that is safe, lists by pages, watches, discovery, and answers that are bounded and
// checked before anybody believes them.
//
// It must not know what is asked or written, nor why: objects, plans and records are its users' matter.
package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/redact"
)

// Config says how one API server is reached.
type Config struct {
	// Name is the cluster's name, for errors.
	Name   string
	Access fleet.Access
	// Kubeconfigs keeps the files that were read; nil reads them each time.
	Kubeconfigs *Kubeconfigs
	// UserAgent is sent with every request; "" is "hawser".
	UserAgent string
	// Parallel bounds requests in flight, watches apart; 0 is 32.
	Parallel int
	// RequestTimeout bounds each request, also on the server; 0 is 30 s.
	RequestTimeout time.Duration
	// Redact masks secret values in foreign texts; nil masks nothing.
	Redact func(string) string
	// Tell is called with each credential before it is sent the first time, so that Redact knows it; nil tells nobody. Of a connection
	// that several share it is the first one's.
	Tell func(credential string)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Client sends requests to one API server. Its methods are safe for concurrent use, and nothing it holds is shared with
// another cluster.
type Client struct {
	*connection
	cfg Config
	as  *Identity
}

// connection is what the Clients of one API server share: the transport, and which kinds are served.
type connection struct {
	http     *http.Client
	base     *url.URL
	server   string
	serverID string
	slots    chan struct{}
	// large is held while an answer of many bytes is read and understood.
	large chan struct{}
	close func()
	// own knows the credentials that were sent, of which the shortest has least bytes; long those that nothing of a cluster is called by chance.
	own   *redact.Redactor
	long  *redact.Redactor
	least atomic.Int64
	// filter tells quickly that none of them is in an answer; noted is held while one more becomes known.
	filter atomic.Pointer[redact.Prefilter]
	noted  sync.Mutex
	// renews: the credentials are made anew after an answer 401, so it is asked once more.
	renews bool

	mu       sync.RWMutex
	kinds    *kinds
	refresh  sync.Mutex
	requests atomic.Int64
	wrote    atomic.Bool // since the kinds were asked for
}

// via says which context of which kubeconfig is used, "" where none is.
func (c Config) via() string {
	if c.Access.Context == "" || len(c.Access.KubeconfigPaths) == 0 {
		return ""
	}
	return c.Access.Describe()
}

// Open prepares a connection; nothing is sent. The error is an *AccessError.
func Open(cfg Config) (*Client, error) {
	rc, err := restConfig(cfg)
	if err != nil {
		return nil, &AccessError{Cluster: cfg.Name, Server: cfg.Access.Server, Via: cfg.via(), Err: err}
	}
	base, err := serverURL(rc.Host)
	if err != nil {
		return nil, &AccessError{Cluster: cfg.Name, Server: rc.Host, Via: cfg.via(), Err: err}
	}
	renews := rc.ExecProvider != nil || rc.AuthProvider != nil || rc.BearerTokenFile != ""
	conn := &connection{own: redact.New(), long: redact.New()}
	rt, pool, err := newTransport(rc, func(credential string) {
		conn.sent(credential)
		if cfg.Tell != nil {
			cfg.Tell(credential)
		}
	}, cfg.Tell)
	if err != nil {
		return nil, &AccessError{Cluster: cfg.Name, Server: rc.Host, Via: cfg.via(), Err: err}
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = 32
	}
	conn.http, conn.base, conn.server = &http.Client{Transport: rt, CheckRedirect: neverRedirect}, base, rc.Host
	conn.serverID, conn.slots, conn.large = serverID(base, rc), make(chan struct{}, cfg.Parallel), make(chan struct{}, 2)
	conn.close, conn.renews, conn.kinds = pool.CloseIdleConnections, renews, kindsOf()
	return &Client{cfg: cfg, connection: conn}, nil
}

// Masked is a Client of the same connection that masks foreign texts by redact; nil masks nothing.
func (c *Client) Masked(redact func(string) string) *Client {
	out := &Client{connection: c.connection, cfg: c.cfg, as: c.as}
	out.cfg.Redact = redact
	return out
}

// Name is the cluster's name.
func (c *Client) Name() string { return c.cfg.Name }

// Server is the API server's address as the access has it.
func (c *Client) Server() string { return c.server }

// ServerID is a digest of the server's address, of the name it is asked by, and of the authority that its certificate
// is checked against.
func (c *Client) ServerID() string { return c.serverID }

// Parallel is the number of requests that may be in flight.
func (c *Client) Parallel() int { return cap(c.slots) }

// Requests is the number of requests sent so far, repetitions included.
func (c *Client) Requests() int { return int(c.requests.Load()) }

// Wrote reports whether anything was written by the connection since it was asked which kinds are served.
func (c *Client) Wrote() bool { return c.wrote.Load() }

// Close gives the connection back. Requests in flight go on.
func (c *Client) Close() { c.close() }

// Redact masks secret values in a foreign text.
func (c *Client) Redact(text string) string {
	if c.cfg.Redact == nil {
		return text
	}
	return c.cfg.Redact(text)
}

// Now is the client's clock.
func (c *Client) Now() time.Time {
	if c.cfg.Now != nil {
		return c.cfg.Now()
	}
	return time.Now()
}

// Bounded ends a look of several requests where a cluster leaves them unanswered: each has its own time, and is sent again.
func (c *Client) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	most := 2 * c.requestTimeout()
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("the cluster did not answer within %s", most))
}

func (c *Client) requestTimeout() time.Duration {
	if c.cfg.RequestTimeout > 0 {
		return c.cfg.RequestTimeout
	}
	return 30 * time.Second
}
