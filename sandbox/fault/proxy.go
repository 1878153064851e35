package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Config is what a Proxy stands between.
type Config struct {
	// Upstream is the API server.
	Upstream *url.URL
	// CA checks both the upstream's and the clients' certificates.
	CA *x509.CertPool
	// Serving is the proxy's own certificate.
	Serving tls.Certificate
	// Client is the certificate the proxy shows upstream. Its user must be allowed to impersonate.
	Client tls.Certificate
	// User is the user of Client: requests of other users are sent upstream as impersonated.
	User string
}

// Proxy passes requests on to an API server and hurts those that a Spec chooses. Clients show a certificate of
// the CA; upstream sees the same user and groups.
type Proxy struct {
	user    string
	reverse *httputil.ReverseProxy
	server  *http.Server
	choose  chooser
}

// NewProxy makes a proxy that hurts nothing yet.
func NewProxy(c Config) *Proxy {
	p := &Proxy{user: c.User}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: c.CA, Certificates: []tls.Certificate{c.Client}, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(c.Upstream)
			p.identify(r.In, r.Out)
		},
		Transport:     transport,
		FlushInterval: -1,
		// A dead API server looks dead through the proxy too: the connection is closed, no 502 is made up.
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ModifyResponse: dropBody,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 30 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{c.Serving}, ClientCAs: c.CA,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return p
}

// Serve answers on the listener until Close.
func (p *Proxy) Serve(l net.Listener) error { return p.server.ServeTLS(l, "", "") }

// Close ends all connections.
func (p *Proxy) Close() error { return p.server.Close() }

// Set makes the proxy hurt requests from now on and starts counting anew; nil lets all of them pass.
func (p *Proxy) Set(s *Spec) { p.choose.set(s) }

// Current returns the Spec in force with the number of requests that matched it and that it hurt.
func (p *Proxy) Current() (spec *Spec, matched, faulted int64) {
	p.choose.mu.Lock()
	defer p.choose.mu.Unlock()
	return p.choose.spec, p.choose.matched, p.choose.faulted
}

type dropKey struct{}

// ServeHTTP hurts the request or passes it on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	spec, nth := p.choose.choose(r)
	if spec == nil {
		p.reverse.ServeHTTP(w, r)
		return
	}
	if !sleep(r.Context(), time.Duration(spec.Latency)) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case spec.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case spec.Cut == CutBefore:
		panic(http.ErrAbortHandler)
	case spec.Cut == CutAfter:
		p.reverse.ServeHTTP(&discard{header: http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case spec.Drop:
		p.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), dropKey{}, true)))
	case len(spec.Status) > 0:
		writeStatus(w, *spec, spec.Status[int(nth-1)%len(spec.Status)])
	default:
		p.reverse.ServeHTTP(w, r)
	}
}

// identify makes the upstream see the client's own user: the proxy shows its own certificate and impersonates,
// unless the client itself does.
func (p *Proxy) identify(in, out *http.Request) {
	if in.TLS == nil || len(in.TLS.PeerCertificates) == 0 {
		return
	}
	who := in.TLS.PeerCertificates[0].Subject
	if who.CommonName == p.user || in.Header.Get("Impersonate-User") != "" {
		return
	}
	out.Header.Set("Impersonate-User", who.CommonName)
	for _, g := range who.Organization {
		out.Header.Add("Impersonate-Group", g)
	}
}

// dropBody makes the answer's body end with an error half-way for requests marked with dropKey.
func dropBody(resp *http.Response) error {
	if resp.Request.Context().Value(dropKey{}) == nil {
		return nil
	}
	left := resp.ContentLength / 2
	if left <= 0 {
		left = 16
	}
	resp.Body = &halfBody{ReadCloser: resp.Body, left: left}
	return nil
}

// halfBody is a body whose connection is lost after some bytes.
type halfBody struct {
	io.ReadCloser
	left int64
}

func (h *halfBody) Read(b []byte) (int, error) {
	if h.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := h.ReadCloser.Read(b[:min(int64(len(b)), h.left)])
	h.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// writeStatus answers as the API server answers errors: with a Status object.
func writeStatus(w http.ResponseWriter, spec Spec, code int) {
	st := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reasonOf(code),
		Message: "fault injected by hawser-sandbox: " + strconv.Itoa(code) + " " + http.StatusText(code),
	}
	if (code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable) && spec.RetryAfter >= 0 {
		seconds := max(spec.RetryAfter, 1)
		st.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(st) // the client may be gone; there is nobody to tell
}

// reasonOf is the reason the API server gives with a code.
func reasonOf(code int) metav1.StatusReason {
	switch code {
	case http.StatusBadRequest:
		return metav1.StatusReasonBadRequest
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusGone:
		return metav1.StatusReasonExpired
	case http.StatusUnprocessableEntity:
		return metav1.StatusReasonInvalid
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	}
	return metav1.StatusReasonUnknown
}

// discard swallows an answer that the client shall not see.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// sleep waits and says whether the context still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
