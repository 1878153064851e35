package sigstore

import (
	"crypto/elliptic"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/testsigstore"
)

func envelope(t *testing.T, key sign.Keypair, statement string) module.Signature {
	t.Helper()
	b, err := sign.Bundle(&sign.DSSEData{Data: []byte(statement), PayloadType: "application/vnd.in-toto+json"}, key, sign.BundleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := protojson.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return module.Signature{Bundle: data}
}

func TestSignerRefuses(t *testing.T) {
	file, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "ENCRYPTED SIGSTORE PRIVATE KEY", "a password")
	publicFile := filepath.Join(t.TempDir(), "cosign.pub")
	if err := os.WriteFile(publicFile, public, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		how  signature.Sign
		want []string
	}{
		"no password":   {signature.Sign{Key: file}, []string{"cannot be used", "set COSIGN_PASSWORD"}},
		"no file":       {signature.Sign{Key: "/nonexistent/cosign.key"}, []string{"the private key /nonexistent/cosign.key", "no such file"}},
		"no variable":   {signature.Sign{Key: "env://NOT_SET"}, []string{"the variable NOT_SET is not set"}},
		"kms":           {signature.Sign{Key: "awskms:///alias/x"}, []string{"keys of awskms:// are not understood"}},
		"a public key":  {signature.Sign{Key: publicFile}, []string{"cannot be used"}},
		"no identity":   {signature.Sign{}, []string{"neither a key nor an identity", "--cosign-key", "SIGSTORE_ID_TOKEN"}},
		"no token file": {signature.Sign{TokenFile: "/nonexistent/token"}, []string{"/nonexistent/token"}},
	} {
		_, err := no(nil).Signer(t.Context(), c.how)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

func TestTokens(t *testing.T) {
	fake := testsigstore.Start(t)
	actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer runner" || r.URL.Query().Get("audience") != "sigstore" || r.URL.Query().Get("x") != "1" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(`{"value":"` + fake.Token("runner@example.com") + `"}`))
	}))
	t.Cleanup(actions.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(fake.Token("file@example.com")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env        map[string]string
		file, want string
	}{
		"variable": {map[string]string{"SIGSTORE_ID_TOKEN": fake.Token("env@example.com")}, "", "env@example.com"},
		"file":     {map[string]string{"SIGSTORE_ID_TOKEN": fake.Token("env@example.com")}, file, "file@example.com"},
		"actions":  {map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL + "?x=1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner"}, "", "runner@example.com"},
	} {
		s := no(c.env)
		sig := bundleOf(t, s, signature.Sign{TokenFile: c.file, Fulcio: fake.URL, Rekor: fake.URL}, ours)
		by := signature.Signer{Identity: c.want, Issuer: testsigstore.Issuer}
		if err := s.Verify(t.Context(), sig, ours, by, rootOf(t, fake)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := no(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL}).Signer(t.Context(), signature.Sign{})
	if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "id-token: write") {
		t.Error(err)
	}
	signer, err := no(map[string]string{"SIGSTORE_ID_TOKEN": "no.token"}).Signer(t.Context(), signature.Sign{Fulcio: fake.URL, Rekor: fake.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Bundle(t.Context(), ours); err == nil || !strings.Contains(err.Error(), ours+" cannot be signed") || strings.Contains(err.Error(), "no.token") {
		t.Error(err)
	}
}

func TestKeyInVariable(t *testing.T) {
	file, public := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := no(map[string]string{"RELEASE_KEY": string(text)})
	sig := bundleOf(t, s, signature.Sign{Key: "env://RELEASE_KEY"}, ours)
	if err := s.Verify(t.Context(), sig, ours, signature.Signer{Key: public}, signature.Root{}); err != nil {
		t.Error(err)
	}
	if block, _ := pem.Decode(public); block == nil {
		t.Error("no public key")
	}
}

// What signing logs in with is told of before it is sent: the identity's token, that by which GitHub gives it, and a proxy's password.
func TestTokensAreTold(t *testing.T) {
	actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"value":"given.t0ken"}`)) }))
	t.Cleanup(actions.Close)
	for name, env := range map[string]map[string]string{
		"variable": {"SIGSTORE_ID_TOKEN": "given.t0ken"},
		"actions":  {"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runners.t0ken"},
	} {
		var told []string
		s := New(Options{Getenv: func(name string) string { return env[name] }, TokenFile: "/nonexistent", Tell: func(c string) { told = append(told, c) }})
		if _, err := s.Signer(t.Context(), signature.Sign{}); err != nil {
			t.Fatal(err)
		}
		want := []string{"given.t0ken"}
		if name == "actions" {
			want = []string{"runners.t0ken", "given.t0ken"}
		}
		if !slices.Equal(told, want) {
			t.Errorf("%s: told of %q, want %q", name, told, want)
		}
	}
}
