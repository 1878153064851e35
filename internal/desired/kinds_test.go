package desired

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/values"
)

// A reference to a text that is a number is that number where the source takes no text, and the redactor knows it in that form; where the text does not
// fit the error stands at the reference and says what to do. The inputs digest is that of what is rendered.
func TestReferenceOfAKind(t *testing.T) {
	r := newRig(t)
	r.Reader = values.New(values.Options{Redactor: r.Redactor, Fleet: &v1alpha1.FleetSpec{SecretStores: map[string]v1alpha1.SecretStore{"vault": {Env: &v1alpha1.EnvStore{}}}},
		Open: func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) { return known{}, nil }})
	r.renderer.kinds = map[string][]v1alpha1.Kind{"port": {v1alpha1.KindInt}}
	s, fs := r.state(r.instance("api", `{port: "ref://vault:db/port", other: "ref://vault:db/port"}`))
	if fs.HasErrors() || s.has("api", "port") != int64(1400) || s.has("api", "other") != "1400" || r.Redactor.Said("api", "1400.0") == "1400.0" {
		t.Errorf("%v, %v", s.Bodies, fs)
	}
	if key, err := r.renderer.Key(t.Context(), s.Renders[0].Request); err != nil || s.Renders[0].Key != key+s.Renders[0].policy {
		t.Error("the inputs digest is that of other values")
	}
	r.anew(nil)
	r.renderer.kinds = map[string][]v1alpha1.Kind{"port": {v1alpha1.KindBool}}
	r.renderer.refuses = func(data map[string]any) string {
		if _, ok := data["port"].(string); ok {
			return "port: want boolean"
		}
		return ""
	}
	if _, fs := r.state(r.instance("api", `{port: "ref://vault:db/port"}`)); len(fs.Errors()) != 1 || !strings.Contains(fs[0].String(), "want boolean") {
		t.Error(fs)
	}
}

// Where a bundle that writes the Secret comes first, nothing stands in for a number or a boolean: what to do is said.
func TestNothingStandsInForAKind(t *testing.T) {
	r := refersRig(t)
	r.renderer.kinds = map[string][]v1alpha1.Kind{"port": {v1alpha1.KindInt}, "tls": {v1alpha1.KindBool}}
	_, fs := r.Prepare(t.Context(), v1alpha1.BundleSpec{Name: "b", Instances: []v1alpha1.Instance{r.instance("api", `{port: "ref://vault:db/port", tls: "ref://vault:db/tls", user: "ref://vault:db/user"}`)}})
	errs := fs.Errors()
	if len(errs) != 2 || errs[0].Instance != "api" {
		t.Fatal(fs)
	}
	for _, f := range errs {
		if f.Code != "late-number" || !strings.Contains(f.What, "known only after bundle platform") || !strings.Contains(f.Fix, "--bundle platform") || !f.Pos.IsValid() {
			t.Error(f)
		}
	}
}

// What is called generate and makes nothing up is told at its place, with its instance; what is made up is not.
func TestWordThatGivesNoValue(t *testing.T) {
	r := newRig(t)
	_, fs := r.state(r.instance("api", `{password: {generate: 24}, other: {generate: {length: 24}}}`))
	if len(fs) != 1 || fs[0].Code != "value-mistaken" || fs[0].Path != "values.password" || fs[0].Instance != "api" || !fs[0].Pos.IsValid() || !strings.Contains(fs[0].Fix, "{length: 24}") {
		t.Error(fs)
	}
}
