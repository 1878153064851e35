package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// TestBuildAsksTheNamedContext: a context that is named is used by build and vet, and one that does not exist is an
// error; without one nothing is asked.
func TestBuildAsksTheNamedContext(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml":   "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {manifests: {paths: [m.yml]}}}}\n",
		"m.yml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n",
		"nope.txt": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	asked := ""
	e := &Engine{Resolve: func(c fleet.Cluster, o fleet.AccessOptions) (fleet.Access, diag.Findings) {
		asked = o.Context
		return fleet.Access{}, diag.Findings{diag.Errorf("no-context", "there is no context %q", o.Context)}
	}}
	for verb, do := range map[string]func(Request) error{
		"build": func(r Request) error { _, err := e.Build(context.Background(), r); return err },
		"vet":   func(r Request) error { _, err := e.Vet(context.Background(), r); return err },
	} {
		req := Request{Input: filesOf(dir, "b.yaml"), RunOptions: RunOptions{Access: fleet.AccessOptions{Context: "nope"}}}
		err := do(req)
		if _, found := errors.AsType[*diag.FindingsError](err); !found || asked != "nope" || !strings.Contains(err.Error(), `no context "nope"`) {
			t.Errorf("%s: %v, asked for %q", verb, err, asked)
		}
		asked = ""
		req.Access.Context = ""
		if err := do(req); asked != "" || err != nil && strings.Contains(err.Error(), "no-context") {
			t.Errorf("%s without a context: %v, asked for %q", verb, err, asked)
		}
	}
}
