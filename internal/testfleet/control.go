package testfleet

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
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// FaultSpec says which requests through the fault-injecting proxy are hurt and how. A request is chosen by Match,
// After, Count and Rate, in this order; then Latency is served, then the first of Hang, Cut, Drop and Status that is
// set happens to it.
type FaultSpec struct {
	// Match are words that must all fit: an HTTP method fits the method ("PATCH"), any other word is looked for in
	// the path with its query ("configmaps"). Empty fits every request.
	Match string `json:"match,omitempty"`
	// After leaves the first N matching requests alone; Count hurts that many and no more (0: no limit).
	After int64 `json:"after,omitempty"`
	Count int64 `json:"count,omitempty"`
	// Rate is the share of the matching requests that is hurt; 0 means all.
	Rate float64 `json:"rate,omitempty"`
	// Latency is waited before anything else.
	Latency time.Duration `json:"-"`
	// Status answers with one of these codes, in turn, with a metav1.Status as the body.
	Status []int `json:"status,omitempty"`
	// RetryAfter is the header's value, in seconds, with 429 and 503; 0 means 1, below 0 leaves the header out.
	RetryAfter int `json:"retryAfter,omitempty"`
	// Drop closes the connection in the middle of the answer.
	Drop bool `json:"drop,omitempty"`
	// Cut closes the connection without an answer: CutBefore or CutAfter the API server did the request.
	Cut string `json:"cut,omitempty"`
	// Hang never answers.
	Hang bool `json:"hang,omitempty"`
}

// Values of FaultSpec.Cut.
const (
	CutBefore = "before"
	CutAfter  = "after"
)

// MarshalJSON spells Latency as the sandbox reads it.
func (s FaultSpec) MarshalJSON() ([]byte, error) {
	type plain FaultSpec
	return json.Marshal(struct {
		plain
		Latency string `json:"latency,omitempty"`
	}{plain(s), s.Latency.String()})
}

// AuditEntry is one request that an API server answered, or one watch that it began, from the server's audit log.
type AuditEntry struct {
	Time         time.Time `json:"time"`
	Verb         string    `json:"verb"`   // get, list, watch, create, update, patch, delete, deletecollection
	Method       string    `json:"method"` // GET, POST, PUT, PATCH, DELETE
	Path         string    `json:"path"`
	Query        string    `json:"query"`
	Status       int       `json:"status"`
	DryRun       bool      `json:"dryRun"`
	FieldManager string    `json:"fieldManager"`
	Force        bool      `json:"force"`
	UserAgent    string    `json:"userAgent"`
	User         string    `json:"user"`
	DurationMs   float64   `json:"durationMs"`
	Group        string    `json:"group"`
	Resource     string    `json:"resource"`
	Namespace    string    `json:"namespace"`
	Name         string    `json:"name"`
	Subresource  string    `json:"subresource"`
}

// Stop kills the control plane of a cluster as kill -9 would. At the end of the test it is started again.
func (f *Fleet) Stop(t testing.TB, cluster string) {
	t.Helper()
	f.do(t, cluster, "stop")
	t.Cleanup(func() { f.do(t, cluster, "start") })
}

// Start starts a stopped control plane again, on the same port and with its data, and returns when it is ready.
func (f *Fleet) Start(t testing.TB, cluster string) {
	t.Helper()
	f.do(t, cluster, "start")
}

// Pause suspends a control plane: connections stay open and nothing answers. At the end of the test it goes on.
func (f *Fleet) Pause(t testing.TB, cluster string) {
	t.Helper()
	f.do(t, cluster, "pause")
	t.Cleanup(func() {
		if f.Cluster(cluster).Phase == "paused" {
			f.do(t, cluster, "resume")
		}
	})
}

// Resume lets a paused control plane go on.
func (f *Fleet) Resume(t testing.TB, cluster string) {
	t.Helper()
	f.do(t, cluster, "resume")
}

// Fault makes the proxy of a cluster hurt requests, in place of what it did before, until ClearFault or the end of
// the test. Only clients of FaultRESTConfig or of the context NAME-fault go through it.
func (f *Fleet) Fault(t testing.TB, cluster string, spec FaultSpec) {
	t.Helper()
	if err := f.client.call(http.MethodPut, clusterPath(cluster)+"/fault", spec, nil); err != nil {
		t.Fatalf("testfleet: fault %s: %v", cluster, err)
	}
	t.Cleanup(func() { f.ClearFault(t, cluster) })
}

// ClearFault makes the proxy of a cluster hurt nothing.
func (f *Fleet) ClearFault(t testing.TB, cluster string) {
	t.Helper()
	if err := f.client.call(http.MethodDelete, clusterPath(cluster)+"/fault", nil, nil); err != nil {
		t.Fatalf("testfleet: clear fault %s: %v", cluster, err)
	}
}

// AuditOffset is the present end of a cluster's audit log: what is requested from now on comes after it.
func (f *Fleet) AuditOffset(t testing.TB, cluster string) int64 {
	t.Helper()
	var got struct{ Offset int64 }
	if err := f.client.get(clusterPath(cluster)+"/audit?offset=only", &got); err != nil {
		t.Fatalf("testfleet: audit %s: %v", cluster, err)
	}
	return got.Offset
}

// Audit are the requests in a cluster's audit log since the offset, without those of the control plane itself. What
// was answered before the call is in it.
func (f *Fleet) Audit(t testing.TB, cluster string, from int64) []AuditEntry {
	t.Helper()
	resp, err := f.client.do(http.MethodGet, clusterPath(cluster)+"/audit?from="+strconv.FormatInt(from, 10), nil)
	if err != nil {
		t.Fatalf("testfleet: audit %s: %v", cluster, err)
	}
	defer func() { _ = resp.Body.Close() }()
	var entries []AuditEntry
	for dec := json.NewDecoder(resp.Body); ; {
		var e AuditEntry
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("testfleet: audit %s: %v", cluster, err)
		}
		entries = append(entries, e)
	}
	if msg := resp.Trailer.Get("Audit-Error"); msg != "" {
		t.Fatalf("testfleet: audit %s: %s", cluster, msg)
	}
	return entries
}

// UserKubeconfig writes a kubeconfig with a new client certificate for a user, who may do what RBAC grants, and
// returns its path. The contexts are named as in Kubeconfig.
func (f *Fleet) UserKubeconfig(t testing.TB, user string, groups ...string) string {
	t.Helper()
	resp, err := f.client.do(http.MethodPost, "/v1/kubeconfig", map[string]any{"user": user, "groups": groups})
	if err != nil {
		t.Fatalf("testfleet: kubeconfig of %s: %v", user, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("testfleet: kubeconfig of %s: %v", user, err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (f *Fleet) do(t testing.TB, cluster, verb string) {
	t.Helper()
	if err := f.client.call(http.MethodPost, clusterPath(cluster)+"/"+verb, nil, nil); err != nil {
		t.Errorf("testfleet: %s %s: %v", verb, cluster, err)
	}
}

func clusterPath(name string) string { return "/v1/clusters/" + url.PathEscape(name) }

// control talks to the sandbox's supervisor.
type control struct{ http *http.Client }

func newControl(socket string) *control {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &control{&http.Client{Timeout: startTimeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func (c *control) get(path string, into any) error { return c.call(http.MethodGet, path, nil, into) }

func (c *control) call(method, path string, body, into any) error {
	resp, err := c.do(method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// do sends a request; an answer that is not 2xx becomes an error with the supervisor's words.
func (c *control) do(method, path string, body any) (*http.Response, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	// Not the test's context: clusters are mended after it ended.
	req, err := http.NewRequest(method, "http://sandbox"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil || resp.StatusCode/100 == 2 {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return nil, errors.Join(fmt.Errorf("%s", bytes.TrimSpace(text)), err)
}
