// Package testregistry runs a real OCI registry and a plain file server in the test's own process, on the loopback
// interface: with TLS, basic or token authentication, counted requests and faults on demand.
//
// testregistry must not know Hawser: whatever speaks the registry's protocol can be tested with it.
package testregistry

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Options of a registry.
type Options struct {
	// TLS serves HTTPS with a certificate that only CAFile vouches for.
	TLS bool
	// User and Password are asked for when set; Token asks by the token protocol instead of basic authentication.
	User, Password string
	Token          bool
	// Referrers lists what refers to a manifest; without it, clients keep a list under a tag.
	Referrers bool
	// Files is a directory that is served below / (registries live below /v2/).
	Files string
}

// Fault answers a request in the server's stead and returns true, or lets it pass.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Registry is a running registry; it ends with its test.
type Registry struct {
	// URL is http(s)://127.0.0.1:PORT, Host the part after the scheme.
	URL, Host string
	// CAFile is the PEM file of the authority behind the certificate, for SSL_CERT_FILE; "" without TLS.
	CAFile string

	o      Options
	inner  http.Handler
	files  http.Handler
	server *httptest.Server
	client *http.Client

	mu       sync.Mutex
	requests []string
	fault    Fault
	done     chan struct{}
}

const token = "a-token-that-is-given-out"

// Start runs a registry until the test ends.
func Start(t testing.TB, o Options) *Registry {
	t.Helper()
	r := &Registry{o: o, inner: registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(o.Referrers)), done: make(chan struct{})}
	if o.Files != "" {
		r.files = http.FileServer(http.Dir(o.Files))
	}
	r.server = httptest.NewUnstartedServer(r)
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if o.TLS {
		r.server.StartTLS()
		r.CAFile = filepath.Join(t.TempDir(), "ca.pem")
		data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
		if err := os.WriteFile(r.CAFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		r.server.Start()
	}
	r.URL, r.client = r.server.URL, r.server.Client()
	r.Host = r.URL[strings.Index(r.URL, "//")+2:]
	t.Cleanup(r.Stop)
	return r
}

// Stop ends the registry; connecting to it fails from now on. It may be called more than once.
func (r *Registry) Stop() {
	r.mu.Lock()
	select {
	case <-r.done:
	default:
		close(r.done)
	}
	r.mu.Unlock()
	r.server.CloseClientConnections()
	r.server.Close()
}

// OCI is the oci:// URL of a repository.
func (r *Registry) OCI(repository string) string { return "oci://" + r.Host + "/" + repository }

// Requests are the requests so far, as "METHOD PATH", those for tokens and the refused ones included.
func (r *Registry) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

// Forget empties the list of requests.
func (r *Registry) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = nil
}

// Fail lets a fault look at every request from now on; nil ends that.
func (r *Registry) Fail(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
}

// ServeHTTP counts, fails where it is to, asks for credentials and serves.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.requests = append(r.requests, req.Method+" "+req.URL.Path)
	fault := r.fault
	r.mu.Unlock()
	if fault != nil && fault(w, req) {
		return
	}
	switch {
	case req.URL.Path == "/token" && r.o.Token:
		r.giveToken(w, req)
	case !r.authorized(req):
		r.ask(w)
	case strings.HasPrefix(req.URL.Path, "/v2"):
		r.inner.ServeHTTP(w, req)
	case r.files != nil:
		r.files.ServeHTTP(w, req)
	default:
		http.NotFound(w, req)
	}
}

func (r *Registry) authorized(req *http.Request) bool {
	if r.o.User == "" {
		return true
	}
	if r.o.Token && strings.HasPrefix(req.URL.Path, "/v2") {
		return req.Header.Get("Authorization") == "Bearer "+token
	}
	user, password, ok := req.BasicAuth()
	return ok && user == r.o.User && password == r.o.Password
}

func (r *Registry) ask(w http.ResponseWriter) {
	challenge := `Basic realm="test"`
	if r.o.Token {
		challenge = fmt.Sprintf(`Bearer realm="%s/token",service="test"`, r.URL)
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
}

// giveToken gives the token to who knows the password, whether they ask with GET or POST.
func (r *Registry) giveToken(w http.ResponseWriter, req *http.Request) {
	user, password, ok := req.BasicAuth()
	if !ok {
		user, password = req.PostFormValue("username"), req.PostFormValue("password")
	}
	if user != r.o.User || password != r.o.Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token, "access_token": token})
}

// DockerConfig writes a Docker configuration with the credentials for the registry into a new directory and returns
// it, for DOCKER_CONFIG.
func (r *Registry) DockerConfig(t testing.TB, user, password string) string {
	t.Helper()
	dir := t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	data, err := json.Marshal(map[string]any{"auths": map[string]any{r.Host: map[string]string{"auth": auth}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Do asks the registry directly, with its credentials and past its list of requests and its faults, and returns the
// status and the body.
func (r *Registry) Do(t testing.TB, method, path string, header http.Header, body []byte) (int, []byte) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body))
	for key, values := range header {
		req.Header[key] = values
	}
	w := httptest.NewRecorder()
	r.inner.ServeHTTP(w, req)
	return w.Code, w.Body.Bytes()
}

// PutBlob stores a blob in a repository as it is; its digest has to be right.
func (r *Registry) PutBlob(t testing.TB, repository, digest string, content []byte) {
	t.Helper()
	if code, body := r.Do(t, http.MethodPost, "/v2/"+repository+"/blobs/uploads/?digest="+digest, nil, content); code != http.StatusCreated {
		t.Fatalf("put blob: %d %s", code, body)
	}
}

// PutManifest stores a manifest under a tag or digest.
func (r *Registry) PutManifest(t testing.TB, repository, reference, mediaType string, content []byte) {
	t.Helper()
	header := http.Header{"Content-Type": {mediaType}}
	if code, body := r.Do(t, http.MethodPut, "/v2/"+repository+"/manifests/"+reference, header, content); code != http.StatusCreated {
		t.Fatalf("put manifest: %d %s", code, body)
	}
}

// MoveTag makes a tag mean what another reference (a tag or a digest) means.
func (r *Registry) MoveTag(t testing.TB, repository, tag, to string) {
	t.Helper()
	code, body := r.Do(t, http.MethodGet, "/v2/"+repository+"/manifests/"+to, nil, nil)
	if code != http.StatusOK {
		t.Fatalf("manifest %s of %s: %d", to, repository, code)
	}
	r.PutManifest(t, repository, tag, "application/vnd.oci.image.manifest.v1+json", body)
}
