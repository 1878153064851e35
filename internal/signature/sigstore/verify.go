package sigstore

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	sigs "github.com/sigstore/sigstore/pkg/signature"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/signature"
)

// Verify checks that a signature is one of the artifact with the digest, by the signer: the cryptography, the transparency
// log where one is wanted, and that what was signed is the digest, and said to be a signature.
func (s *Sigstore) Verify(ctx context.Context, sig module.Signature, digest string, by signature.Signer, from signature.Root) error {
	signed, err := read(sig, len(by.Key) > 0 && !by.Log)
	if err != nil {
		return err
	}
	material, opts, err := s.trust(ctx, by, from)
	if err != nil {
		return err
	}
	verifier, err := verify.NewVerifier(material, opts...)
	if err != nil {
		return err
	}
	who, err := whoIs(by)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil {
		return err
	}
	what := verify.WithArtifactDigest("sha256", raw)
	if signed.payload != nil {
		what = verify.WithArtifact(bytes.NewReader(signed.payload))
	}
	result, err := verifier.Verify(signed.entity, verify.NewPolicy(what, who))
	if err != nil {
		return plain(err)
	}
	if signed.payload != nil {
		return simpleSays(signed.payload, digest)
	}
	if said := result.Statement.GetPredicateType(); said != module.SignPredicate {
		return fmt.Errorf("it states %q, and is no signature", said)
	}
	return nil
}

// trust is what a signer is verified with, and how.
func (s *Sigstore) trust(ctx context.Context, by signature.Signer, from signature.Root) (root.TrustedMaterial, []verify.VerifierOption, error) {
	if len(by.Key) == 0 {
		material, err := s.trusted(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		opts := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
		if len(material.CTLogs()) > 0 {
			opts = append(opts, verify.WithSignedCertificateTimestamps(1))
		}
		return material, opts, nil
	}
	key, err := publicKey(by)
	if err != nil {
		return nil, nil, err
	}
	always := root.NewExpiringKey(key, time.Time{}, time.Time{})
	material := root.TrustedMaterialCollection{root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) { return always, nil })}
	opts := []verify.VerifierOption{verify.WithNoObserverTimestamps()}
	if by.Log {
		logs, err := s.trusted(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		material, opts = append(material, logs), append(opts, verify.WithTransparencyLog(1))
	}
	return material, opts, nil
}

func publicKey(by signature.Signer) (sigs.Verifier, error) {
	key, err := cryptoutils.UnmarshalPEMToPublicKey(by.Key)
	if err == nil {
		var v sigs.Verifier
		if v, err = sigs.LoadDefaultVerifier(key); err == nil {
			return v, nil
		}
	}
	f := diag.Errorf("signature-key", "the public key %s cannot be used", by.Name)
	f.Why, f.Fix = err.Error(), "ECDSA, Ed25519 and RSA keys in PEM are understood"
	return nil, diag.Findings{f}.Err()
}

func whoIs(by signature.Signer) (verify.PolicyOption, error) {
	if len(by.Key) > 0 {
		return verify.WithKey(), nil
	}
	identity, issuer := by.Patterns()
	id, err := verify.NewShortCertificateIdentity(by.Issuer, issuer, by.Identity, identity)
	return verify.WithCertificateIdentity(id), err
}

// plain makes a library's error a reason for people.
func plain(err error) error {
	text := err.Error()
	for _, prefix := range []string{"failed to verify signature: ", "failed to verify certificate identity: ", "failed to verify log inclusion: ",
		"failed to verify timestamps: ", "failed to verify leaf certificate: ", "failed to get signature verifier: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	switch {
	case strings.Contains(text, "expected key signature"):
		text = "a certificate's signature, where a key's is wanted"
	case strings.Contains(text, "not signed with a certificate"):
		text = "a key's signature, where an identity's is wanted"
	case strings.Contains(text, "invalid signature") || strings.Contains(text, "could not verify") || strings.Contains(text, "accepted signatures do not match"):
		text = "not made with that key"
	case strings.Contains(text, "provided artifact digest"):
		text = "a signature of something else"
	}
	return errors.New(text)
}

// signed is a signature as the library reads it; payload is what cosign's older form signs.
type signed struct {
	entity  *bundle.Bundle
	payload []byte
}

// read reads a signature. What is in a log does not matter where only a key does.
func read(s module.Signature, keyOnly bool) (signed, error) {
	if s.Bundle == nil {
		return readSimple(s, keyOnly)
	}
	b := new(bundle.Bundle)
	if err := b.UnmarshalJSON(s.Bundle); err != nil {
		return signed{}, fmt.Errorf("it cannot be read: %w", err)
	}
	if b.GetDsseEnvelope() == nil {
		return signed{}, errors.New("it is the signature of a file, and not of an artifact in a registry")
	}
	return signed{entity: b}, nil
}

// simpleSays compares what was signed in cosign's older form with the digest.
func simpleSays(payload []byte, digest string) error {
	var p struct {
		Critical struct {
			Type  string `json:"type"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("what was signed cannot be read: %w", err)
	}
	switch {
	case p.Critical.Type != "cosign container image signature":
		return fmt.Errorf("it states %q, and is no signature", p.Critical.Type)
	case p.Critical.Image.Digest != digest:
		return errors.New("a signature of something else")
	}
	return nil
}

// Claims is what a signature says of itself.
func (s *Sigstore) Claims(sig module.Signature) string {
	got, err := read(sig, true)
	if err != nil {
		return "something that is no signature"
	}
	content, err := got.entity.VerificationContent()
	if err != nil {
		return "a signature by nobody"
	}
	if cert := content.Certificate(); cert != nil {
		if sum, err := certificate.SummarizeCertificate(cert); err == nil {
			return fmt.Sprintf("a signature of %s issued by %s", sum.SubjectAlternativeName, sum.Issuer)
		}
		return "a signature with a certificate for nobody"
	}
	if key := content.PublicKey(); key != nil && key.Hint() != "" {
		return "a signature of the key " + key.Hint()
	}
	return "a signature of a key"
}

// hint names a public key as cosign does: the base64 of the SHA-256 of its DER form.
func hint(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:]), err
}

func certificateOf(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("its certificate cannot be read")
	}
	return block.Bytes, nil
}
