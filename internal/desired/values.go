package desired

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/maskguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/valuerefs"
	"hawser.dev/hawser/internal/values"
)

// wanted is an object on one cluster that a value is taken from.
type wanted struct {
	ref        object.Ref
	apiVersion string
}

// look reads an object once; what was read stays until it is forgotten.
func (t *Target) look(ctx context.Context, w wanted) (map[string]any, error) {
	return t.seen.Get(ctx, w, func() (map[string]any, error) {
		return t.Session.Get(ctx, w.apiVersion, w.ref.Kind, w.ref.Namespace, w.ref.Name)
	})
}

// objects are a target's as what gives values to a state's instances.
type objects struct {
	Resolver
	owner string
}

func (o objects) Asked() bool { return o.Session != nil }

func (o objects) Read(ctx context.Context, by string, f bind.From, at object.Ref) (*v1alpha1.Value, *diag.Finding) {
	body, err := o.look(ctx, wanted{at, f.Object.APIVersion})
	switch {
	case kubeapi.IsNotFound(err):
		return nil, nil
	case kubeapi.Transient(err):
		return nil, f.Unanswered(at.String(), o.Redactor.Redact(err.Error()))
	case err != nil:
		return nil, f.Unread(at.String(), o.Redactor.Redact(err.Error()), apierrors.IsForbidden(err))
	}
	return o.Reader.Object(by, f, body)
}

func (o objects) Goes(ctx context.Context, f bind.From, at object.Ref) bool {
	live, err := o.look(ctx, wanted{at, f.Object.APIVersion})
	return err == nil && leftover.Goes((&unstructured.Unstructured{Object: live}).GetManagedFields(), object.Manager(o.owner), f.Path)
}

// Givers are what gives values to the state's instances.
func (r Resolver) Givers(s *State) valuerefs.References {
	return valuerefs.References{Namespaces: s.namespaces, Namespaced: r.Kinds(), Declared: s.Desired, Maybe: s.Maybe, Bodies: s.Bodies,
		Suspended: s.Suspended, Behind: s.Behind, Lookup: objects{r, s.Owner}}
}

// References are the values that the state's instances take of each other.
func (r Resolver) References(s *State) valuerefs.References {
	out := r.Givers(s)
	for _, p := range s.Renders {
		out.Takers = append(out.Takers, valuerefs.Taker{Instance: p.Placed.Name, Pos: diag.Pos(p.Placed.Pos), Takes: s.Takes[p.Placed.Name], Open: p.Open, Refs: p.Refs, Values: p.Instance.Values})
	}
	return out
}

// bound is an instance with its values put in. open are those that the instances' objects do not give yet: stand-ins are
// there instead, as for those of its references, refs, that are known when a bundle is done. With standIn everything of other instances is a stand-in; with placeholders nothing new is made up.
func (r Resolver) bound(ctx context.Context, s *State, in v1alpha1.Instance, standIn, placeholders bool) (_ v1alpha1.Instance, open, refs []bind.From, findings diag.Findings) {
	r.Reader.Runtime(r.Facts.Values, r.Uses, in)
	from, givers := valuerefs.Filling{By: in.Name, StandIn: standIn, Lenient: r.Lenient}, r.Givers(s)
	fill := bind.Fill{
		Generate: func(g bind.Generate) (*v1alpha1.Value, *diag.Finding) {
			return r.generated(ctx, s, in, g, placeholders)
		},
		Ref: func(ref bind.Ref) (*v1alpha1.Value, *diag.Finding) {
			x, taken, f := r.Reader.Ref(ctx, r.forValues(ctx, s, in.Name), ref)
			refs = append(refs, taken)
			return x, f
		},
		From: func(f bind.From) (*v1alpha1.Value, *diag.Finding) { return from.From(ctx, givers, f) },
	}
	in.Values, findings = bind.Bind(in.Values, fill)
	for i := range findings {
		findings[i].Path = "values." + findings[i].Path
	}
	return in, from.Open, refs, withInstance(findings, in)
}

// Forget lets an object that a value is taken from be read anew.
func (t *Target) Forget(f bind.From, at object.Ref) { t.seen.Forget(wanted{at, f.Object.APIVersion}) }

// forValues is the cluster as the reader of values sees it: one that can be asked for Secrets when it is connected.
func (r Resolver) forValues(ctx context.Context, s *State, instance string) values.Target {
	out := values.Target{Cluster: r.Cluster.Name, Instance: instance, Requires: release.Needs(s.Spec), StandIns: r.StandIns}
	if r.Before != nil {
		before := r.Before(ctx)
		out.Later = func() string { return valuerefs.Later(before, out.Requires) }
		out.Writes = func(ctx context.Context, namespace, name, key string) (bundle, lost string) {
			return valuerefs.Writes(ctx, before, object.Ref{Kind: "Secret", Namespace: namespace, Name: name}, key)
		}
	}
	if r.Names {
		out.Names = s.Spec.Name
	}
	if r.Session != nil {
		out.Secrets = r.secretData
	}
	return out
}

// Sensitive is the object with the paths at which a value known to be secret turns up: there also what was before is
// hidden. Secrets are hidden by their kind.
func (r Resolver) Sensitive(o object.Object) object.Object {
	r.show(o)
	if !r.Redactor.Knows() {
		return o // nothing is secret
	}
	return o.MarkSecrets(func(text string) string { return r.Redactor.Value(o.Instance, text) },
		func(text string) string { return r.Redactor.Own(o.Instance, text) }, func(key string) bool { return r.Redactor.Redact(key) != key })
}

// show leaves shown what an object that was declared or kept has at places that are never secret, whatever a cluster's record says, and
// whatever others take.
func (r Resolver) show(o object.Object) { maskguard.Declared(o, r.Redactor) }

// secretData reads the data of a Secret of the cluster.
func (t *Target) secretData(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	obj, err := t.Session.Get(ctx, "v1", "Secret", namespace, name)
	if err != nil {
		return nil, err
	}
	return object.SecretData(obj)
}
