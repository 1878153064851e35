// Package fleetplan holds the values that an operation over a fleet shows (plan, events, outcome, status and the reports
// beside them), with the arithmetic on them: order, totals, what is worst, what differs.
//
// fleetplan must not know how a plan is made, carried out or printed: nothing in its values leads to a cluster, and a plan
// that was read from a file is the same value as one that was made.
package fleetplan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// FleetPlan is the one plan for all clusters of a bundle. Its JSON form is public and versioned.
type FleetPlan struct {
	V      int    `json:"v"`    // diag.DocumentVersion
	Verb   string `json:"verb"` // "apply", "delete", "eject", "rollback" or "drift"
	Bundle string `json:"bundle"`
	// Requires are the bundles that must be there first.
	Requires     []string `json:"requires,omitempty"`
	Owner        string   `json:"owner"`
	Fleet        string   `json:"fleet,omitempty"`
	SourceDigest string   `json:"sourceDigest"`
	// RollbackTo is the release that is gone back to, nil unless the verb is "rollback".
	RollbackTo *release.Name `json:"rollbackTo,omitempty"`
	Created    time.Time     `json:"created"`
	// Clusters in rollout order: wave, canaries first, fleet order.
	Clusters []*ClusterPlan   `json:"clusters"`
	Groups   []group.Group    `json:"groups"`
	Schedule rollout.Schedule `json:"schedule"`
	Stats    Stats            `json:"stats"`
	// Guard says why the deletions of an apply need their exact number confirmed, empty when they do not.
	Guard []string `json:"guard,omitempty"`
	// Findings of the fleet as a whole and of every cluster (with Cluster set). An Error blocks the apply.
	Findings diag.Findings `json:"findings,omitempty"`
	// Confirm is the number of deletions and recreations of the whole run, where that has several bundles.
	Confirm int `json:"-"`
	// Files, FleetFiles and Context are those that a saved plan was made with.
	Files, FleetFiles []string `json:"-"`
	Context           string   `json:"-"`
}

// HeadOf is the revision that a cluster with this record has delivered: that of the plan where a rollback has nothing to do there.
func (p *FleetPlan) HeadOf(rec release.Record) string {
	if p.RollbackTo.Reached(rec) {
		return p.SourceDigest
	}
	return rec.Has()
}

// Stats say what planning cost.
type Stats struct {
	Clusters  int `json:"clusters"`  // selected
	Connected int `json:"connected"` // answered
	Instances int `json:"instances"` // instances x clusters
	Renders   int `json:"renders"`   // really rendered
	Objects   int `json:"objects"`   // compared
	// Milliseconds of the three steps.
	ConnectMS int64 `json:"connectMs"`
	RenderMS  int64 `json:"renderMs"`
	ObserveMS int64 `json:"observeMs"`
}

// ClusterPlan is one cluster's part.
type ClusterPlan struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	Wave    int    `json:"wave"`
	Canary  bool   `json:"canary,omitempty"`
	Server  string `json:"server,omitempty"`
	// Chosen says how the one cluster of a run without a fleet was chosen.
	Chosen  string `json:"-"`
	UID     string `json:"uid,omitempty"`
	Version string `json:"version,omitempty"`
	// Unreachable says why a cluster that resolves did not answer: it is not planned and not counted as unchanged.
	Unreachable string `json:"unreachable,omitempty"`
	// Later: its wave comes after --until-wave, so that it is neither asked nor planned.
	Later bool `json:"later,omitempty"`
	// Plan is nil for unreachable and later clusters.
	Plan *plan.Plan `json:"plan,omitempty"`
	// Instances placed here, in order, with their source for people; NotPlaced are the others with the reason.
	Instances []InstancePlan    `json:"instances,omitempty"`
	NotPlaced map[string]string `json:"notPlaced,omitempty"`
	Revision  int               `json:"revision,omitempty"` // of the record now, 0 if none
	Release   *release.Name     `json:"-"`                  // that a drift is judged by
	// Lost: the record of the bundle is, and Unreachable says so.
	Lost bool `json:"-"`
	// Late are the instances that take values which are known only when other instances are carried out.
	Late []string `json:"late,omitempty"`
	// Resumes is set when the last run on this cluster ended in the middle.
	Resumes bool `json:"resumes,omitempty"`
	// Last is the phase of the last release, Left that of whatever was done last there: a correction too.
	Last, Left release.Phase `json:"-"`
	// Preceded: a release before the last one succeeded here.
	Preceded bool `json:"-"`
	// Waits says why an apply waits here though it writes nothing: "the last run failed (api)".
	Waits string `json:"waits,omitempty"`
	// Runtime values that changed since the recorded release: "GROUP staging -> production (env)".
	RuntimeChanges []string `json:"runtimeChanges,omitempty"`
	// Standing is how the cluster stands to the saved plan that is carried out, "" where none is.
	Standing staleplan.Standing `json:"-"`
	// saved is the saved plan whose run wrote the record, intended are the digests of what that was to write, again the instances that are
	// rendered from the same as then.
	saved    string
	intended map[object.Ref]string
	again    map[string]bool

	moved map[object.Ref]string
	// record is what Describe was told, without what is delivered.
	record *release.Record
}

// Moved are the objects that other bundles of the same files have by now, which a drift does not compare, with the bundles.
func (c *ClusterPlan) Moved() map[object.Ref]string { return c.moved }

// Move sets what Moved is.
func (c *ClusterPlan) Move(to map[object.Ref]string) { c.moved = to }

// State is the word for what Unreachable says: "not reached", or of a cluster that answers "record lost" or "unknown".
func (c *ClusterPlan) State() string {
	switch {
	case c.Lost:
		return "record lost"
	case c.Version == "":
		return "not reached"
	}
	return "unknown"
}

// InstancePlan describes an instance's source on a cluster: "module web 0.0.0-devel", and what the record says it was
// before ("" for a new instance).
type InstancePlan struct {
	Name   string   `json:"name"`
	Source string   `json:"source"`
	Before string   `json:"before,omitempty"`
	Pos    diag.Pos `json:"pos,omitzero"`
	// Inputs is the digest of all that it is rendered from.
	Inputs string `json:"-"`
}

// Redact sorts the findings, and masks secret values in what a fleet plan says beside the plans of its clusters. Names stay; of an address only what
// authenticates is masked.
func (p *FleetPlan) Redact(m plan.Masker) {
	for _, cp := range p.Clusters {
		cp.Server, cp.Unreachable, cp.Waits = m.Sweep(cp.Server), m.Redact(cp.Unreachable), m.Sweep(cp.Waits)
		cp.NotPlaced = maps.Clone(cp.NotPlaced)
		for i := range cp.Instances {
			cp.Instances[i].Source, cp.Instances[i].Before = m.Sweep(cp.Instances[i].Source), m.Sweep(cp.Instances[i].Before)
		}
		for name, why := range cp.NotPlaced {
			cp.NotPlaced[name] = m.Told(name, why)
		}
	}
	for i := range p.Guard {
		p.Guard[i] = m.Sweep(p.Guard[i])
	}
	p.Findings = plan.RedactFindings(p.Findings.Sorted(), m)
}

// Require adds bundles that must be there first.
func (p *FleetPlan) Require(needs []v1alpha1.Requires) {
	for _, need := range needs {
		if !slices.Contains(p.Requires, need.Bundle) {
			p.Requires = append(p.Requires, need.Bundle)
		}
	}
}

// Counts sums the plans' counts over all clusters.
func (p *FleetPlan) Counts() plan.Counts {
	var c plan.Counts
	for _, cp := range p.Clusters {
		if cp.Plan != nil {
			c = c.Add(cp.Plan.Count())
		}
	}
	return c
}

// Digest identifies what the plan does: the actions, objects and what is written of them, on each cluster.
func (p *FleetPlan) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %s\n", p.Verb, p.Bundle, p.SourceDigest)
	for _, c := range p.Clusters {
		if c.Plan == nil {
			continue
		}
		fmt.Fprintf(h, "%q %s\n", c.Cluster, c.UID)
		for _, ch := range c.Plan.Changes {
			fmt.Fprintf(h, "%s %q %q\n", ch.Action, ch.Ref.String(), ch.Digest)
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Digests are those of what is declared (by cluster), by object and cluster; open are the objects that are known to hold no secret.
func Digests(declared map[string][]plan.Desired) (out map[string]map[string]string, open map[string]bool) {
	out, open = map[string]map[string]string{}, map[string]bool{}
	for name, desired := range declared {
		for _, d := range desired {
			key := d.Ref.String()
			if out[key] == nil {
				out[key], open[key] = map[string]string{}, true
			}
			out[key][name], open[key] = d.Digest, open[key] && d.Open
		}
	}
	return out, open
}

// Cluster is the plan of one cluster, nil when there is none of that name.
func (p *FleetPlan) Cluster(name string) *ClusterPlan {
	for _, c := range p.Clusters {
		if c.Cluster == name {
			return c
		}
	}
	return nil
}

// MarkCanaries marks the clusters that the schedule lets go first, and no others.
func (p *FleetPlan) MarkCanaries() {
	for _, cp := range p.Clusters {
		cp.Canary = false
	}
	for _, m := range p.Schedule.Members {
		if cp := p.Cluster(m.Cluster); cp != nil {
			cp.Canary = m.Canary
		}
	}
}

// Order puts the clusters into the order of the schedule and groups equal plans.
func (p *FleetPlan) Order() {
	position := map[string]int{}
	for i, m := range p.Schedule.Members {
		position[m.Cluster] = i
		for _, cp := range p.Clusters {
			if cp.Cluster == m.Cluster {
				cp.Wave, cp.Canary = m.Wave, m.Canary
			}
		}
	}
	slices.SortStableFunc(p.Clusters, func(a, b *ClusterPlan) int { return position[a.Cluster] - position[b.Cluster] })
	var members []group.Member
	for _, cp := range p.Clusters {
		members = append(members, group.Member{Cluster: cp.Cluster, Wave: cp.Wave, Plan: cp.Plan})
	}
	p.Groups = group.Equal(members)
}

// CodeUnknownRelease is that of the refusal of clusters that answer, and of which nobody knows what they should have.
const CodeUnknownRelease = "unknown-release"

// Reachable refuses an apply of which a wave is lost before it begins to the clusters that are unknown, unless those are to be skipped.
func (p *FleetPlan) Reachable(skip bool) diag.Findings {
	if skip {
		return nil
	}
	var findings diag.Findings
	for _, h := range rollout.Stalled(p.Schedule) {
		f := diag.Errorf("unreachable", "%d clusters do not answer: %s", len(h.Missing), strings.Join(h.Missing, ", "))
		if len(h.Missing) == 1 {
			f.What = "cluster " + h.Missing[0] + " does not answer"
		}
		var reasons diag.Findings
		var answer []string
		for _, name := range h.Missing {
			cp := p.Cluster(name)
			if cp == nil {
				continue
			}
			if cp.State() != "not reached" {
				answer = append(answer, name)
			}
			reasons = append(reasons, diag.Finding{Cluster: name, Why: cp.Unreachable})
		}
		for _, m := range reasons.Merge() { // they differ by reason alone
			f.Why = m.Why
		}
		f.Why += map[bool]string{true: "\n", false: "; "}[strings.Contains(f.Why, "\n")] + h.Why
		f.Fix = "mend that, try again when they are back, or go on without them: --skip-unreachable"
		switch {
		case len(answer) == len(h.Missing):
			f.Code, f.What = CodeUnknownRelease, "nobody knows what "+strings.Join(answer, ", ")+" should have"
			f.Fix = "mend that as it says there, or go on without them: --skip-unreachable"
		case len(answer) > 0:
			f.What += ", or nobody knows what it should have (" + strings.Join(answer, ", ") + ")"
		}
		findings = append(findings, f)
	}
	return findings
}

// Unconfirmed parts the findings of a plan that is whole, and that nothing holds up but the number of its deletions, or waves
// before the selected ones: those that say so, and the others. It is nil, nil for every other plan.
func (p *FleetPlan) Unconfirmed() (guard, others diag.Findings) {
	if p.Counts().Conflict > 0 {
		return nil, nil
	}
	for _, f := range p.Findings {
		switch {
		case f.Code == deletionguard.Code, f.Code == rollout.CodeGate:
			guard = append(guard, f)
		case f.Severity == diag.Error:
			return nil, nil
		default:
			others = append(others, f)
		}
	}
	if len(guard) == 0 {
		return nil, nil
	}
	return guard, others
}

// After reports that a cluster's wave is not to be done in this run.
func (p *FleetPlan) After(c *ClusterPlan) bool {
	return p.Schedule.UntilWave > 0 && c.Wave > p.Schedule.UntilWave
}

// Describe adds what the last release on the cluster says, nil for none, and which runtime values are others now.
func (c *ClusterPlan) Describe(record *release.Record, now map[string]fleet.Value, redact func(string) string) {
	if record == nil {
		return
	}
	c.record = &release.Record{Release: record.Release, Revision: record.Revision, Rollout: record.Rollout, Phase: record.Phase, Corrections: record.Corrections, Undoes: record.Undoes, RollbackTo: record.RollbackTo}
	c.Revision, c.Resumes, c.Last, c.Left, c.Preceded = record.Revision, record.Standing().Open(), record.Phase, record.Standing(), record.Preceded
	if c.saved = record.Saved(); c.saved != "" {
		c.intended, c.again = record.Intends(), map[string]bool{}
		for _, in := range c.Instances {
			c.again[in.Name] = in.Inputs != "" && in.Inputs == record.Inputs[in.Name]
		}
	}
	for name, was := range record.Origins {
		v, ok := now[name]
		if is := redact(v.Told(name)); ok && is != was && !v.Secret {
			c.RuntimeChanges = append(c.RuntimeChanges, fleet.Moved(name, was, is, redact))
		}
	}
	slices.Sort(c.RuntimeChanges)
}
