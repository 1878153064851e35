package rollout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // where the system has none

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// CodeWindow is the code of the finding of Closed.
const CodeWindow = "window-closed"

// Window is when the clusters of a wave may start, see v1alpha1.Window; nil is always.
type Window v1alpha1.Window

func windowOf(w v1alpha1.Wave) *Window { return (*Window)(w.Window) }

// days are the week, as a window writes it, from Sunday.
var days = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// check says why a window cannot be used, nil for one that can.
func (w *Window) check() error {
	if w == nil {
		return nil
	}
	if _, err := time.LoadLocation(w.TZ); err != nil || w.TZ == "Local" {
		return fmt.Errorf("tz %q is no name of the IANA time zone database, like Europe/Berlin", w.TZ)
	}
	for _, day := range w.Days {
		if !slices.Contains(days, day) {
			return fmt.Errorf("day %q is none of %s", day, strings.Join(days, ", "))
		}
	}
	for name, text := range map[string]string{"from": w.From, "to": w.To} {
		if _, _, err := clock(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if w.From == "24:00" {
		return errors.New("from: a day begins at 00:00")
	}
	return nil
}

// clock reads "09:00"; the end of the day is "24:00".
func clock(text string) (hour, minute int, err error) {
	if text == "24:00" {
		return 24, 0, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, 0, fmt.Errorf("%q is no time of day like 09:00", text)
	}
	return at.Hour(), at.Minute(), nil
}

// Opens is when a window that is closed now opens next, on its own clock; zero where it is open, and for nil.
func (w *Window) Opens(now time.Time) time.Time {
	if w.check() != nil || w == nil {
		return time.Time{}
	}
	zone, _ := time.LoadLocation(w.TZ)
	now = now.In(zone)
	fromHour, fromMinute, _ := clock(w.From)
	toHour, toMinute, _ := clock(w.To)
	overnight := 0
	if toHour*60+toMinute <= fromHour*60+fromMinute {
		overnight = 1
	}
	for day := -1; ; day++ { // within a week it opens; the clocks may skip one day's
		begins := time.Date(now.Year(), now.Month(), now.Day()+day, fromHour, fromMinute, 0, 0, zone)
		ends := time.Date(now.Year(), now.Month(), now.Day()+day+overnight, toHour, toMinute, 0, 0, zone)
		date := time.Date(now.Year(), now.Month(), now.Day()+day, 12, 0, 0, 0, zone)
		switch {
		case len(w.Days) > 0 && !slices.Contains(w.Days, days[date.Weekday()]), !ends.After(now), !ends.After(begins):
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

// After is the rules of a wave with its window behind them.
func (w *Window) After(rules string) string {
	if w == nil {
		return rules
	}
	return strings.TrimPrefix(rules+"; only "+w.String(), "; ")
}

// OpensAt says when a window opens: "Mon 2026-11-23 09:00 CET".
func OpensAt(at time.Time) string { return at.Format("Mon 2006-01-02 15:04 MST") }

// Closes is why a rollout ends before a wave whose window is closed.
func (s Schedule) Closes(wave int, opens time.Time) string {
	return fmt.Sprintf("the window of %s opens %s", s.label(wave), OpensAt(opens))
}

// Settle is the schedule in which the clusters for which settled is true are kept by no window; without windows nothing is.
func Settle(s Schedule, windows bool, settled func(cluster string) bool) Schedule {
	s.Members, s.Waves = slices.Clone(s.Members), slices.Clone(s.Waves)
	for i := range s.Members {
		s.Members[i].Settled = settled(s.Members[i].Cluster)
	}
	for i := range s.Waves {
		if !windows {
			s.Waves[i].Window = nil
		}
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
		if opens.IsZero() {
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

// label is "wave 2 (production)".
func (s Schedule) label(wave int) string {
	if name := s.Waves[wave-1].Name; name != "" {
		return fmt.Sprintf("wave %d (%s)", wave, name)
	}
	return fmt.Sprintf("wave %d", wave)
}
