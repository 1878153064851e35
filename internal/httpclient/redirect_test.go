package httpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hops is a server that redirects to what stands in "to" of the query, one after the other, over plain HTTP and, at ports that end with 443,
// over TLS; last is the request that got through.
type hops struct {
	client *http.Client
	last   atomic.Pointer[http.Request]
}

func (h *hops) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query()["to"]
	if len(to) == 0 {
		h.last.Store(r)
		return
	}
	u, err := url.Parse(to[0])
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(to) > 1 {
		u.RawQuery = url.Values{"to": to[1:]}.Encode()
	}
	http.Redirect(w, r, u.String(), http.StatusTemporaryRedirect)
}

func hopping(t *testing.T) *hops {
	t.Helper()
	h := &hops{}
	plain, secure := server(t, h.ServeHTTP), httptest.NewTLSServer(h)
	t.Cleanup(secure.Close)
	t.Cleanup(secure.CloseClientConnections)
	o := everywhere(plain, map[string]string{"a.example": "198.51.100.1", "b.example": "198.51.100.2", "x.a.example": "198.51.100.3"})
	o.AnyCertificate = true
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		to := plain.Listener.Addr().String()
		if strings.HasSuffix(address, "443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}
	h.client = New(o)
	return h
}

// What authenticates goes to the server that was asked and to no other one: another host, one below it, another port, another scheme, nor
// back to it on a way over others. What is asked for goes along.
func TestCredentialsStayBehind(t *testing.T) {
	h := hopping(t)
	credentials := []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Registry-Auth", "X-Auth-Token", "X-Amz-Security-Token", "Job-Token", "Private-Token", "X-Api-Key"}
	for _, x := range []struct {
		from string
		to   []string
		kept bool
	}{
		{"http://a.example/", []string{"/x"}, true}, {"http://a.example/", []string{"http://a.example:80/x"}, true}, {"https://a.example/", []string{"https://a.example:443/x"}, true},
		{"http://a.example/", []string{"http://b.example/"}, false}, {"http://a.example/", []string{"http://x.a.example/"}, false},
		{"http://a.example/", []string{"http://a.example:8080/"}, false}, {"https://a.example/", []string{"https://a.example:8443/"}, false},
		{"http://a.example/", []string{"https://a.example/"}, false},
		{"http://a.example/", []string{"http://b.example/", "http://a.example/"}, false}, {"http://a.example/", []string{"/x", "http://a.example:8080/"}, false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.from+"?"+url.Values{"to": x.to, "token": {"canary"}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range credentials {
			req.Header.Set(name, "canary")
		}
		req.Header.Set("Accept", "a/b")
		req.Header.Set("User-Agent", "me")
		h.last.Store(nil)
		resp, err := h.client.Do(req)
		if err != nil || h.last.Load() == nil {
			t.Errorf("%s to %s: %v", x.from, x.to, err)
			continue
		}
		_ = resp.Body.Close()
		for _, name := range credentials {
			if got := h.last.Load().Header.Get(name); (got != "") != x.kept {
				t.Errorf("%s to %s: %s is %q", x.from, x.to, name, got)
			}
		}
		if said := fmt.Sprint(h.last.Load().Header); !x.kept && strings.Contains(said, "canary") {
			t.Errorf("%s to %s: %s", x.from, x.to, said)
		}
		if h.last.Load().Header.Get("Accept") != "a/b" || h.last.Load().Header.Get("User-Agent") != "me" {
			t.Errorf("%s to %s: what was asked for is gone: %v", x.from, x.to, h.last.Load().Header)
		}
	}
	at := func(address string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, address, nil)
		r.Header.Set("Authorization", "canary")
		return r
	}
	one := at("https://a.example:9443/")
	if err := (redirects{max: 5}).check(one, []*http.Request{at("http://a.example:9443/")}); err != nil || len(one.Header) > 0 {
		t.Errorf("another scheme at one port: %v, %v", one.Header, err)
	}
}

// A user and a password in a URL, and a form, as tokens are asked for with, are for the server that was asked, too.
func TestPasswordsStayBehind(t *testing.T) {
	h := hopping(t)
	for to, kept := range map[string]bool{"/x": true, "http://b.example/": false, "http://a.example:8080/": false, "https://a.example/": false} {
		if _, err := get(t, h.client, "http://me:canary@a.example/?to="+url.QueryEscape(to)); err != nil || (h.last.Load().Header.Get("Authorization") != "") != kept {
			t.Errorf("%s: %q %v", to, h.last.Load().Header.Get("Authorization"), err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://a.example/?to="+url.QueryEscape(to), strings.NewReader("password=canary"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := h.client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if _, refused := errors.AsType[*RedirectError](err); refused == kept {
			t.Errorf("a form to %s: %v", to, err)
		}
	}
}

// proxy is a proxy that sends all there is to one server, by name or by CONNECT.
func proxy(t *testing.T, to string) *httptest.Server {
	t.Helper()
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			out, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+to+r.URL.RequestURI(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			out.Host = r.Host
			resp, err := http.DefaultTransport.RoundTrip(out)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if at := resp.Header.Get("Location"); at != "" {
				w.Header().Set("Location", at)
			}
			w.WriteHeader(resp.StatusCode)
			_, _ = io.Copy(w, resp.Body)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = there.Close() }()
		here, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = here.Close() }()
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(there, bufio.NewReader(buffer)) }()
		_, _ = io.Copy(here, there)
	})
}

// Behind a proxy, no name is resolved here, neither for a request, nor for a redirect, nor to learn whether a server speaks TLS; addresses
// are still what they are.
func TestProxyResolves(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "content of "+r.Host)
	})
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was made") }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	through := func(to string) Options {
		address, err := url.Parse(proxy(t, to).URL)
		if err != nil {
			t.Fatal(err)
		}
		return Options{Retries: -1, Connect: 5 * time.Second, Proxy: func(r *http.Request) (*url.URL, error) {
			if strings.HasSuffix(r.URL.Hostname(), ".inside") {
				return nil, nil
			}
			return address, nil
		}, Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "x.inside" {
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			t.Errorf("%s is looked up", host)
			return nil, errors.New("no name server")
		}, Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			if to != address.Host {
				t.Errorf("%s is dialled", to)
			}
			return new(net.Dialer).DialContext(ctx, network, to)
		}}
	}
	c := New(through(s.Listener.Addr().String()))
	if got, err := get(t, c, "http://a.example/?to="+url.QueryEscape("http://b.example/")); err != nil || got != "content of b.example" {
		t.Errorf("%q %v", got, err)
	}
	for _, to := range []string{"http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "http://x.inside/"} {
		_, err := get(t, c, "http://a.example/?to="+url.QueryEscape(to))
		if _, refused := errors.AsType[*RedirectError](err); !refused {
			t.Errorf("%s: %v", to, err)
		}
	}
	for to, want := range map[string]bool{s.Listener.Addr().String(): false, secure.Listener.Addr().String(): true} {
		if got := SpeaksTLS(t.Context(), "registry.example:5000", through(to)); got != want {
			t.Errorf("%s speaks TLS: %t", to, got)
		}
	}
}

// A client that goes straight follows nothing, also where its transport is given to another client.
func TestStraight(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("the redirect was followed")
		}
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusFound)
			return
		}
		http.Redirect(w, r, "/elsewhere?token=canary", http.StatusFound)
	})
	own := New(Options{Straight: true})
	for _, c := range []*http.Client{own, {Transport: own.Transport}} {
		_, err := get(t, c, s.URL+"/?token=canary")
		if refused, ok := errors.AsType[*RedirectError](err); !ok || refused.From != s.URL+"/" || refused.To != s.URL+"/elsewhere" || strings.Contains(refused.Error(), "canary") {
			t.Error(err)
		}
		resp, err := c.Head(s.URL)
		if refused, ok := errors.AsType[*RedirectError](err); !ok || refused.To != "" || !strings.Contains(refused.Error(), "from "+s.URL+" is not followed: what is sent") {
			t.Error(resp, err)
		}
	}
}

// Which addresses are of the public network: none that is kept for others, nor one that stands for such an IPv4 address behind a gateway.
func TestNotPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": false, "1.0.0.1": false, "100.63.255.255": false, "100.128.0.1": false, "192.0.1.1": false, "198.17.0.1": false, "198.20.0.1": false, "172.32.0.1": false,
		"2606:4700::1": false, "2a00::1": false, "::ffff:8.8.8.8": false, "64:ff9b::808:808": false, "64:ff9b:1::808:808": false, "64:ff9b:1:fffe::808:808": false, "2002:808:808::1": false,
		"64:ff9b:2::a00:1": false, "2001:4860::a00:1": false,
		"10.0.0.1": true, "172.16.0.1": true, "192.168.0.1": true, "127.0.0.1": true, "169.254.169.254": true, "224.0.0.1": true, "0.0.0.0": true, "0.1.2.3": true, "100.64.0.1": true,
		"192.0.0.8": true, "198.18.0.1": true, "198.19.255.255": true, "240.0.0.1": true, "255.255.255.255": true,
		"::1": true, "::": true, "fe80::1": true, "fe80::1%eth0": true, "fc00::1": true, "fd00::1": true, "fec0::1": true, "feff::1": true, "ff02::1": true, "::7f00:1": true, "::808:808": true,
		"::ffff:10.0.0.1": true, "64:ff9b::a00:1": true, "64:ff9b::7f00:1%1": true, "64:ff9b::a9fe:a9fe": true, "64:ff9b:1::a00:1": true, "64:ff9b:1:fffe::c0a8:1": true, "2002:a00:1::1": true, "2002:7f00:1::": true,
		"64:ff9b:1:a00:0:100::": true, "64:ff9b:1:0:a:0:800:0": true, "64:ff9b:1:0:a:0:801:101": true, // in the midst: /48 and /64
	} {
		if got := notPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}
