// Package execcredential gets credentials from the plug-ins that kubeconfigs name (client.authentication.k8s.io), as
// client-go does, and with what that lacks: a plug-in is ended, with everything it started, when the last request that
// waits for it gives up, and never outlives this process.
//
// It must not know clusters: what is asked of it is a transport that adds credentials.
package execcredential

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientauth "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/terminal"
)

// maxOutput bounds what a plug-in may say: a token, or a certificate with its chain and key.
const maxOutput = 1 << 20

// maxSaid is how much of what a plug-in says to people is passed on.
const maxSaid = 64 << 10

var versions = []string{"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}

// Plugin is one plug-in with its arguments. Clusters that name the same one share it: it runs once for all of them.
type Plugin struct {
	conf    *clientcmdapi.ExecConfig
	cluster *clientauth.Cluster

	mu    sync.Mutex
	known *credentials
	run   *run
}

// credentials are what a plug-in gave.
type credentials struct {
	token   string
	cert    *tls.Certificate
	expires time.Time
}

// run is a plug-in at work, and how many wait for it.
type run struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	got     *credentials
	err     error
}

var (
	pluginsMu sync.Mutex
	plugins   = map[string]*Plugin{}
)

// Of is the plug-in of a configuration, nil when it names none or has credentials of its own, which win. The
// configuration is changed: client-go is not to run it too.
func Of(cfg *rest.Config) (*Plugin, error) {
	conf := cfg.ExecProvider
	if conf == nil || cfg.BearerToken != "" || cfg.BearerTokenFile != "" || cfg.Username != "" || len(cfg.CertData) > 0 || cfg.CertFile != "" {
		cfg.ExecProvider = nil
		return nil, nil
	}
	if !slices.Contains(versions, conf.APIVersion) {
		return nil, fmt.Errorf("exec plugin: invalid apiVersion %q", conf.APIVersion)
	}
	p := &Plugin{conf: conf}
	if conf.ProvideClusterInfo {
		c, err := rest.ConfigToExecCluster(cfg)
		if err != nil {
			return nil, err
		}
		p.cluster = &clientauth.Cluster{Server: c.Server, TLSServerName: c.TLSServerName, InsecureSkipTLSVerify: c.InsecureSkipTLSVerify,
			CertificateAuthorityData: c.CertificateAuthorityData, ProxyURL: c.ProxyURL, DisableCompression: c.DisableCompression,
			Config: runtime.RawExtension{Object: c.Config}}
	}
	cfg.ExecProvider = nil
	key, err := json.Marshal([]any{conf.Command, conf.Args, conf.Env, conf.APIVersion, conf.InteractiveMode, p.cluster})
	if err != nil {
		return nil, fmt.Errorf("exec plugin: %w", err)
	}
	pluginsMu.Lock()
	defer pluginsMu.Unlock()
	if same, ok := plugins[string(key)]; ok {
		return same, nil
	}
	plugins[string(key)] = p
	return p, nil
}

// Command is the plug-in's program, as the kubeconfig names it.
func (p *Plugin) Command() string { return p.conf.Command }

// Wrap adds the credentials to requests that have none. After an answer 401 the next request gets new ones; renewed is
// then called, where the certificate is another one, so that connections with the old one are given up.
func (p *Plugin) Wrap(next http.RoundTripper, renewed func()) http.RoundTripper {
	return &transport{p: p, next: next, renewed: renewed}
}

// Certificate is the client certificate for a handshake; one without content when the plug-in gives none.
func (p *Plugin) Certificate(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c, err := p.get(info.Context())
	if err != nil {
		return nil, err
	}
	if c.cert == nil {
		return &tls.Certificate{}, nil
	}
	return c.cert, nil
}

type transport struct {
	p       *Plugin
	next    http.RoundTripper
	renewed func()

	mu   sync.Mutex
	used *tls.Certificate
}

// RoundTrip sends a request with the plug-in's credentials.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "" {
		return t.next.RoundTrip(r)
	}
	c, err := t.p.get(r.Context())
	if err != nil {
		return nil, fmt.Errorf("getting credentials: %w", err)
	}
	t.mu.Lock()
	other := t.used != nil && t.used != c.cert
	t.used = c.cert
	t.mu.Unlock()
	if other {
		t.renewed()
	}
	if c.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := t.next.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		t.p.forget(c)
	}
	return resp, err
}

// forget makes the next request ask for new credentials, unless somebody did already.
func (p *Plugin) forget(c *credentials) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == c {
		p.known = nil
	}
}

// get is what is known, or what the plug-in gives now. It runs once for all who wait, and is ended when nobody does any
// more.
func (p *Plugin) get(ctx context.Context) (*credentials, error) {
	p.mu.Lock()
	if c := p.known; c != nil && (c.expires.IsZero() || time.Now().Before(c.expires)) {
		p.mu.Unlock()
		return c, nil
	}
	at := p.run
	if at == nil {
		at = p.begin(ctx)
	}
	at.waiting++
	p.mu.Unlock()
	select {
	case <-at.done:
		return at.got, at.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	if at.waiting--; at.waiting == 0 {
		at.cancel()
		if p.run == at { // who asks from now on gets a run of its own
			p.run = nil
		}
	}
	p.mu.Unlock()
	return nil, &TimeoutError{Command: p.conf.Command, cause: context.Cause(ctx)}
}

// begin runs the plug-in; the caller holds mu.
func (p *Plugin) begin(ctx context.Context) *run {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	at := &run{cancel: cancel, done: make(chan struct{})}
	p.run = at
	broke.Go(func() {
		defer cancel()
		got, err := p.ask(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		at.got, at.err = got, err
		if p.run == at {
			p.run = nil
			if err == nil {
				p.known = got
			}
		}
		close(at.done)
	})
	return at
}

// TimeoutError: the request waited for the plug-in when its time was over.
type TimeoutError struct {
	Command string
	cause   error
}

// Error names the plug-in.
func (e *TimeoutError) Error() string {
	return "the credential plugin " + e.Command + " gave no answer in time"
}

// Unwrap is why the request did not wait any longer.
func (e *TimeoutError) Unwrap() error { return e.cause }

// ask runs the plug-in.
func (p *Plugin) ask(ctx context.Context) (*credentials, error) {
	interactive, err := p.interactive()
	if err != nil {
		return nil, fmt.Errorf("exec plugin cannot support interactive mode: %w", err)
	}
	info, err := json.Marshal(clientauth.ExecCredential{TypeMeta: metav1.TypeMeta{APIVersion: p.conf.APIVersion, Kind: "ExecCredential"},
		Spec: clientauth.ExecCredentialSpec{Interactive: interactive, Cluster: p.cluster}})
	if err != nil {
		return nil, err
	}
	out := &child.Output{Limit: maxOutput}
	cmd := child.New(ctx, filepath.Clean(p.conf.Command), p.conf.Args...)
	cmd.Terminal = interactive
	cmd.Env = os.Environ()
	for _, e := range p.conf.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+string(info))
	said := &child.Said{To: terminal.Stderr, Limit: maxSaid, Clean: columns.Screen}
	defer said.End()
	cmd.Stdout, cmd.Stderr = out, said
	if interactive { // it talks with the user, maybe by more than lines
		cmd.Stdin, cmd.Stderr = os.Stdin, terminal.Stderr
	}
	if err := cmd.Run(); err != nil {
		return nil, p.explain(err)
	}
	return p.read(out.Bytes())
}

func (p *Plugin) interactive() (bool, error) {
	terminal := term.IsTerminal(int(os.Stdin.Fd())) && !p.conf.StdinUnavailable
	switch p.conf.InteractiveMode {
	case clientcmdapi.NeverExecInteractiveMode:
		return false, nil
	case clientcmdapi.IfAvailableExecInteractiveMode:
		return terminal, nil
	case clientcmdapi.AlwaysExecInteractiveMode:
		if !terminal {
			return false, errors.New("standard input is not a terminal")
		}
		return true, nil
	}
	return false, fmt.Errorf("unknown interactiveMode: %q", p.conf.InteractiveMode)
}

// explain says what is wrong with a plug-in that did not run to its end, in client-go's words.
func (p *Plugin) explain(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("exec: executable %s failed with exit code %d", p.conf.Command, exit.ExitCode())
	}
	if _, ok := errors.AsType[*exec.Error](err); ok || errors.Is(err, os.ErrNotExist) {
		hint := ""
		if p.conf.InstallHint != "" {
			hint = "\n\n" + p.conf.InstallHint
		}
		return fmt.Errorf("exec: executable %s not found%s", p.conf.Command, hint)
	}
	return fmt.Errorf("exec: %w", err)
}

// read understands a plug-in's answer, of which nothing is quoted.
func (p *Plugin) read(data []byte) (*credentials, error) {
	var got clientauth.ExecCredential
	if err := json.Unmarshal(bytes.TrimSpace(data), &got); err != nil {
		return nil, errors.New("exec plugin: its output is no ExecCredential in JSON")
	}
	switch s := got.Status; {
	case got.APIVersion != p.conf.APIVersion:
		return nil, fmt.Errorf("exec plugin is configured to use API version %s, plugin returned version %.80s", p.conf.APIVersion, got.APIVersion)
	case s == nil:
		return nil, errors.New("exec plugin didn't return a status field")
	case s.Token == "" && s.ClientCertificateData == "" && s.ClientKeyData == "":
		return nil, errors.New("exec plugin didn't return a token or cert/key pair")
	case (s.ClientCertificateData == "") != (s.ClientKeyData == ""):
		return nil, errors.New("exec plugin returned only certificate or key, not both")
	}
	c := &credentials{token: got.Status.Token}
	if got.Status.ExpirationTimestamp != nil {
		c.expires = got.Status.ExpirationTimestamp.Time
	}
	if got.Status.ClientKeyData != "" {
		cert, err := tls.X509KeyPair([]byte(got.Status.ClientCertificateData), []byte(got.Status.ClientKeyData))
		if err != nil {
			return nil, fmt.Errorf("failed parsing client key/certificate: %w", err)
		}
		if cert.Leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
			return nil, fmt.Errorf("failed parsing client leaf certificate: %w", err)
		}
		c.cert = &cert
	}
	return c, nil
}
