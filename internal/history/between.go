package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
)

// Between is what clusters of one side and of another run, compared. Its JSON form is public and versioned.
type Between struct {
	V    int  `json:"v"` // diag.DocumentVersion
	From Side `json:"from"`
	To   Side `json:"to"`
	// Bundles are those that any of the clusters has, by name.
	Bundles []BundleBetween `json:"bundles"`
	// Unreadable are the clusters of which nobody knows what they run.
	Unreadable []Unknown     `json:"unknown,omitempty"`
	Findings   diag.Findings `json:"findings,omitempty"`
}

// Side is one side of a comparison: what was named, and the clusters that it stands for.
type Side struct {
	Name     string   `json:"name"`
	Clusters []string `json:"clusters"`
}

// BundleBetween is one bundle, as each cluster has it, compared with one of From.
type BundleBetween struct {
	Bundle string `json:"bundle"`
	// Reference is the cluster of From that the others are compared with: one that most of From are like.
	Reference string `json:"reference"`
	// Clusters are the others, From's first; what came is there and not on the reference, what went the other way round.
	Clusters []ClusterChange `json:"clusters"`
	// Groups are the clusters that differ alike from the reference.
	Groups []group.Group `json:"groups"`
	// Instances are those with another source or other images than on the reference.
	Instances []InstanceBetween `json:"instances,omitempty"`
	// Origins are the runtime values that come from elsewhere than on the reference.
	Origins []OriginBetween `json:"origins,omitempty"`
	// Apart are the sides whose own clusters differ among themselves.
	Apart []string `json:"apart,omitempty"`
}

// InstanceBetween is an instance that clusters have otherwise than the reference; nil where one does not have it.
type InstanceBetween struct {
	Instance string    `json:"instance"`
	Clusters []string  `json:"clusters"`
	From     *Instance `json:"from,omitempty"`
	To       *Instance `json:"to,omitempty"`
}

// Images are those that only one of both runs, in words: "images web:1 -> web:2"; nothing where something of one is hidden.
func (i InstanceBetween) Images() []string {
	var was, is []string
	if i.From != nil {
		was = i.From.Images
	}
	if i.To != nil {
		is = i.To.Images
	}
	if masked(was) || masked(is) {
		return nil
	}
	gone := slices.DeleteFunc(slices.Clone(was), func(x string) bool { return slices.Contains(is, x) })
	came := slices.DeleteFunc(slices.Clone(is), func(x string) bool { return slices.Contains(was, x) })
	if len(gone)+len(came) == 0 {
		return nil
	}
	return []string{"images " + cmp.Or(strings.Join(gone, ", "), "none") + " -> " + cmp.Or(strings.Join(came, ", "), "none")}
}

// OriginBetween is a runtime value that clusters have from elsewhere; "" where one has none.
type OriginBetween struct {
	Value    string   `json:"value"`
	Clusters []string `json:"clusters"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
}

// Find finds what each cluster has now of a bundle, or with "" of every one, and what the others are compared with.
func (b *Between) Find(clusters []Cluster, bundle string) error {
	b.V, b.Bundles = diag.DocumentVersion, []BundleBetween{}
	h := Of(clusters)
	if bundle != "" {
		if err := h.Choose(bundle); err != nil {
			return err
		}
	}
	b.Unreadable = h.Unknown
	for _, l := range ledgers(clusters) {
		if bundle != "" && l.name != bundle {
			continue
		}
		b.Findings = append(b.Findings, l.failed()...)
		if one, ok := b.one(l); ok {
			b.Bundles = append(b.Bundles, one)
		}
	}
	return nil
}

// failed warns of clusters on which the newest release of a bundle failed: what it declares is compared, and may not all be there.
func (l *ledger) failed() (out diag.Findings) {
	for _, r := range l.rows {
		if len(r.kept.Records) == 0 || r.kept.Records[0].Phase != release.Failed {
			continue
		}
		at := r.kept.Records[0]
		f := diag.Warnf("failed-release", "release %s of %s failed here: it is compared as it was declared, and may not run so", at.Called().String(), l.name)
		if f.Cluster, f.Fix = r.cluster.Name, "hawser status "+l.name+" tells what is not ready"; len(at.Unfinished) > 0 {
			f.Why = "undone or not ready: " + strings.Join(plan.Unfinished(at.Unfinished, at.NotBegun), ", ")
		}
		out = append(out, f)
	}
	return out
}

// has is what a cluster has of a bundle now.
type has struct {
	row      row
	standing Standing
	record   *release.Record
}

// one compares one bundle; false where it is on no cluster of either side.
func (b *Between) one(l *ledger) (BundleBetween, bool) {
	out := BundleBetween{Bundle: l.name, Clusters: []ClusterChange{}, Groups: []group.Group{}}
	all := map[string]has{}
	any := false
	for i, r := range l.rows {
		h := has{row: r, standing: Standing{Cluster: r.cluster.Name, Group: r.cluster.Group, Unknown: cmp.Or(r.cluster.Unreachable, r.cluster.Unknown), Unreachable: r.cluster.Unreachable != ""}}
		if records := r.kept.Records; len(records) > 0 {
			any = true
			h.record, h.standing = &records[0], l.release(records[0].Rollout).Clusters[i]
		}
		h.standing.Unknown = cmp.Or(h.standing.Unknown, unended(h.standing))
		all[r.cluster.Name] = h
	}
	if !any {
		return out, false
	}
	out.Reference = b.reference(all)
	for _, name := range slices.Concat(b.From.Clusters, b.To.Clusters) {
		if name != out.Reference {
			ref, h := all[out.Reference], all[name]
			change := ClusterChange{Cluster: name, Group: h.standing.Group, From: ref.standing, To: h.standing, before: ref.record, after: h.record}
			change.Unknown = cmp.Or(change.To.Unknown, change.From.Unknown)
			out.Clusters = append(out.Clusters, change)
		}
	}
	return out, true
}

// reference is the cluster of From that most of From are like, of those of which it is known what they have.
func (b *Between) reference(all map[string]has) string {
	like, best := map[string]int{}, ""
	digest := func(name string) string {
		if r := all[name].record; r != nil {
			return cmp.Or(r.SetDigest, r.Rollout)
		}
		return ""
	}
	for _, name := range b.From.Clusters {
		like[digest(name)]++
	}
	for _, name := range b.From.Clusters {
		if all[name].standing.Unknown == "" && (best == "" || like[digest(name)] > like[digest(best)]) {
			best = name
		}
	}
	return cmp.Or(best, b.From.Clusters[0])
}

// Rows are the clusters that are compared, for Read.
func (b *Between) Rows() []*ClusterChange {
	var out []*ClusterChange
	for i := range b.Bundles {
		out = append(out, rowsOf(b.Bundles[i].Clusters)...)
	}
	return out
}

// Regroup masks what is secret, puts clusters together that differ alike, and says which sides differ among themselves; findings are
// those of the clusters.
func (b *Between) Regroup(m plan.Masker, findings diag.Findings) {
	b.Findings = append(b.Findings, findings...)
	for i := range b.Bundles {
		one := &b.Bundles[i]
		var fs diag.Findings
		one.Groups, fs = regroup(one.Clusters, one.Bundle, m)
		b.Findings = append(b.Findings, fs...)
		one.sources()
		one.origins()
		for _, side := range []Side{b.From, b.To} {
			if one.apart(side) {
				one.Apart = append(one.Apart, side.Name)
			}
		}
	}
	b.Findings = b.Findings.Sorted()
}

// known are the clusters that are compared.
func (b *BundleBetween) known() []ClusterChange {
	return slices.DeleteFunc(slices.Clone(b.Clusters), func(c ClusterChange) bool { return c.Unknown != "" })
}

// sources finds the instances with other sources or images.
func (b *BundleBetween) sources() {
	for _, c := range b.known() {
		was, is := byName(c.From.Instances), byName(c.To.Instances)
		for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
			x := InstanceBetween{Instance: name, Clusters: []string{c.Cluster}, From: was[name], To: is[name]}
			if x.From.alike(x.To) {
				continue
			}
			at := slices.IndexFunc(b.Instances, func(y InstanceBetween) bool { return y.Instance == name && y.To.alike(x.To) })
			if at >= 0 {
				b.Instances[at].Clusters = append(b.Instances[at].Clusters, c.Cluster)
			} else {
				b.Instances = append(b.Instances, x)
			}
		}
	}
	slices.SortStableFunc(b.Instances, func(x, y InstanceBetween) int { return strings.Compare(x.Instance, y.Instance) })
}

// alike reports whether two clusters have one content of an instance, and one set of images. Both may be nil.
func (i *Instance) alike(other *Instance) bool {
	if i == nil || other == nil {
		return i == other
	}
	return i.Source == other.Source && i.Digest == other.Digest && (masked(i.Images) || masked(other.Images) || slices.Equal(i.Images, other.Images))
}

// masked reports whether something is hidden in an image: how much of it is, is as the run that wrote the record knew it, and tells nothing of
// another record's. Whether the objects differ is told by them.
func masked(images []string) bool {
	return slices.ContainsFunc(images, func(image string) bool { return strings.Contains(image, redact.Mask) })
}

func byName(instances []Instance) map[string]*Instance {
	out := map[string]*Instance{}
	for i := range instances {
		out[instances[i].Instance] = &instances[i]
	}
	return out
}

func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// origins finds the runtime values that come from elsewhere.
func (b *BundleBetween) origins() {
	for _, c := range b.known() {
		was, is := orEmpty(c.From.Origins), orEmpty(c.To.Origins)
		for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
			x := OriginBetween{Value: name, Clusters: []string{c.Cluster}, From: was[name], To: is[name]}
			if x.From == x.To {
				continue
			}
			at := slices.IndexFunc(b.Origins, func(y OriginBetween) bool { return y.Value == name && y.To == x.To })
			if at >= 0 {
				b.Origins[at].Clusters = append(b.Origins[at].Clusters, c.Cluster)
			} else {
				b.Origins = append(b.Origins, x)
			}
		}
	}
	slices.SortStableFunc(b.Origins, func(x, y OriginBetween) int { return strings.Compare(x.Value, y.Value) })
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// apart reports whether clusters of a side, as far as they are known, differ among themselves.
func (b *BundleBetween) apart(side Side) bool {
	kinds := map[string]bool{}
	if slices.Contains(side.Clusters, b.Reference) && !b.unknown(b.Reference) {
		kinds[""] = true
	}
	for _, c := range b.known() {
		if slices.Contains(side.Clusters, c.Cluster) {
			kinds[b.kind(c)] = true
		}
	}
	return len(kinds) > 1
}

// unknown reports whether nobody knows what the reference has: then it is unknown how any other one differs from it.
func (b *BundleBetween) unknown(reference string) bool {
	return slices.ContainsFunc(b.Clusters, func(c ClusterChange) bool { return c.From.Cluster == reference && c.From.Unknown != "" })
}

// kind tells clusters apart that differ otherwise from the reference; "" for one that does not.
func (b *BundleBetween) kind(c ClusterChange) string {
	var out []string
	for _, g := range b.Groups {
		if slices.Contains(g.Clusters, c.Cluster) {
			out = append(out, g.Letter)
		}
	}
	for i, in := range b.Instances {
		if slices.Contains(in.Clusters, c.Cluster) {
			out = append(out, fmt.Sprint(i))
		}
	}
	return strings.Join(out, " ")
}

// Differ reports whether anything of the bundle is otherwise somewhere.
func (b *BundleBetween) Differ() bool { return len(b.Groups) > 0 || len(b.Instances) > 0 }

// Differ reports whether anything is otherwise somewhere, as far as is known.
func (b *Between) Differ() bool {
	return slices.ContainsFunc(b.Bundles, func(one BundleBetween) bool { return one.Differ() })
}

// Unknown are the clusters of which nobody can tell what they have, or how it differs.
func (b *Between) Unknown() []Unknown {
	out := slices.Clone(b.Unreadable)
	for _, one := range b.Bundles {
		for _, c := range one.Clusters {
			if c.Unknown != "" && !slices.ContainsFunc(out, func(u Unknown) bool { return u.Cluster == c.Cluster }) {
				out = append(out, Unknown{Cluster: c.Cluster, Why: c.Unknown, Unreachable: c.To.Unreachable})
			}
		}
	}
	return out
}
