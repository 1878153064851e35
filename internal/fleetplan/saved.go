package fleetplan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// Read is the plan of a file, to be shown. A file that was changed after it was sealed with the key is an error, one that
// nothing vouches for has a warning among its findings.
func Read(file *planfile.File, key []byte) (*FleetPlan, error) {
	seal := file.Sealed(key)
	if seal == planfile.Edited {
		f := diag.Errorf("edited-plan", "the plan file was changed after it was made")
		f.Why, f.Fix = "its seal does not fit what it holds", "plan again; who changed it may have meant harm"
		return nil, &RefusedError{Findings: diag.Findings{f}}
	}
	p := &FleetPlan{}
	if err := json.Unmarshal(file.Plan, p); err != nil {
		return nil, Damaged(err)
	}
	if err := p.whole(); err != nil {
		return nil, Damaged(err)
	}
	p.Order() // groups are made of the changes, whatever the file says
	if seal == planfile.Unknown {
		d, err := Requested(file)
		if err != nil {
			return nil, err
		}
		for _, cp := range p.Clusters {
			if cp.Plan == nil { // nobody was asked what is there
				*cp = cp.bare()
			}
		}
		p.Findings = append(slices.DeleteFunc(p.Findings, isUnsealed), unsealed(d))
	}
	return p, nil
}

// Requested is what the plan of a file depends on besides the clusters, and which file that is.
func Requested(file *planfile.File) (d Decided, err error) {
	if err = json.Unmarshal(file.Request, &d); err == nil {
		d.ID, err = file.ID()
	}
	if err != nil {
		return d, Damaged(err)
	}
	return d, nil
}

// Damaged is the error of a plan file that holds something else than a plan.
func Damaged(err error) error { return fmt.Errorf("the plan file is damaged: %w", err) }

// whole reports what a plan that was read lacks to be shown.
func (p *FleetPlan) whole() error {
	if p.V != diag.DocumentVersion || p.Verb != "apply" && p.Verb != "delete" && p.Verb != "rollback" || (p.Verb == "rollback") != (p.RollbackTo != nil) || p.Bundle == "" {
		return fmt.Errorf("it holds no plan")
	}
	names := map[string]bool{}
	for i, cp := range p.Clusters {
		switch {
		case cp == nil || cp.Cluster == "" || names[cp.Cluster]:
			return fmt.Errorf("cluster %d is empty, or there twice", i+1)
		case cp.Plan == nil && cp.Unreachable == "" && !cp.Later:
			return fmt.Errorf("cluster %s has no plan", cp.Cluster)
		}
		names[cp.Cluster] = true
	}
	for _, m := range p.Schedule.Members {
		if m.Wave < 1 || m.Wave > len(p.Schedule.Waves) || !names[m.Cluster] {
			return fmt.Errorf("its rollout does not fit its clusters")
		}
	}
	for name := range p.names {
		if !columns.Plain(name) {
			return fmt.Errorf("%q is no name", name)
		}
	}
	return nil
}

// names gives everything of the plan that names something, and that is printed as it is.
func (p *FleetPlan) names(yield func(string) bool) {
	out := append([]string{p.Bundle, p.Owner, p.Fleet, p.SourceDigest}, p.Requires...)
	if p.RollbackTo != nil {
		out = append(out, p.RollbackTo.Rollout)
	}
	for _, w := range p.Schedule.Waves {
		out = append(out, w.Name)
	}
	for _, cp := range p.Clusters {
		out = append(out, cp.Cluster, cp.Group, cp.UID, cp.Version)
		out = append(append(out, cp.Late...), slices.Collect(maps.Keys(cp.NotPlaced))...)
		for _, i := range cp.Instances {
			out = append(out, i.Name)
		}
		if cp.Plan != nil {
			out = append(append(out, cp.Plan.Cluster, cp.Plan.Bundle, cp.Plan.Owner), cp.Plan.Suspended...)
			out = slices.AppendSeq(out, maps.Keys(cp.Plan.Events))
			for _, c := range cp.Plan.Changes {
				out = append(out, string(c.Action), string(c.Code), c.Instance, c.Version, c.Ref.Group, c.Ref.Kind, c.Ref.Namespace, c.Ref.Name, c.Digest)
			}
		}
	}
	for _, name := range out {
		if !yield(name) {
			return
		}
	}
}

// With is a copy of the plan, in which each cluster's part is changed.
func (p *FleetPlan) With(change func(*ClusterPlan)) *FleetPlan {
	out := *p
	out.Clusters = make([]*ClusterPlan, len(p.Clusters))
	for i, cp := range p.Clusters {
		c := *cp
		change(&c)
		out.Clusters[i] = &c
	}
	return &out
}

// Promise lets the part's plan be one that a file can have: what is made up is made anew when it is applied, and has the
// digests of what stood there until then, and no content; what others have is told by a digest.
func (c *ClusterPlan) Promise(stood map[object.Ref]string) {
	if c.Plan == nil {
		return
	}
	p := *c.Plan
	p.Changes = append([]plan.Change{}, c.Plan.Changes...)
	for i := range p.Changes {
		p.Changes[i].ForeignDigest = staleplan.Digest(p.Changes[i])
		if digest, ok := stood[p.Changes[i].Ref]; ok {
			p.Changes[i].Digest, p.Changes[i].Content = digest, nil
		}
	}
	c.Plan = &p
}

// Verify compares a saved plan with the one that was computed now, as a file would have it: same compares a saved digest
// with one that is not keyed. shown: nothing vouches for the file, and everything that it shows is compared.
func Verify(old, now *FleetPlan, same func(saved, digest string) bool, shown bool) diag.Findings {
	if old.Bundle != now.Bundle || old.Fleet != now.Fleet || old.SourceDigest != now.SourceDigest {
		of := func(p *FleetPlan) any {
			return map[string]string{"bundle": p.Bundle, "fleet": p.Fleet, "head": p.SourceDigest}
		}
		return diag.Findings{staleplan.Stale("it is another bundle's, or the rollout changed since it was made: %s", staleplan.Differ(of(old), of(now)))}
	}
	var findings diag.Findings
	for _, cp := range now.Clusters {
		if was := old.Cluster(cp.Cluster); was == nil {
			findings = append(findings, cp.Stale("the cluster is not in it"))
		} else {
			findings = append(findings, cp.verify(was, same, shown)...)
		}
	}
	for _, was := range old.Clusters {
		if now.Cluster(was.Cluster) == nil {
			findings = append(findings, was.Stale("the cluster is no longer in the fleet"))
		}
	}
	if len(findings) == 0 && !rollout.Same(old.Schedule, now.Schedule) {
		findings = append(findings, staleplan.Stale("the rollout is another one now: %s", staleplan.Differ(old.Schedule, now.Schedule)))
	}
	if len(findings) == 0 && shown {
		findings = unvouched(old, now)
	}
	return findings
}

func (c *ClusterPlan) verify(was *ClusterPlan, same func(saved, digest string) bool, shown bool) diag.Findings {
	switch {
	case was.Plan == nil, c.Plan == nil: // it did not answer, or does not now: others may go on without it
		return nil
	case was.UID != c.UID:
		return diag.Findings{fleet.OtherThanPlanned(was.Cluster, was.UID, c.UID)}
	case c.Standing == staleplan.Done:
		return nil
	case c.Standing == staleplan.Begun:
		return staleplan.Remains(was.Plan, c.Plan, func(ch plan.Change, digest string) bool {
			return same(digest, ch.Digest) || c.intended[ch.Ref] == ch.Digest || c.again[ch.Instance]
		}, same).OnCluster(c.Cluster)
	case was.Revision != c.Revision:
		return diag.Findings{c.Stale("it is at revision %d now, the plan was made at %d", c.Revision, was.Revision)}
	}
	return staleplan.Verify(was.Plan, c.Plan, same, shown).OnCluster(c.Cluster)
}

// Stale is the finding that a plan does not fit the cluster any more.
func (c *ClusterPlan) Stale(format string, args ...any) diag.Finding {
	f := staleplan.Stale(format, args...)
	f.Cluster = c.Cluster
	return f
}
