package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Comparison is what changed between two releases of a bundle. Its JSON form is public and versioned.
type Comparison struct {
	V int `json:"v"` // diag.DocumentVersion
	// Chosen is the one cluster of a run without a fleet, as in a History.
	Chosen string `json:"chosen,omitempty"`
	Bundle string `json:"bundle"`
	// From and To are the releases, without their clusters.
	From     Release         `json:"from"`
	To       Release         `json:"to"`
	Clusters []ClusterChange `json:"clusters"`
	// Groups are the clusters with equal changes together.
	Groups   []group.Group `json:"groups"`
	Findings diag.Findings `json:"findings,omitempty"`

	from, to string
}

// Comparer compares what clusters keep: two releases (Comparison), or two sides of the fleet (Between).
type Comparer interface {
	// Find finds the records of a bundle that are compared; Rows are the clusters with them, to be read.
	Find(clusters []Cluster, bundle string) error
	Rows() []*ClusterChange
	// Regroup masks what was read, and puts equal clusters together; Unknown are those of which nobody can tell.
	Regroup(m plan.Masker, findings diag.Findings)
	Unknown() []Unknown
}

// Releases is a comparison of two releases, by number or rollout, to be made.
func Releases(from, to string) *Comparison { return &Comparison{from: from, to: to} }

// Find is Compare, with the releases that it was made for.
func (c *Comparison) Find(clusters []Cluster, bundle string) error {
	out, err := Compare(clusters, bundle, c.from, c.to)
	if err == nil {
		*c = *out
	}
	return err
}

// ClusterChange is what changed on one cluster, between where it stood in the two releases.
type ClusterChange struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	// From and To are where it stood.
	From Standing `json:"from"`
	To   Standing `json:"to"`
	// Unknown says why nobody can tell what changed; then there is no plan.
	Unknown string `json:"unknown,omitempty"`
	// Plan has what would lead from the one to the other: objects that came, changed and went.
	Plan *plan.Plan `json:"plan,omitempty"`

	// Inventories: what the objects of From or To declared is not kept, so that Plan tells which objects changed, and not in which
	// fields. A finding says of which, and why.
	Inventories bool `json:"inventories,omitempty"`

	before, after *release.Record
	lacking       []string // why the objects of a release could not be read
}

// Records are those that the cluster stood at; nil where it had nothing.
func (c *ClusterChange) Records() (before, after *release.Record) { return c.before, c.after }

// Reading is how what records declare is read: the Store of a cluster, and Learn is told of the objects before anything is said of them.
type Reading struct {
	Store func(cluster string) release.Store
	Learn func(sets ...[]object.Object)
	// Content shows the whole of what came, Redact masks what is secret.
	Content bool
	Redact  func(string) string
}

// Read fills in what changed, unless nobody can tell: what the records declare is read from the clusters that have them.
func (c *ClusterChange) Read(ctx context.Context, r Reading) {
	if c.Unknown != "" {
		return
	}
	before := c.objects(ctx, r.Store(cmp.Or(c.From.Cluster, c.Cluster)), c.before)
	after := c.objects(ctx, r.Store(c.Cluster), c.after)
	r.Learn(before, after)
	c.Change(before, after, r.Content, r.Redact)
}

// objects are what a record declares; nil where there is none, and where that is not kept or cannot be read, which Change says.
func (c *ClusterChange) objects(ctx context.Context, store release.Store, rec *release.Record) []object.Object {
	if rec == nil {
		return nil
	}
	objects, err := store.Objects(ctx, *rec)
	if err != nil {
		c.lacking = append(c.lacking, err.Error())
		return nil
	}
	return objects
}

// Rows are the clusters that changed, for Read.
func (c *Comparison) Rows() []*ClusterChange { return rowsOf(c.Clusters) }

func rowsOf(clusters []ClusterChange) []*ClusterChange {
	out := make([]*ClusterChange, len(clusters))
	for i := range clusters {
		out[i] = &clusters[i]
	}
	return out
}

// Compare finds for every cluster the records of two releases, by number or rollout. bundle is "" for the only one. What
// changed is filled in by Change and Regroup.
func Compare(clusters []Cluster, bundle, from, to string) (*Comparison, error) {
	h := Of(clusters)
	if err := h.Choose(bundle); err != nil {
		return nil, err
	}
	a, err := h.Find(from)
	if err != nil {
		return nil, err
	}
	b, err := h.Find(to)
	if err != nil {
		return nil, err
	}
	all := ledgers(clusters)
	l := all[slices.IndexFunc(all, func(l *ledger) bool { return l.owner == h.Bundles[0].Owner })]
	out := &Comparison{V: diag.DocumentVersion, Chosen: h.Chosen, Bundle: l.name, From: *a, To: *b, Groups: []group.Group{}}
	out.From.Clusters, out.To.Clusters = []Standing{}, []Standing{}
	for i, r := range l.rows {
		c := ClusterChange{Cluster: r.cluster.Name, Group: r.cluster.Group, From: a.Clusters[i], To: b.Clusters[i]}
		c.before, _, _ = l.at(r, a.Rollout)
		c.after, _, _ = l.at(r, b.Rollout)
		c.Unknown = cmp.Or(c.To.Unknown, c.From.Unknown, unended(c.To), unended(c.From))
		if out.Clusters = append(out.Clusters, c); c.Unknown == "" && !c.To.In {
			out.Findings = append(out.Findings, b.elsewhere(c.To, b.Rollout == l.order[0]))
		}
	}
	return out, nil
}

// unended says that nobody can tell what a cluster has, because the run of what it stands at has not ended; "" where it has.
func unended(at Standing) string {
	if at.Phase == release.Interrupted {
		return fmt.Sprintf("the run of release %s died here, and another one went over it: what it declared is nowhere", (&release.Name{Release: at.Release, Rollout: at.Rollout}).String())
	}
	if !at.Phase.Open() {
		return ""
	}
	return fmt.Sprintf("the run of release %s has not ended here (%s): what it declares is recorded when it ends", (&release.Name{Release: at.Release, Rollout: at.Rollout}).String(),
		cmp.Or(at.InProgress, "it died, or nobody can see who is at work"))
}

// elsewhere says that a cluster is not in the release, and as what it is compared.
func (r *Release) elsewhere(at Standing, newest bool) diag.Finding {
	f := diag.Finding{Severity: diag.Info, Code: "skipped-release", Cluster: at.Cluster, What: "release " + r.Name() + " did not come here", Why: "the cluster had nothing then"}
	if newest {
		f.Severity, f.What, f.Why = diag.Warning, "release "+r.Name()+" has not come here", "the cluster has nothing yet"
	}
	if at.Rollout != "" {
		f.Why = "it is compared as it stood then, at release " + (&release.Name{Release: at.Release, Rollout: at.Rollout}).String()
	}
	if at.Unchanged {
		f.Severity, f.What = diag.Info, "release "+r.Name()+" changed nothing here"
	}
	return f
}

// Change fills in what changed on a cluster: before and after are the objects that its two records declare, nil where they
// are not kept. Then the inventories tell which objects differ, and not in which fields.
func (c *ClusterChange) Change(before, after []object.Object, content bool, redact func(string) string) {
	p := &plan.Plan{Cluster: c.Cluster, Changes: []plan.Change{}}
	c.Plan = p
	var lost []string // the releases of which the inventory alone is known
	for _, r := range []struct {
		rec     *release.Record
		objects []object.Object
	}{{c.before, before}, {c.after, after}} {
		if r.rec != nil && r.objects == nil {
			lost = append(lost, r.rec.Called().String())
		}
	}
	olds, news := declared(c.before, before), declared(c.after, after)
	if len(lost) > 0 {
		olds, news = owned(c.before), owned(c.after)
		c.Inventories, p.Findings = true, diag.Findings{inventories(lost, redact(strings.Join(c.lacking, "; ")))}.OnCluster(c.Cluster)
	}
	for ref, now := range news {
		was, there := olds[ref]
		switch {
		case !there:
			p.Changes = append(p.Changes, now.change(plan.Create, plan.CodeNew, "came"))
		case was.digest == now.digest:
			if now.hook == nil {
				p.Unchanged++
			}
		default:
			p.Changes = append(p.Changes, now.since(was, redact))
		}
	}
	for ref, was := range olds {
		if _, stays := news[ref]; !stays {
			p.Changes = append(p.Changes, was.change(plan.Delete, plan.CodeDropped, "went"))
		}
	}
	slices.SortFunc(p.Changes, func(a, b plan.Change) int {
		return cmp.Or(strings.Compare(a.Instance, b.Instance), a.Ref.Compare(b.Ref))
	})
	if content {
		bodies := map[object.Ref]object.Object{}
		for _, o := range after {
			bodies[o.Ref()] = o
		}
		p.Describe(bodies, redact)
	}
}

// inventories says that inventories are compared in the place of what was declared.
func inventories(lost []string, why string) diag.Finding {
	f := diag.Warnf("not-kept", "what the objects of release %s declared is not kept here: the inventories are compared", strings.Join(lost, " and "))
	f.Why = cmp.Or(why, "the run that wrote it kept none, or it was let go since")
	f.Fix = "which objects came, changed and went is told, and not in which fields; compare the files of then (git diff) for those"
	return f
}

// declaration is an object of a release.
type declaration struct {
	ref               object.Ref
	instance, version string
	digest            string
	hook              *object.Hook
	body              *object.Object // nil where it is not kept
}

func (d declaration) change(a plan.Action, code plan.Code, why string) plan.Change {
	ch := plan.Change{Action: a, Code: code, Ref: d.ref, Instance: d.instance, Version: d.version, Digest: d.digest, Open: d.body != nil && !d.body.Secret(), Why: why}
	if d.hook != nil && len(d.hook.Events) > 0 { // it is counted as one, as in a plan
		ch.Hook = &plan.HookTask{Event: d.hook.Events[0], Weight: d.hook.Weight}
	}
	return ch
}

// since is how the declaration changed: what was secret in either stays hidden.
func (d declaration) since(was declaration, redact func(string) string) plan.Change {
	if was.body == nil || d.body == nil {
		return d.change(plan.Update, plan.CodeChanged, "in which fields is not kept any more")
	}
	ch, o := d.change(plan.Update, plan.CodeChanged, ""), *d.body
	o.Sensitive = slices.Concat(o.Sensitive, was.body.Sensitive)
	ch.Fields = plan.FieldChanges(o, was.body.Body, o.Body, redact, object.Setters{})
	return ch
}

// declared are the objects of a release by what they declare.
func declared(rec *release.Record, objects []object.Object) map[object.Ref]declaration {
	out := map[object.Ref]declaration{}
	if rec == nil {
		return out
	}
	for i, o := range objects {
		out[o.Ref()] = declaration{ref: o.Ref(), instance: o.Instance, version: o.GVK().Version, digest: o.Digest(), hook: o.Hook, body: &objects[i]}
	}
	return out
}

// owned are the objects of a release as its inventory has them, without those of hooks.
func owned(rec *release.Record) map[object.Ref]declaration {
	out := map[object.Ref]declaration{}
	if rec == nil {
		return out
	}
	for _, o := range rec.Inventory {
		if o.Hook == nil {
			out[o.Ref] = declaration{ref: o.Ref, instance: o.Instance, version: o.Version, digest: o.Digest}
		}
	}
	return out
}

// Regroup masks what is secret in the changes, and puts the clusters with equal ones together; findings are those of the clusters.
func (c *Comparison) Regroup(m plan.Masker, findings diag.Findings) {
	groups, fs := regroup(c.Clusters, c.Bundle, m)
	c.Groups, c.Findings = groups, slices.Concat(c.Findings, findings, fs).Sorted()
}

// regroup masks the changes of a bundle, and groups them.
func regroup(clusters []ClusterChange, bundle string, m plan.Masker) ([]group.Group, diag.Findings) {
	var members []group.Member
	var findings diag.Findings
	for i := range clusters {
		p := clusters[i].Plan
		if p == nil {
			continue
		}
		p.Bundle = bundle
		plan.Redact(p, m)
		findings = append(findings, p.Findings...)
		members = append(members, group.Member{Cluster: clusters[i].Cluster, Plan: p})
	}
	if groups := group.Equal(members); groups != nil {
		return groups, findings
	}
	return []group.Group{}, findings
}

// Unknown are the clusters of which nobody can tell what changed.
func (c *Comparison) Unknown() []Unknown {
	var out []Unknown
	for _, row := range c.Clusters {
		if row.Unknown != "" {
			out = append(out, Unknown{Cluster: row.Cluster, Why: row.Unknown, Unreachable: row.To.Unreachable})
		}
	}
	return out
}
