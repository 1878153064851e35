package pki

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

func TestCertificatesAreAccepted(t *testing.T) {
	dir := t.TempDir()
	made, err := LoadOrCreate(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	ca, err := LoadOrCreate(dir, "ca") // what is signed by the loaded one is as good
	if err != nil || string(ca.CertPEM) != string(made.CertPEM) {
		t.Fatalf("loaded another one: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(made.CertPEM)
	pair := func(p Pair, err error) tls.Certificate {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		cert, err := tls.X509KeyPair(p.Cert, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := r.TLS.PeerCertificates[0].Subject
		_, _ = io.WriteString(w, who.CommonName+" "+who.Organization[0])
	}))
	srv.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair(ca.Server("s", []string{"kubernetes.default.svc"}, net.IPv4(10, 96, 0, 1)))},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS13,
	}
	srv.StartTLS()
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: pool, Certificates: []tls.Certificate{pair(ca.Client("jane", "developers"))}, MinVersion: tls.VersionTLS13,
	}}}
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "jane developers" {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestLivesAreBounded(t *testing.T) {
	dir := t.TempDir()
	ca, err := LoadOrCreate(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	ca.cert.NotAfter = time.Now().Add(time.Hour)
	p, err := ca.Client("x")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	if cert.Leaf.NotAfter.After(ca.cert.NotAfter) {
		t.Errorf("the leaf lives until %s, its authority until %s", cert.Leaf.NotAfter, ca.cert.NotAfter)
	}
	for _, name := range []string{"ca.crt", "ca.key"} {
		if info, err := os.Stat(dir + "/" + name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
