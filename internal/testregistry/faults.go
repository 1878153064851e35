package testregistry

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
)

// On lets a fault look only at requests whose "METHOD PATH" contains a text.
func On(text string, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.Method+" "+r.URL.Path, text) && f(w, r)
	}
}

// Times lets a fault happen n times.
func Times(n int64, f Fault) Fault {
	var left atomic.Int64
	left.Store(n)
	return func(w http.ResponseWriter, r *http.Request) bool { return left.Add(-1) >= 0 && f(w, r) }
}

// Status answers with a status, and with a Retry-After of so many seconds unless that is negative.
func Status(code, retryAfter int) Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if retryAfter >= 0 {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		http.Error(w, `{"errors":[{"code":"TEST","message":"told to fail"}]}`, code)
		return true
	}
}

// Hang does not answer until the client gives up or the registry ends.
func (r *Registry) Hang() Fault {
	return func(_ http.ResponseWriter, req *http.Request) bool {
		select {
		case <-req.Context().Done():
		case <-r.done:
		}
		return true
	}
}

// HangIn answers with the beginning of a body and then no more.
func (r *Registry) HangIn() Fault {
	return func(w http.ResponseWriter, req *http.Request) bool {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		return r.Hang()(w, req)
	}
}

// Change answers with what the registry says, its body changed; the length is right, the digest is not.
func (r *Registry) Change(change func(body []byte) []byte) Fault {
	return func(w http.ResponseWriter, req *http.Request) bool {
		inner := httptest.NewRecorder()
		r.inner.ServeHTTP(inner, req)
		body := change(inner.Body.Bytes())
		for key, values := range inner.Header() {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(inner.Code)
		_, _ = w.Write(body)
		return true
	}
}

// CutOff answers with what the registry says, but ends the connection in the middle of the body.
func (r *Registry) CutOff() Fault {
	return func(w http.ResponseWriter, req *http.Request) bool {
		inner := httptest.NewRecorder()
		r.inner.ServeHTTP(inner, req)
		w.Header().Set("Content-Type", inner.Header().Get("Content-Type"))
		w.Header().Set("Content-Length", strconv.Itoa(inner.Body.Len()))
		_, _ = w.Write(inner.Body.Bytes()[:inner.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// EndlessTags answers every question for tags with some, and with a link to more.
func EndlessTags(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/tags/list") {
		return false
	}
	n, _ := strconv.Atoi(r.URL.Query().Get("last"))
	w.Header().Set("Link", "<"+r.URL.Path+"?last="+strconv.Itoa(n+1)+`>; rel="next"`)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"name":"x","tags":["0.0.`+strconv.Itoa(n)+`"]}`)
	return true
}
