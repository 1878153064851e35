package cli

import (
	"context"
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
	"hawser.dev/hawser/internal/testregistry"
	"hawser.dev/hawser/internal/toolchain"
)

// realTools is the tool chain as the wiring makes it, without Kubernetes' source.
func realTools() (*toolchain.Tools, error) {
	modules, artifacts := cue.New(cue.Options{}), oci.New(oci.Options{})
	return &toolchain.Tools{
		Fetchers: map[string]module.Fetcher{"file": dir.New(), "oci": artifacts},
		Registry: artifacts, Logins: artifacts, Getenv: os.Getenv,
		Render: func(ctx context.Context, req toolchain.RenderRequest) (toolchain.Rendered, error) {
			got, err := modules.Render(ctx, render.Request{Content: req.Content, KubeVersion: req.KubeVersion, Package: req.Package, Tags: req.Tags,
				Instance: v1alpha1.Instance{Name: req.Name, Namespace: req.Namespace, Module: &v1alpha1.ModuleSource{URL: req.URL},
					Values: v1alpha1.Values{Struct: req.Values}}})
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
	return nil
}
