package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/workspace"
)

// demand is what a verb needs of the files that its command line names.
type demand struct {
	// sources alone: facts of clusters that no source needs may be missing.
	sources bool
	// writes: it is about clusters, which the line has to name.
	writes bool
}

// works looks at a request as the engine does before it asks a cluster: the files load, the selection chooses clusters, the
// bundle can be evaluated for them, instances that flags name are there, and plain manifests have a namespace.
func works(ctx context.Context, req engine.Request, d demand) error {
	at := req.Documents.(*workspace.Files)
	files := slices.DeleteFunc(slices.Concat(at.Files, at.FleetFiles), func(f string) bool {
		_, err := os.Stat(f)
		return err == nil
	})
	if len(files) > 0 {
		return fmt.Errorf("examples have no %s", strings.Join(files, ", "))
	}
	program, findings := document.Load(ctx, document.Options{Files: at.Files, Fleet: at.FleetFiles, Workdir: at.Workdir,
		Name: at.Name, Namespace: at.Namespace, FleetOnly: len(at.Files) == 0})
	if findings.HasErrors() {
		return findings.Err()
	}
	clusters := fleet.Clusters(program.Fleet())
	if program.Fleet() == nil {
		clusters = []fleet.Cluster{fleet.Implicit("")}
		if d.writes && req.Access.Context == "" && !program.Plain() {
			return fmt.Errorf("neither --fleet nor --kube-context: the current context is meant, and the examples' bundle is on a fleet")
		}
	}
	selected, findings := fleet.Select(clusters, req.Clusters)
	if findings.HasErrors() || len(at.Files) == 0 {
		return findings.Err()
	}
	for _, c := range selected {
		facts := c.Facts(fleet.RuntimeValues(nil, nil, c))
		facts.Version = "1.36.3"
		if program.Fleet() != nil {
			facts = factsOf(c, program.Fleet())
		}
		specs, findings := program.Evaluate(facts)
		if d.sources {
			findings = source.Needed(findings)
		}
		if findings.HasErrors() {
			return findings.Err()
		}
		if err := named(req, source.Instances(specs)); err != nil {
			return err
		}
		if program.Plain() {
			return namespaced(ctx, specs[0].Instances[0])
		}
	}
	return nil
}

// named checks that what flags name is an instance.
func named(req engine.Request, instances []v1alpha1.Instance) error {
	if _, err := source.Choose(req.Upgrade, instances); err != nil {
		return err
	}
	for _, r := range req.Rotate {
		name, _, _ := strings.Cut(r, "/")
		if !slices.ContainsFunc(instances, func(in v1alpha1.Instance) bool { return in.Name == name }) {
			return fmt.Errorf("--rotate %s: there is no such instance", r)
		}
	}
	return nil
}

// namespaced checks that every object of plain manifests has a place.
func namespaced(ctx context.Context, in v1alpha1.Instance) error {
	res, err := plain.New(plain.Options{}).Render(ctx, render.Request{Bundle: "docs", Instance: in, KubeVersion: "1.36.3"})
	if err != nil {
		return err
	}
	for _, o := range res.Objects {
		if ref := o.Ref(); ref.Namespace == "" && in.Namespace == "" && ref.Kind != "Namespace" {
			return fmt.Errorf("%s %s has no namespace: -n is missing", ref.Kind, ref.Name)
		}
	}
	return nil
}

// sandboxFleet is a fleet as hawser sandbox writes one.
const sandboxFleet = `fleet: {apiVersion: "v1alpha1", name: "sandbox", clusters: {
	staging: {group: "staging", kubeContext: "a"}
	"production-eu": {group: "production", kubeContext: "b"}
	"production-us": {group: "production", kubeContext: "c"}
}}
`

// examplesDir is a copy of the examples with what the pages' command lines name besides, as the current directory.
func examplesDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Join(dir, "examples")} {
		if err := os.CopyFS(at, os.DirFS(filepath.Join(root, "examples"))); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if f := b.args["file"]; f != "" && !strings.Contains(f, "/") {
				if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
					write(t, filepath.Join(dir, f), b.text)
				}
			}
		}
	}
	for _, b := range blocks(t, "docs/moving-from-timoni.md") { // the files of somebody who comes from Timoni
		switch {
		case b.lang == "cue" && b.has("fleet"):
			write(t, filepath.Join(dir, "runtime.cue"), b.text)
		case b.lang == "cue" && b.has("bundle"):
			write(t, filepath.Join(dir, "bundle.cue"), b.text)
		}
	}
	write(t, filepath.Join(dir, "fleet.cue"), sandboxFleet)
	t.Chdir(dir)
	return dir
}

// TestExamplesThatDoNotWorkAreFound: the test of command lines can fail for what is behind their flags.
func TestExamplesThatDoNotWorkAreFound(t *testing.T) {
	examplesDir(t)
	for bad, want := range map[string]string{
		"hawser apply -f ./storefront --name storefront -y":                            "-n is missing",
		"hawser apply -f shop.yaml --locked":                                           "neither --fleet",
		"hawser apply -f shop.yaml --fleet fleet.yaml --rotate login":                  "no such instance",
		"hawser lock -f shop.yaml --upgrade nobody":                                    "no instance",
		"hawser plan -f shop.yaml --fleet fleet.yaml --group nobody":                   "nobody",
		"hawser plan -f nowhere.yaml --fleet fleet.yaml":                               "no nowhere.yaml",
		"hawser vet -f shop.yaml --fleet fleet.yaml --explain-value catalog.settingss": "",
	} {
		args, err := words(bad)
		if err != nil {
			t.Fatal(err)
		}
		if said := accepts(t.Context(), args[1:], ""); want != "" && !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s: %q, want %q", bad, said, want)
		}
	}
}

// reached is what a method of the engine answers: what is wrong with the request, or that its work would begin.
func reached(ctx context.Context, req engine.Request, d demand) error {
	if err := works(ctx, req, d); err != nil {
		return diag.Findings{diag.Errorf("example", "%v", err)}.Err()
	}
	return errReached
}
