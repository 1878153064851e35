package fleetplan

import (
	"maps"
	"slices"
	"time"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// Approve gives the schedule the approvals that clusters have of a release, and the release those. on tells a cluster's record, nil for none, and
// whether it answers.
func (p *FleetPlan) Approve(holds release.Holds, rec *release.Record, now time.Time, on func(cluster string) (*release.Record, bool)) {
	of := func(cluster string) *release.Approval {
		has, answers := on(cluster)
		if !answers {
			return nil
		}
		return holds.Approval(cluster, p.Schedule.Label(p.Cluster(cluster).Wave), has, *rec)
	}
	p.Schedule = rollout.Approve(p.Schedule, func(cluster string) bool { return of(cluster) != nil })
	for i, wave := range p.Schedule.Waves {
		asked := p.Schedule.Asked(i + 1)
		if !wave.Approval || !wave.Approved || len(asked) == 0 || p.Verb != "apply" {
			continue
		}
		skipped := release.Approval{Wave: p.Schedule.Label(i + 1), Word: release.Word{By: rec.Author, At: now, Message: "--skip-approvals"}}
		var given []*release.Approval
		for _, cluster := range asked {
			given = append(given, of(cluster))
		}
		rec.Approvals = decision.Granted(rec.Approvals, given, skipped)
	}
}

// CodeApproved is the code of the finding of Said about a wave that is approved already, which is shown without -v.
const CodeApproved = "wave-approved"

// unapproved says what an approval of files is not about.
const unapproved = "values behind references and queries, if it has any, are those of now: they were not part of what was approved"

// Said are what people have said of the release that the plan would bring, as holds of the clusters that it changes tell: that the bundle is paused,
// that these files were aborted, both warnings, and which wave is approved already. on tells a cluster's record, nil for none.
func (p *FleetPlan) Said(holds release.Holds, on func(cluster string) *release.Record) diag.Findings {
	out := holds.Paused(release.Record{Bundle: p.Bundle}).As(diag.Warning)
	where, aborted := map[string][]string{}, holds.Aborted() // clusters by what was said
	for _, cluster := range slices.Sorted(maps.Keys(holds)) {
		h := holds[cluster]
		if h == nil || h.SourceDigest != p.SourceDigest || h.RollbackTo.String() != p.RollbackTo.String() {
			continue
		}
		if has := on(cluster); has != nil && (has.Number() > h.Release || h.Aborted == nil && has.Rollout == h.Rollout) {
			continue // it is about what has been and gone
		}
		name := (&release.Name{Release: h.Release, Rollout: h.Rollout}).String()
		switch {
		case h.Aborted != nil:
			what := "release " + name + ", of the same files, was aborted " + h.Aborted.String()
			if where[what] = append(where[what], cluster); len(where[what]) == 1 {
				f := diag.Warnf("was-aborted", "%s", what)
				f.Why, f.Fix = "hawser apply makes a new release of them, which wants approvals of its own", "change what it was aborted for first"
				out = append(out, f)
			}
		case h.Approved != nil && !aborted[h.Rollout]:
			what := h.Wave + " is approved for release " + name + " of these files " + h.Approved.String()
			if where[what] = append(where[what], cluster); len(where[what]) == 1 {
				out = append(out, diag.Finding{Severity: diag.Info, Code: CodeApproved, What: what, Why: unapproved})
			}
		}
	}
	for i := range out {
		if clusters := where[out[i].What]; len(clusters) > 0 {
			out[i].What += " (on " + diag.Few(clusters) + ")"
		}
	}
	return out
}

// Waves are those of the schedule, without the approvals that the verb does not ask for: what brings nothing new wants none.
func (p *FleetPlan) Waves() []rollout.WaveSpec {
	out := slices.Clone(p.Schedule.Waves)
	for i := range out {
		out[i].Approval = out[i].Approval && p.Verb == "apply"
	}
	return out
}

// KeptBack reports whether an approval, or a window, may keep the plan from any cluster.
func (p *FleetPlan) KeptBack() bool {
	waves := p.Waves()
	return slices.ContainsFunc(p.Schedule.Members, func(m rollout.Member) bool {
		return m.Wave > 0 && m.Wave <= len(waves) && waves[m.Wave-1].Rules("", p.Created) != ""
	})
}
