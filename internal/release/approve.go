package release

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// waveNumber is that of a wave as people call it ("wave 2 (production)"), 0 where it has none.
func waveNumber(wave string) (n int) {
	_, _ = fmt.Sscanf(wave, "wave %d", &n)
	return n
}

// inWave are the clusters as they stand for who means one wave, by its number: what waits for an approval of another one does not. 0 is every wave.
func inWave(clusters []OnCluster, wave int) []OnCluster {
	out := slices.Clone(clusters)
	for i, c := range out {
		if wave != 0 && c.Hold != nil && c.Hold.Wave != "" && waveNumber(c.Hold.Wave) != wave {
			h := *c.Hold
			h.Told, h.Wave, h.Approved = h.Decisions(), "", nil
			out[i].Hold = &h
		}
	}
	return out
}

// unapproved are the waves that the release has still to come to and that nobody has approved for it, as far as is known of them, sorted: also of
// a cluster that does not answer nobody knows that it needs none.
func (h *Hold) unapproved(clusters []OnCluster, underWay bool) []string {
	var out []string
	for _, c := range clusters {
		wave, approved := c.Wave, false
		if c.Hold != nil && c.Hold.Rollout == h.Rollout {
			wave, approved = cmp.Or(c.Hold.Wave, wave), c.Hold.Approved != nil
		}
		if wave != "" && !approved && !c.passed(*h, underWay) {
			out = append(out, wave)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(waveNumber(a)-waveNumber(b), strings.Compare(a, b)) })
	return slices.Compact(out)
}

// severalWaves refuses to approve the wave that happens to wait, where nobody is shown which one that is: a command that is run again would take
// the next one.
func severalWaves(bundle string, h Hold, waves []string) diag.Finding {
	f := diag.Errorf("ambiguous-wave", "%d waves of release %s of %s are still to be approved, and -y does not say which", len(waves), h.name(), bundle)
	f.Why = strings.Join(waves, ", ") + "; the one that waits is " + h.Wave
	f.Fix = fmt.Sprintf("look at it and name it: --wave %d", waveNumber(h.Wave))
	return f
}

// already makes of a saying that the wave was approved before; its clusters are those that waited for it, and those that do not answer.
func (s *Saying) already(clusters []OnCluster) *Saying {
	s.Already, s.Word, s.over = true, *s.about.Approved, true
	for _, c := range clusters {
		if c.Unreachable != "" || c.Hold != nil && c.Hold.Rollout == s.Rollout && c.Hold.Wave == s.Wave {
			s.Clusters = append(s.Clusters, SaidOn{Cluster: c.Cluster, Unreachable: c.Unreachable, Done: c.Unreachable == ""})
			s.over = s.over && !c.lacks(s.Rollout)
		}
	}
	return s
}

// Agreed asks whether to say it, where there is something to say.
func (s *Saying) Agreed(confirm func(*Saying) error) error {
	if s.Already {
		return nil
	}
	return confirm(s)
}

// Summary is what was said in a sentence, done being the word for it; tip is what to do next where it stands anywhere.
func (s *Saying) Summary(done, tip string) string {
	n := len(s.Clusters) - s.Missed()
	what := fmt.Sprintf("Release %d of %s is %s on ", s.Release, s.Bundle, done)
	switch {
	case s.Already:
		return fmt.Sprintf("Release %d of %s: %s was approved already %s. %s", s.Release, s.Bundle, s.Wave, s.Word, s.Then(tip))
	case n == 0:
		return what + "no cluster."
	case s.Still != nil:
		tip = fmt.Sprintf("Release %d (%s) stays %s", s.Still.Release, s.Still.Rollout, s.Still)
	}
	return what + diag.Counted(n, "cluster") + ". " + s.Then(tip)
}
