package sigstore

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/testsigstore"
)

var (
	ours   = "sha256:" + strings.Repeat("a1", 32)
	others = "sha256:" + strings.Repeat("b2", 32)
)

// keyFiles writes a key, encrypted when there is a password, and returns its file and the public key.
func keyFiles(t *testing.T, key crypto.Signer, kind, password string) (file string, public []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		if der, err = encrypted.Encrypt(der, []byte(password)); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if der, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
		t.Fatal(err)
	}
	return file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func ecdsaKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// no is a Sigstore without environment and network.
func no(env map[string]string) *Sigstore {
	return New(Options{Getenv: func(name string) string { return env[name] }, TokenFile: "/nonexistent", Mirror: "http://127.0.0.1:1"})
}

func bundleOf(t *testing.T, s *Sigstore, how signature.Sign, digest string) module.Signature {
	t.Helper()
	signer, err := s.Signer(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	data, err := signer.Bundle(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	return module.Signature{Bundle: data}
}

func TestKeys(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	for name, c := range map[string]struct {
		key            crypto.Signer
		kind, password string
	}{
		"ecdsa":           {ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", ""},
		"ecdsa, P-384":    {ecdsaKey(t, elliptic.P384()), "PRIVATE KEY", ""},
		"ed25519":         {ed, "PRIVATE KEY", ""},
		"rsa":             {rsaKey, "PRIVATE KEY", ""},
		"cosign's":        {ecdsaKey(t, elliptic.P256()), "ENCRYPTED COSIGN PRIVATE KEY", "a password"},
		"cosign's, newer": {ecdsaKey(t, elliptic.P256()), "ENCRYPTED SIGSTORE PRIVATE KEY", "a password"},
	} {
		t.Run(name, func(t *testing.T) {
			file, public := keyFiles(t, c.key, c.kind, c.password)
			s := no(map[string]string{envPassword: c.password})
			got := bundleOf(t, s, signature.Sign{Key: file}, ours)
			key := signature.Signer{Key: public, Name: "cosign.pub"}
			if err := s.Verify(t.Context(), got, ours, key, signature.Root{}); err != nil {
				t.Error(err)
			}
			if err := s.Verify(t.Context(), got, others, key, signature.Root{}); err == nil || err.Error() != "a signature of something else" {
				t.Error("another digest:", err)
			}
			if err := s.Verify(t.Context(), got, ours, signature.Signer{Key: stranger}, signature.Root{}); err == nil || err.Error() != "not made with that key" {
				t.Error("another key:", err)
			}
			if claim := s.Claims(got); !strings.HasPrefix(claim, "a signature of the key ") {
				t.Error(claim)
			}
		})
	}
}

// What is signed is a statement of another kind than a signature: the same key also signs attestations.
func TestAttestationIsNoSignature(t *testing.T) {
	file, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	s := no(nil)
	key, _, err := s.privateKey(file)
	if err != nil {
		t.Fatal(err)
	}
	statement := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"` + strings.TrimPrefix(ours, "sha256:") +
		`"}}],"predicateType":"https://slsa.dev/provenance/v1","predicate":{}}`
	got := envelope(t, key, statement)
	err = s.Verify(t.Context(), got, ours, signature.Signer{Key: public}, signature.Root{})
	if err == nil || !strings.Contains(err.Error(), `it states "https://slsa.dev/provenance/v1", and is no signature`) {
		t.Error(err)
	}
}

func TestDamagedSignatures(t *testing.T) {
	file, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	s := no(nil)
	good := bundleOf(t, s, signature.Sign{Key: file}, ours)
	for name, sig := range map[string]module.Signature{
		"not JSON":         {Bundle: []byte("x")},
		"empty":            {Bundle: []byte("{}")},
		"cut off":          {Bundle: good.Bundle[:len(good.Bundle)/2]},
		"nothing":          {},
		"no base64":        {Payload: []byte("{}"), Annotations: map[string]string{module.SimpleSignatureAnnotation: "%"}},
		"no certificate":   {Payload: []byte("{}"), Annotations: map[string]string{module.SimpleSignatureAnnotation: "eA==", module.SimpleCertAnnotation: "x"}},
		"no entry":         {Payload: []byte("{}"), Annotations: map[string]string{module.SimpleSignatureAnnotation: "eA==", module.SimpleLogAnnotation: "x"}},
		"another payload":  {Payload: []byte("{}"), Annotations: map[string]string{module.SimpleSignatureAnnotation: "eA=="}},
		"another envelope": {Bundle: []byte(strings.Replace(string(good.Bundle), `"payload":"`, `"payload":"AAAA`, 1))},
	} {
		if err := s.Verify(t.Context(), sig, ours, signature.Signer{Key: public}, signature.Root{}); err == nil {
			t.Error(name)
		}
		if s.Claims(sig) == "" {
			t.Error(name, "claims nothing")
		}
	}
}

func TestIdentities(t *testing.T) {
	fake := testsigstore.Start(t)
	s := no(map[string]string{"SIGSTORE_ID_TOKEN": fake.Token("ada@example.com")})
	got := bundleOf(t, s, signature.Sign{Fulcio: fake.URL, Rekor: fake.URL + "/"}, ours)
	root, err := signature.ReadRoot("", fake.RootFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by     signature.Signer
		digest string
		root   signature.Root
		want   string
	}{
		"the identity":   {signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}, ours, root, ""},
		"by pattern":     {signature.Signer{IdentityRegexp: "@example", IssuerRegexp: "^https://"}, ours, root, ""},
		"whole pattern":  {signature.Signer{IdentityRegexp: "@example", IssuerRegexp: ".*", Whole: true}, ours, root, "ada@example.com"},
		"another":        {signature.Signer{Identity: "eve@example.com", Issuer: testsigstore.Issuer}, ours, root, "ada@example.com"},
		"another issuer": {signature.Signer{Identity: "ada@example.com", Issuer: "https://evil.test"}, ours, root, testsigstore.Issuer},
		"another digest": {signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}, others, root, "a signature of something else"},
		"another root":   {signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}, ours, rootOf(t, testsigstore.Start(t)), " "},
		"no root":        {signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}, ours, signature.Root{JSON: []byte("{}"), Name: "r.json"}, "r.json is no trusted root"},
		"public root":    {signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}, ours, signature.Root{}, "the trusted root of the public Sigstore cannot be had"},
		"a key":          {signature.Signer{Key: publicOf(t)}, ours, root, "a certificate's signature, where a key's is wanted"},
	} {
		err := s.Verify(t.Context(), got, c.digest, c.by, c.root)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got := s.Claims(got); got != "a signature of ada@example.com issued by "+testsigstore.Issuer {
		t.Error(got)
	}
}

func rootOf(t *testing.T, fake *testsigstore.Sigstore) signature.Root {
	t.Helper()
	r, err := signature.ReadRoot("", fake.RootFile)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func publicOf(t *testing.T) []byte {
	t.Helper()
	_, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	return public
}

// A key's signature is in the log when that is asked for, and a rule may want it to be.
func TestKeyInLog(t *testing.T) {
	fake := testsigstore.Start(t)
	file, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	s := no(nil)
	logged := bundleOf(t, s, signature.Sign{Key: file, Log: true, Rekor: fake.URL}, ours)
	bare := bundleOf(t, s, signature.Sign{Key: file}, ours)
	by := signature.Signer{Key: public, Log: true}
	if err := s.Verify(t.Context(), logged, ours, by, rootOf(t, fake)); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), bare, ours, by, rootOf(t, fake)); err == nil {
		t.Error("a signature that is in no log passes")
	}
	if err := s.Verify(t.Context(), logged, ours, by, rootOf(t, testsigstore.Start(t))); err == nil {
		t.Error("the entry of another log passes")
	}
}

// cosign's older form: a payload with the digest, signed; with a certificate, an entry of the log promises its time.
func TestSimpleSigning(t *testing.T) {
	fake := testsigstore.Start(t)
	key := ecdsaKey(t, elliptic.P256())
	_, public := keyFiles(t, key, "PRIVATE KEY", "")
	payload := []byte(`{"critical":{"identity":{"docker-reference":"registry.example.com/web"},"image":{"docker-manifest-digest":"` + ours +
		`"},"type":"cosign container image signature"},"optional":null}`)
	sum := sha256.Sum256(payload)
	raw, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	sig := base64.StdEncoding.EncodeToString(raw)
	byKey := module.Signature{Payload: payload, Annotations: map[string]string{module.SimpleSignatureAnnotation: sig}}
	s := no(nil)
	if err := s.Verify(t.Context(), byKey, ours, signature.Signer{Key: public}, signature.Root{}); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), byKey, others, signature.Signer{Key: public}, signature.Root{}); err == nil {
		t.Error("another digest passes")
	}
	if err := s.Verify(t.Context(), byKey, ours, signature.Signer{Key: publicOf(t)}, signature.Root{}); err == nil {
		t.Error("another key passes")
	}

	cert, err := fake.Certificate("ada@example.com", testsigstore.Issuer, public)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	leaf, err := json.Marshal(map[string]any{"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": map[string]any{
		"data":      map[string]any{"hash": map[string]any{"algorithm": "sha256", "value": hex.EncodeToString(sum[:])}},
		"signature": map[string]any{"content": sig, "publicKey": map[string]any{"content": base64.StdEncoding.EncodeToString([]byte(text))}}}})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := fake.Entry(leaf)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(map[string]any{"SignedEntryTimestamp": entry["verification"].(map[string]any)["signedEntryTimestamp"],
		"Payload": map[string]any{"body": entry["body"], "integratedTime": entry["integratedTime"], "logIndex": entry["logIndex"], "logID": entry["logID"]}})
	if err != nil {
		t.Fatal(err)
	}
	byName := module.Signature{Payload: payload, Annotations: map[string]string{module.SimpleSignatureAnnotation: sig,
		module.SimpleCertAnnotation: text, module.SimpleLogAnnotation: string(kept)}}
	ada := signature.Signer{Identity: "ada@example.com", Issuer: testsigstore.Issuer}
	if err := s.Verify(t.Context(), byName, ours, ada, rootOf(t, fake)); err != nil {
		t.Error(err)
	}
	delete(byName.Annotations, module.SimpleLogAnnotation)
	if err := s.Verify(t.Context(), byName, ours, ada, rootOf(t, fake)); err == nil {
		t.Error("a certificate without an entry in the log passes")
	}
}
