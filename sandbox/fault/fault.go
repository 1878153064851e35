// Package fault is a reverse proxy before an API server that hurts some of the requests on purpose: it delays,
// refuses, cuts or swallows them.
//
// It must not know of sandboxes: it takes an upstream, certificates and a Spec.
package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Spec says which requests are hurt and how. A request is chosen by Match, After, Count and Rate, in this order;
// then Latency is served, then the first of Hang, Cut, Drop and Status that is set.
type Spec struct {
	// Match are words that must all fit: an HTTP method fits the method, any other word is looked for in the path
	// with its query. Empty fits every request.
	Match string `json:"match,omitempty"`
	// After leaves the first N matching requests alone.
	After int64 `json:"after,omitempty"`
	// Count hurts that many requests and then no more; 0 is no limit.
	Count int64 `json:"count,omitempty"`
	// Rate is the share of the matching requests that is hurt, above 0 and up to 1; 0 means all.
	Rate float64 `json:"rate,omitempty"`
	// Latency is waited before anything else.
	Latency Duration `json:"latency,omitempty"`
	// Status answers with one of these codes, in turn, instead of asking the API server.
	Status []int `json:"status,omitempty"`
	// RetryAfter is the header's value, in seconds, with 429 and 503; 0 means 1, below 0 leaves the header out.
	RetryAfter int `json:"retryAfter,omitempty"`
	// Drop lets the API server answer and closes the connection in the middle of the answer's body.
	Drop bool `json:"drop,omitempty"`
	// Cut closes the connection without any answer: "before" the API server saw the request, or "after" it did it.
	Cut string `json:"cut,omitempty"`
	// Hang never answers; the client has to give up.
	Hang bool `json:"hang,omitempty"`
}

// Duration is a time.Duration that JSON spells "200ms".
type Duration time.Duration

// MarshalText spells the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Values of Spec.Cut.
const (
	CutBefore = "before"
	CutAfter  = "after"
)

// Validate says what is wrong with a Spec, or returns nil.
func (s Spec) Validate() error {
	if s.Rate < 0 || s.Rate > 1 {
		return fmt.Errorf("error rate %v: from 0 to 1", s.Rate)
	}
	if s.After < 0 || s.Count < 0 || s.Latency < 0 {
		return errors.New("after, count and latency cannot be negative")
	}
	if s.Cut != "" && s.Cut != CutBefore && s.Cut != CutAfter {
		return fmt.Errorf("cut %q: %q or %q", s.Cut, CutBefore, CutAfter)
	}
	for _, code := range s.Status {
		if code < 400 || code > 599 {
			return fmt.Errorf("status %d: from 400 to 599", code)
		}
	}
	if s.Latency == 0 && len(s.Status) == 0 && !s.Drop && s.Cut == "" && !s.Hang {
		return errors.New("the fault does nothing: give at least one of latency, status, drop, cut and hang")
	}
	return nil
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// matches says whether all words of Match fit the request.
func (s Spec) matches(r *http.Request) bool {
	uri := r.URL.RequestURI()
	for _, word := range strings.Fields(s.Match) {
		if slices.Contains(methods, word) {
			if r.Method != word {
				return false
			}
		} else if !strings.Contains(uri, word) {
			return false
		}
	}
	return true
}

// chooser counts requests and decides which one is hurt. It is safe for concurrent use.
type chooser struct {
	mu               sync.Mutex
	spec             *Spec
	matched, faulted int64
}

func (c *chooser) set(s *Spec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spec, c.matched, c.faulted = s, 0, 0
}

// choose returns the Spec to hurt the request with and the ordinal of the hurt, or nil to leave it alone.
func (c *chooser) choose(r *http.Request) (*Spec, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spec
	if s == nil || !s.matches(r) {
		return nil, 0
	}
	c.matched++
	if c.matched <= s.After || (s.Count > 0 && c.faulted >= s.Count) {
		return nil, 0
	}
	if s.Rate > 0 && s.Rate < 1 && rand.Float64() >= s.Rate {
		return nil, 0
	}
	c.faulted++
	return s, c.faulted
}
