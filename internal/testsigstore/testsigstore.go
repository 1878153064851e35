// Package testsigstore is a Sigstore in the test's own process, on the loopback interface: an authority that certifies
// whatever identity a token claims, a transparency log, and the trusted root of both.
//
// testsigstore must not know Hawser: whatever signs and verifies with Sigstore can be tested with it.
package testsigstore

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	"github.com/go-openapi/runtime"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	_ "github.com/sigstore/rekor/pkg/types/dsse/v0.0.1"         // the log's kinds of entries
	_ "github.com/sigstore/rekor/pkg/types/hashedrekord/v0.0.1" // of cosign's older form
	"github.com/sigstore/rekor/pkg/util"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	sigs "github.com/sigstore/sigstore/pkg/signature"
)

// Sigstore is a running Sigstore; it ends with its test.
type Sigstore struct {
	// URL is the address of the authority and of the log.
	URL string
	// RootFile is its trusted root.
	RootFile string

	t            testing.TB
	intermediate *x509.Certificate
	key          crypto.Signer
	log          *ecdsa.PrivateKey
	logID        string
}

// Start runs a Sigstore until the test ends.
func Start(t testing.TB) *Sigstore {
	t.Helper()
	s := &Sigstore{t: t}
	rootCert, rootKey, err := ca.GenerateRootCa()
	s.must(err)
	s.intermediate, s.key, err = intermediate(rootCert, rootKey)
	s.must(err)
	s.log, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.must(err)
	der, err := x509.MarshalPKIXPublicKey(s.log.Public())
	s.must(err)
	id := sha256.Sum256(der)
	s.logID = hex.EncodeToString(id[:])
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	from, to := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01,
		[]root.CertificateAuthority{&root.FulcioCertificateAuthority{Root: rootCert, Intermediates: []*x509.Certificate{s.intermediate},
			ValidityPeriodStart: from, ValidityPeriodEnd: to, URI: s.URL}}, nil, nil,
		map[string]*root.TransparencyLog{s.logID: {BaseURL: s.URL, ID: id[:], ValidityPeriodStart: from, ValidityPeriodEnd: to,
			HashFunc: crypto.SHA256, PublicKey: s.log.Public(), SignatureHashFunc: crypto.SHA256}})
	s.must(err)
	data, err := trusted.MarshalJSON()
	s.must(err)
	s.RootFile = filepath.Join(t.TempDir(), "trusted_root.json")
	s.must(os.WriteFile(s.RootFile, data, 0o644))
	return s
}

func intermediate(cert *x509.Certificate, key crypto.Signer) (*x509.Certificate, crypto.Signer, error) {
	c, k, err := ca.GenerateFulcioIntermediate(cert, key)
	return c, k, err
}

func (s *Sigstore) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Token is an identity token that claims an e-mail address; its issuer is https://accounts.test.
func (s *Sigstore) Token(email string) string {
	part := func(v any) string {
		data, err := json.Marshal(v)
		s.must(err)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	return part(map[string]string{"alg": "none"}) + "." + part(map[string]any{"iss": Issuer, "sub": email, "email": email, "email_verified": true, "aud": "sigstore"}) + ".sig"
}

// Issuer is who vouches for the identities.
const Issuer = "https://accounts.test"

// ServeHTTP answers as Fulcio and as Rekor do.
func (s *Sigstore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var answer []byte
	status := http.StatusNotFound
	if err == nil {
		switch r.URL.Path {
		case "/api/v2/signingCert":
			status = http.StatusOK
			answer, err = s.certify(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), body)
		case "/api/v1/log/entries":
			status = http.StatusCreated
			answer, err = s.enter(w, body)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// holder is a public key where a pair is wanted.
type holder struct {
	crypto.Signer
	key crypto.PublicKey
}

func (h holder) Public() crypto.PublicKey { return h.key }

// certify makes a certificate for the identity that a token claims.
func (s *Sigstore) certify(token string, body []byte) ([]byte, error) {
	var req struct {
		PublicKeyRequest struct {
			PublicKey struct{ Content string }
		}
	}
	var claims struct{ Email, Iss string }
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	parts := strings.Split(token+"..", ".")
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &claims); err != nil {
		return nil, err
	}
	cert, err := s.Certificate(claims.Email, claims.Iss, []byte(req.PublicKeyRequest.PublicKey.Content))
	if err != nil {
		return nil, err
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	return json.Marshal(map[string]any{"signedCertificateDetachedSct": map[string]any{"chain": map[string]any{"certificates": []string{text}}}})
}

// Certificate is one for a public key (PEM) with an identity.
func (s *Sigstore) Certificate(identity, issuer string, public []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(public)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return ca.GenerateLeafCert(identity, issuer, time.Now().Add(-time.Minute), holder{key: key}, s.intermediate, s.key)
}

// enter makes an entry of the log: the only one there is, so that the proof is short.
func (s *Sigstore) enter(w http.ResponseWriter, body []byte) ([]byte, error) {
	ctx := context.Background()
	proposed, err := models.UnmarshalProposedEntry(bytes.NewReader(body), runtime.JSONConsumer())
	if err != nil {
		return nil, err
	}
	entry, err := types.CreateVersionedEntry(proposed)
	if err != nil {
		return nil, err
	}
	leaf, err := types.CanonicalizeEntry(ctx, entry)
	if err != nil {
		return nil, err
	}
	e, err := s.Entry(leaf)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(append([]byte{0}, leaf...))
	name := hex.EncodeToString(hash[:])
	w.Header().Set("ETag", name)
	w.Header().Set("Location", "/api/v1/log/entries/"+name)
	return json.Marshal(map[string]any{name: e})
}

// Entry is the log's answer for the canonical form of an entry.
func (s *Sigstore) Entry(leaf []byte) (map[string]any, error) {
	hash := sha256.Sum256(append([]byte{0}, leaf...))
	body, now := base64.StdEncoding.EncodeToString(leaf), time.Now().Unix()
	payload, err := json.Marshal(map[string]any{"body": body, "integratedTime": now, "logIndex": 0, "logID": s.logID})
	if err != nil {
		return nil, err
	}
	if payload, err = jsoncanonicalizer.Transform(payload); err != nil {
		return nil, err
	}
	signer, err := sigs.LoadECDSASignerVerifier(s.log, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	promise, err := signer.SignMessage(bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	point, err := util.CreateAndSignCheckpoint(context.Background(), "log.test", 1, 1, hash[:], signer)
	if err != nil {
		return nil, err
	}
	return map[string]any{"body": body, "integratedTime": now, "logIndex": 0, "logID": s.logID, "verification": map[string]any{
		"signedEntryTimestamp": base64.StdEncoding.EncodeToString(promise),
		"inclusionProof": map[string]any{"checkpoint": string(point), "hashes": []string{}, "logIndex": 0, "rootHash": hex.EncodeToString(hash[:]),
			"treeSize": 1}}}, nil
}
