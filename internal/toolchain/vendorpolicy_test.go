package toolchain_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/toolchain"
)

// TestVendorObeysThePolicy: what vendor would fetch, and no signature can be of, is refused where the fleet's policy is for its place, before
// anybody is asked; else, and from files, it is taken.
func TestVendorObeysThePolicy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"cue.mod/module.cue": "module: \"x.test/x\"\nlanguage: version: \"v0.9.0\"\n", "crd.yaml": definition} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		sources        []string
		crd, file, k8s string
	}{
		"everything":   {[]string{"**"}, "example.com/crds/crd.yaml must be signed", "", "k8s.io/api must be signed"},
		"the server":   {[]string{"example.com/crds/**"}, "example.com/crds/crd.yaml must be signed", "", ""},
		"the modules":  {[]string{"k8s.io/**"}, "", "", "k8s.io/api must be signed"},
		"other places": {[]string{"registry.example.com/**"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt := tools(t)
			tt.Signatures = new(signature.Checker)
			asked := 0
			tt.Download = func(context.Context, string) ([]byte, error) {
				asked++
				return []byte(definition), nil
			}
			if err := tt.Obey(&v1alpha1.FleetSpec{Signatures: &v1alpha1.Signatures{Required: []v1alpha1.SignatureRule{{Sources: c.sources}}}}); err != nil {
				t.Fatal(err)
			}
			check := func(of, want string, err error) {
				t.Helper()
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %v, want %q", of, err, want)
				}
			}
			_, err := tt.VendorCRDs(t.Context(), dir, []string{"https://example.com/crds/crd.yaml"}, nil)
			check("crd", c.crd, err)
			if refused := c.crd != ""; refused == (asked > 0) {
				t.Errorf("the server was asked %d times", asked)
			}
			_, err = tt.VendorCRDs(t.Context(), dir, []string{filepath.Join(dir, "crd.yaml")}, nil)
			check("file", c.file, err)
			_, err = tt.VendorKubernetes(t.Context(), toolchain.KubernetesRequest{Dir: dir, Version: "1.0", Packages: []string{"apps/v1"}})
			if c.k8s != "" || err != nil && strings.Contains(err.Error(), "signed") {
				check("k8s", c.k8s, err)
			}
		})
	}
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}
`
