package kubeapi

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"

	"hawser.dev/hawser/internal/execcredential"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/outgoing"
	"hawser.dev/hawser/internal/rootfs"
)

// Deadlines of a connection that answers no more. A request has its own, these find the dead connection.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	pingAfter        = 15 * time.Second
	pingTimeout      = 10 * time.Second
	keepAlive        = 15 * time.Second
)

// restConfig reads exactly the access that was resolved: the named context must exist in the named files.
func restConfig(c Config) (*rest.Config, error) {
	a := c.Access
	if a.ServiceAccount != "" {
		cfg, err := inPod(a)
		if err != nil {
			return nil, err
		}
		return c.complete(cfg)
	}
	if !hasKubeconfig(a) && a.Override.Server != "" {
		cfg, err := clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides(a.Override)).ClientConfig()
		if err != nil {
			return nil, err
		}
		return c.complete(cfg)
	}
	if !hasKubeconfig(a) {
		return nil, errors.New("no kubeconfig")
	}
	merged, err := c.Kubeconfigs.load(a.KubeconfigPaths, a.Content)
	if err != nil {
		return nil, err
	}
	name := a.Context
	if name == "" {
		name = merged.CurrentContext
	}
	if err := checkContext(merged, name); err != nil {
		return nil, err
	}
	own := only(merged, name)
	if a.Confined {
		if err := confined(own, a.From); err != nil {
			return nil, err
		}
	}
	if a.Override.Credentials() {
		own.AuthInfos = map[string]*clientcmdapi.AuthInfo{own.Contexts[name].AuthInfo: clientcmdapi.NewAuthInfo()}
	}
	if o := a.Override; o.InsecureSkipTLSVerify || o.CertificateAuthority != "" { // the file's data would go before the flag's file
		kc := own.Clusters[own.Contexts[name].Cluster]
		kc.CertificateAuthority, kc.CertificateAuthorityData = "", nil
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(own, name, overrides(a.Override), nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	return c.complete(cfg)
}

// overrides are the flags that replace parts of a kubeconfig, in client-go's form.
func overrides(o fleet.Override) *clientcmd.ConfigOverrides {
	return &clientcmd.ConfigOverrides{
		ClusterInfo: clientcmdapi.Cluster{Server: o.Server, TLSServerName: o.TLSServerName, CertificateAuthority: o.CertificateAuthority,
			InsecureSkipTLSVerify: o.InsecureSkipTLSVerify},
		AuthInfo: clientcmdapi.AuthInfo{Token: o.Token, ClientCertificate: o.ClientCertificate, ClientKey: o.ClientKey},
	}
}

// complete adds what does not come from a kubeconfig.
func (c Config) complete(cfg *rest.Config) (*rest.Config, error) {
	a := c.Access
	if a.ProxyURL != "" {
		proxy, err := proxyURL(a.ProxyURL)
		if err != nil {
			return nil, err
		}
		cfg.Proxy = http.ProxyURL(proxy)
	}
	if a.Impersonate != "" || len(a.Groups) > 0 || a.Override.AsUID != "" {
		cfg.Impersonate = rest.ImpersonationConfig{UserName: a.Impersonate, Groups: a.Groups, UID: a.Override.AsUID}
	}
	cfg.UserAgent = c.UserAgent
	if cfg.UserAgent == "" {
		cfg.UserAgent = "hawser"
	}
	return cfg, nil
}

// only is the part of a kubeconfig that one context uses, as a copy: client-go writes into what it is given.
func only(cfg *clientcmdapi.Config, name string) clientcmdapi.Config {
	kctx := cfg.Contexts[name].DeepCopy()
	out := clientcmdapi.Config{CurrentContext: name, Contexts: map[string]*clientcmdapi.Context{name: kctx},
		Clusters: map[string]*clientcmdapi.Cluster{kctx.Cluster: cfg.Clusters[kctx.Cluster].DeepCopy()}}
	if user, ok := cfg.AuthInfos[kctx.AuthInfo]; ok {
		out.AuthInfos = map[string]*clientcmdapi.AuthInfo{kctx.AuthInfo: user.DeepCopy()}
	}
	return out
}

// checkContext refuses what client-go would silently replace by something else.
func checkContext(cfg *clientcmdapi.Config, name string) error {
	if name == "" {
		return errors.New("the kubeconfig has no current context")
	}
	kctx, ok := cfg.Contexts[name]
	if !ok {
		return fmt.Errorf("context %q is not in the kubeconfig", name)
	}
	cl, ok := cfg.Clusters[kctx.Cluster]
	if !ok || cl.Server == "" {
		return fmt.Errorf("context %q names cluster %q, which has no server in the kubeconfig", name, kctx.Cluster)
	}
	if _, ok := cfg.AuthInfos[kctx.AuthInfo]; !ok && kctx.AuthInfo != "" {
		return fmt.Errorf("context %q names user %q, who is not in the kubeconfig", name, kctx.AuthInfo)
	}
	return nil
}

// newTransport makes a transport of this cluster's own: one HTTP/2 connection that is pinged when silent. client-go's
// shared transport cache is not used: a connection that hangs must not be another cluster's too. sent is called with the credentials that
// are sent to the API server, wherever they come from, and proxied with those that are sent to a proxy.
func newTransport(cfg *rest.Config, sent, proxied func(string)) (http.RoundTripper, *http.Transport, error) {
	plugin, err := execcredential.Of(cfg)
	if err != nil {
		return nil, nil, err
	}
	tc, err := cfg.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return nil, nil, err
	}
	opened := connrotation.NewConnectionTracker()
	dial := (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext
	if tc.DialHolder != nil {
		dial = tc.DialHolder.Dial
	}
	if plugin != nil {
		if tlsConfig == nil {
			tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		tlsConfig.GetClientCertificate = plugin.Certificate
		dial = connrotation.NewDialerWithTracker(dial, opened).DialContext
	}
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	base := &http.Transport{
		Proxy:               outgoing.Proxy(proxy, proxied),
		DialContext:         dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: handshakeTimeout,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 64,
		DisableCompression:  cfg.DisableCompression,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	wrapped, err := transport.HTTPWrappersForConfig(tc, outgoing.Tell(base, sent))
	if plugin != nil && err == nil {
		wrapped = plugin.Wrap(wrapped, opened.CloseAll)
	}
	return wrapped, base, err
}

// Sleep waits for d or for the end of ctx, whose cause it returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

func proxyURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, errors.New("the proxy's address is not a URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return u, nil
	}
	return nil, fmt.Errorf("the proxy's scheme %q is not http, https or socks5", u.Scheme)
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
