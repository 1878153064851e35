package fleetplan

import (
	"time"

	"hawser.dev/hawser/internal/decision"
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
		rec.Approvals = append(rec.Approvals, decision.Granted(given, skipped)...)
	}
}
