package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/workspace"
)

// verbs are all that read a fleet; each is given a request and says what went wrong.
func verbs(e *Engine) map[string]func(context.Context, Request) error {
	return map[string]func(context.Context, Request) error{
		"plan":     func(ctx context.Context, r Request) error { _, err := e.Plan(ctx, r); return err },
		"delete":   func(ctx context.Context, r Request) error { _, err := e.Plan(ctx, r.For(Delete)); return err },
		"status":   func(ctx context.Context, r Request) error { _, err := e.Status(ctx, r); return err },
		"build":    func(ctx context.Context, r Request) error { _, err := e.Build(ctx, r); return err },
		"vet":      func(ctx context.Context, r Request) error { _, err := e.Vet(ctx, r); return err },
		"explain":  func(ctx context.Context, r Request) error { _, err := e.Explain(ctx, r, "a"); return err },
		"bundles":  func(ctx context.Context, r Request) error { _, err := e.Bundles(ctx, r); return err },
		"ls":       func(ctx context.Context, r Request) error { _, err := e.Clusters(ctx, r); return err },
		"check":    func(ctx context.Context, r Request) error { _, err := e.Check(ctx, r); return err },
		"values":   func(ctx context.Context, r Request) error { _, err := e.Values(ctx, r); return err },
		"snapshot": func(ctx context.Context, r Request) error { _, err := e.Snapshot(ctx, r); return err },
		"lock":     func(ctx context.Context, r Request) error { _, err := e.Lock(ctx, r); return err },
		"outdated": func(ctx context.Context, r Request) error { _, err := e.Outdated(ctx, r); return err },
	}
}

// TestBrokenFleetStopsEveryVerb: with a fleet that cannot be read no verb looks for the current context.
func TestBrokenFleetStopsEveryVerb(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bundle := write("b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {manifests: {paths: [m]}, namespace: x}}}\n")
	for name, text := range map[string]string{
		"undefined": `runtime: {apiVersion: "v1alpha1", name: "f", clusters: "staging-eu": {group: _stg, kubeContext: "x"}}`,
		"unused":    "import \"strings\"\n" + `runtime: {apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: "x"}}`,
		"nothing":   `x: 1`,
	} {
		broken := write(name+".cue", text)
		asked := false
		e := &Engine{Resolve: func(fleet.Cluster, fleet.AccessOptions) (fleet.Access, diag.Findings) {
			asked = true
			return fleet.Access{}, diag.Findings{diag.Errorf("asked", "the cluster was looked for")}
		}}
		for verb, do := range verbs(e) {
			of := func(files []string, fleetFiles ...string) Input {
				return Input{Documents: &workspace.Files{Paths: fleetplan.Paths{Files: files, FleetFiles: fleetFiles}}}
			}
			requests := map[string]Request{"--fleet": {Input: of([]string{bundle}, broken)}, "fleet": {Input: of(nil, broken), Selection: Selection{Bundle: "b"}}}
			if name != "nothing" {
				requests["together"] = Request{Input: of([]string{bundle, broken})}
				requests["named"] = Request{Input: of([]string{bundle, broken}), Selection: Selection{Bundle: "b"}}
			}
			for way, req := range requests {
				err := do(context.Background(), req)
				if err == nil || asked || !strings.Contains(err.Error(), name+".cue") {
					t.Errorf("%s, %s by %s: %v (asked for access: %v)", name, verb, way, err, asked)
				}
				asked = false
			}
		}
		for verb, do := range verbs(e) {
			if err := do(context.Background(), Request{Input: Input{Documents: &workspace.Files{Paths: fleetplan.Paths{Files: []string{bundle}, FleetFiles: []string{""}}}}}); err == nil || asked {
				t.Errorf("%s with an empty --fleet: %v (asked: %v)", verb, err, asked)
			}
			asked = false
		}
	}
}
