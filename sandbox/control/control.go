// Package control is how commands talk to a running supervisor: JSON over HTTP on the sandbox's Unix socket.
//
// It holds the messages and the client; the supervisor serves them. It must not know how a supervisor does what
// it is told.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"hawser.dev/hawser/sandbox/fault"
	"hawser.dev/hawser/sandbox/state"
)

// Phase is how a control plane is.
type Phase string

// The phases of a control plane.
const (
	// PhaseStarting: its process runs and it is not ready yet.
	PhaseStarting Phase = "starting"
	// PhaseRunning: it answers.
	PhaseRunning Phase = "running"
	// PhasePaused: its process is suspended; connections stay open and nothing answers.
	PhasePaused Phase = "paused"
	// PhaseStopped: it was stopped by `stop`, or never started.
	PhaseStopped Phase = "stopped"
	// PhaseCrashed: its process ended by itself.
	PhaseCrashed Phase = "crashed"
)

// ClusterStatus is one cluster as the supervisor sees it.
type ClusterStatus struct {
	Name      string      `json:"name"`
	Group     string      `json:"group"`
	Phase     Phase       `json:"phase"`
	Version   string      `json:"version"`
	URL       string      `json:"url"`
	FaultURL  string      `json:"faultURL"`
	Workloads bool        `json:"workloads"`
	PID       int         `json:"pid,omitempty"`
	RSSBytes  int64       `json:"rssBytes,omitempty"`
	Since     time.Time   `json:"since,omitzero"`
	Fault     *fault.Spec `json:"fault,omitempty"`
	// Matched and Faulted count the requests since the fault was set: those that matched, those that were hurt.
	Matched int64 `json:"matched,omitempty"`
	Faulted int64 `json:"faulted,omitempty"`
}

// Status is a sandbox as its supervisor sees it.
type Status struct {
	Name     string          `json:"name"`
	Dir      string          `json:"dir"`
	Running  bool            `json:"running"`
	Attached bool            `json:"attached,omitempty"`
	PID      int             `json:"pid,omitempty"`
	RSSBytes int64           `json:"rssBytes,omitempty"`
	Since    time.Time       `json:"since,omitzero"`
	Created  time.Time       `json:"created"`
	Clusters []ClusterStatus `json:"clusters"`
}

// UpRequest asks for clusters beside those that run.
type UpRequest struct {
	Clusters []state.Cluster `json:"clusters"`
}

// Progress is one line of the answer to an UpRequest. The last one has Done or Error.
type Progress struct {
	Cluster string `json:"cluster,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	Done    bool   `json:"done,omitempty"`
}

// UserRequest asks for a kubeconfig of another user.
type UserRequest struct {
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
}

// DownRequest ends the sandbox.
type DownRequest struct {
	KeepData bool `json:"keepData,omitempty"`
}

// ErrNotRunning says that no supervisor answers on the socket.
var ErrNotRunning = errors.New("the sandbox is not running")

// Client talks to one supervisor.
type Client struct{ http *http.Client }

// NewClient makes a client for the supervisor that listens on the Unix socket.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", ErrNotRunning, err)
		}
		return conn, nil
	}
	return &Client{&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Status asks how the sandbox is. The error wraps ErrNotRunning when no supervisor answers.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	s := &Status{}
	return s, c.call(ctx, http.MethodGet, "/v1/status", nil, s)
}

// Up starts clusters and hands every step to progress. When ctx ends early the supervisor takes back what it began.
func (c *Client) Up(ctx context.Context, req UpRequest, progress func(Progress)) error {
	resp, err := c.do(ctx, http.MethodPost, "/v1/up", req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	dec := json.NewDecoder(resp.Body)
	for {
		var p Progress
		if err := dec.Decode(&p); err != nil {
			return fmt.Errorf("the supervisor ended while it started clusters: %w", err)
		}
		switch {
		case p.Error != "":
			return errors.New(p.Error)
		case p.Done:
			return nil
		}
		progress(p)
	}
}

// Do runs one of stop, start, pause and resume on a cluster.
func (c *Client) Do(ctx context.Context, verb, cluster string) error {
	return c.call(ctx, http.MethodPost, "/v1/clusters/"+url.PathEscape(cluster)+"/"+verb, nil, nil)
}

// SetFault makes the cluster's proxy inject a fault; nil clears it.
func (c *Client) SetFault(ctx context.Context, cluster string, spec *fault.Spec) error {
	path := "/v1/clusters/" + url.PathEscape(cluster) + "/fault"
	if spec == nil {
		return c.call(ctx, http.MethodDelete, path, nil, nil)
	}
	return c.call(ctx, http.MethodPut, path, spec, nil)
}

// Down ends the sandbox and returns when its clusters are gone.
func (c *Client) Down(ctx context.Context, req DownRequest) error {
	return c.call(ctx, http.MethodPost, "/v1/down", req, nil)
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.do(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// do sends one request; an answer that is not 2xx becomes an error with the supervisor's own words.
func (c *Client) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://sandbox"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, ErrNotRunning) {
			return nil, ErrNotRunning
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	return nil, errors.New(string(bytes.TrimSpace(raw)))
}
