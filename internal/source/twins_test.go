package source

import (
	"context"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
)

// TestKeysHaveNoTokens: hawser.lock names no source with what authenticates in its address, and finds its pin by another token too.
func TestKeysHaveNoTokens(t *testing.T) {
	for name, c := range map[string]struct {
		in   v1alpha1.Instance
		want string
	}{
		"module":          {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "https://h/x?token=clear-1&page=2", Version: "1.x"}}, "https://h/x?token=***&page=2 1.x"},
		"a repository":    {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://u:clear-1@h/c?sig=clear-1", Version: "^2"}}, "helm https://h/c?sig=*** api ^2"},
		"with its digest": {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/x?key=clear-1", Digest: "sha256:1"}}, "manifests https://h/x?key=*** sha256:1"},
		"without tokens":  {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/x?page=2", Digest: "sha256:1"}}, "manifests https://h/x?page=2"},
	} {
		if s, _ := Of(c.in); s.Key() != c.want {
			t.Errorf("%s: %s", name, s.Key())
		}
	}
}

// tokens is a repository of charts whose content goes by the token.
type tokens map[string]string

func (tokens) Schemes() []string { return nil }

func (f tokens) Resolve(_ context.Context, ref module.Reference) (module.Resolved, error) {
	return module.Resolved{Version: "2.1.0", Digest: f[ref.URL]}, nil
}

func (f tokens) Fetch(_ context.Context, ref module.Reference) (module.Content, error) {
	return module.Content{Version: ref.Version, Digest: ref.Digest}, nil
}

// TestTwins: sources that differ in a token alone have one pin where they are one content, and are refused where they are not, pinned or not.
func TestTwins(t *testing.T) {
	const key = "helm https://h/c?token=*** api ^2"
	chart := func(token string) v1alpha1.Instance {
		return v1alpha1.Instance{Name: token, Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/c?token=" + token, Version: "^2"}}
	}
	url := func(token string) string { return "chart+https://h/c?token=" + token }
	for name, c := range map[string]struct {
		pins    map[string]lockfile.Pin
		there   tokens
		refused bool
	}{
		"one content, not pinned": {nil, tokens{url("a"): "sha256:1", url("b"): "sha256:1"}, false},
		"one content, pinned":     {map[string]lockfile.Pin{key: {Version: "2.0.0", Digest: "sha256:0"}}, tokens{url("a"): "sha256:1", url("b"): "sha256:1"}, false},
		"two, not pinned":         {nil, tokens{url("a"): "sha256:1", url("b"): "sha256:2"}, true},
		"two, pinned":             {map[string]lockfile.Pin{key: {Version: "2.0.0", Digest: "sha256:1"}}, tokens{url("a"): "sha256:1", url("b"): "sha256:2"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+https": c.there}, Pins: c.pins}
			a, err := r.Get(t.Context(), chart("a"))
			if err != nil || a.Key() != key || c.pins != nil && a.State != Pinned {
				t.Fatal(a, err)
			}
			_, err = r.Get(t.Context(), chart("b"))
			if err == nil { // of those that are not pinned each run takes what there is: hawser lock refuses them
				err = Twins(r.Used()).Err()
			}
			if (err != nil) != c.refused || err != nil && (!strings.Contains(err.Error(), "https://h/c?token=***") || strings.Contains(err.Error(), "=a") || strings.Contains(err.Error(), "=b")) {
				t.Errorf("refused: %v", err)
			}
		})
	}
}
