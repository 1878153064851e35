package v1alpha1

import "time"

// FleetSpec is an environment: clusters in order, runtime values, rollout.
type FleetSpec struct {
	APIVersion string         `json:"apiVersion,omitempty" hawser:"required,format=apiVersion"`
	Name       string         `json:"name" hawser:"required,format=fleetName"`
	Clusters   []ClusterSpec  `json:"clusters,omitempty" hawser:"empty=no-clusters"`
	Values     []RuntimeQuery `json:"values,omitempty"`
	// Rollout is nil when the file has none: one cluster after another, in order, stop at the first failure.
	Rollout *Rollout `json:"rollout,omitempty"`
	// SecretStores are where ref:// references are looked up, by name; "default" serves references that name none.
	SecretStores map[string]SecretStore `json:"secretStores,omitempty" hawser:"format=storeName"`
	// Releases say where release records are kept; nil keeps them in the clusters they are about.
	Releases *Releases `json:"releases,omitempty"`
	// Health are rules for kinds on every cluster of the fleet; Ignore leaves fields to others.
	Health []HealthRule `json:"health,omitempty"`
	Ignore []IgnoreRule `json:"ignore,omitempty"`
	// Signatures say which content must be signed; nil wants nothing.
	Signatures *Signatures `json:"signatures,omitempty"`
	// Dir is the directory of the file, File its path: relative kubeconfig paths start there.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// Called is the fleet's name, "" without a fleet.
func (f *FleetSpec) Called() string {
	if f == nil {
		return ""
	}
	return f.Name
}

// Order is the fleet's rollout, nil where it has none and without a fleet.
func (f *FleetSpec) Order() *Rollout {
	if f == nil {
		return nil
	}
	return f.Rollout
}

// ClusterSpec is one place and how it is reached. Exactly one way of access is set: KubeContext or Kubeconfig.
type ClusterSpec struct {
	Name        string            `json:"name" hawser:"key,format=clusterName"`
	Group       string            `json:"group,omitempty" hawser:"format=group"`
	KubeContext string            `json:"kubeContext,omitempty" hawser:"format=kubeContext"`
	Kubeconfig  *KubeconfigAccess `json:"kubeconfig,omitempty"`
	ProxyURL    string            `json:"proxyURL,omitempty" hawser:"format=proxyURL"`
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
	Path    string `json:"path,omitempty" hawser:"required,pos,dir,empty=no-access"`
	Context string `json:"context,omitempty" hawser:"empty=no-access"`
	// Dir is the directory of the file that holds the path: a relative Path starts there.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// RuntimeQuery reads runtime values from an object of each cluster.
// Query is k8s:<apiVersion>:<Kind>:[<namespace>:]<name>; For maps variable names to CUE expressions over `obj`.
type RuntimeQuery struct {
	Query    string     `json:"query" hawser:"required,format=query"`
	For      []QueryVar `json:"for" hawser:"required"`
	Optional bool       `json:"optional,omitempty"`
	Pos      Position   `json:"-"`
}

// QueryVar is one variable of a runtime query.
type QueryVar struct {
	Name string `json:"name" hawser:"key,format=variable"`
	Expr string `json:"expr" hawser:"value,format=expression"`
	// ExprPos is where the expression stands.
	ExprPos Position `json:"-"`
}

// Rollout is the order in which clusters change.
type Rollout struct {
	Waves []Wave `json:"waves" hawser:"required,empty=no-waves"`
	// OnFailure is OnFailureRollback where the clusters of a wave that fails go back to the release that they had; "" leaves them.
	OnFailure string `json:"onFailure,omitempty" hawser:"format=onFailure"`
}

// OnFailureRollback is the OnFailure of a rollout whose failed waves go back.
const OnFailureRollback = "rollback"

// Wave is a set of clusters that change together: canaries first and alone, then the rest, MaxParallel at once
// (0 = all), until more than MaxFailures failed.
type Wave struct {
	Name            string         `json:"name,omitempty"`
	Groups          []string       `json:"groups,omitzero" hawser:"format=glob"`
	Clusters        []string       `json:"clusters,omitzero" hawser:"format=glob"`
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	Canary          int            `json:"canary,omitempty" hawser:"format=clusterCount"`
	MaxParallel     int            `json:"maxParallel,omitempty"`
	MaxFailures     int            `json:"maxFailures,omitempty"`
	Soak            Duration       `json:"soak,omitzero"`
	// Window is when the clusters of the wave may change; nil is always.
	Window *Window `json:"window,omitempty"`
	// Approval is ApprovalManual where a new release comes to the wave only with somebody's approval; "" is without.
	Approval string   `json:"approval,omitempty" hawser:"format=approval"`
	Pos      Position `json:"-"`
}

// ApprovalManual is the Approval of a wave that waits for a person.
const ApprovalManual = "manual"

// Window is a time of the week: on Days ("Mon" to "Sun"; none = every day) from From until To ("09:00", "24:00"), on the clock of TZ, a
// name of the IANA time zone database ("" = UTC). Where To is before From it ends on the next day.
type Window struct {
	Days []string `json:"days,omitempty"`
	From string   `json:"from" hawser:"required=check"`
	To   string   `json:"to" hawser:"required=check"`
	TZ   string   `json:"tz,omitempty"`
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

// SecretStore is one store of secrets: exactly one field is set.
type SecretStore struct {
	// Env are environment variables of the process.
	Env *EnvStore `json:"env,omitempty"`
	// File are files below a directory.
	File *FileStore `json:"file,omitempty"`
	// SOPS are files encrypted by SOPS with age.
	SOPS *SOPSStore `json:"sops,omitempty"`
	// Kube are Secrets of the very cluster that is delivered to.
	Kube *KubeStore `json:"kube,omitempty"`
	Pos  Position   `json:"-"`
}

// EnvStore: ref://NAME reads the variable Prefix+NAME; ref://NAME/PROPERTY its JSON or YAML field.
type EnvStore struct {
	Prefix string `json:"prefix,omitempty"`
}

// FileStore: ref://PATH/PROPERTY is a field of the YAML or JSON file Path/PATH, ref://PATH the text of a file.
type FileStore struct {
	// Path is a directory, relative to Dir.
	Path string `json:"path" hawser:"required,dir,format=fleetPath,empty=invalid-store"`
	Dir  string `json:"-"`
}

// SOPSStore: ref://FILE/PROPERTY is a field of the decrypted file Path/FILE.
type SOPSStore struct {
	// Path is a directory, relative to Dir.
	Path string `json:"path,omitempty" hawser:"dir,format=fleetPath,empty=invalid-store"`
	// Age says where the identities (private keys) are.
	Age AgeKeys `json:"age,omitzero"`
	Dir string  `json:"-"`
}

// AgeKeys are age identities: a file, or an environment variable with a file's content. Without either, those that sops
// itself takes: SOPS_AGE_KEY, SOPS_AGE_KEY_FILE, the user's sops/age/keys.txt.
type AgeKeys struct {
	KeyFile string `json:"keyFile,omitempty" hawser:"empty=invalid-store"`
	KeyEnv  string `json:"keyEnv,omitempty" hawser:"empty=invalid-store"`
}

// KubeStore: ref://NAME/KEY is a key of the Secret NAME.
type KubeStore struct {
	Namespace string `json:"namespace" hawser:"required,format=namespace,empty=invalid-store"`
}
