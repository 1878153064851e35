package v1alpha1

import "time"

// FleetSpec is an environment: clusters in order, runtime values, rollout.
type FleetSpec struct {
	APIVersion string         `json:"apiVersion,omitempty"`
	Name       string         `json:"name"`
	Clusters   []ClusterSpec  `json:"clusters,omitempty"`
	Values     []RuntimeQuery `json:"values,omitempty"`
	// Rollout is nil when the file has none: one cluster after another, in order, stop at the first failure.
	Rollout *Rollout `json:"rollout,omitempty"`
	// Dir is the directory of the file, File its path: relative kubeconfig paths start there.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// ClusterSpec is one place and how it is reached. Exactly one way of access is set: KubeContext or Kubeconfig.
type ClusterSpec struct {
	Name        string            `json:"name"`
	Group       string            `json:"group,omitempty"`
	KubeContext string            `json:"kubeContext,omitempty"`
	Kubeconfig  *KubeconfigAccess `json:"kubeconfig,omitempty"`
	ProxyURL    string            `json:"proxyURL,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	// Vars are free data for {$cluster: vars.X} and @hawser(cluster): JSON types, integers as int64, other numbers as
	// json.Number in the user's spelling.
	Vars   map[string]any `json:"vars,omitempty"`
	Taints []Taint        `json:"taints,omitempty"`
	// UID is the kube-system UID this entry must be; "" = learned at the first apply.
	UID string   `json:"uid,omitempty"`
	Pos Position `json:"-"`
}

// KubeconfigAccess is a kubeconfig file and optionally a context in it (default: the file's current context).
type KubeconfigAccess struct {
	Path    string `json:"path,omitempty"`
	Context string `json:"context,omitempty"`
	// Dir is the directory of the file that holds the path: a relative Path starts there.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// RuntimeQuery reads runtime values from an object of each cluster.
// Query is k8s:<apiVersion>:<Kind>:[<namespace>:]<name>; For maps variable names to CUE expressions over `obj`.
type RuntimeQuery struct {
	Query    string     `json:"query"`
	For      []QueryVar `json:"for"`
	Optional bool       `json:"optional,omitempty"`
	Pos      Position   `json:"-"`
}

// QueryVar is one variable of a runtime query.
type QueryVar struct {
	Name string `json:"name"`
	Expr string `json:"expr"`
}

// Rollout is the order in which clusters change.
type Rollout struct {
	Waves []Wave `json:"waves"`
}

// Wave is a set of clusters that change together: canaries first and alone, then the rest, MaxParallel at once
// (0 = all), until more than MaxFailures failed.
type Wave struct {
	Name            string         `json:"name,omitempty"`
	Groups          []string       `json:"groups,omitzero"`
	Clusters        []string       `json:"clusters,omitzero"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Canary          int            `json:"canary,omitempty"`
	MaxParallel     int            `json:"maxParallel,omitempty"`
	MaxFailures     int            `json:"maxFailures,omitempty"`
	Soak            Duration       `json:"soak,omitzero"`
	Pos             Position       `json:"-"`
}

// Duration is a time.Duration written as "2m30s".
type Duration struct{ time.Duration }

// MarshalText writes Go's form of the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads Go's form of a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	d.Duration = v
	return err
}
