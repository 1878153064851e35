package values

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/secret"
)

// shelf is a store in memory that counts how often it is asked.
type shelf struct {
	values map[string]string
	asked  *atomic.Int32
}

func (s shelf) Get(ctx context.Context, ref secret.Ref) (string, error) {
	if ctx.Err() != nil {
		return "", errors.New("the store did not answer")
	}
	s.asked.Add(1)
	if v, ok := s.values[ref.Path+"/"+ref.Property]; ok {
		return v, nil
	}
	if ref.Property == "locked" {
		return "", fmt.Errorf("%s: %w", ref.Path, &secret.NoKeyError{Err: errors.New("no such file")})
	}
	if ref.Property == "damaged" {
		return "", fmt.Errorf("%s: %w", ref.Path, &secret.UnreadableError{Err: errors.New("the value is damaged"), Fix: "restore it"})
	}
	if ref.Property == "a.tik" {
		return "", fmt.Errorf("%s: %w", ref.Path, &secret.MissingError{Name: "a.tik", Have: []string{"a.tok"}, Text: "there is no tik"})
	}
	return "", fmt.Errorf("there is no %s/%s beside hunter2", ref.Path, ref.Property)
}

var fleetWithStores = &v1alpha1.FleetSpec{Name: "shop", SecretStores: map[string]v1alpha1.SecretStore{
	"default": {Env: &v1alpha1.EnvStore{}}, "vault": {Kube: &v1alpha1.KubeStore{Namespace: "vault"}},
	"broken": {File: &v1alpha1.FileStore{Path: "none"}}, "more": {Kube: &v1alpha1.KubeStore{Namespace: "vault"}},
}}

// reader is a Reader over shelves: one for the environment, one for every cluster.
func reader(asked *atomic.Int32) (*Reader, *redact.Redactor) {
	redactor := redact.New()
	return New(Options{Fleet: fleetWithStores, Redactor: redactor, Open: func(spec v1alpha1.SecretStore, secrets Secrets) (secret.Store, error) {
		switch {
		case spec.Env != nil:
			return shelf{values: map[string]string{"db/password": "hunter2"}, asked: asked}, nil
		case spec.Kube != nil:
			data, err := secrets(context.Background(), spec.Kube.Namespace, "db")
			return shelf{values: map[string]string{"db/password": string(data["password"])}, asked: asked}, err
		}
		return nil, errors.New("the directory none is not there")
	}}), redactor
}

func on(name string) Target {
	return Target{Cluster: name, Secrets: func(context.Context, string, string) (map[string][]byte, error) {
		return map[string][]byte{"password": []byte("of-" + name)}, nil
	}}
}

// without is a target whose Secrets give an error, and for which a bundle is carried out before.
func without(err error, later string) Target {
	return Target{Cluster: "a", Later: func() string { return later }, Requires: []string{"base"}, Secrets: func(context.Context, string, string) (map[string][]byte, error) { return nil, err }}
}

// written is a target for which a bundle that writes a Secret of the store is carried out before.
func written(secret string) Target {
	out := on("a")
	out.Writes = func(_ context.Context, namespace, name, key string) (bundle, lost string) {
		return map[bool]string{true: "platform"}[namespace != "" && name == secret], map[bool]string{true: "deletes it"}[key == "gone"]
	}
	return out
}

// names is a target for which only the names of what is declared are wanted.
func names(t Target) Target {
	t.Names = "shop"
	return t
}

// standIns is a target where something may stand in for what is not read.
func standIns(t Target) Target {
	t.StandIns = true
	return t
}

var errNoSecret = apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "db")

var errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "db", errors.New("no rule"))

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		reason, ref string
		target      Target
		want        string
		code        string
		says        []string
	}{
		{reason: "the default store", ref: "ref://db/password", target: on("a"), want: "hunter2"},
		{reason: "a Secret of the target", ref: "ref://vault:db/password", target: on("a"), want: "of-a"},
		{reason: "and of another", ref: "ref://vault:db/password", target: on("b"), want: "of-b"},
		{reason: "offline the reference stands for itself", ref: "ref://vault:db/password", target: Target{Cluster: "a"}, want: "ref://vault:db/password",
			code: "secret-not-read", says: []string{"was not asked"}},
		{reason: "a Secret that is not there", ref: "ref://vault:db/password", target: without(errNoSecret, ""), code: "secret-not-found",
			says: []string{"comes with a bundle that this one requires (base)", "without --bundle"}},
		{reason: "a Secret that may not be read", ref: "ref://vault:db/password", target: without(errForbidden, "platform"), code: "secret-not-found",
			says: []string{"grant get on secrets in namespace vault", "hawser fleet check --print-rbac"}},
		{reason: "one that may come with a bundle", ref: "ref://vault:db/password", target: without(errNoSecret, "platform"),
			code: "secret-not-read", says: []string{"known only when bundle platform is done"}},
		{reason: "one that a bundle writes first", ref: "ref://vault:db/password", target: written("db"),
			code: "secret-not-read", says: []string{"known only when bundle platform is done"}},
		{reason: "one that a bundle deletes first", ref: "ref://vault:db/gone", target: written("db"), code: "secret-not-found",
			says: []string{"gives no value for ref://vault:db/gone: bundle platform, which comes first, deletes it", "--bundle platform"}},
		{reason: "one that it deletes, where names are wanted", ref: "ref://vault:db/gone", target: names(written("db")), code: "secret-not-read"},
		{reason: "one that is not there, where names are wanted", ref: "ref://vault:db/password", target: names(without(errNoSecret, "")), code: "secret-not-read"},
		{reason: "one that may not be read, where names are wanted", ref: "ref://vault:db/password", target: names(without(errors.New("forbidden"), "")), code: "secret-not-read",
			says: []string{"ref://vault:db/password is not read", "forbidden"}},
		{reason: "no such value, where names are wanted", ref: "ref://db/pass", target: names(on("a")), code: "secret-not-found"},
		{reason: "a Secret of the target, where names are wanted", ref: "ref://vault:db/password", target: names(on("a")), want: "of-a"},
		{reason: "beside one that a bundle writes first", ref: "ref://vault:db/password", target: written("other"), want: "of-a"},
		{reason: "one that may not be read", ref: "ref://vault:db/password", target: without(errors.New("forbidden"), "platform"), code: "secret-not-found"},
		{reason: "another store", ref: "ref://db/pass", target: without(errNoSecret, "platform"), code: "secret-not-found"},
		{reason: "no such value", ref: "ref://db/pass", target: on("a"), code: "secret-not-found", says: []string{"ref://db/pass", "there is no db/pass"}},
		{reason: "a store without its key", ref: "ref://db/locked", target: on("a"), code: "secret-not-found",
			says: []string{"no such file", "correct where secretStores.default says it is"}},
		{reason: "an entry that cannot be opened", ref: "ref://db/damaged", target: on("a"), code: "secret-not-found", says: []string{"the value is damaged", "restore it"}},
		{reason: "no such value, where something may stand in", ref: "ref://db/pass", target: standIns(on("a")), want: "ref://db/pass", code: "secret-not-read",
			says: []string{"ref://db/pass stands for itself: it cannot be read here", "there is no db/pass"}},
		{reason: "a store without its key, where something may stand in", ref: "ref://db/locked", target: standIns(on("a")), want: "ref://db/locked", code: "secret-not-read"},
		{reason: "a store that cannot be opened, where something may stand in", ref: "ref://broken:db/password", target: standIns(on("a")), want: "ref://broken:db/password", code: "secret-not-read"},
		{reason: "a Secret that is not there, where something may stand in", ref: "ref://vault:db/password", target: standIns(without(errNoSecret, "")), want: "ref://vault:db/password", code: "secret-not-read"},
		{reason: "what is there, where something may stand in", ref: "ref://db/password", target: standIns(on("a")), want: "hunter2"},
		{reason: "a misspelt property, where something may stand in", ref: "ref://db/a.tik", target: standIns(on("a")), code: "secret-not-found"},
		{reason: "a store that is not declared, where something may stand in", ref: "ref://valut:db/password", target: standIns(on("a")), code: "unknown-store"},
		{reason: "no such value, without stand-ins", ref: "ref://db/pass", target: on("a"), code: "secret-not-found", says: []string{"check without them: hawser vet --stand-ins"}},
		{reason: "a property that is misspelt", ref: "ref://db/a.tik", target: on("a"), code: "secret-not-found", says: []string{"there is no tik", `did you mean "a.tok"?`}},
		{reason: "a store that is not declared", ref: "ref://valut:db/password", target: on("a"), code: "unknown-store",
			says: []string{"named valut", "broken, default, more, vault", `did you mean "vault"?`}},
		{reason: "a store that cannot be opened", ref: "ref://broken:db/password", target: on("a"), code: "secret-not-found", says: []string{"store broken", "the directory none"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			r, redactor := reader(new(atomic.Int32))
			redactor.Add("hunter2")
			ref, err := secret.ParseRef(c.ref)
			if err != nil {
				t.Fatal(err)
			}
			got, _, f := r.Resolve(t.Context(), c.target, ref)
			if got != c.want || (f == nil) != (c.code == "") || f != nil && f.Code != c.code {
				t.Fatalf("%q, %v; want %q, %s", got, f, c.want, c.code)
			}
			if c.code == "" && redactor.Value(c.target.Instance, got) != redact.Mask {
				t.Errorf("the redactor does not know %q", got)
			}
			for _, s := range c.says {
				if !strings.Contains(f.String(), s) {
					t.Errorf("%s does not say %q", f, s)
				}
			}
			if f != nil && strings.Contains(f.String(), "hunter2") {
				t.Errorf("the finding shows a value: %s", f)
			}
		})
	}
}

// A run that was cancelled while a store was asked does not answer for the next one.
func TestCancelledIsNotKept(t *testing.T) {
	r, _ := reader(new(atomic.Int32))
	ref := secret.Ref{Store: "default", Path: "db", Property: "password"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, f := r.Resolve(ctx, on("a"), ref); f == nil {
		t.Error("the cancelled run has a value")
	}
	if got, _, f := r.Resolve(t.Context(), on("a"), ref); got != "hunter2" || f != nil {
		t.Errorf("%q %v", got, f)
	}
}

// Without a fleet there are no stores; the finding says how to declare one.
func TestResolveWithoutFleet(t *testing.T) {
	r := New(Options{Redactor: redact.New()})
	got, _, f := r.Resolve(t.Context(), on("a"), secret.Ref{Store: "default", Path: "db", Property: "password"})
	if got != "" || f == nil || !strings.Contains(f.Fix, "secretStores: {default: {env: {}}}") {
		t.Errorf("%q, %v", got, f)
	}
	if len(r.Led()) > 0 {
		t.Error("no fleet needs no cluster")
	}
}

// A reference is asked once per run, one to Secrets of the target once per cluster, whoever asks and how often, also
// when it fails.
func TestAskedOnce(t *testing.T) {
	var asked atomic.Int32
	r, _ := reader(&asked)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			target := on([]string{"a", "b", "c"}[i%3])
			for _, store := range []string{"default", "vault"} {
				if _, _, f := r.Resolve(t.Context(), target, secret.Ref{Store: store, Path: "db", Property: "password"}); f != nil {
					t.Error(f)
				}
			}
			if _, _, f := r.Resolve(t.Context(), target, secret.Ref{Store: "default", Path: "none", Property: "x"}); f == nil {
				t.Error("a value that is not there was given")
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1+3+1 {
		t.Errorf("the stores were asked %d times, want 5", n)
	}
	if got := r.Led(); !slices.Equal(got, []object.Ref{{Kind: "Secret", Namespace: "vault", Name: "db"}}) {
		t.Errorf("led to %v", got)
	}
}
