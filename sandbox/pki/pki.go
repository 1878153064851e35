// Package pki makes the certificates of a sandbox: one authority for servers and clients, one for the API
// aggregation layer, and the leaves they sign.
//
// All keys are ECDSA P-256; an authority and its leaves live one year, and no leaf outlives its authority.
// The package must not know what a certificate is used for.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"hawser.dev/hawser/sandbox/state"
)

// Life is how long an authority and its leaves are valid.
const Life = 365 * 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	// CertPEM is the authority's own certificate.
	CertPEM []byte
	// CertFile is where CertPEM lies on disk.
	CertFile string
	cert     *x509.Certificate
	key      *ecdsa.PrivateKey
}

// Pair is a certificate with its key, both PEM.
type Pair struct{ Cert, Key []byte }

// LoadOrCreate reads the authority NAME from dir, or makes it.
func LoadOrCreate(dir, name string) (*Authority, error) {
	certFile, keyFile := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	certPEM, err := os.ReadFile(certFile)
	if errors.Is(err, fs.ErrNotExist) {
		return create(dir, name)
	}
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certFile, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: not an ECDSA key", keyFile)
	}
	return &Authority{CertPEM: certPEM, CertFile: certFile, cert: pair.Leaf, key: key}, nil
}

func create(dir, name string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	tmpl := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "hawser-sandbox-" + name},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(Life),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	pair, err := encode(der, key)
	if err != nil {
		return nil, err
	}
	a := &Authority{CertPEM: pair.Cert, CertFile: filepath.Join(dir, name+".crt"), cert: cert, key: key}
	return a, pair.Save(dir, name)
}

// Server signs a certificate for a server on the loopback interface that is also known under the given DNS names
// and addresses.
func (a *Authority) Server(name string, dns []string, ips ...net.IP) (Pair, error) {
	return a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: append([]string{"localhost"}, dns...),
		IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, ips...),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// Client signs a certificate for a user and its groups, as the Kubernetes API server reads them: CN and O.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *Authority) sign(tmpl *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	now := time.Now()
	tmpl.SerialNumber = serial()
	tmpl.NotBefore, tmpl.NotAfter = now.Add(-time.Minute), now.Add(Life)
	if tmpl.NotAfter.After(a.cert.NotAfter) {
		tmpl.NotAfter = a.cert.NotAfter
	}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	return encode(der, key)
}

// SigningKey makes the key pair with which an API server signs and checks service account tokens: Cert holds the
// public key.
func SigningKey() (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return Pair{}, err
	}
	pair, err := encode(nil, key)
	pair.Cert = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub})
	return pair, err
}

// Save writes NAME.crt and NAME.key into dir.
func (p Pair) Save(dir, name string) error {
	return errors.Join(
		state.WriteFile(filepath.Join(dir, name+".crt"), p.Cert),
		state.WriteFile(filepath.Join(dir, name+".key"), p.Key))
}

func encode(der []byte, key *ecdsa.PrivateKey) (Pair, error) {
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}),
	}, nil
}

func serial() *big.Int {
	// rand.Int fails only when the system has no randomness, and then crypto/rand has already ended the process.
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return n.Add(n, big.NewInt(1))
}
