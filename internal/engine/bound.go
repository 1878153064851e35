package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/valuerefs"
)

// wanted is an object on one cluster that a value is taken from.
type wanted struct {
	ref        object.Ref
	apiVersion string
}

// look reads an object once; what was read stays until it is forgotten.
func (t *target) look(ctx context.Context, w wanted) (map[string]any, error) {
	return t.seen.Get(ctx, w, func() (map[string]any, error) {
		return t.session.Get(ctx, w.apiVersion, w.ref.Kind, w.ref.Namespace, w.ref.Name)
	})
}

// objects are a target's as what gives values to a set's instances.
type objects struct {
	run    *run
	target *target
	owner  string
}

func (o objects) Asked() bool { return o.target.session != nil }

func (o objects) Read(ctx context.Context, by string, f bind.From, at object.Ref) (*v1alpha1.Value, *diag.Finding) {
	body, err := o.target.look(ctx, wanted{at, f.Object.APIVersion})
	switch {
	case kubeapi.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, f.Unread(at.String(), o.run.redact(err.Error()))
	}
	return o.run.reader.Object(by, f, body)
}

func (o objects) Goes(ctx context.Context, f bind.From, at object.Ref) bool {
	live, err := o.target.look(ctx, wanted{at, f.Object.APIVersion})
	return err == nil && leftover.Goes((&unstructured.Unstructured{Object: live}).GetManagedFields(), object.Manager(o.owner), f.Path)
}

// givers are what gives values to the set's instances.
func (r *run) givers(t *target, s *set) valuerefs.References {
	return valuerefs.References{Namespaces: s.namespaces, Namespaced: t.known(), Declared: s.desired, Bodies: s.bodies,
		Suspended: s.suspended, Behind: s.behind, Lookup: objects{r, t, s.owner}}
}

// refs are the values that the set's instances take of each other.
func (r *run) refs(t *target, s *set) valuerefs.References {
	out := r.givers(t, s)
	for _, p := range s.parts {
		out.Takers = append(out.Takers, valuerefs.Taker{Instance: p.placed.Name, Pos: diag.Pos(p.placed.Pos), Takes: s.takes[p.placed.Name], Open: p.open})
	}
	return out
}

// bound is an instance with its values put in. open are those that the instances' objects do not give yet: stand-ins are
// there instead. With standIn everything of other instances is a stand-in; with placeholders nothing new is made up.
func (r *run) bound(ctx context.Context, t *target, s *set, in v1alpha1.Instance, standIn, placeholders bool) (_ v1alpha1.Instance, open []bind.From, findings diag.Findings) {
	r.reader.Runtime(t.facts.Values, r.uses, in)
	from, givers := valuerefs.Filling{By: in.Name, StandIn: standIn, Lenient: r.lenient}, r.givers(t, s)
	fill := bind.Fill{
		Generate: func(g bind.Generate) (*v1alpha1.Value, *diag.Finding) {
			return r.generated(ctx, t, s, in, g, placeholders)
		},
		Ref: func(ref bind.Ref) (*v1alpha1.Value, *diag.Finding) {
			return r.reader.Ref(ctx, r.forValues(t, s, in.Name), ref)
		},
		From: func(f bind.From) (*v1alpha1.Value, *diag.Finding) { return from.From(ctx, givers, f) },
	}
	in.Values, findings = bind.Bind(in.Values, fill)
	for i := range findings {
		findings[i].Path = "values." + findings[i].Path
	}
	return in, from.Open, withInstance(findings, in)
}
