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
	APIVersion string     `json:"apiVersion,omitempty" hawser:"required,format=apiVersion"`
	Name       string     `json:"name" hawser:"required,format=bundleName"`
	Requires   []Requires `json:"requires,omitempty"`
	// Health are rules for kinds of this bundle's objects, over the fleet's.
	Health []HealthRule `json:"health,omitempty"`
	// Ignore leaves fields to others, in all instances.
	Ignore []IgnoreRule `json:"ignore,omitempty"`
	// RevisionHistoryLimit is how many revisions each cluster keeps, the current one among them; 0 is ten.
	RevisionHistoryLimit int `json:"revisionHistoryLimit,omitempty" hawser:"min=1,max=100"`
	// Instances are in the order the document gives them (CUE's field order).
	Instances []Instance `json:"instances" hawser:"required"`
}

// MaxRevisions is the most that RevisionHistoryLimit may be: the names of what is kept stand in one Secret.
const MaxRevisions = 100

// Requires names a bundle that must be installed (or applied earlier in the same run).
type Requires struct {
	Bundle string `json:"bundle" hawser:"required,empty=invalid-name"`
	// BundlePos is where Bundle is written.
	BundlePos Position `json:"-"`
}

// Instance is one source with its namespace, values and placement. Exactly one of Module, Helm, Kustomize and Manifests
// is set.
type Instance struct {
	Name      string           `json:"name" hawser:"key,format=instanceName"`
	Module    *ModuleSource    `json:"module,omitempty"`
	Helm      *HelmSource      `json:"helm,omitempty"`
	Kustomize *KustomizeSource `json:"kustomize,omitempty"`
	Manifests *ManifestsSource `json:"manifests,omitempty"`
	Namespace string           `json:"namespace,omitempty" hawser:"format=namespace"`
	DependsOn []string         `json:"dependsOn,omitempty"`
	Values    Values           `json:"values,omitzero"`
	// ValuesFor are layers over Values for chosen clusters, in field order; already merged into Values (and kept
	// for explanation) once Select has run.
	ValuesFor []ValuesFor `json:"valuesFor,omitempty"`
	Placement *Placement  `json:"placement,omitempty"`
	// Wait is false when the readiness of the instance's objects is not waited for; nil = true.
	Wait *bool `json:"wait,omitempty"`
	// Timeout bounds the readiness of each of its objects; 0 = the run's.
	Timeout Duration `json:"timeout,omitzero" hawser:"format=timeout"`
	// Suspend leaves the instance as it is on every cluster: nothing of it is written, nothing pruned.
	Suspend bool         `json:"suspend,omitempty"`
	Health  []HealthRule `json:"health,omitempty"`
	Ignore  []IgnoreRule `json:"ignore,omitempty"`
	// Promoted is what the source is on this cluster by a promotion, over what is pinned for all; zero = nothing was promoted.
	Promoted Pin `json:"-"`
	// PinOfOthers: what is pinned by the source's name was pinned for other bundles, and may be another source.
	PinOfOthers bool     `json:"-"`
	Pos         Position `json:"-"`
}

// Pin is what a source with a range, a tag or a version is: the exact version, and the digest of the content.
type Pin struct{ Version, Digest string }

// HealthRule says when objects of a kind are ready, in CEL over `self` (the live object). Rules nearer to the object win:
// instance, module, bundle, fleet, built in.
type HealthRule struct {
	// Group and Kind of the objects; Group and Name are globs, left out they mean any.
	Group string `json:"group,omitempty" hawser:"format=apiGroup"`
	Kind  string `json:"kind" hawser:"required,format=kind"`
	Name  string `json:"name,omitempty" hawser:"format=glob"`
	// Ready, and optionally Failed and Progressing, are CEL expressions that give a bool; Failed is asked first.
	Ready       string `json:"ready" hawser:"required,empty=invalid-rule"`
	Failed      string `json:"failed,omitempty" hawser:"empty=invalid-rule"`
	Progressing string `json:"progressing,omitempty" hawser:"empty=invalid-rule"`
	// Message is a CEL expression that gives the reason shown while the object is not ready.
	Message string   `json:"message,omitempty" hawser:"empty=invalid-rule"`
	Pos     Position `json:"-"`
}

// IgnoreRule leaves fields of some objects to whoever else sets them: a difference there is no drift, and what others
// own there is not taken back.
type IgnoreRule struct {
	// Group, Kind and Name (a glob) choose the objects; empty = any.
	Group string `json:"group,omitempty" hawser:"format=apiGroup"`
	Kind  string `json:"kind,omitempty" hawser:"format=kind"`
	Name  string `json:"name,omitempty" hawser:"format=glob"`
	// Paths are field paths of the documents' grammar (spec.replicas, spec.template.spec.containers[name=app].image).
	Paths []string `json:"paths,omitempty" hawser:"format=fieldPath"`
	// Managers are field managers (globs) whose values win wherever they own a field.
	Managers []string `json:"managers,omitempty" hawser:"format=glob"`
	Pos      Position `json:"-"`
}

// Position is where in the user's files something stands (1-based; zero = unknown).
type Position struct {
	File         string
	Line, Column int
}

// ModuleSource is a CUE module in Timoni's layout.
type ModuleSource struct {
	// URL is file://PATH (relative paths are relative to Dir) or oci://REGISTRY/REPOSITORY.
	URL string `json:"url" hawser:"required,pos,dir,format=moduleURL"`
	// Version is an exact version, a tag or a range of semantic versions (oci only); "" = latest.
	Version string `json:"version,omitempty" hawser:"format=version"`
	Digest  string `json:"digest,omitempty" hawser:"format=digest"`
	// Dir is the directory of the file that holds the url literal.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
	// VersionPos is where Version is written, DigestPos where Digest is.
	VersionPos Position `json:"-"`
	DigestPos  Position `json:"-"`
}

// HelmSource is a chart.
type HelmSource struct {
	// Chart is a directory or .tgz file (relative to Dir), oci://REGISTRY/REPOSITORY, or with Repo the chart's name there.
	Chart string `json:"chart" hawser:"required,pos,dir"`
	// Repo is the URL of an HTTP repository (http or https) that holds an index.yaml.
	Repo string `json:"repo,omitempty" hawser:"format=repository"`
	// Version is an exact version or a range of semantic versions (repositories and oci); "" = the newest stable one.
	Version string `json:"version,omitempty" hawser:"format=chartVersion"`
	// Digest is that of the chart's archive (repositories, .tgz), its manifest (oci) or its files (directories).
	Digest string `json:"digest,omitempty" hawser:"format=digest"`
	// ReleaseName is .Release.Name; "" = the instance's name.
	ReleaseName string `json:"releaseName,omitempty" hawser:"format=releaseName"`
	// SkipCRDs leaves out the objects of the chart's crds folder, SkipHooks its hooks, SkipSchema the check of values.
	SkipCRDs   bool `json:"skipCRDs,omitempty"`
	SkipHooks  bool `json:"skipHooks,omitempty"`
	SkipSchema bool `json:"skipSchema,omitempty"`
	// Dir is the directory of the file that holds the chart's path.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
	// VersionPos is where Version is written, DigestPos where Digest is.
	VersionPos Position `json:"-"`
	DigestPos  Position `json:"-"`
}

// KustomizeSource is a directory with a kustomization.
type KustomizeSource struct {
	// Path is a directory, relative to Dir. What the kustomization names must lie below Root.
	Path string `json:"path" hawser:"required,pos,dir,format=directory,empty=invalid-path"`
	// Root bounds what may be read, relative to Dir; "" = the nearest directory above Path that holds a .git or cue.mod,
	// or Dir when there is none and Path lies below it, else Path.
	Root string `json:"root,omitempty" hawser:"format=directory,empty=invalid-path"`
	// Digest is that of the files below Root.
	Digest string   `json:"digest,omitempty" hawser:"format=digest"`
	Dir    string   `json:"-"`
	Pos    Position `json:"-"`
}

// ManifestsSource is plain manifests: files, globs or directories (Paths), or an archive or file from elsewhere (URL).
type ManifestsSource struct {
	// Paths are relative to Dir; with URL they choose files in what was fetched (none = all).
	Paths []string `json:"paths,omitempty" hawser:"pos,dir,empty=invalid-path"`
	// URL is https:// (a YAML file or a .tgz; Digest is required) or oci://REGISTRY/REPOSITORY.
	URL string `json:"url,omitempty"`
	// Version is a tag or range (oci only, required there without Digest).
	Version string `json:"version,omitempty" hawser:"format=version"`
	Digest  string `json:"digest,omitempty" hawser:"format=digest"`
	// Dir is the directory of the file that holds the paths. Given: no file does, a user named them himself. Except are
	// files in the directories named which were read as something else, such as the fleet.
	Dir    string   `json:"-"`
	Given  bool     `json:"-"`
	Except []string `json:"-"`
	Pos    Position `json:"-"`
	// VersionPos is where Version is written, DigestPos where Digest is.
	VersionPos Position `json:"-"`
	DigestPos  Position `json:"-"`
}

// ValuesFor is a named layer of values for some clusters. Set selectors are ANDed.
type ValuesFor struct {
	Name            string         `json:"name" hawser:"key"`
	Clusters        []string       `json:"clusters,omitzero" hawser:"format=glob"`
	Groups          []string       `json:"groups,omitzero" hawser:"format=glob"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Values          Values         `json:"values" hawser:"required"`
	Pos             Position       `json:"-"`
}

// Placement says on which clusters an instance runs: nil = every cluster of the fleet, an empty (non-nil) list =
// none, fields are ANDed. Clusters are names or globs.
type Placement struct {
	Clusters        []string       `json:"clusters,omitzero" hawser:"format=glob"`
	Groups          []string       `json:"groups,omitzero" hawser:"format=glob"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Tolerations     []Toleration   `json:"tolerations,omitempty"`
	// ClustersPos and GroupsPos are where those lists stand.
	ClustersPos Position `json:"-"`
	GroupsPos   Position `json:"-"`
}

// LabelSelector is Kubernetes' label selector.
type LabelSelector struct {
	MatchLabels      map[string]string          `json:"matchLabels,omitempty"`
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelSelectorRequirement is one expression; Operator is In, NotIn, Exists or DoesNotExist.
type LabelSelectorRequirement struct {
	Key      string   `json:"key" hawser:"required=check"`
	Operator string   `json:"operator" hawser:"required=check"`
	Values   []string `json:"values,omitempty"`
}

// Taint and Toleration mean what Kubernetes means by them.
type Taint struct {
	Key    string `json:"key" hawser:"required"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect" hawser:"required,format=effect"`
}

// Toleration lets an instance onto tainted clusters. Operator is Equal (default) or Exists.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty" hawser:"format=effect"`
}
