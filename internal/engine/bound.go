package engine

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// wanted is an object on one cluster that a value is taken from.
type wanted struct {
	ref        object.Ref
	apiVersion string
}

// wants is the object that a value is taken from on this cluster.
func (t *target) wants(s *set, f bind.From) wanted {
	w := wanted{ref: f.Object.Ref(s.namespaces[f.Instance]), apiVersion: f.Object.APIVersion}
	gv, _ := schema.ParseGroupVersion(w.apiVersion) // the documents' grammar has seen it
	if namespaced, known := t.known()(gv.WithKind(w.ref.Kind)); known && !namespaced {
		w.ref.Namespace = ""
	}
	return w
}

// look reads an object once; what was read stays until it is forgotten.
func (t *target) look(ctx context.Context, w wanted) (map[string]any, error) {
	return t.seen.Get(ctx, w, func() (map[string]any, error) {
		return t.session.Get(ctx, w.apiVersion, w.ref.Kind, w.ref.Namespace, w.ref.Name)
	})
}

// bound is an instance with its values put in. open are those that the instances' objects do not give yet: stand-ins are
// there instead. With standIn everything of other instances is a stand-in; with placeholders nothing new is made up.
func (r *run) bound(ctx context.Context, t *target, s *set, in v1alpha1.Instance, standIn, placeholders bool) (_ v1alpha1.Instance, open []bind.From, findings diag.Findings) {
	r.reader.Runtime(t.facts.Values, r.uses, in)
	fill := bind.Fill{
		Generate: func(g bind.Generate) (*v1alpha1.Value, *diag.Finding) {
			return r.generated(ctx, t, s, in, g, placeholders)
		},
		Ref: func(ref bind.Ref) (*v1alpha1.Value, *diag.Finding) {
			return r.reader.Ref(ctx, r.forValues(t, s, in.Name), ref)
		},
		From: func(f bind.From) (*v1alpha1.Value, *diag.Finding) {
			x, n := (*v1alpha1.Value)(nil), (*diag.Finding)(nil)
			if !standIn {
				x, n = r.taken(ctx, t, s, in.Name, f)
			}
			if n != nil && r.lenient && n.Code == bind.CodeUnread {
				n.Severity = diag.Warning
			} else if x != nil || n != nil {
				return x, n
			}
			open = append(open, f)
			return bind.StandIn(f), n
		},
	}
	in.Values, findings = bind.Bind(in.Values, fill)
	for i := range findings {
		findings[i].Path = "values." + findings[i].Path
	}
	return in, open, withInstance(findings, in)
}

// taken is the value that another instance's object has now; nil without a finding when it is not there yet, or nobody can be asked.
func (r *run) taken(ctx context.Context, t *target, s *set, by string, f bind.From) (*v1alpha1.Value, *diag.Finding) {
	if t.session == nil {
		return nil, nil
	}
	w := t.wants(s, f)
	body, err := t.look(ctx, w)
	switch {
	case kubeapi.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, f.Unread(w.ref.String(), r.redact(err.Error()))
	}
	x, n := r.reader.Object(by, f, body)
	if n != nil && s.mayCome(w, f) {
		return nil, nil
	}
	return x, n
}

// mayCome reports that somebody else has yet to fill the value in: the object is not what the instance declares
// itself, it is declared without data, or the path leads into its status.
func (s *set) mayCome(w wanted, f bind.From) bool {
	if len(f.Path) > 0 && f.Path[0].Name == "status" {
		return true
	}
	if body, ok := s.bodies[w.ref]; ok && bind.FilledByOthers(body.Body) {
		return true
	}
	return !slices.ContainsFunc(s.desired, func(d plan.Desired) bool { return d.Ref == w.ref && d.Instance == f.Instance })
}

// lacking finds values that the objects they are taken from will never hold: those are rendered already, and nobody
// else adds to them; or a suspended instance would have to make them.
func (r *run) lacking(ctx context.Context, t *target, s *set) diag.Findings {
	var findings diag.Findings
	for _, p := range s.parts {
		for _, f := range p.open {
			w := t.wants(s, f)
			x, n := r.taken(ctx, t, s, p.placed.Name, f)
			switch body, ok := s.bodies[w.ref]; {
			case s.behind[p.placed.Name]:
				continue
			case s.suspended[f.Instance] && t.session != nil && x == nil && n == nil:
				n = f.Suspended(w.ref.String(), p.placed.Name)
			case !ok || body.Instance != f.Instance || len(s.standsIn(w.ref)) > 0 || s.leavesToOthers(w.ref) || x != nil && !r.drops(ctx, t, s, w, f):
				continue
			default:
				n = bind.Lacks(f, body.Body)
			}
			if n != nil {
				n.Instance, n.Path = p.placed.Name, "values."+n.Path
				findings = append(findings, *n)
			}
		}
	}
	return findings
}

// drops reports whether a value that an object has now is nobody's but the bundle's, so that it goes when it is declared no longer.
func (r *run) drops(ctx context.Context, t *target, s *set, w wanted, f bind.From) bool {
	live, err := t.look(ctx, w)
	return err == nil && leftover.Goes((&unstructured.Unstructured{Object: live}).GetManagedFields(), object.Manager(s.owner), f.Path)
}

// leavesToOthers reports whether fields of a declared object are left to others.
func (s *set) leavesToOthers(ref object.Ref) bool {
	return slices.ContainsFunc(s.desired, func(d plan.Desired) bool { return d.Ref == ref && d.Ignore != nil })
}

// standIns warns of values that are not known where nothing is planned.
func (s *set) standIns() diag.Findings {
	var out diag.Findings
	for _, p := range s.parts {
		for _, from := range p.open {
			out = append(out, withInstance(diag.Findings{fleetplan.Placeholder(from)}, p.placed)...)
		}
	}
	return out
}
