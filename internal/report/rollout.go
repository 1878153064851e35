package report

import (
	"fmt"
	"strings"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// manyInRow is the number of clusters from which a rollout without waves is worth a remark.
const manyInRow = 10

// rolloutBlock prints the order in which clusters will change, when there is more than one, or something keeps the one back.
func rolloutBlock(o *out, p *fleetplan.FleetPlan) {
	s := p.Schedule
	if len(s.Members) < 2 && !s.GoesBack && !p.KeptBack() {
		return
	}
	o.line()
	o.line(o.st.paint(bold, "Rollout"))
	if s.Sequential || len(s.Waves) == 0 {
		order := "in the fleet's order"
		if fleetplan.Ends(p.Verb) {
			order = "in reverse order"
		}
		o.linef("   %s, one after another %s; stops at the first failure", count(len(s.Members), "cluster"), order)
		if n := len(s.Members); n > manyInRow {
			o.wrapped(3, fmt.Sprintf("With waves of %d at once it would take %d steps instead of %d: declare rollout.waves in the fleet",
				manyInRow, (n+manyInRow-1)/manyInRow, n), dim)
		}
		return
	}
	reached, names, digits := rollout.WithoutUnreachable(s), 0, 0
	for i := range s.Waves {
		names = max(names, width(waveName(s, i+1)))
		digits = max(digits, len(fmt.Sprint(len(membersOf(s, i+1)))))
	}
	for i, w := range p.Waves() {
		members := membersOf(s, i+1)
		noun := strings.TrimPrefix(count(len(members), "cluster"), fmt.Sprintf("%d ", len(members)))
		line := fmt.Sprintf("   %d %s  %*d %s%s", i+1, pad(waveName(s, i+1), names), digits, len(members), noun, waveRules(w, membersOf(reached, i+1), p.Created))
		down := 0
		for _, m := range members {
			if m.Unreachable {
				down++
			}
		}
		if down > 0 {
			line += fmt.Sprintf(" (%d not reached)", down)
		}
		if s.UntilWave > 0 && i+1 > s.UntilWave {
			line += " (not in this run: --until-wave " + fmt.Sprint(s.UntilWave) + ")"
		}
		if width(line) <= o.st.width() || !o.st.narrow() {
			o.line(line)
			continue
		}
		head, rules, _ := strings.Cut(line, noun)
		o.line(head, noun)
		o.wrapped(6, strings.TrimLeft(rules, ":, "), "")
	}
	if s.GoesBack {
		o.wrapped(3, "The clusters of a wave that fails go back to what they had (onFailure: rollback)", "")
	}
}

func waveName(s rollout.Schedule, wave int) string {
	if n := s.Waves[wave-1].Name; n != "" {
		return n
	}
	return "wave"
}

func membersOf(s rollout.Schedule, wave int) []rollout.Member {
	var out []rollout.Member
	for _, m := range s.Members {
		if m.Wave == wave {
			out = append(out, m)
		}
	}
	return out
}

// waveRules says how a wave goes: ": canary x, soak 2m, then 4 at once; stops at the first failure", as they are at now.
func waveRules(w rollout.WaveSpec, members []rollout.Member, now time.Time) string {
	var canaries []string
	for _, m := range members {
		if m.Canary {
			canaries = append(canaries, m.Cluster)
		}
	}
	rest := len(members) - len(canaries)
	var steps []string
	if len(canaries) > 0 {
		steps = append(steps, "canary "+Names(canaries))
		if w.Soak > 0 {
			steps = append(steps, "soak "+spell(w.Soak))
		}
	}
	then := ""
	if len(canaries) > 0 {
		then = "then "
	}
	switch {
	case rest == 0:
	case rest == 1 && len(canaries) > 0:
		steps = append(steps, then+"the other one")
	case rest == 1:
	case w.MaxParallel == 1:
		steps = append(steps, then+"one after another")
	case w.MaxParallel == 0 || w.MaxParallel >= rest:
		steps = append(steps, then+"all at once")
	default:
		steps = append(steps, fmt.Sprintf("%s%d at once", then, w.MaxParallel))
	}
	if len(canaries) == 0 && w.Soak > 0 {
		steps = append(steps, "then soak "+spell(w.Soak))
	}
	rules := strings.Join(steps, ", ")
	switch {
	case w.MaxFailures > 0:
		rules += fmt.Sprintf("; stops after more than %s", count(w.MaxFailures, "failure"))
	case rest > 1 && w.MaxParallel != 1 || len(canaries) > 0:
		rules += "; stops at the first failure"
	}
	switch rules = w.Rules(rules, now); {
	case rules == "":
		return ""
	case len(canaries) > 0:
		return ": " + rules
	}
	return ", " + strings.TrimPrefix(rules, "; ")
}
