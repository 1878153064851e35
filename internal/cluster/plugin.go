package cluster

import (
	"context"
	"net/http"
	"sync/atomic"
)

// client-go runs the plugin that makes credentials within the request and waits for it however long it takes, whatever
// the request's context says: one plugin that hangs would hang everything. impatient gives up when the context ends.
type impatient struct {
	http.RoundTripper
	command string
}

// pluginError: the request waited for the plugin when its time was over.
type pluginError struct{ command string }

func (e *pluginError) Error() string {
	return "the credential plugin " + e.command + " gave no answer in time"
}

type credentialedKey struct{}

// credentialed is below client-go's credentials: what gets here has them.
type credentialed struct{ http.RoundTripper }

func (c credentialed) RoundTrip(r *http.Request) (*http.Response, error) {
	if has, ok := r.Context().Value(credentialedKey{}).(*atomic.Bool); ok {
		has.Store(true)
	}
	return c.RoundTripper.RoundTrip(r)
}

// RoundTrip is the wrapped one, or the end of the request's context.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	type answer struct {
		resp *http.Response
		err  error
	}
	var has atomic.Bool
	ctx := context.WithValue(r.Context(), credentialedKey{}, &has)
	done := make(chan answer, 1)
	go func() {
		resp, err := i.RoundTripper.RoundTrip(r.WithContext(ctx))
		done <- answer{resp, err}
	}()
	select {
	case a := <-done:
		return a.resp, a.err
	case <-ctx.Done():
	}
	if has.Load() { // with the server now, where the context is heeded
		a := <-done
		return a.resp, a.err
	}
	go func() {
		if a := <-done; a.resp != nil {
			_ = a.resp.Body.Close()
		}
	}()
	return nil, &pluginError{i.command}
}
