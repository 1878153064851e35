package sigstore

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	sigs "github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/signature"
)

// envPassword is the variable with the password of an encrypted private key; cosign's.
const envPassword = "COSIGN_PASSWORD"

// Signer gets ready to sign, with a key or with a certificate for the identity of a token.
func (s *Sigstore) Signer(ctx context.Context, how signature.Sign) (signature.Signing, error) {
	opts := sign.BundleOptions{}
	authority := or(how.Fulcio, publicFulcio)
	servers := []server{{openly(authority), "the certificate authority", "--fulcio-url"}, {openly(how.Timestamps), "the timestamp authority", "--timestamp-server-url"}}
	if how.Timestamps != "" {
		opts.TimestampAuthorities = []*sign.TimestampAuthority{sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{URL: how.Timestamps, Transport: s.client.Transport})}
	}
	if how.Log || how.Key == "" {
		opts.TransparencyLogs = []sign.Transparency{sign.NewRekor(&sign.RekorOptions{BaseURL: or(how.Rekor, publicRekor)})}
	}
	if how.Key != "" {
		key, public, err := s.privateKey(how.Key)
		if err != nil {
			return signature.Signing{}, err
		}
		return signature.Signing{Who: "the key " + string(key.GetHint()), By: signature.Signer{Key: public, Name: how.Key}, Bundle: s.bundler(key, opts, servers)}, nil
	}
	token, err := s.token(ctx, how.TokenFile)
	if err != nil {
		return signature.Signing{}, err
	}
	if s.o.Tell != nil {
		s.o.Tell(token) // it goes in a body
	}
	key, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		return signature.Signing{}, err
	}
	opts.CertificateProvider = sign.NewFulcio(&sign.FulcioOptions{BaseURL: authority, Transport: s.client.Transport})
	opts.CertificateProviderOptions = &sign.CertificateProviderOptions{IDToken: token}
	return signature.Signing{Who: "the identity of the token", Bundle: s.bundler(key, opts, servers)}, nil
}

// openly is an address without user, password and query, as redirects are told.
func openly(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return httpclient.Plain(u)
}

func or(said, otherwise string) string {
	if said != "" {
		return strings.TrimRight(said, "/")
	}
	return otherwise
}

// bundler signs a statement of a digest, as cosign does, with the help of servers.
func (s *Sigstore) bundler(key sign.Keypair, opts sign.BundleOptions, servers []server) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, digest string) ([]byte, error) {
		type subject struct {
			Digest      map[string]string `json:"digest"`
			Annotations struct{}          `json:"annotations"`
		}
		statement, err := json.Marshal(struct {
			Type          string    `json:"_type"`
			Subject       []subject `json:"subject"`
			PredicateType string    `json:"predicateType"`
			Predicate     struct{}  `json:"predicate"`
		}{"https://in-toto.io/Statement/v1", []subject{{Digest: map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}}}, module.SignPredicate, struct{}{}})
		if err != nil {
			return nil, err
		}
		opts := opts
		opts.Context = ctx
		b, err := sign.Bundle(&sign.DSSEData{Data: statement, PayloadType: "application/vnd.in-toto+json"}, key, opts)
		if err != nil {
			return nil, diag.Findings{s.failed(digest, err, servers)}.Err()
		}
		return protojson.Marshal(b)
	}
}

// server is one that helps to sign: its address, what it is, and the flag that names it.
type server struct{ address, what, flag string }

// failed says why nothing was signed.
func (s *Sigstore) failed(digest string, err error, servers []server) diag.Finding {
	const stays = "; what was pushed stays, unsigned: sign it with hawser artifact sign"
	f := diag.Errorf("signing-failed", "%s cannot be signed", digest)
	f.Why = s.redact(err.Error())
	f.Fix = "check the addresses of the authority and the log, and that they accept the token" + stays
	redirect, ok := errors.AsType[*httpclient.RedirectError](err)
	if !ok {
		return f
	}
	f.Code = "signing-redirect"
	f.Why = s.redact(redirect.Error())
	asked, path := server{}, ""
	for _, one := range servers {
		if rest, ok := strings.CutPrefix(redirect.From, one.address); ok && len(one.address) > len(asked.address) {
			asked, path = one, rest
		}
	}
	if asked.address == "" {
		return f
	}
	f.What += ": " + asked.what + " points elsewhere"
	f.Fix = "ask who runs it where it is"
	if redirect.To != "" {
		f.Fix = "if " + s.redact(strings.TrimSuffix(redirect.To, path)) + " is " + asked.what + ", name it with " + asked.flag + "; if it is a page to log in, ask who runs " + asked.what
	}
	f.Fix += stays
	return f
}

// keypair is a private key of a file.
type keypair struct {
	key     crypto.Signer
	hint    string
	details sigs.AlgorithmDetails
}

func (k *keypair) GetHashAlgorithm() protocommon.HashAlgorithm { return k.details.GetProtoHashType() }
func (k *keypair) GetSigningAlgorithm() protocommon.PublicKeyDetails {
	return k.details.GetSignatureAlgorithm()
}
func (k *keypair) GetHint() []byte                { return []byte(k.hint) }
func (k *keypair) GetPublicKey() crypto.PublicKey { return k.key.Public() }
func (k *keypair) GetKeyAlgorithm() string {
	return map[sigs.PublicKeyType]string{sigs.ECDSA: "ECDSA", sigs.RSA: "RSA", sigs.ED25519: "ED25519"}[k.details.GetKeyType()]
}

func (k *keypair) GetPublicKeyPem() (string, error) {
	data, err := cryptoutils.MarshalPublicKeyToPEM(k.key.Public())
	return string(data), err
}

// SignData signs data, of which Ed25519 signs all and the others a digest.
func (k *keypair) SignData(_ context.Context, data []byte) (sig, signed []byte, err error) {
	hash := k.details.GetHashType()
	if hash != crypto.Hash(0) {
		h := hash.New()
		h.Write(data)
		data = h.Sum(nil)
	}
	sig, err = k.key.Sign(rand.Reader, data, hash)
	return sig, data, err
}

// privateKey reads a private key, with the public one in PEM.
func (s *Sigstore) privateKey(name string) (*keypair, []byte, error) {
	refuse := func(why error, fix string) (*keypair, []byte, error) {
		f := diag.Errorf("signing-key", "the private key %s cannot be used", name)
		f.Why, f.Fix = why.Error(), fix
		return nil, nil, diag.Findings{f}.Err()
	}
	const form = "name a file with a private key in PEM, as cosign generate-key-pair writes it, or env://VARIABLE that holds one"
	data, err := s.keyText(name)
	if errors.Is(err, errMisplaced) {
		f := diag.Errorf("signing-key", "a private key itself stands where its file or variable is named")
		f.Why, f.Fix = err.Error(), form
		return nil, nil, diag.Findings{f}.Err()
	}
	if err != nil {
		return refuse(err, form)
	}
	asked := false
	read, err := cryptoutils.UnmarshalPEMToPrivateKey(data, func(bool) ([]byte, error) {
		asked = true
		return []byte(s.o.Getenv(envPassword)), nil
	})
	if err != nil && asked {
		return refuse(err, "it is encrypted: set "+envPassword+" to its password")
	}
	key, ok := read.(crypto.Signer)
	if err == nil && !ok {
		err = fmt.Errorf("a %T signs nothing", read)
	}
	if err != nil {
		return refuse(err, form)
	}
	details, err := sigs.GetDefaultAlgorithmDetails(key.Public())
	if err != nil {
		return refuse(err, "ECDSA, Ed25519 and RSA keys are understood")
	}
	out := &keypair{key: key, details: details}
	if out.hint, err = hint(key.Public()); err != nil {
		return refuse(err, form)
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	return out, public, err
}

// errMisplaced: what is given is not shown.
var errMisplaced = errors.New("it is no file's path and no variable's name, and is not shown")

// keyText is the PEM text of a key: of a file, or of a variable.
func (s *Sigstore) keyText(name string) ([]byte, error) {
	variable, isEnv := strings.CutPrefix(name, "env://")
	if isEnv {
		if text := s.o.Getenv(variable); text != "" {
			return []byte(text), nil
		}
		if misplaced.Value(variable) {
			return nil, errMisplaced
		}
		return nil, errors.New("the variable " + variable + " is not set")
	}
	if misplaced.Content(name) {
		return nil, errMisplaced
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return nil, errors.New("keys of " + scheme + ":// are not understood")
	}
	if err := rootfs.Given(name); err != nil {
		return nil, err
	}
	return rootfs.ReadFile(name, rootfs.MaxSmall)
}

// maxToken is how long a token may be.
const maxToken = 64 << 10

// token is the identity token to sign with: the one in the file that was named, of SIGSTORE_ID_TOKEN, of GitHub's Actions,
// or the one that lies where cosign looks.
func (s *Sigstore) token(ctx context.Context, file string) (string, error) {
	if file == "" {
		if token := s.o.Getenv("SIGSTORE_ID_TOKEN"); token != "" {
			return strings.TrimSpace(token), nil
		}
		if address := s.o.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"); address != "" {
			return s.actionsToken(ctx, address)
		}
		file = s.o.TokenFile
	}
	if misplaced.Content(file) {
		f := diag.Errorf("no-identity", "--identity-token names the file with the token, and holds the token itself, which is not shown")
		f.Fix = "put it into SIGSTORE_ID_TOKEN, or write it to a file (mode 0600) and name that"
		return "", diag.Findings{f}.Err()
	}
	if err := rootfs.Given(file); err != nil {
		return "", err
	}
	data, err := rootfs.ReadFile(file, maxToken)
	if err == nil && len(data) <= maxToken && len(strings.TrimSpace(string(data))) > 0 {
		return strings.TrimSpace(string(data)), nil
	}
	f := diag.Errorf("no-identity", "there is neither a key nor an identity to sign with")
	f.Why = "no token is in SIGSTORE_ID_TOKEN, from GitHub Actions (permission id-token: write), or in " + file
	f.Fix = "sign with a key: --cosign-key FILE; or put a token for the audience sigstore into SIGSTORE_ID_TOKEN, or name a file with one: --identity-token FILE"
	return "", diag.Findings{f}.Err()
}

// actionsToken asks GitHub's runner for a token.
func (s *Sigstore) actionsToken(ctx context.Context, address string) (token string, err error) {
	defer func() {
		if err != nil {
			f := diag.Errorf("no-identity", "GitHub Actions gives no token")
			f.Why, f.Fix = s.redact(err.Error()), "the job needs the permission id-token: write"
			if _, ok := errors.AsType[*httpclient.RedirectError](err); ok {
				f.Fix = "ACTIONS_ID_TOKEN_REQUEST_URL is to be the address that GitHub gives the job, and nothing before it may point elsewhere"
			}
			err = diag.Findings{f}.Err()
		}
	}()
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is no address")
	}
	q := u.Query()
	q.Set("audience", "sigstore")
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+s.o.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"))
	resp, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	var answer struct {
		Value string `json:"value"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", errors.New("it answers " + resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxToken)).Decode(&answer); err != nil {
		return "", err
	}
	if answer.Value == "" {
		return "", errors.New("its answer holds no token")
	}
	return answer.Value, nil
}
