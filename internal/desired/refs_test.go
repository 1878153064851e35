package desired

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/values"
)

// refersRig is a run in which another bundle writes the Secrets of the store vault first.
func refersRig(t *testing.T) *rig {
	r := newRig(t)
	r.Reader = values.New(values.Options{Redactor: r.Redactor,
		Fleet: &v1alpha1.FleetSpec{SecretStores: map[string]v1alpha1.SecretStore{"vault": {Kube: &v1alpha1.KubeStore{Namespace: "vault"}}}},
		Open: func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) {
			return nil, errors.New("it is read though a bundle writes it first")
		}})
	r.Later = func(*State, object.Ref) string { return "platform" }
	return r
}

// after is what a plan says of an object of an instance, and the values that are open in it.
func (r *rig) after(s *State, instance string) (after, open []string, late *plan.Late) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: instance + "-ns", Name: instance}
	p := &plan.Plan{Changes: []plan.Change{{Ref: ref, Action: plan.Create, Instance: instance}}}
	r.References(s).Mark(p)
	return p.Changes[0].After, p.Changes[0].Late.Open, p.Changes[0].Late
}

// What stands in for a reference of another bundle's Secret says which one it is. Where a schema refuses that, the reference as it is written stands
// in for it, shown as not known all the same; where it takes neither, the error says what to do, and not that it wants a preview.
func TestReferenceOfABundle(t *testing.T) {
	url, user := regexp.MustCompile("^[a-z]+://"), "known after bundle platform (ref://vault:db/user)"
	refuses := func(takes func(uri string) bool) func(map[string]any) string {
		return func(data map[string]any) string {
			if uri, ok := data["uri"].(string); ok && !takes(uri) {
				return "uri does not match its pattern"
			}
			data["sum"] = object.DigestJSON(data)
			return ""
		}
	}
	for name, c := range map[string]struct {
		takes     func(string) bool
		uri, user string
		fix       string
	}{
		"anything": {func(string) bool { return true }, "known after bundle platform (ref://vault:db/uri)", user, ""},
		"a URI":    {url.MatchString, "ref://vault:db/uri", "ref://vault:db/user", ""},
		"a few":    {func(text string) bool { return slices.Contains([]string{"a", "b"}, text) }, "", "", "--bundle platform"},
	} {
		r := refersRig(t)
		r.renderer.refuses = refuses(c.takes)
		s, fs := r.state(r.instance("api", `{uri: "ref://vault:db/uri", user: "ref://vault:db/user", own: one}`))
		if c.fix != "" {
			if n := fs.Errors(); len(n) != 1 || !strings.Contains(n[0].Fix, c.fix) || strings.Contains(n[0].Fix, "preview") || !strings.Contains(n[0].Why, "known only after bundle platform") {
				t.Errorf("%s: %v", name, fs)
			}
			continue
		}
		if fs.HasErrors() || s.has("api", "uri") != c.uri || s.has("api", "user") != c.user || s.has("api", "own") != "one" || s.has("api", "sum") != "sha256:known after bundle platform" {
			t.Errorf("%s: %v, %v", name, s.Bodies, fs)
		}
		after, open, late := r.after(s, "api")
		if !slices.Equal(after, []string{"bundle platform"}) || !slices.Equal(open, []string{"uri", "user"}) || late.Values["uri"] != c.uri || !late.Object.Unknown["data.uri"] || late.Object.Unknown["data.own"] {
			t.Errorf("%s: after %q, open %q: %+v", name, after, open, late)
		}
		if key, err := s.Renders[0].Renderer.Key(context.Background(), s.Renders[0].Request); err != nil || s.Renders[0].Key != key+s.Renders[0].policy {
			t.Errorf("%s: the inputs digest is not that of what is rendered", name)
		}
	}
}
