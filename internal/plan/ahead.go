package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/object"
)

// Ahead is what bundles are going to write that are done before this one in the same run, as this one requires them: the
// definitions and namespaces that are not there yet, or will be others. The zero value is none.
type Ahead struct {
	// Definitions are the CustomResourceDefinitions.
	Definitions map[object.Ref]object.Object
	bundles     map[object.Ref]string
}

// Add adds what a bundle is going to write (writes, with their bodies), and what is written ahead of it.
func (a *Ahead) Add(bundle string, writes []Desired, bodies map[object.Ref]object.Object, before Ahead) {
	if a.bundles == nil {
		a.Definitions, a.bundles = map[object.Ref]object.Object{}, map[object.Ref]string{}
	}
	maps.Copy(a.Definitions, before.Definitions)
	maps.Copy(a.bundles, before.bundles)
	for _, d := range writes {
		switch body, ok := bodies[d.Ref]; {
		case d.Ref.IsCRD() && ok:
			a.Definitions[d.Ref], a.bundles[d.Ref] = body, bundle
		case d.Ref.IsNamespace():
			a.bundles[d.Ref] = bundle
		}
	}
}

// Kinds are those of the definitions.
func (a Ahead) Kinds() map[schema.GroupKind]object.DefinedKind {
	return object.DefinedKinds(slices.Collect(maps.Values(a.Definitions)))
}

// With are bodies with the definitions that have none of their own among them.
func (a Ahead) With(bodies map[object.Ref]object.Object) map[object.Ref]object.Object {
	out := maps.Clone(a.Definitions)
	if out == nil {
		return bodies
	}
	maps.Copy(out, bodies)
	return out
}

// Asks reports whether a plan depends on what is written ahead of it: a namespace is missing.
func (in Input) Asks() bool {
	c := newComputation(in)
	return slices.ContainsFunc(in.Desired, func(d Desired) bool { return d.Namespaced && !c.namespaceWillExist(d.Ref.Namespace) })
}

// Answer is what the API server said of an object: deferred, where it refuses what it will take when the bundles are done
// that come first.
func (a Ahead) Answer(ref object.Ref, p Preview) Preview {
	if p.Finding == nil {
		return p
	}
	d, defined := a.Kinds()[ref.GroupKind()]
	ns := object.Ref{Kind: "Namespace", Name: ref.Namespace}
	switch code := p.Finding.Code; {
	case defined && (code == object.CodeUnknownKind || code == answer.CodeMissingNamespace || code == answer.CodeInvalidObject):
		p.Finding, p.Deferred = nil, "the definition of "+ref.Kind+" comes with bundle "+a.bundles[d.CRD]+", which is required"
	case code == answer.CodeMissingNamespace && a.bundles[ns] != "":
		p.Finding, p.Deferred = nil, "namespace "+ns.Name+" comes with bundle "+a.bundles[ns]+", which is required"
	}
	return p
}
