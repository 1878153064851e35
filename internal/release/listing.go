package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/source"
)

// Listing is what was delivered, as the records say; nobody has looked at the objects. Its JSON form is public and
// versioned.
type Listing struct {
	V        int              `json:"v"` // 1
	Clusters []ClusterListing `json:"clusters"`
	Findings diag.Findings    `json:"findings,omitempty"`
	// Fleet is that of the run, "" for none.
	Fleet string `json:"-"`
}

// CodeBundlesUnknown is that of the finding that nobody knows which bundles a cluster has.
const CodeBundlesUnknown = "bundles-unknown"

// Own are the bundles that the run's fleet delivered, or a run without one did, sorted; warnings name those of others, and the clusters of
// which nobody knows what they have. Of one that does not answer each bundle tells by itself, where there is any.
func (l *Listing) Own() ([]string, diag.Findings) {
	names, findings := l.own()
	for _, c := range l.Clusters {
		if c.Unknown == "" && (c.Unreachable == "" || len(names) > 0) {
			continue
		}
		f := diag.Warnf(CodeBundlesUnknown, "nobody knows which bundles the cluster has")
		f.Cluster, f.Why = c.Cluster, strings.TrimPrefix(cmp.Or(c.Unknown, "it does not answer: "+c.Unreachable), "cluster "+c.Cluster+": ")
		f.Fix = "mend that; what is named is looked at all the same, as far as it can be: hawser drift BUNDLE"
		findings = append(findings, f)
	}
	return names, findings
}

func (l *Listing) own() ([]string, diag.Findings) {
	own, others := map[string]bool{}, map[string]string{}
	for _, c := range l.Clusters {
		for _, b := range c.Bundles {
			switch {
			case b.Fleet == l.Fleet:
				own[b.Bundle] = true
			case b.Fleet == "":
				others[b.Bundle] = b.Bundle + " (without a fleet)"
			default:
				others[b.Bundle] = b.Bundle + " (fleet " + b.Fleet + ")"
			}
		}
	}
	maps.DeleteFunc(others, func(name, _ string) bool { return own[name] })
	names := slices.Sorted(maps.Keys(own))
	if len(others) == 0 {
		return names, nil
	}
	f := diag.Warnf("not-looked-at", "bundles of others are not looked at: %s", diag.Few(slices.Sorted(maps.Values(others))))
	f.Fix = "look at them with their fleet (--fleet), or without one"
	return names, diag.Findings{f}
}

// ClusterListing is what one cluster's records say.
type ClusterListing struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	// Chosen says how the one cluster of a run without a fleet was chosen: "the current context kind (https://...)".
	Chosen      string `json:"chosen,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
	// Unknown says why nobody knows what was delivered there: records may not, or can not, be read.
	Unknown string          `json:"unknown,omitempty"`
	Bundles []BundleListing `json:"bundles,omitempty"`
}

// BundleListing is the current release of a bundle on a cluster; Revision is the cluster's own number of it.
type BundleListing struct {
	Bundle   string `json:"bundle"`
	Fleet    string `json:"fleet,omitempty"`
	Revision int    `json:"revision"`
	// Release is the number over the fleet, which rollback --to takes; 0 for one of before releases had any.
	Release int   `json:"release,omitempty"`
	Phase   Phase `json:"phase"`
	// At is when the revision was delivered, or begun when it is open.
	At      time.Time `json:"at"`
	Author  string    `json:"author,omitempty"`
	Message string    `json:"message,omitempty"`
	// InProgress is who is at work on it, and since when.
	InProgress string `json:"inProgress,omitempty"`
	// Waits is the newest release of the bundle, where it is kept from the cluster, or was aborted before it came there.
	Waits *Waiting `json:"waits,omitempty"`
	// MovedTo are the bundles of the same files that have everything of it now, as their records say; what is left of it is its
	// record.
	MovedTo   []string          `json:"movedTo,omitempty"`
	Instances []InstanceListing `json:"instances"`
	// Origins say where the runtime values came from, by name.
	Origins map[string]string `json:"origins,omitempty"`
}

// InstanceListing is an instance of a bundle.
type InstanceListing struct {
	Instance string `json:"instance"`
	// Namespaces are those that its objects lie in.
	Namespaces []string         `json:"namespaces,omitempty"`
	Source     source.Described `json:"source"`
	// Inputs is the digest of everything it was rendered from; values are in no record.
	Inputs    string `json:"inputs,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
	// Ended is how its delivery ended: like its bundle's, and where that failed, "succeeded" for an instance that did not.
	Ended   Phase          `json:"ended"`
	Objects []ListedObject `json:"objects"`
}

// ListedObject is an object of an instance.
type ListedObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// List is what the record says of its bundle; atWork is who is at work on it. Instances are in the order of their names,
// their objects in that of the inventory; objects of hooks are none of theirs.
func (r Record) List(atWork string) BundleListing {
	out := BundleListing{Bundle: r.Bundle, Fleet: r.Fleet, Revision: r.Revision, Release: r.Release, Phase: r.Shown(), At: r.Finished, Author: r.Author, Message: r.Message,
		InProgress: atWork, Origins: r.Origins, Instances: []InstanceListing{}}
	if out.At.IsZero() {
		out.At = r.Started
	}
	byName := map[string]*InstanceListing{}
	named := func(name string) *InstanceListing {
		if byName[name] == nil {
			byName[name] = &InstanceListing{Instance: name, Source: source.Describe(r.Sources[name]), Inputs: r.Inputs[name], Ended: r.endOf(name),
				Suspended: slices.Contains(r.Suspended, name), Objects: []ListedObject{}}
		}
		return byName[name]
	}
	for name := range r.Sources {
		named(name)
	}
	for _, o := range r.Inventory {
		if o.Hook != nil || o.Instance == "" {
			continue
		}
		in := named(o.Instance)
		in.Objects = append(in.Objects, ListedObject{schema.GroupVersion{Group: o.Ref.Group, Version: o.Version}.String(), o.Ref.Kind, o.Ref.Namespace, o.Ref.Name})
		if ns := o.Ref.Namespace; ns != "" && !slices.Contains(in.Namespaces, ns) {
			in.Namespaces = append(in.Namespaces, ns)
		}
	}
	for _, in := range byName {
		slices.Sort(in.Namespaces)
		out.Instances = append(out.Instances, *in)
	}
	slices.SortFunc(out.Instances, func(a, b InstanceListing) int { return strings.Compare(a.Instance, b.Instance) })
	return out
}

// endOf is how the run ended for one instance. Where nobody noted which ones failed, all did.
func (r Record) endOf(instance string) Phase {
	if r.Standing() == Failed && len(r.Unfinished) > 0 && !slices.Contains(r.Unfinished, instance) {
		return Succeeded
	}
	return r.Shown()
}

// InstancesOf are the instances that some objects belong to, as the changes of a plan or an inventory say, and others
// besides, each once; nil when one of them has none, since nobody knows then which instance it is.
func InstancesOf(refs []object.Ref, changes []plan.Change, inventory []plan.InventoryEntry, others []string) []string {
	of := map[object.Ref]string{}
	for _, o := range inventory {
		of[o.Ref] = o.Instance
	}
	for _, ch := range changes {
		of[ch.Ref] = cmp.Or(ch.Instance, of[ch.Ref])
	}
	out := slices.Clone(others)
	for _, r := range refs {
		out = append(out, of[r])
	}
	if slices.Sort(out); slices.Contains(out, "") {
		return nil
	}
	return slices.Compact(out)
}

// Narrow leaves what has objects in the namespace and is called like the instance; "" leaves all. Bundles of which nothing
// is left go.
func (l *Listing) Narrow(namespace, instance string) {
	if namespace == "" && instance == "" {
		return
	}
	for i := range l.Clusters {
		c := &l.Clusters[i]
		for k := range c.Bundles {
			c.Bundles[k].Instances = slices.DeleteFunc(slices.Clone(c.Bundles[k].Instances), func(in InstanceListing) bool {
				return instance != "" && in.Instance != instance || namespace != "" && !slices.Contains(in.Namespaces, namespace)
			})
		}
		c.Bundles = slices.DeleteFunc(slices.Clone(c.Bundles), func(b BundleListing) bool { return len(b.Instances) == 0 })
	}
}

// Names are the instances that are listed, each once.
func (l *Listing) Names() []string {
	var out []string
	for _, c := range l.Clusters {
		for _, b := range c.Bundles {
			for _, in := range b.Instances {
				out = append(out, in.Instance)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ValuesMissing says of each delivery of an instance what identifies its values, which are in no record.
func (l *Listing) ValuesMissing() error {
	var out diag.Findings
	for _, c := range l.Clusters {
		for _, b := range c.Bundles {
			for _, in := range b.Instances {
				f := diag.Errorf("values-not-recorded", "the values of %s are in no record", in.Instance)
				f.Why = "records keep no values, which may be secret"
				if in.Inputs != "" {
					f.Why += fmt.Sprintf("; revision %d of %s was made of the inputs %s", b.Revision, b.Bundle, in.Inputs)
				}
				f.Fix = "hawser vet -f BUNDLE --print-value shows what the files give; hawser build -f BUNDLE what is made of them"
				f.Cluster = c.Cluster
				out = append(out, f)
			}
		}
	}
	return out.Alike().Err()
}

// unknown are the clusters of which nobody knows, with the reasons.
func (l *Listing) unknown() []string {
	var out []string
	for _, c := range l.Clusters {
		if why := cmp.Or(c.Unreachable, c.Unknown); why != "" {
			out = append(out, c.Cluster+": "+why)
		}
	}
	return out
}

// Find narrows the listing to one instance. That no cluster has it is a finding; where some cluster is unknown it may be
// there, and that is said too.
func (l *Listing) Find(namespace, instance string) error {
	names := l.Names()
	l.Narrow(namespace, instance)
	if len(l.Names()) > 0 {
		return nil
	}
	f := diag.Errorf("no-such-instance", "no instance %s was delivered to the selected clusters", instance)
	if namespace != "" {
		f.What = fmt.Sprintf("no instance %s with objects in the namespace %s was delivered to the selected clusters", instance, namespace)
	}
	f.Fix = "hawser list shows what was delivered"
	f = f.Meant(instance, names)
	if unknown := l.unknown(); len(unknown) > 0 {
		all := len(unknown) == len(l.Clusters)
		if n := len(unknown); n > 4 {
			unknown = append(unknown[:3:3], fmt.Sprintf("%d more", n-3))
		}
		f.Why = "nobody knows of " + strings.Join(unknown, "; of ")
		if all { // that is no answer at all
			f.Code, f.What = "unknown", fmt.Sprintf("whether an instance %s was delivered is not known", instance)
		}
	}
	return diag.Findings{f}.Err()
}

// Bundles are the names of those that are listed, each once.
func (l *Listing) Bundles() []string {
	var out []string
	for _, c := range l.Clusters {
		for _, b := range c.Bundles {
			out = append(out, b.Bundle)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Await notes on the bundles that are listed which of their releases are kept from the clusters.
func (l *Listing) Await(all ...*Waiting) {
	for _, c := range l.Clusters {
		for i, b := range c.Bundles {
			for _, w := range all {
				if b.Bundle == w.Bundle && slices.Contains(w.Clusters, c.Cluster) {
					c.Bundles[i].Waits = w
				}
			}
		}
	}
}

// Nothing reports that every cluster is known, and nothing was delivered to any.
func (l *Listing) Nothing() bool {
	return !slices.ContainsFunc(l.Clusters, func(c ClusterListing) bool { return len(c.Bundles) > 0 || c.Unreachable+c.Unknown != "" })
}

// Unknown is the number of clusters of which nobody knows what they have.
func (l *Listing) Unknown() int {
	n := 0
	for _, c := range l.Clusters {
		if c.Unreachable != "" || c.Unknown != "" {
			n++
		}
	}
	return n
}
