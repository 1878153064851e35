// Package signature says which content must be signed and by whom, and lets nothing else through: a policy of the fleet, or
// what one command asks for. What is verified is the digest of an artifact, before anything of it is used.
//
// signature must not know cryptography, registries or clusters: it asks the sockets it is given.
package signature

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/rootfs"
)

// Signer is somebody whose signatures count: the owner of a key, or an identity in a certificate.
type Signer struct {
	// Key is a public key in PEM, Name what it is called in messages. Without a key, the identity and the issuer of the
	// certificate are each a text or a regular expression: somewhere in it, as cosign searches, with Whole for all of it.
	Key                      []byte
	Name                     string
	Identity, IdentityRegexp string
	Issuer, IssuerRegexp     string
	Whole                    bool
	// Log wants the signature of a key to be in a transparency log.
	Log bool
}

// String is the signer for messages.
func (s Signer) String() string {
	if len(s.Key) > 0 {
		out := "the key " + s.Name
		if s.Log {
			out += " with an entry in a transparency log"
		}
		return out
	}
	choose := func(text, pattern string) string {
		if text != "" {
			return text
		}
		return "/" + pattern + "/"
	}
	return choose(s.Identity, s.IdentityRegexp) + " issued by " + choose(s.Issuer, s.IssuerRegexp)
}

// Patterns are the regular expressions for identity and issuer as they are searched for.
func (s Signer) Patterns() (identity, issuer string) {
	whole := func(pattern string) string {
		if pattern == "" || !s.Whole {
			return pattern
		}
		return `\A(?:` + pattern + `)\z`
	}
	return whole(s.IdentityRegexp), whole(s.IssuerRegexp)
}

// Root is the authorities and logs that certificates and entries are checked with: the content of a trusted_root.json and
// its name for messages. The zero value is the public Sigstore's.
type Root struct {
	JSON []byte
	Name string
}

// Verifier is the socket for cryptography.
type Verifier interface {
	// Verify checks that the signature is one of the artifact with the digest, by the signer. The error says why it is not,
	// without the signer's name. Nobody is asked but, for the zero Root, where the public Sigstore keeps its root.
	Verify(ctx context.Context, s module.Signature, digest string, by Signer, root Root) error
	// Claims is what a signature says of itself, not verified: by whom, or that it is no signature.
	Claims(s module.Signature) string
}

// Sign is how an artifact is to be signed.
type Sign struct {
	// Key is a file with a private key (PEM, cosign's encrypted form included) or env://NAME; "" signs with a certificate for
	// the identity of the token in the environment, or in TokenFile.
	Key, TokenFile string
	// Log puts the signature of a key into the transparency log, too.
	Log bool
	// Fulcio, Rekor and Timestamps are the addresses of the authority, the log and the timestamp authority; "" is the public
	// Sigstore's, without timestamps.
	Fulcio, Rekor, Timestamps string
}

// Signing is a signer that is ready.
type Signing struct {
	// Who signs, as far as it is known before.
	Who string
	// By is what verifies it; the zero value when that is known only afterwards.
	By Signer
	// Bundle signs the artifact with the digest and gives the Sigstore bundle.
	Bundle func(ctx context.Context, digest string) ([]byte, error)
}

// Maker is the socket for making signatures.
type Maker interface {
	// Signer gets ready to sign: keys are read and tokens found, so that nothing is published that cannot be signed.
	Signer(ctx context.Context, how Sign) (Signing, error)
}

// ReadKey reads a public key in PEM from a file, relative to dir, in whose repository it lies.
func ReadKey(dir, file string) ([]byte, error) {
	data, err := readSmall(dir, file)
	if err != nil {
		return nil, err
	}
	switch block, _ := pem.Decode(data); {
	case block == nil:
		return nil, errors.New("it is no PEM file")
	case strings.Contains(block.Type, "PRIVATE"):
		return nil, errors.New("it is a private key; the public one is wanted")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("it holds a %s, and no PUBLIC KEY", strings.ToLower(block.Type))
	}
	return data, nil
}

// ReadRoot reads a trusted_root.json, relative to dir, in whose repository it lies; no name is the zero Root.
func ReadRoot(dir, file string) (Root, error) {
	if file == "" {
		return Root{}, nil
	}
	data, err := readSmall(dir, file)
	return Root{JSON: data, Name: file}, err
}

// errContent: what should be a path is not shown.
var errContent = errors.New("it is the content of a file, not its path, and is not shown: write it to a file and name that")

func readSmall(dir, file string) ([]byte, error) {
	const most = 4 << 20
	if misplaced.Content(file) {
		return nil, errContent
	}
	file, err := rootfs.Named(dir, file)
	if err == nil && dir == "" { // the user named it
		err = rootfs.Given(file)
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, errors.New("it is no file, or too large")
	}
	return rootfs.ReadFile(file, most)
}

// Read reads the description of a signer, and its key. Errors are *diag.FindingsError.
func Read(s v1alpha1.SignedBy) (Signer, error) {
	out := Signer{Name: s.Key, Identity: s.Identity, IdentityRegexp: s.IdentityRegexp, Issuer: s.Issuer, IssuerRegexp: s.IssuerRegexp, Log: s.TransparencyLog}
	if problem := s.Problem(); problem != "" {
		f := diag.Errorf("signer", "it is not clear who has to sign: %s", problem)
		f.Pos = diag.Pos(s.Pos)
		return out, diag.Findings{f}.Err()
	}
	if s.Key != "" {
		var err error
		if out.Key, err = ReadKey(s.Dir, s.Key); err != nil {
			f := diag.Errorf("signature-key", "the public key %s cannot be read", misplaced.Shown(s.Key))
			f.Why, f.Pos = err.Error(), diag.Pos(s.Pos)
			f.Fix = "name a file with a public key in PEM, as cosign generate-key-pair writes it (cosign.pub)"
			return out, diag.Findings{f}.Err()
		}
	}
	return out, nil
}
