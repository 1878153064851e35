// Package values resolves what values refer to: references of secrets, in the stores that the fleet declares, late, in
// memory and failing closed. Every value is known to the redactor before anybody else sees it.
//
// values must not know which kinds of stores there are, how a cluster is reached, or what a value is for.
package values

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/secret"
)

// CodeNotRead is the code of the warning that a reference was not read: it stands for itself where its cluster is not asked, and something stands in
// for it where a bundle is done first.
const CodeNotRead = "secret-not-read"

// Secrets reads the data of a Secret of one cluster; its errors name the Secret.
type Secrets func(ctx context.Context, namespace, name string) (map[string][]byte, error)

// Open makes a declared store. secrets is nil for stores that need no cluster.
type Open func(spec v1alpha1.SecretStore, secrets Secrets) (secret.Store, error)

// Options are what a Reader needs.
type Options struct {
	// Fleet is nil in a run without a fleet, which has no stores.
	Fleet *v1alpha1.FleetSpec
	Open  Open
	// Redactor learns every value; nil makes one of the Reader's own.
	Redactor *redact.Redactor
}

// Target is the cluster that values are for. Secrets is nil where it is not asked (offline): then references to its
// Secrets stand for themselves.
type Target struct {
	Cluster string
	// Instance takes the values: what is common in them is hidden in what belongs to it.
	Instance string
	Secrets  Secrets
	// Later is a bundle that is carried out before the one that takes the values: a Secret that is not there may come with
	// it, "" for none; it is asked only then, and nil is none. Requires are the bundles that the one requires, for what is to be done. Writes is one of those that changes a Secret, "" for none, too, and why that has no such key then, "" where it may have it;
	// nil is none.
	Later    func() string
	Requires []string
	Writes   func(ctx context.Context, namespace, name, key string) (bundle, lost string)
	// Names is the bundle that takes the values, where only the names of what it declares are wanted: what its cluster's Secrets do not give is known
	// when it is done. "" for none.
	Names string
	// StandIns: nothing will be written, so that a reference which no store gives a value for stands for itself. What is read and has no such
	// property stays an error.
	StandIns bool
}

// Reader resolves references for one run. Every distinct one is asked once, those to Secrets of the target once per
// cluster. All methods may be called concurrently.
type Reader struct {
	options Options

	mu     sync.Mutex
	stores map[string]*once.Value[secret.Store] // by name, and cluster where one belongs to it
	asked  map[string]*once.Value[string]
	led    map[object.Ref]bool
}

// New returns a Reader without any answer yet.
func New(o Options) *Reader {
	if o.Redactor == nil {
		o.Redactor = redact.New()
	}
	return &Reader{options: o, stores: map[string]*once.Value[secret.Store]{}, asked: map[string]*once.Value[string]{}, led: map[object.Ref]bool{}}
}

// Led are the Secrets of target clusters to which references led that were to be resolved, sorted: the rights a run needs.
func (r *Reader) Led() []object.Ref {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(r.led), object.Ref.Compare)
}

// Resolve gives the value of a reference, already known to the redactor. The finding says why there is none; its caller
// adds position, path and instance. Offline, a reference to a Secret of the target is given back as it is written, with
// a warning. Of one that is known when a bundle is done there is no value, but that bundle, with a warning.
func (r *Reader) Resolve(ctx context.Context, t Target, ref secret.Ref) (value, bundle string, _ *diag.Finding) {
	spec, f := r.declared(ref)
	if f != nil {
		return "", "", f
	}
	on := ""
	if spec.Kube != nil {
		r.leads(object.Ref{Kind: "Secret", Namespace: spec.Kube.Namespace, Name: ref.Path})
		if t.Secrets == nil {
			return stands(ref, "the cluster was not asked")
		}
		on = t.Cluster
		if t.Writes != nil {
			switch bundle, lost := t.Writes(ctx, spec.Kube.Namespace, ref.Path, ref.Property); {
			case bundle != "" && lost != "" && t.Names == "":
				return "", "", goes(ref, bundle, lost)
			case bundle != "":
				return later(ref, bundle)
			}
		}
	}
	value, err := one(&r.mu, r.asked, on+"\x00"+ref.String()).Get(ctx, func() (string, error) {
		store, err := one(&r.mu, r.stores, on+"\x00"+ref.Store).Get(ctx, func() (secret.Store, error) { return r.options.Open(spec, t.Secrets) })
		if err != nil {
			return "", err
		}
		return store.Get(ctx, ref)
	})
	if t.Later != nil && on != "" && apierrors.IsNotFound(err) {
		if bundle := t.Later(); bundle != "" {
			return later(ref, bundle)
		}
	}
	if t.Names != "" && on != "" && err != nil && ctx.Err() == nil {
		f := diag.Warnf(CodeNotRead, "%s is not read: something stands in for it", ref)
		f.Why = r.options.Redactor.Redact(err.Error())
		return "", t.Names, &f
	}
	if t.StandIns && err != nil && ctx.Err() == nil && !isMissing(err) {
		value, bundle, f := stands(ref, "it cannot be read here")
		f.Why = r.options.Redactor.Redact(err.Error())
		return value, bundle, f
	}
	if err == nil {
		r.options.Redactor.AddFor(t.Instance, value)
		r.options.Redactor.Called(t.Instance, value, ref.String())
	}
	if err != nil {
		f := none(ref)
		f.Why, f.Fix = r.options.Redactor.Redact(err.Error()), remedy(t, spec, ref, err)
		return "", "", &f
	}
	return value, "", nil
}

// leads keeps that a reference leads to a Secret of a target cluster.
func (r *Reader) leads(to object.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.led[to] = true
}

// isMissing reports whether an error is that what a store has was read, and has not what the reference names.
func isMissing(err error) bool {
	_, ok := errors.AsType[*secret.MissingError](err)
	return ok
}

// remedy is what to do where a store gives no value for a reference, and why: err.
func remedy(t Target, spec v1alpha1.SecretStore, ref secret.Ref, err error) string {
	fix := toRead(t, spec, ref, err)
	if t.Cluster == "" || isMissing(err) {
		return fix
	}
	return fix + "; where secrets are not there to be read, check without them: hawser vet --stand-ins"
}

// toRead is what to do so that a store gives a value.
func toRead(t Target, spec v1alpha1.SecretStore, ref secret.Ref, err error) string {
	if outside, ok := errors.AsType[*secret.OutsideError](err); ok {
		return outside.Fix
	}
	if unreadable, ok := errors.AsType[*secret.UnreadableError](err); ok {
		return unreadable.Fix
	}
	if _, ok := errors.AsType[*secret.NoKeyError](err); ok {
		return fmt.Sprintf("give the store its key: correct where secretStores.%s says it is, or put the key there", ref.Store)
	}
	if missing, ok := errors.AsType[*secret.MissingError](err); ok {
		if near := diag.DidYouMean(missing.Name, missing.Have); near != "" {
			return near + " Nothing is taken instead of it"
		}
	}
	if spec.Kube != nil && apierrors.IsForbidden(err) {
		return fmt.Sprintf("grant get on secrets in namespace %s there; a role with all that is needed prints: hawser fleet check --print-rbac", spec.Kube.Namespace)
	}
	fix := "correct the reference, or put the value into the store"
	if spec.Kube != nil && apierrors.IsNotFound(err) && len(t.Requires) > 0 {
		return fix + "; what comes with a bundle that this one requires (" + strings.Join(t.Requires, ", ") + ") is there when that one is applied: first, or in the same run (without --bundle)"
	}
	return fix + "; nothing is taken instead of it"
}

// later is a reference without a value until a bundle is done that makes what it leads to: what stands in for it is up to the caller.
func later(ref secret.Ref, bundle string) (none, after string, _ *diag.Finding) {
	f := diag.Warnf(CodeNotRead, "%s is known only when bundle %s is done, which comes first", ref, bundle)
	f.Fix = "if a chart goes another way with it (if, range), apply that one first, by itself (--bundle " + bundle + ")"
	return "", bundle, &f
}

// none is that a store gives no value for a reference.
func none(ref secret.Ref) diag.Finding {
	return diag.Errorf("secret-not-found", "the store %s gives no value for %s", ref.Store, ref)
}

// goes refuses a reference whose value is not there any more when a bundle is done that comes first, and why.
func goes(ref secret.Ref, bundle, lost string) *diag.Finding {
	f := none(ref)
	f.Why = "bundle " + bundle + ", which comes first, " + lost
	f.Fix = "leave it in that bundle, or take the reference away; if something else makes it anew then, apply that bundle first, by itself (--bundle " + bundle + ")"
	return &f
}

// one is the entry of a key, made when it is not there.
func one[T any](mu *sync.Mutex, m map[string]*T, key string) *T {
	mu.Lock()
	defer mu.Unlock()
	if m[key] == nil {
		m[key] = new(T)
	}
	return m[key]
}

// declared is the store a reference names, as the fleet declares it.
func (r *Reader) declared(ref secret.Ref) (v1alpha1.SecretStore, *diag.Finding) {
	if r.options.Fleet == nil {
		f := diag.Errorf("unknown-store", "%s needs a store of secrets, and there is no fleet that declares one", ref)
		f.Fix = fmt.Sprintf("give one with --fleet, for example: fleet: {apiVersion: v1alpha1, name: NAME, secretStores: {%s: {env: {}}}}", ref.Store)
		return v1alpha1.SecretStore{}, &f
	}
	spec, ok := r.options.Fleet.SecretStores[ref.Store]
	if ok {
		return spec, nil
	}
	names := slices.Sorted(maps.Keys(r.options.Fleet.SecretStores))
	f := diag.Errorf("unknown-store", "the fleet declares no store of secrets named %s, which %s needs", ref.Store, ref)
	if len(names) > 0 {
		f.Why = "it declares " + strings.Join(names, ", ")
	}
	if f.Fix = diag.DidYouMean(ref.Store, names); f.Fix == "" {
		f.Fix = fmt.Sprintf("declare it under secretStores in the fleet: {%s: {env: {}}}, or file, sops, kube", ref.Store)
	}
	return spec, &f
}
