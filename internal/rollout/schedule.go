package rollout

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// manyInRow is the number of clusters from which a rollout without waves is worth a hint.
const manyInRow = 10

// NewSchedule puts clusters into the order of the fleet's rollout; nil is one after another in fleet order. clusters
// may be a selection: waves none of which is selected stay, empty, so that waves keep their numbers. unreachable
// names those that do not answer; nil is none. A cluster in no wave, or in several, is an Error, and the schedule
// beside it leaves the former out and takes the latter into the first.
func NewSchedule(spec *v1alpha1.Rollout, clusters []fleet.Cluster, unreachable map[string]bool) (Schedule, diag.Findings) {
	if spec == nil || len(clusters) == 1 && clusters[0].Implicit {
		return inRow(clusters, unreachable)
	}
	s := Schedule{GoesBack: spec.OnFailure == v1alpha1.OnFailureRollback}
	var findings diag.Findings
	if f := fleet.WrongOnFailure(spec.OnFailure); f != nil {
		f.Path = "rollout.onFailure"
		findings = append(findings, *f)
	}
	for _, w := range spec.Waves {
		s.Waves = append(s.Waves, WaveSpec{Name: waveName(w), MaxParallel: w.MaxParallel, MaxFailures: w.MaxFailures,
			Canary: w.Canary, Soak: w.Soak.Duration, Window: windowOf(w), Approval: w.Approval != ""})
		for _, f := range []*diag.Finding{fleet.WrongWindow(w.Window), fleet.WrongApproval(w.Approval)} {
			if f != nil {
				f.Pos, f.Path = diag.Pos(w.Pos), "rollout.waves"
				findings = append(findings, *f)
			}
		}
	}
	for _, c := range clusters {
		waves := fleet.WavesOf(spec, c.ClusterSpec)
		if len(waves) != 1 {
			findings = append(findings, notOneWave(c, waves))
		}
		if len(waves) > 0 {
			s.Members = append(s.Members, Member{Cluster: c.Name, Wave: waves[0] + 1, Unreachable: unreachable[c.Name]})
		}
	}
	s.chooseCanaries()
	return s, findings
}

// inRow is the schedule of a fleet without waves.
func inRow(clusters []fleet.Cluster, unreachable map[string]bool) (Schedule, diag.Findings) {
	s := Schedule{Sequential: true, Waves: []WaveSpec{{MaxParallel: 1}}}
	for _, c := range clusters {
		s.Members = append(s.Members, Member{Cluster: c.Name, Wave: 1, Unreachable: unreachable[c.Name]})
	}
	n := len(clusters)
	if n <= manyInRow {
		return s, nil
	}
	return s, diag.Findings{{
		Severity: diag.Info, Code: "no-waves",
		What: fmt.Sprintf("%d clusters change one after another, as the fleet has no rollout", n),
		Why: fmt.Sprintf("in waves of %d at once it would take %d steps instead of %d", manyInRow,
			(n+manyInRow-1)/manyInRow, n),
		Fix: "declare rollout.waves in the fleet",
	}}
}

func notOneWave(c fleet.Cluster, waves []int) diag.Finding {
	f := diag.Errorf("no-wave", "the cluster is in no wave of the rollout")
	f.Fix = "add its group or its name to a wave"
	if len(waves) > 0 {
		var numbers []string
		for _, w := range waves {
			numbers = append(numbers, fmt.Sprint(w+1))
		}
		f = diag.Errorf("several-waves", "the cluster is in several waves of the rollout: %s", strings.Join(numbers, ", "))
		f.Fix = "narrow the waves so that it is in one"
	}
	f.Cluster, f.Pos, f.Path = c.Name, diag.Pos(c.Pos), "rollout.waves"
	return f
}

// waveName is the wave's own name, else what it selects.
func waveName(w v1alpha1.Wave) string {
	switch {
	case w.Name != "":
		return w.Name
	case len(w.Groups) > 0:
		return strings.Join(w.Groups, ", ")
	}
	return strings.Join(w.Clusters, ", ")
}

// Canaries is the schedule in which the canaries of each wave are chosen among the clusters for which changes is true:
// those that the revision changes, or has changed in an earlier run. The others are marked Unchanged.
func Canaries(s Schedule, changes func(cluster string) bool) Schedule {
	s.Members = slices.Clone(s.Members)
	for i := range s.Members {
		s.Members[i].Unchanged = !s.Members[i].Unreachable && !changes(s.Members[i].Cluster)
	}
	s.chooseCanaries()
	return s
}

// chooseCanaries makes the first members of each wave that change its canaries, as many as the wave wants, and sorts the
// members.
func (s *Schedule) chooseCanaries() {
	chosen := make([]int, len(s.Waves)+1)
	for i := range s.Members {
		m := &s.Members[i]
		m.Canary = !m.Unchanged && chosen[m.Wave] < s.Waves[m.Wave-1].Canary
		if m.Canary {
			chosen[m.Wave]++
		}
	}
	s.sort()
}

func (s *Schedule) sort() {
	slices.SortStableFunc(s.Members, func(a, b Member) int {
		if a.Wave != b.Wave {
			return a.Wave - b.Wave
		}
		switch {
		case a.Canary == b.Canary:
			return 0
		case a.Canary:
			return -1
		}
		return 1
	})
}

// Reversed is the schedule of a delete: the last wave first, each with its own rules and canaries. Without waves the
// last cluster goes first. Waves are numbered anew, UntilWave counts those numbers.
func Reversed(s Schedule) Schedule {
	s.Waves, s.Members, s.GoesBack = slices.Clone(s.Waves), slices.Clone(s.Members), false
	slices.Reverse(s.Waves)
	for i := range s.Members {
		s.Members[i].Wave = len(s.Waves) + 1 - s.Members[i].Wave
	}
	if s.Sequential {
		slices.Reverse(s.Members)
	}
	s.sort()
	return s
}

// WithoutUnreachable is the schedule of a run that skips unreachable clusters on purpose (--skip-unreachable): they
// are no members any more, use up nobody's maxFailures, and canaries are chosen among those that answer. A wave of
// which no cluster answers stays as it is and so stops the rollout: nothing has shown that the next may go.
func WithoutUnreachable(s Schedule) Schedule {
	answers := map[int]bool{}
	for _, m := range s.Members {
		answers[m.Wave] = answers[m.Wave] || !m.Unreachable
	}
	s.Members = slices.DeleteFunc(slices.Clone(s.Members), func(m Member) bool { return m.Unreachable && (answers[m.Wave] || s.Sequential) })
	s.chooseCanaries()
	return s
}

// Until is the schedule that stops after a wave, 0 for none, with what was found already. A wave that there is not is an Error.
func Until(s Schedule, wave int, found diag.Findings) (Schedule, diag.Findings) {
	s.UntilWave = wave
	if wave >= 0 && wave <= len(s.Waves) || found.HasErrors() {
		return s, found
	}
	f := diag.Errorf("unknown-wave", "--until-wave: there is no wave %d", wave)
	f.Fix = "without waves leave it out"
	if !s.Sequential {
		var names []string
		for i := range s.Waves {
			names = append(names, s.label(i+1))
		}
		f.Fix = "there is: " + strings.Join(names, ", ")
	}
	return s, append(found, f)
}

// Soaked reports whether a cluster's turn comes after the soak of its wave: that has canaries, and it is none of them.
func (s Schedule) Soaked(cluster string) bool {
	i := slices.IndexFunc(s.Members, func(m Member) bool { return m.Cluster == cluster })
	return i >= 0 && !s.Members[i].Canary && slices.ContainsFunc(s.Wave(s.Members[i].Wave), func(m Member) bool { return m.Canary })
}

// Wave returns the members of a wave, canaries first; waves count from 1.
func (s Schedule) Wave(wave int) []Member {
	var out []Member
	for _, m := range s.Members {
		if m.Wave == wave {
			out = append(out, m)
		}
	}
	return out
}
