// Package fleet knows clusters as places: which there are, which are selected, how each is reached, and what was
// learned of them (facts, runtime values) in a Snapshot.
//
// fleet must not talk to a cluster; the hands in `cluster` do, with the access resolved here.
package fleet

import (
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// ImplicitName is the name and group of the one target when no fleet is given.
const ImplicitName = "default"

// Cluster is one place of the fleet, its access resolved.
type Cluster struct {
	v1alpha1.ClusterSpec
	// Implicit is true for the one target of a run without a fleet.
	Implicit bool
	// Index is the position in the fleet, from 0.
	Index int
}

// Access is everything needed to reach a cluster's API server. It never falls back to another cluster.
type Access struct {
	// KubeconfigPaths are the files to merge (KUBECONFIG's list or one path); Context must exist in them.
	KubeconfigPaths []string
	// Content is a kubeconfig itself: what the one path held where it can be read only once (a pipe), or what no file holds. nil for files.
	Content []byte
	// ServiceAccount is the directory with the token and the authority of a pod's service account: it reaches Server, without any kubeconfig.
	ServiceAccount string
	// Confined refuses a kubeconfig that runs a command or reads a file: whoever wrote it may do neither here.
	Confined bool
	// From says where a kubeconfig comes from that is no file, for people.
	From     string
	Context  string
	ProxyURL string
	// Server is the address, for people.
	Server string
	// Impersonate is the user of --as; Groups those of --as-group.
	Impersonate string
	Groups      []string
	Override    Override
}

// Override replaces parts of what a kubeconfig says of one cluster and its user, as kubectl's flags of these names do. Empty
// fields replace nothing. It is for the implicit cluster alone: what is declared for many is never replaced alike.
type Override struct {
	Server, TLSServerName, CertificateAuthority string
	InsecureSkipTLSVerify                       bool
	// Token, and the pair of certificate and key, replace each other and whatever credentials the kubeconfig has.
	Token, ClientCertificate, ClientKey string
	// AsUID is the UID to act as, beside --as.
	AsUID string
}

// Empty reports that nothing is replaced.
func (o Override) Empty() bool { return o == Override{} }

// Credentials reports that the user's credentials are replaced.
func (o Override) Credentials() bool { return o.Token != "" || o.ClientCertificate != "" }

// AccessOptions are the user's choices that bear on how clusters are reached.
type AccessOptions struct {
	// Kubeconfig is a list of files as in KUBECONFIG; "" takes the environment's, then ~/.kube/config. Clusters that
	// declare a kubeconfig of their own do not read it.
	Kubeconfig string
	// Context is the context of the implicit cluster; "" takes the current one. It is an error beside declared clusters.
	Context string
	// As is the user to act as (--as), AsGroups the groups (--as-group).
	As       string
	AsGroups []string
	// Override replaces parts of the implicit cluster's kubeconfig. It is an error beside declared clusters.
	Override Override
}

// OnlyImplicit names the flag that is for the one cluster of a run without a fleet, "" when none was given.
func (a AccessOptions) OnlyImplicit() string {
	switch o := a.Override; {
	case a.Context != "":
		return "--kube-context"
	case o.Server != "":
		return "--kube-server"
	case o.Token != "":
		return "--kube-token"
	case !o.Empty():
		return "a --kube-... flag"
	}
	return ""
}

// CodeNoCredentials is the code of a finding about credentials that cannot be had, of a cluster that is else resolved: it is
// that cluster's matter, as if it did not answer.
const CodeNoCredentials = "no-credentials"

// Describe says how the cluster is reached, for people: "context prod-eu of /home/me/.kube/config".
func (a Access) Describe() string {
	if a.Context == "" {
		return strings.Join(a.KubeconfigPaths, ", ")
	}
	return "context " + a.Context + " of " + strings.Join(a.KubeconfigPaths, ", ")
}

// Layer names where a runtime value comes from, lowest first.
type Layer string

// The layers of runtime inputs, lowest to highest.
const (
	LayerImplicit Layer = "implicit cluster"
	LayerEnv      Layer = "environment"
	LayerQuery    Layer = "fleet query"
	LayerDeclared Layer = "declared cluster"
)

// Value is a runtime value with its origin. Secret values are masked wherever they turn up.
type Value struct {
	Value string `json:"value"`
	Layer Layer  `json:"layer"`
	// Origin is for people: "env TIMONI_CLUSTER_NAME", "k8s:v1:ConfigMap:default:cluster-info".
	Origin string `json:"origin"`
	Secret bool   `json:"secret,omitempty"`
	// DefaultOnly values are used only where a field has no default of its own (the implicit cluster's name and group).
	DefaultOnly bool `json:"defaultOnly,omitempty"`
	// Absent is set in a loaded snapshot for a secret value, which is never saved; Value is empty then.
	Absent bool `json:"absent,omitempty"`
}

// Facts are what evaluation may know of one cluster.
type Facts struct {
	Name     string            `json:"name"`
	Group    string            `json:"group"`
	Labels   map[string]string `json:"labels,omitempty"`
	Vars     map[string]any    `json:"vars,omitempty"`
	Implicit bool              `json:"implicit,omitempty"`
	// Chosen says how the one cluster of a run without a fleet was chosen, "" for others and before that is known.
	Chosen string `json:"-"`
	// Version is the API server's version without the leading v, "1.36.3".
	Version string `json:"version,omitempty"`
	// UID is the kube-system UID; WeakUID tells that it is the record namespace's instead.
	UID     string `json:"uid,omitempty"`
	WeakUID bool   `json:"weakUID,omitempty"`
	// Server is the API server's address, ServerID a digest of it and of its certificate authority.
	Server   string `json:"server,omitempty"`
	ServerID string `json:"serverID,omitempty"`
	// APIs are "group/version/Kind" (core: "v1/Kind") the server serves, sorted; "" entries never occur.
	APIs []string `json:"apis,omitempty"`
	// Values are the runtime values by name (environment, queries, name and group under TIMONI_ and HAWSER_ names).
	Values map[string]Value `json:"values,omitempty"`
	// Schemas are the hashes of the OpenAPI v3 documents of the cluster's groups and versions ("api/v1", "apis/apps/v1").
	Schemas map[string]string `json:"schemas,omitempty"`
}

// Snapshot is the facts of the selected clusters, in fleet order. It can be saved and used offline (`--facts FILE`).
type Snapshot struct {
	V        int     `json:"v"`
	Fleet    string  `json:"fleet"`
	Clusters []Facts `json:"clusters"`
	// Documents are the OpenAPI documents by their hash (SHA-512, hexadecimal), packed with gzip.
	Documents map[string][]byte `json:"documents,omitempty"`
	// File is the one that it was read from.
	File string `json:"-"`
}

// Selection narrows a fleet. Empty fields select everything; set fields are ANDed.
type Selection struct {
	// Clusters and Groups are exact names or globs ("production-*"); Timoni's single name or "*" are among them.
	Clusters []string
	Groups   []string
	// Labels is a Kubernetes label selector expression ("region=eu,tier!=1").
	Labels string
}

// Comparison is a constant that a document compares the cluster's name or group with.
type Comparison struct {
	// Fact is "name" or "group"; Constant the text it is compared with.
	Fact, Constant string
	// Expr is the comparison as people read it.
	Expr string
	Pos  diag.Pos
}
