package fleet

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// CodeWrongCluster is the code of findings about clusters that are not the ones they are known to be.
const CodeWrongCluster = "wrong-cluster"

// CodeUnknownContext is the code of findings about contexts that no kubeconfig has.
const CodeUnknownContext = "unknown-context"

// Identity is what tells one cluster from another.
type Identity struct {
	// UID is that of the namespace kube-system; Weak tells that it is the record namespace's, because the former may not be
	// read. "" when neither is known.
	UID  string
	Weak bool
	// Server is a digest of the API server's address and its certificate authority, "" when it is not known.
	Server string
}

// Identity is that of the cluster the facts are about.
func (f Facts) Identity() Identity { return Identity{UID: f.UID, Weak: f.WeakUID, Server: f.ServerID} }

// Strong reports whether the cluster is told by the UID of its kube-system.
func (i Identity) Strong() bool { return i.UID != "" && !i.Weak }

// String is what a plan is bound to: the UID of kube-system, else the digest of the server; "" only for the zero value.
func (i Identity) String() string {
	if i.Strong() || i.Server == "" {
		return i.UID
	}
	return serverIdentity + i.Server
}

const serverIdentity = "server "

// IdentityMatch is the answer to whether a cluster is the one that was known.
type IdentityMatch int

// The answers. Untold: nothing that both know can be compared.
const (
	Untold IdentityMatch = iota
	SameCluster
	OtherCluster
)

// Match compares a cluster as it was known with what it is now.
func (i Identity) Match(now Identity) IdentityMatch {
	switch {
	case i.UID != "" && i.UID == now.UID:
		return SameCluster
	case i.UID != "" && now.UID != "" && i.Weak == now.Weak:
		return OtherCluster
	case i.Server != "" && i.Server == now.Server:
		return SameCluster
	case i.Server != "" && now.Server != "" && !i.Strong():
		return OtherCluster
	}
	return Untold // of one that has a UID the address may have changed
}

// Learn is the identity to keep of a cluster after it was seen: a UID that tells more stays.
func (i Identity) Learn(now Identity) Identity {
	if i.Strong() && !now.Strong() && i.Match(now) != OtherCluster {
		now.UID, now.Weak = i.UID, false
	}
	return now
}

// WrongCluster is the finding about a cluster that is not, or not certainly, the one it is known to be. source says who
// knows it so: "hawser.lock knows it with".
func WrongCluster(name, source string, known, now Identity) diag.Finding {
	f := diag.Errorf(CodeWrongCluster, "this is not the cluster %s is known to be", name)
	f.Why = source + " " + known.describe() + ", it has " + now.describe()
	f.Fix = "correct the context; if it is another cluster on purpose: --accept-cluster " + name
	if known.Match(now) == Untold {
		f.What = "it cannot be told whether this is the cluster " + name + " is known to be"
		f.Why = source + " " + known.describe() + "; these credentials may not read the namespace kube-system, which has it"
		f.Fix = "grant get on the namespace kube-system; if it is the right one: --accept-cluster " + name
	}
	return f
}

func (i Identity) describe() string {
	if s := i.String(); i.Strong() || i.Server == "" {
		return "uid " + s
	}
	return i.String()
}

// OtherThanPlanned is the finding about a cluster that is not, or not certainly, the one that a saved plan was made for. was
// and now are what plans are bound to.
func OtherThanPlanned(name, was, now string) diag.Finding {
	f := diag.Errorf(CodeWrongCluster, "this is not the cluster %s that the plan was made for", name)
	f.Why, f.Fix = "the plan is bound to "+was+", it has "+now, "correct the context, or plan again with these credentials"
	switch wasWeak, isWeak := strings.HasPrefix(was, serverIdentity), strings.HasPrefix(now, serverIdentity); {
	case isWeak && !wasWeak:
		f.Why = "the plan is bound to the UID of the namespace kube-system, which these credentials may not read"
		f.Fix = "grant get on the namespace kube-system, or plan again with these credentials"
	case wasWeak && !isWeak:
		f.Why = "whoever made the plan might not read the namespace kube-system, so that it is bound to the server's address and authority"
		f.Fix = "plan again with these credentials, or apply it with those it was made with"
	default:
		return f
	}
	f.What = "it cannot be told whether this is the cluster " + name + " that the plan was made for"
	return f
}

// WeakIdentity warns of a cluster whose kube-system may not be read, nil for others.
func WeakIdentity(f Facts) *diag.Finding {
	if !f.WeakUID {
		return nil
	}
	n := diag.Warnf("weak-identity", "the cluster is told from others by its server's address and authority alone")
	n.Why = "these credentials may not read the namespace kube-system, whose UID would tell more"
	n.Fix = "grant get on the namespace kube-system"
	return &n
}
