package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/dir"
	"hawser.dev/hawser/internal/module/oci"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/cue"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/signature/sigstore"
	"hawser.dev/hawser/internal/testregistry"
	"hawser.dev/hawser/internal/testsigstore"
	"hawser.dev/hawser/internal/toolchain"
)

// access is what flags give for registries, as the wiring keeps it.
var access oci.Access

func giveAccess(creds string, insecure bool) error {
	if access.Insecure = access.Insecure || insecure; creds == "" && insecure {
		return nil
	}
	_, err := access.Give(creds)
	return err
}

// realTools is the tool chain as the wiring makes it, without Kubernetes' source.
func realTools() (*toolchain.Tools, error) {
	modules, artifacts, signs := cue.New(cue.Options{}), oci.New(oci.Options{Access: access}), sigstore.New(sigstore.Options{TokenFile: "/nonexistent"})
	return &toolchain.Tools{
		Fetchers: map[string]module.Fetcher{"file": dir.New(), "oci": artifacts},
		Registry: artifacts, Digests: artifacts, Logins: artifacts, Getenv: os.Getenv,
		Signatures: &signature.Checker{Store: artifacts, Verifier: signs}, Signers: signs,
		Render: func(ctx context.Context, req toolchain.RenderRequest) (toolchain.Rendered, error) {
			got, err := modules.Render(ctx, render.Request{Content: req.Content, KubeVersion: req.KubeVersion, Package: req.Package, Tags: req.Tags,
				Instance: v1alpha1.Instance{Name: req.Name, Namespace: req.Namespace, Module: &v1alpha1.ModuleSource{URL: req.URL},
					Values: req.Values}})
			return toolchain.Rendered{Objects: got.Objects, Images: got.Images, Stages: got.Stages, Findings: got.Findings}, err
		},
	}, nil
}

// startRegistries gives every script an open registry ($REGISTRY) and one that asks for credentials ($PRIVATE), and
// keeps Docker's configuration within the script.
func startRegistries(t *testing.T, e *testscript.Env) error {
	open := testregistry.Start(t, testregistry.Options{})
	private := testregistry.Start(t, testregistry.Options{User: "ada", Password: "pa55word"})
	e.Setenv("REGISTRY", open.Host)
	e.Setenv("PRIVATE", private.Host)
	e.Setenv("DOCKER_CONFIG", filepath.Join(e.WorkDir, "docker"))
	return startSigstore(t, e)
}

// startSigstore gives every script two pairs of keys (cosign.key, cosign.pub, other.key, other.pub), a Sigstore ($SIGSTORE)
// with its trusted_root.json, and a token for ada@example.com (token.txt).
func startSigstore(t *testing.T, e *testscript.Env) error {
	fake := testsigstore.Start(t)
	e.Setenv("SIGSTORE", fake.URL)
	root, err := os.ReadFile(fake.RootFile)
	files := map[string][]byte{"trusted_root.json": root, "token.txt": []byte(fake.Token("ada@example.com"))}
	for _, name := range []string{"cosign", "other"} {
		key, keyErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		private, privateErr := x509.MarshalPKCS8PrivateKey(key)
		public, publicErr := x509.MarshalPKIXPublicKey(key.Public())
		err = errors.Join(err, keyErr, privateErr, publicErr)
		files[name+".key"] = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
		files[name+".pub"] = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	}
	for name, data := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(e.WorkDir, name), data, 0o600))
	}
	return err
}
