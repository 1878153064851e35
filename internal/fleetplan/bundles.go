package fleetplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/values"
)

// CodeNotBegun is the code of the finding that a bundle of a run was not begun.
const CodeNotBegun = "not-begun"

// Renews finds what p, made when the plans before it had been carried out, would do otherwise than the plan that was shown;
// now is p as a file would have it, as shown is. What was said to be known only then may be done as shown, or less of it.
// confirmed: the deletions that were shown were confirmed. Other errors of the plan are among the findings.
func (p *FleetPlan) Renews(shown, now *FleetPlan, before []*FleetPlan, confirmed bool) diag.Findings {
	if confirmed {
		p.Findings = slices.DeleteFunc(p.Findings, func(f diag.Finding) bool { return f.Code == deletionguard.Code })
	}
	if errs := p.Findings.Errors(); len(errs) > 0 {
		return errs
	}
	if shown.Bundle != now.Bundle || shown.SourceDigest != now.SourceDigest {
		return diag.Findings{staleplan.Stale("its files or sources changed since it was made")}
	}
	var findings diag.Findings
	for _, cp := range now.Clusters {
		was := shown.Cluster(cp.Cluster)
		if was == nil {
			findings = append(findings, cp.Stale("the cluster is not in it"))
			continue
		}
		if cp.Plan != nil && was.Plan != nil && cp.UID != was.UID {
			findings = append(findings, cp.Stale("it is another cluster now"))
			continue
		}
		findings = append(findings, cp.renews(was, wrote(before, cp.Cluster), func(ch plan.Change) bool { return shown.unread(cp.Cluster, ch.Instance) })...)
	}
	return findings.Sorted()
}

// renews compares a cluster's part with the one that was shown. What other bundles wrote since, what could not be checked or
// has values to come, and what is open for another reason may be done as shown, or less of it; what is written is what was shown, but for
// the values that came.
func (c *ClusterPlan) renews(was *ClusterPlan, wrote map[object.Ref]bool, open func(plan.Change) bool) diag.Findings {
	if was.Plan == nil || c.Plan == nil {
		return nil // it did not answer, or does not now
	}
	loose := maps.Clone(wrote)
	for _, ch := range was.Plan.Changes {
		if ch.Deferred != "" || len(ch.After) > 0 || open(ch) {
			loose[ch.Ref] = true
		}
	}
	part := func(p plan.Plan, loosely bool) *plan.Plan {
		p.Unchanged, p.Brake = 0, ""
		p.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(ch plan.Change) bool { return loose[ch.Ref] != loosely })
		return &p
	}
	findings := staleplan.Verify(part(*was.Plan, false), part(*c.Plan, false), func(a, b string) bool { return a == b }, false)
	loosely := part(*c.Plan, true)
	if fs := staleplan.Allows(was.Plan, loosely); len(fs) > 0 {
		return append(findings, fs...).OnCluster(c.Cluster)
	}
	return append(findings, staleplan.Rendered(was.Plan, loosely)...).OnCluster(c.Cluster)
}

// Absent are the clusters without a plan, with the reason, nil for none: nobody has seen what would be done there.
func (p *FleetPlan) Absent() map[string]string {
	out := map[string]string{}
	for _, cp := range p.Clusters {
		if cp.Plan == nil && !cp.Later {
			out[cp.Cluster] = strings.TrimSuffix(cp.Unreachable, whenPlanned) + whenPlanned
		}
	}
	return out
}

const whenPlanned = " (when planned)"

// Fate is what the cluster's part does to an object: Delete also where that goes with its Namespace, and "" where it stays as it is, released or not.
func (c *ClusterPlan) Fate(at object.Ref) plan.Action {
	var fate plan.Action
	if c.Plan == nil {
		return fate
	}
	for _, ch := range c.Plan.Changes {
		switch {
		case ch.Ref == at && ch.Action.Writes():
			return ch.Action
		case ch.Action == plan.Delete && ch.Ref == object.Ref{Kind: "Namespace", Name: at.Namespace}:
			fate = plan.Delete
		}
	}
	return fate
}

// wrote are the objects that plans do something to on a cluster.
func wrote(plans []*FleetPlan, cluster string) map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, p := range plans {
		if cp := p.Cluster(cluster); cp != nil && cp.Plan != nil {
			for _, ch := range cp.Plan.Changes {
				if ch.Action.Writes() || ch.Action == plan.Release {
					out[ch.Ref] = true
				}
			}
		}
	}
	return out
}

// unread reports whether an instance has a value on a cluster that could not be read when the plan was made.
func (p *FleetPlan) unread(cluster, instance string) bool {
	return slices.ContainsFunc(p.Findings, func(f diag.Finding) bool {
		return f.Code == values.CodeNotRead && f.Cluster == cluster && f.Instance == instance
	})
}

// Awaits reports whether something stands in for values that are known when another bundle is done: the plan cannot be
// carried out as it is.
func (p *FleetPlan) Awaits() bool {
	return slices.ContainsFunc(p.Findings, func(f diag.Finding) bool { return f.Code == values.CodeNotRead && f.Cluster != "" })
}

// Grants reports whether the plan writes what gives rights, or makes a Namespace: whose rights in it come with it.
func (p *FleetPlan) Grants() bool {
	return slices.ContainsFunc(p.Clusters, func(cp *ClusterPlan) bool {
		return cp.Plan != nil && slices.ContainsFunc(cp.Plan.Changes, func(ch plan.Change) bool {
			return ch.Action.Writes() && ch.Ref.Group == "rbac.authorization.k8s.io" || ch.Action == plan.Create && ch.Ref.IsNamespace()
		})
	})
}

// Empties takes out of what was seen in Namespaces and of definitions' kinds on a cluster what the plan deletes.
func (p *FleetPlan) Empties(cluster string, seen map[object.Ref]plan.Contents) {
	cp := p.Cluster(cluster)
	if cp == nil || cp.Plan == nil {
		return
	}
	gone := map[string]bool{}
	for _, ch := range cp.Plan.Changes {
		gone[ch.UID] = ch.Action == plan.Delete && ch.UID != ""
	}
	for ref, c := range seen {
		c.Items = slices.DeleteFunc(slices.Clone(c.Items), func(item plan.Content) bool { return gone[item.UID] })
		seen[ref] = c
	}
}

// ofTheRun is what deletes the number of objects that a run of several bundles is confirmed with.
const ofTheRun = "the bundles of the run delete "

// Miscounted is the refusal of a run of several bundles of which none needs the number of its deletions, and that was confirmed with
// another number than that of all of them, nil for none. Where plans have errors nobody knows how many there will be.
func Miscounted(plans []*FleetPlan, confirmed *int) diag.Findings {
	total := 0
	for _, p := range plans {
		if total += p.deletions(); p.Findings.HasErrors() {
			return nil
		}
	}
	if confirmed == nil || *confirmed == total {
		return nil
	}
	return diag.Findings{deletionguard.Miscounted(ofTheRun, total, *confirmed)}
}

// Confirm checks the number of deletions that a run of several bundles was confirmed with, nil for none: it is that of all
// plans together. Where it is right, or none of them needs one, the result is nil and the plans hold nothing up any more;
// else the findings of the plans name that number. It returns the number of each plan.
func Confirm(plans []*FleetPlan, confirmed *int) (each []int) {
	total := 0
	var parts []string
	for _, p := range plans {
		c := p.Counts()
		n := c.Delete + c.Recreate
		if total += n; n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", n, p.Bundle))
		}
		each = append(each, n)
	}
	for _, p := range plans {
		p.Confirm = total
		p.Findings = slices.Clone(p.Findings)
		for i := range p.Findings {
			f := &p.Findings[i]
			if f.Code != deletionguard.Code {
				continue
			}
			if confirmed != nil {
				f.What = deletionguard.Miscounted(ofTheRun, total, *confirmed).What
			}
			f.Fix = fmt.Sprintf("if that is meant: --confirm-delete=%d, which counts all bundles of the run (%s)", total, strings.Join(parts, ", "))
		}
		if confirmed != nil && *confirmed == total {
			p.Findings = slices.DeleteFunc(p.Findings, func(f diag.Finding) bool { return f.Code == deletionguard.Code })
		}
	}
	return each
}

// Ready says why a bundle cannot be begun after others of its run have ended, "" when it can: one that it requires was not
// done. undone tells of each bundle that has ended and was not done what became of it: "was not done".
func (p *FleetPlan) Ready(undone map[string]string) string {
	for _, need := range p.Requires {
		if why := undone[need]; why != "" {
			return "it requires " + need + ", which " + why
		}
	}
	return ""
}

// Waits says of a run in which nothing failed that it waits for a window or an approval, and how the waves that are open are done
// with what requires it; "" for any other, and for nil. s is the run's schedule.
func (o *Outcome) Waits(s rollout.Schedule) string {
	if o == nil || slices.ContainsFunc(o.Clusters, func(c ClusterOutcome) bool { return c.Result != NotStarted && !c.Result.good() }) {
		return ""
	}
	why, wave := "", 0
	for i := range s.Waves {
		label := s.Label(i + 1)
		if o.StoppedWave == i+1 && (o.Unapproved || o.Opens != nil) {
			why, wave = o.Stopped, i+1
		}
		for _, f := range o.Findings {
			if f.Code == rollout.CodeWindow && strings.HasPrefix(f.What, label+" ") {
				why, wave = f.What+": "+f.Why, i+1
			}
		}
	}
	if wave > 1 {
		why += fmt.Sprintf("; --until-wave %d does both in the waves before it", wave-1)
	}
	if why == "" {
		return ""
	}
	return "waits: " + why
}

func (r Result) good() bool { return r == Succeeded || r == UpToDate }

// NotBegun is the outcome of a plan of which nothing was begun, and why.
func (p *FleetPlan) NotBegun(why string) *Outcome {
	f := diag.Errorf(CodeNotBegun, "bundle %s was not begun: %s", p.Bundle, why)
	out := &Outcome{V: diag.DocumentVersion, Verb: p.Verb, Bundle: p.Bundle, Result: NotStarted, Clusters: []ClusterOutcome{}, Findings: diag.Findings{f}}
	for _, cp := range p.Clusters {
		out.Clusters = append(out.Clusters, ClusterOutcome{Cluster: cp.Cluster, Wave: cp.Wave, Canary: cp.Canary, Result: NotStarted})
	}
	return out
}
