package source

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
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
		"with its digest": {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/x?token=clear-1", Digest: "sha256:1"}}, "manifests https://h/x?token=*** sha256:1"},
		"a user's":        {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://u:clear-1@h/c", Digest: "sha256:1"}}, "helm https://h/c api sha256:1"},
		"a key that is":   {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/x?key=AIzaSyA1b2C3"}}, "manifests https://h/x?key=***"},
		"a key of words":  {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/c?key=a", Version: "^2"}}, "helm https://h/c?key=a api ^2"},
		"without tokens":  {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/x?page=2", Digest: "sha256:1"}}, "manifests https://h/x?page=2"},
	} {
		if s, _ := Of(c.in); s.Key() != c.want {
			t.Errorf("%s: %s", name, s.Key())
		}
	}
}

// tokens is a repository of charts whose content goes by the token; without any it is out of reach.
type tokens map[string]string

func (tokens) Schemes() []string { return nil }

func (f tokens) Resolve(_ context.Context, ref module.Reference) (module.Resolved, error) {
	if f == nil {
		return module.Resolved{}, errors.New("asked")
	}
	return module.Resolved{Version: "2.1.0", Digest: f[ref.URL]}, nil
}

func (f tokens) Fetch(_ context.Context, ref module.Reference) (module.Content, error) {
	return module.Content{Version: ref.Version, Digest: ref.Digest}, nil
}

// TestTwins: of sources that differ in a token alone none is given the pin of another one, and nobody is asked for them; what is said helps:
// with digests of their own they have pins of their own.
func TestTwins(t *testing.T) {
	for name, c := range map[string]struct{ repo, key string }{
		"a token": {"https://h/c?token=%", "helm https://h/c?token=*** api ^2"},
		"a user":  {"https://%:pw@h/c", "helm https://h/c api ^2"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := func(token, digest string) v1alpha1.Instance {
				return v1alpha1.Instance{Name: token, Helm: &v1alpha1.HelmSource{Chart: "api", Repo: strings.Replace(c.repo, "%", token, 1), Version: "^2", Digest: digest}}
			}
			pins := map[string]lockfile.Pin{c.key: {Version: "2.0.0", Digest: "sha256:1"}}
			both := []v1alpha1.Instance{chart("aa", ""), chart("bb", "")}
			refused := func(what string, err error, digests ...string) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), c.key) || strings.Contains(err.Error(), "aa@") || strings.Contains(err.Error(), "=aa") {
					t.Fatalf("%s: %v", what, err)
				}
				for _, f := range diag.From(err, "") {
					if f.Code != CodeTwins || !strings.Contains(f.Fix, "digest") {
						t.Errorf("%s: %+v", what, f)
					}
				}
				for i, digest := range digests {
					if fs := diag.From(err, ""); !strings.Contains(fs[i].Fix, digest) {
						t.Errorf("%s: %s is not told: %+v", what, digest, fs)
					}
				}
			}
			for _, locked := range []bool{true, false} { // nobody is asked
				r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+https": tokens(nil)}, Pins: pins, Locked: locked}
				if a, err := r.Get(t.Context(), both[0]); err != nil || a.State != Pinned || a.Key() != c.key {
					t.Fatal(a, err)
				}
				_, err := r.Get(t.Context(), both[1])
				refused("pinned", err)
			}
			there := tokens{"chart+" + strings.Replace(c.repo, "%", "aa", 1): "sha256:a", "chart+" + strings.Replace(c.repo, "%", "bb", 1): "sha256:b"}
			get := func(pins map[string]lockfile.Pin, list ...v1alpha1.Instance) []Use {
				t.Helper()
				upgrade, err := Choose(nil, list)
				r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+https": there}, Pins: pins, Upgrade: upgrade}
				for _, in := range list {
					_, more := r.Get(t.Context(), in)
					err = errors.Join(err, more)
				}
				if err != nil {
					t.Fatal(err)
				}
				return r.Used()
			}
			refused("to be pinned", Twins(get(pins, both...)).Err(), "sha256:a", "sha256:b")
			if fs := Twins(get(pins, chart("aa", "sha256:a"), chart("bb", "sha256:b"))); len(fs) > 0 {
				t.Error("with their digests:", fs)
			}
			if fs := Twins(get(pins, chart("aa", "sha256:a"), chart("bb", ""))); len(fs) > 0 {
				t.Error("with the digest of one:", fs)
			}
		})
	}
}

// TestUnclearPins: where hawser.lock had several pins for what is one address without its tokens, none is taken before it is locked anew.
func TestUnclearPins(t *testing.T) {
	chart := v1alpha1.Instance{Name: "a", Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/c?token=aa", Version: "^2"}}
	pins := map[string]lockfile.Pin{"helm https://h/c?token=*** api ^2": {}}
	for _, locked := range []bool{true, false} {
		r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+https": tokens(nil)}, Pins: pins, Locked: locked}
		_, err := r.Get(t.Context(), chart)
		if fs := diag.From(err, ""); err == nil || fs[0].Code != CodeTwins || !strings.Contains(fs[0].Fix, "hawser lock") || !strings.Contains(fs[0].Fix, "digest") {
			t.Errorf("locked %v: %v", locked, err)
		}
	}
	upgrade, _ := Choose(nil, []v1alpha1.Instance{chart})
	r := &Resolver{Fetchers: map[string]module.Fetcher{"chart+https": tokens{"chart+https://h/c?token=aa": "sha256:a"}}, Pins: pins, Upgrade: upgrade}
	if use, err := r.Get(t.Context(), chart); err != nil || use.State != Fresh {
		t.Error(use, err)
	}
}
