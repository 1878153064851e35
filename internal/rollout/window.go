package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// CodeWindow is the code of the finding of Closed.
const CodeWindow = "window-closed"

// Window is when the clusters of a wave may start, see v1alpha1.Window; nil is always.
type Window v1alpha1.Window

func windowOf(w v1alpha1.Wave) *Window { return (*Window)(w.Window) }

// Opens is when a window that is closed now opens next, on its own clock; zero where it is open, and for nil.
func (w *Window) Opens(now time.Time) time.Time {
	if w == nil || fleet.WrongWindow((*v1alpha1.Window)(w)) != nil {
		return time.Time{}
	}
	zone, _ := time.LoadLocation(w.TZ)
	now = now.In(zone)
	fromHour, fromMinute, _ := fleet.Clock(w.From)
	toHour, toMinute, _ := fleet.Clock(w.To)
	overnight := 0
	if toHour*60+toMinute <= fromHour*60+fromMinute {
		overnight = 1
	}
	for day := -1; ; day++ { // within a week it opens; the clocks may skip one day's
		begins := time.Date(now.Year(), now.Month(), now.Day()+day, fromHour, fromMinute, 0, 0, zone)
		ends := time.Date(now.Year(), now.Month(), now.Day()+day+overnight, toHour, toMinute, 0, 0, zone)
		date := time.Date(now.Year(), now.Month(), now.Day()+day, 12, 0, 0, 0, zone)
		switch {
		case len(w.Days) > 0 && !slices.Contains(w.Days, fleet.Days[date.Weekday()]), !ends.After(now), !ends.After(begins):
		case begins.After(now):
			return begins
		default:
			return time.Time{}
		}
	}
}

// String is "Mon, Fri 09:00-17:00 Europe/Berlin".
func (w Window) String() string {
	zone := w.TZ
	if zone == "" {
		zone = "UTC"
	}
	return strings.TrimSpace(strings.Join(w.Days, ", ") + " " + w.From + "-" + w.To + " " + zone)
}

// After is the rules of a wave with its window behind them, and when that opens where it is closed at now.
func (w *Window) After(rules string, now time.Time) string {
	if w == nil {
		return rules
	}
	rules += "; only " + w.String()
	if opens := w.Opens(now); !now.IsZero() && !opens.IsZero() {
		rules += " (closed now, opens " + OpensAt(opens) + ")"
	}
	return strings.TrimPrefix(rules, "; ")
}

// OpensAt says when a window opens: "Mon 2026-11-23 09:00 CET".
func OpensAt(at time.Time) string { return at.Format("Mon 2006-01-02 15:04 MST") }

// Keeps is why a rollout ends before a wave whose window is closed, or that nobody has approved.
func (s Schedule) Keeps(d Decision) string {
	if d.Unapproved {
		return s.label(d.Wave) + " waits for an approval"
	}
	return fmt.Sprintf("the window of %s opens %s", s.label(d.Wave), OpensAt(d.WakeAt))
}

// Past is what a run goes past on purpose: clusters that do not answer, windows that are closed, approvals that nobody gave.
type Past struct{ Unreachable, Windows, Approvals bool }

// Ready is a schedule as a run goes through it: the clusters for which settled is true are kept by no window and wait for no
// approval. What the run goes past keeps no cluster.
func Ready(s Schedule, past Past, settled func(cluster string) bool) Schedule {
	if past.Unreachable {
		s = WithoutUnreachable(s)
	}
	s.Members, s.Waves = slices.Clone(s.Members), slices.Clone(s.Waves)
	for i := range s.Members {
		s.Members[i].Settled = settled(s.Members[i].Cluster)
	}
	for i := range s.Waves {
		if past.Windows {
			s.Waves[i].Window = nil
		}
		s.Waves[i].Approved = past.Approvals
	}
	return s
}

// Closed finds that a rollout would change nothing now: the first wave that has to change has a window that is closed. It is
// of the code CodeWindow, and as severe as is said.
func Closed(s Schedule, now time.Time, severity diag.Severity) diag.Findings {
	for i, w := range s.Waves {
		changes := slices.ContainsFunc(s.Wave(i+1), func(m Member) bool { return !m.Settled })
		if !changes || s.UntilWave > 0 && i+1 > s.UntilWave {
			continue
		}
		opens := w.Window.Opens(now)
		if opens.IsZero() || w.waits() {
			return nil
		}
		f := diag.Errorf(CodeWindow, "%s may not change now", s.label(i+1))
		f.Severity = severity
		f.Why = "its window is " + w.Window.String() + ", and opens " + OpensAt(opens)
		f.Fix = "run it again then, or go past the windows: --skip-windows"
		return diag.Findings{f}
	}
	return nil
}

// Label is a wave as people call it: "wave 2 (production)".
func (s Schedule) Label(wave int) string { return s.label(wave) }

func (s Schedule) label(wave int) string {
	if name := s.Waves[wave-1].Name; name != "" {
		return fmt.Sprintf("wave %d (%s)", wave, name)
	}
	return fmt.Sprintf("wave %d", wave)
}
