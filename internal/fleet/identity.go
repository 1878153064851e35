package fleet

import (
	"slices"
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
	f := diag.Errorf(CodeWrongCluster, "this is another cluster than the one known by this name")
	f.Why = source + " " + known.describe() + ", it has " + now.describe()
	f.Fix = "correct the context; if it is another cluster on purpose: --accept-cluster " + name
	if known.Match(now) == Untold {
		f.What = "it cannot be told whether this is the cluster known by this name"
		f.Why = source + " the UID of the namespace kube-system, which these credentials may not read"
		f.Fix = "grant get on the namespace kube-system; if it is the right one: --accept-cluster " + name
	}
	return f
}

// OtherThanDeclared is that finding where the fleet's own file says the UID: it is corrected there.
func OtherThanDeclared(name string, declared, now Identity) diag.Finding {
	f := WrongCluster(name, "the fleet declares", declared, now)
	f.Fix = strings.Replace(f.Fix, "on purpose: --accept-cluster "+name, "on purpose, correct the uid that the fleet declares", 1)
	f.Fix = strings.Replace(f.Fix, "; if it is the right one: --accept-cluster "+name, "", 1)
	return f
}

// Recognize refuses a cluster that answered with these facts and is not the one that the fleet, or hawser.lock at lockPath, knows
// by its name: known is what the lock file knows of each of the fleet's clusters (all). accepted: the user said that it may be
// another one. A weak identity is a warning.
func Recognize(c Cluster, f Facts, known func(name string) Identity, all []Cluster, lockPath string, accepted bool) diag.Findings {
	now, was := f.Identity(), known(c.Name)
	var out diag.Findings
	if n := WeakIdentity(f); n != nil {
		out = append(out, *n)
	}
	if c.UID != "" { // what the fleet's file says is corrected there
		if declared := (Identity{UID: c.UID}); declared.Match(now) != SameCluster {
			out = append(out, OtherThanDeclared(c.Name, declared, now))
		}
		return out
	}
	if c.Implicit || was == (Identity{}) || was.Match(now) == SameCluster || accepted {
		return out
	}
	others := slices.DeleteFunc(NamesOf(all), func(other string) bool { return known(other).Match(now) != SameCluster })
	return append(out, KnownAs(WrongCluster(c.Name, lockPath+" knows it with", was, now), others))
}

// KnownAs is the finding about a wrong cluster, with the clusters that are known to be the one that answered.
func KnownAs(f diag.Finding, others []string) diag.Finding {
	if len(others) > 0 {
		f.Why += ", which is that of " + strings.Join(others, ", ") + looksSwapped
	}
	return f
}

// Acceptable finds names of --accept-cluster that are no clusters.
func Acceptable(names []string, clusters []Cluster) diag.Findings {
	var out diag.Findings
	for _, n := range names {
		if !slices.Contains(NamesOf(clusters), n) {
			f := diag.Errorf("unknown-cluster", "--accept-cluster: there is no cluster %q", n)
			f.Fix = "name clusters as the fleet does"
			out = append(out, f)
		}
	}
	return out
}

// NamesOf are the names of clusters, in their order.
func NamesOf(clusters []Cluster) []string {
	out := make([]string, len(clusters))
	for i, c := range clusters {
		out[i] = c.Name
	}
	return out
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

// Replaced is the finding that another cluster answers than the one that a plan was made with a moment ago.
func Replaced(name string, was, now Identity) diag.Finding {
	f := diag.Errorf(CodeWrongCluster, "another cluster answers now than the one that the plan was made with")
	f.Cluster = name
	f.Why = "that had " + was.describe() + ", this has " + now.describe() + ": its address leads elsewhere, or the cluster was made anew"
	f.Fix = "see where the address leads, then plan again; nothing was written to it since"
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

// Swapped is the finding that a cluster keeps a record that was made under the name of another one of the same fleet.
func Swapped(name, other string) diag.Finding {
	f := diag.Errorf(CodeWrongCluster, "the record kept here belongs to another cluster of this fleet")
	f.Why = "it is that of " + other + ": the contexts of " + other + " and " + name + " look swapped"
	f.Fix = "correct the contexts in the fleet; if the clusters were renamed: --accept-cluster " + name
	return f
}

// looksSwapped ends the Why of what is another cluster of the fleet.
const looksSwapped = ": the contexts look swapped"

// Twice adds to what was found that two clusters of a fleet are one. That the contexts of the two look swapped is no news then: it says
// which of them is reached by the wrong one.
func Twice(found diag.Findings, one, other, uid string) diag.Findings {
	f := diag.Errorf("same-cluster", "clusters %s and %s are the same cluster", one, other)
	f.Why, f.Fix = "both have the UID "+uid, "remove one of them from the fleet, or correct its context"
	found = slices.DeleteFunc(slices.Clone(found), func(w diag.Finding) bool {
		swapped := w.Code == CodeWrongCluster && (w.Cluster == one || w.Cluster == other) && strings.HasSuffix(w.Why, looksSwapped)
		if swapped {
			f.Fix = "correct the context of " + w.Cluster + ", or remove it from the fleet"
		}
		return swapped
	})
	return append(found, f)
}

// Distinct adds to what was found which of n clusters are one that was seen before; of tells the i-th one's name, and its UID, "" where nobody knows it.
func Distinct(found diag.Findings, n int, of func(i int) (name, uid string)) diag.Findings {
	first := map[string]string{}
	for i := range n {
		name, uid := of(i)
		if one, seen := first[uid]; seen {
			found = Twice(found, one, name, uid)
		} else if uid != "" {
			first[uid] = name
		}
	}
	return found
}

// NotImplicit refuses a flag of runs without a fleet beside one that declares clusters.
func NotImplicit(flag string) diag.Findings {
	f := diag.Errorf("context-with-fleet", "%s does not go with a fleet that declares clusters", flag)
	f.Fix = "choose clusters with --cluster or --group"
	return diag.Findings{f}
}
