package desired

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/values"
)

// defaults is a renderer with values of its own.
type defaults struct {
	*configMaps
	own string
}

func (d defaults) Default(_ context.Context, _ render.Request, at v1alpha1.Path) (*v1alpha1.Value, diag.Pos) {
	if d.own == "" || at.String() != "tier" {
		return nil, diag.Pos{}
	}
	return &v1alpha1.Value{Kind: v1alpha1.KindString, Text: d.own}, diag.Pos{}
}

// nothing is a store that cannot be read.
type nothing struct{}

func (nothing) Get(context.Context, secret.Ref) (string, error) {
	return "", errors.New("it is not set")
}

// An instance that does not render with the reference as its own value is rendered with what the package has itself; where that does not do either it is
// a warning where stand-ins are wanted, and other instances are rendered.
func TestStandInThatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		own   string
		wants string // in what is found
		has   any
	}{
		"no own":           {"", bind.CodeMisfit, nil},
		"own does not fit": {"bronze", bind.CodeMisfit, nil},
		"own fits":         {"gold", bind.CodeOwnStandsIn, "gold"},
	} {
		r := newRig(t)
		r.StandIns = true
		r.Renderers["manifests"] = defaults{r.renderer, c.own}
		r.Reader = values.New(values.Options{Redactor: r.Redactor, Fleet: &v1alpha1.FleetSpec{SecretStores: map[string]v1alpha1.SecretStore{"vault": {Env: &v1alpha1.EnvStore{}}}},
			Open: func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) { return nothing{}, nil }})
		r.renderer.refuses = func(data map[string]any) string {
			if tier, ok := data["tier"]; ok && tier != "gold" {
				return "tier is not one of the few"
			}
			return ""
		}
		s, fs := r.state(r.instance("api", `{tier: "ref://vault:tier", url: "ref://vault:url"}`), r.instance("web", `{own: one}`))
		if fs.HasErrors() || s.has("web", "own") != "one" {
			t.Fatalf("%s: %v", name, fs)
		}
		if c.has != nil && (s.has("api", "tier") != c.has || s.has("api", "url") != "ref://vault:url") {
			t.Errorf("%s: %v", name, s.Bodies)
		}
		var found diag.Findings
		for _, f := range fs {
			if f.Code == bind.CodeMisfit || f.Code == bind.CodeOwnStandsIn {
				found = append(found, f)
			}
		}
		if len(found) != 1 || found[0].Code != c.wants || found[0].Instance != "api" || !strings.Contains(found[0].What, "ref://vault:tier") {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
