// Package v1alpha1 holds Hawser's documents: the Spec types are the file format, the spec of the custom resources
// and the engine's input, one and the same.
//
// The package holds data and its JSON form only. It must not know how documents are found, checked, evaluated or run.
package v1alpha1

// APIVersion is the apiVersion of Hawser's Kubernetes-style documents; ShortAPIVersion that of `bundle:` and `fleet:`.
const (
	Group           = "hawser.dev"
	APIVersion      = "hawser.dev/v1alpha1"
	ShortAPIVersion = "v1alpha1"
)

// BundleSpec says what shall run: instances in file order. It is what a bundle file evaluates to for one cluster.
type BundleSpec struct {
	APIVersion string     `json:"apiVersion,omitempty"`
	Name       string     `json:"name"`
	Requires   []Requires `json:"requires,omitempty"`
	// Instances are in the order the document gives them (CUE's field order).
	Instances []Instance `json:"instances"`
}

// Requires names a bundle that must be installed (or applied earlier in the same run).
type Requires struct {
	Bundle string `json:"bundle"`
}

// Instance is one source with its namespace, values and placement. Exactly one of Module and Manifests is set.
type Instance struct {
	Name      string           `json:"name"`
	Module    *ModuleSource    `json:"module,omitempty"`
	Manifests *ManifestsSource `json:"manifests,omitempty"`
	Namespace string           `json:"namespace,omitempty"`
	DependsOn []string         `json:"dependsOn,omitempty"`
	Values    Values           `json:"values,omitzero"`
	// ValuesFor are layers over Values for chosen clusters, in field order; already merged into Values (and kept
	// for explanation) once Select has run.
	ValuesFor []ValuesFor `json:"valuesFor,omitempty"`
	Placement *Placement  `json:"placement,omitempty"`
	Pos       Position    `json:"-"`
}

// Position is where in the user's files something stands (1-based; zero = unknown).
type Position struct {
	File         string
	Line, Column int
}

// ModuleSource is a CUE module in Timoni's layout.
type ModuleSource struct {
	// URL is file://PATH; relative paths are relative to Dir.
	URL     string `json:"url"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
	// Dir is the directory of the file that holds the url literal.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// ManifestsSource is plain manifests: files, globs or directories.
type ManifestsSource struct {
	Paths []string `json:"paths"`
	// Dir is the directory of the file that holds the paths.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// ValuesFor is a named layer of values for some clusters. Set selectors are ANDed.
type ValuesFor struct {
	Name            string         `json:"name"`
	Clusters        []string       `json:"clusters,omitzero"`
	Groups          []string       `json:"groups,omitzero"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Values          Values         `json:"values"`
	Pos             Position       `json:"-"`
}

// Placement says on which clusters an instance runs: nil = every cluster of the fleet, an empty (non-nil) list =
// none, fields are ANDed. Clusters are names or globs.
type Placement struct {
	Clusters        []string       `json:"clusters,omitzero"`
	Groups          []string       `json:"groups,omitzero"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Tolerations     []Toleration   `json:"tolerations,omitempty"`
}

// LabelSelector is Kubernetes' label selector.
type LabelSelector struct {
	MatchLabels      map[string]string          `json:"matchLabels,omitempty"`
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelSelectorRequirement is one expression; Operator is In, NotIn, Exists or DoesNotExist.
type LabelSelectorRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Taint and Toleration mean what Kubernetes means by them.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Toleration lets an instance onto tainted clusters. Operator is Equal (default) or Exists.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}
