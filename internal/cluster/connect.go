package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rootfs"
)

// connectAttempts is how often each request of Connect is sent: a cluster that is away should not be waited for long.
const connectAttempts = 3

// Connect reaches a cluster and learns its version, its kinds and its UID: four requests (/version, /api, /apis and
// the kube-system namespace) over one connection, one more where that namespace cannot be read. The error is an
// *UnreachableError when the cluster may just be away, else an *AccessError.
func Connect(ctx context.Context, c Config) (*Session, error) {
	cfg, err := restConfig(c)
	if err != nil {
		return nil, &AccessError{Cluster: c.Name, Server: c.Access.Server, Err: err}
	}
	base, err := serverURL(cfg.Host)
	if err != nil {
		return nil, &AccessError{Cluster: c.Name, Server: cfg.Host, Err: err}
	}
	renews := cfg.ExecProvider != nil || cfg.AuthProvider != nil || cfg.BearerTokenFile != ""
	rt, pool, err := newTransport(cfg)
	if err != nil {
		return nil, &AccessError{Cluster: c.Name, Server: cfg.Host, Err: err}
	}
	if c.Parallel <= 0 {
		c.Parallel = 32
	}
	s := &Session{cfg: c, rest: &client{http: &http.Client{Transport: rt, CheckRedirect: neverRedirect}, base: base,
		slots: make(chan struct{}, c.Parallel), large: make(chan struct{}, 2), close: pool.CloseIdleConnections,
		renews: renews}}
	s.facts = fleet.Facts{Name: c.Name, Server: cfg.Host, ServerID: serverID(base, cfg)}
	timeout := c.ConnectTimeout
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.learnFacts(ctx, timeout); err != nil {
		s.Close()
		return nil, s.connectError(err)
	}
	return s, nil
}

// learnFacts sends the four requests: the first one makes the connection, the others follow on it.
func (s *Session) learnFacts(ctx context.Context, timeout time.Duration) error {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	var core, groups apidiscovery.APIGroupDiscoveryList
	var system meta
	get := func(path, accept string, into any, onConn func()) error {
		c := call{method: http.MethodGet, path: path, accept: accept, into: into, timeout: timeout, attempts: connectAttempts, onConn: onConn}
		switch accept {
		case discoveryType:
			c.limits = answer.Discovery
		case metadataType:
			c.named = "kube-system"
		}
		_, err := s.do(ctx, c)
		return err
	}
	connected := make(chan struct{})
	failed := make(chan struct{})
	open := sync.OnceFunc(func() { close(connected) })
	var wg sync.WaitGroup
	errs := make([]error, 4)
	wg.Go(func() {
		if errs[0] = get("/version", jsonType, &version, open); errs[0] != nil {
			close(failed)
		}
	})
	select {
	case <-connected:
		wg.Go(func() { errs[1] = get("/api", discoveryType, &core, nil) })
		wg.Go(func() { errs[2] = get("/apis", discoveryType, &groups, nil) })
		wg.Go(func() { errs[3] = get("/api/v1/namespaces/kube-system", metadataType, &system, nil) })
		if s.cfg.Ahead != nil {
			wg.Go(func() { s.cfg.Ahead(ctx, s) })
		}
	case <-failed:
	}
	wg.Wait()
	for _, err := range errs[:3] {
		if err != nil {
			return err
		}
	}
	if len(core.Items) == 0 {
		return errors.New("the API server does not speak aggregated discovery (Kubernetes 1.27 or later is needed)")
	}
	s.kinds = kindsOf(core, groups)
	s.facts.Version = strings.TrimPrefix(version.GitVersion, "v")
	s.facts.UID = string(system.UID)
	if errs[3] != nil {
		return s.weakUID(ctx, errs[3])
	}
	return nil
}

// weakUID takes the record namespace's UID where kube-system may not be read. Without that namespace there is no UID
// yet; it gets one with the first record.
func (s *Session) weakUID(ctx context.Context, cause error) error {
	if !apierrors.IsForbidden(cause) && !apierrors.IsNotFound(cause) {
		return cause
	}
	var own meta
	_, err := s.do(ctx, call{method: http.MethodGet, path: "/api/v1/namespaces/" + object.SystemNamespace, named: object.SystemNamespace, accept: metadataType, into: &own})
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return err
	}
	s.facts.UID, s.facts.WeakUID = string(own.UID), true
	return nil
}

// serverID is a digest of a server's address, of the name it is asked by, and of the authority that its certificate is
// checked against.
func serverID(base *url.URL, cfg *rest.Config) string {
	h := sha256.New()
	fmt.Fprintln(h, strings.ToLower(base.Scheme+"://"+base.Host), strings.TrimRight(base.Path, "/"), cfg.ServerName)
	ca := cfg.CAData
	if len(ca) == 0 && cfg.CAFile != "" {
		ca, _ = rootfs.ReadFile(cfg.CAFile, rootfs.MaxSmall) // without it there was no connection
	}
	for block, rest := pem.Decode(ca); block != nil; block, rest = pem.Decode(rest) {
		h.Write(block.Bytes)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func serverURL(host string) (*url.URL, error) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the server's address %q is not a URL", host)
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// connectError tells "away for now" from "does not work".
func (s *Session) connectError(err error) error {
	server := s.facts.Server
	if isAccess(err) {
		return &AccessError{Cluster: s.cfg.Name, Server: server, Err: errors.New(s.redact(err.Error()))}
	}
	return &UnreachableError{Cluster: s.cfg.Name, Server: server, Err: err}
}

// isAccess reports an answer that says who we are is the problem: 401, 403, certificates, plugins without credentials.
func isAccess(err error) bool {
	if _, ok := errors.AsType[*AnswerError](err); ok {
		return true
	}
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	text := err.Error()
	for _, t := range []string{"getting credentials", "tls: ", "x509: ", "exec plugin", "aggregated discovery",
		"server gave HTTP response to HTTPS client"} {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}
