// Package desired finds out what a bundle's desired state on a cluster is: its instances are placed, values are put in, sources
// rendered, and objects marked, whether a value is known already or only after others were applied. It reads and writes nothing but
// by its sockets, and of a cluster only what a value is taken from.
//
// desired must not know what is changed on a cluster because of it, in which order, or how a plan is shown.
package desired

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/valuerefs"
	"hawser.dev/hawser/internal/values"
)

// Session is a connected cluster.
type Session interface {
	// Get reads an object; what is not there is an error that kubeapi knows.
	Get(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error)
	// Kind is what the cluster says of a kind, false where it does not serve it.
	Kind(schema.GroupVersionKind) (kubeapi.KindInfo, bool)
}

// Target is a cluster as far as the desired state of a bundle depends on it.
type Target struct {
	Cluster fleet.Cluster
	Facts   fleet.Facts
	// Session is nil where the cluster is not asked.
	Session Session
	// Store has the cluster's records, nil where there is none; Record is the bundle's, nil for none.
	Store  release.Store
	Record *release.Record
	// Made is what was made up for the bundle here.
	Made Made
	// seen are the objects that values are taken from, as they were when they were read.
	seen once.Map[wanted, map[string]any]
}

// Resolver finds out the desired state on one cluster, for one run.
type Resolver struct {
	*Target
	Sources *source.Resolver
	// Renderers by source field.
	Renderers map[string]render.Renderer
	Memo      *render.Memo
	Marks     *render.Marks
	Reader    *values.Reader
	Redactor  *redact.Redactor
	Checker   health.Checker
	// Fleet is nil without one.
	Fleet *v1alpha1.FleetSpec
	// Owner is the id of the bundle of a name.
	Owner func(bundle string) string
	// Uses reports whether the documents read a runtime value; Plain are documents without instances.
	Uses  func(name string) bool
	Plain bool
	// Tests: tests are rendered, too. Lenient puts stand-ins where an object may not be read: nothing will be written. StandIns does so for every secret
	// that cannot be read.
	Tests, Lenient, StandIns bool
	// Late are instances that were shown without values of others, by a plan that goes on: those stay open, unless the record has what they are
	// rendered from with what is known.
	Late []string
	// Rotate is what is to be made up anew. Others are the further bundles of the files beside the named one, and asked for it alone.
	Rotate chance.Rotation
	Others func(bundle string) []v1alpha1.BundleSpec
	Now    func() time.Time
	// Follows: bundles were planned before in the same run. Ahead is what comes with those of them that a state's bundle requires.
	Follows bool
	Ahead   func(context.Context, *State) plan.Ahead
	// Before are the bundles that have something to do on the cluster first, by name; nil is none.
	Before func(context.Context) []valuerefs.Before
	// Names: only the names of what is declared are wanted, so that something stands in for what Secrets of the cluster do not give.
	Names bool
	// Former is what a plan made up that this one is made in place of, so that both are the same; nil for none.
	Former *Made
	// Beside is what is kept for the bundles of the same files, and for those that were removed from them.
	Beside func(context.Context, *State, chance.Own) ([]chance.Beside, error)
}

// State is the desired state of one bundle on one cluster, and how it came about.
type State struct {
	Spec      v1alpha1.BundleSpec
	Owner     string
	Renders   []*InstanceRender
	NotPlaced map[string]string
	Suspended map[string]bool
	Behind    map[string]bool // those of which nothing is begun any more, while the plan is carried out
	Depends   map[string][]string
	// Takes are what the placed instances take of others' objects; namespaces are those of all the bundle's instances.
	Takes      map[string][]bind.From
	namespaces map[string]string
	// Desired in instance order; Bodies of everything rendered so far, marked.
	Desired []plan.Desired
	Bodies  map[object.Ref]object.Object
	// Maybe is what is not among Desired, and will be if the values that are not known come as they are to be expected.
	Maybe []plan.Desired
	// Defined are the kinds that the rendered objects bring along, or bundles that are done first.
	Defined map[schema.GroupKind]object.DefinedKind
	// Ahead is what comes with those bundles, once it was Asked for.
	Ahead plan.Ahead
	Asked bool
	told  diag.Findings // what was found when it was prepared and rendered
	// Stood are digests of objects as they are with placeholders for what was made up in this run, Shown the objects with what was
	// made up, as a plan shows them.
	Stood map[object.Ref]string
	Shown map[object.Ref]object.Object
}

// InstanceRender is one placed instance, and what is rendered of it.
type InstanceRender struct {
	// Placed is the instance with its values as they are written; Instance has them put in.
	Placed, Instance v1alpha1.Instance
	// Open are the values that others will give and that are not known yet: stand-ins are there instead.
	Open []bind.From
	// Refs are its references of secrets; stand-ins are there for those that are known when a bundle is done, too.
	Refs []bind.From
	Use  source.Use
	// Renderer is nil for what a record declares.
	Renderer render.Renderer
	Request  render.Request
	// Key is the inputs digest. When it equals the record's, Recorded is true and nothing is rendered.
	Key      string
	Recorded bool
	// Source is its title; Digest that of its content.
	Source, Digest string
	Checks         []health.Check
	policy         string // what the key has of the policies
	// makes: its source makes something up that is not known before its values are.
	makes bool
	// standIn is the render with placeholders, when something was made up for it in this run.
	standIn *stand
}

// NewState is the state of a bundle before anything of it is placed.
func (r Resolver) NewState(spec v1alpha1.BundleSpec) *State {
	return &State{Spec: spec, Owner: r.Owner(spec.Name), NotPlaced: map[string]string{}, Suspended: map[string]bool{},
		namespaces: map[string]string{}, Takes: map[string][]bind.From{},
		Depends: map[string][]string{}, Bodies: map[object.Ref]object.Object{}}
}

// Copy is the state as it is now, whatever becomes of it.
func (s *State) Copy() *State {
	out := *s
	out.Renders = make([]*InstanceRender, len(s.Renders))
	for i, p := range s.Renders {
		part := *p
		out.Renders[i] = &part
	}
	return &out
}

// Open are the instances, in order, with values of others that have not come: what is rendered of them has something in their place.
func (s *State) Open() []string {
	var out []string
	for _, p := range s.Renders {
		if len(p.Open) > 0 {
			out = append(out, p.Placed.Name)
		}
	}
	return out
}

// Taken is what is declared where anything of it is taken from the record without being rendered; nil where nothing is.
func (s *State) Taken() []plan.Desired {
	if slices.ContainsFunc(s.Renders, func(p *InstanceRender) bool { return p.Recorded }) {
		return s.Desired
	}
	return nil
}

// Carried are the bodies that may be kept as a release's, and the instances of which the last release's are kept instead: suspended ones, and those with
// values that have not come, of which nothing is written.
func (s *State) Carried() (bodies map[object.Ref]object.Object, before map[string]bool) {
	bodies, before = maps.Clone(s.Bodies), map[string]bool{}
	maps.Copy(before, s.Suspended)
	for _, name := range s.Open() {
		before[name] = true
		maps.DeleteFunc(bodies, func(_ object.Ref, o object.Object) bool { return o.Instance == name })
	}
	return bodies, before
}

// Placed are the names of the instances that are rendered or taken from the record.
func (s *State) Placed() []string {
	names := make([]string, len(s.Renders))
	for i, p := range s.Renders {
		names[i] = p.Placed.Name
	}
	return names
}

// Instances are the names of the bundle's instances, wherever they are placed.
func (s *State) Instances() []string {
	return source.Declared{Instances: s.Spec.Instances}.Names()
}

// Given are the values of an instance of a chart or a module, nil for others.
func (s *State) Given(instance string) *v1alpha1.Value {
	for _, p := range s.Renders {
		if in := p.Instance; in.Name == instance && (in.Helm != nil || in.Module != nil) && !in.Values.Empty() {
			return in.Values.Struct
		}
	}
	return nil
}

// Rules are the health rules by instance.
func (s *State) Rules(checker health.Checker) map[string]health.Rules {
	out := map[string]health.Rules{}
	for _, p := range s.Renders {
		out[p.Instance.Name] = health.Rules{Checks: p.Checks, Checker: checker}
	}
	return out
}
