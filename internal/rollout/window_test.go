package rollout

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

func TestOpens(t *testing.T) {
	week := Window{Days: []string{"Mon", "Tue", "Wed", "Thu", "Fri"}, From: "09:00", To: "17:00", TZ: "Europe/Berlin"}
	night := Window{Days: []string{"Fri"}, From: "22:00", To: "04:00"}
	always := Window{From: "00:00", To: "24:00"}
	skipped := Window{Days: []string{"Sun"}, From: "02:10", To: "02:50", TZ: "Europe/Berlin"} // is left out on 2026-03-29
	for name, c := range map[string]struct {
		w         *Window
		now, want string
	}{
		"none":                         {nil, "2026-11-21T12:00:00Z", ""},
		"a Saturday":                   {&week, "2026-11-21T12:00:00Z", "2026-11-23T09:00:00+01:00"},
		"before it opens":              {&week, "2026-11-23T07:59:59Z", "2026-11-23T09:00:00+01:00"},
		"as it opens":                  {&week, "2026-11-23T08:00:00Z", ""},
		"as it closes":                 {&week, "2026-11-23T16:00:00Z", "2026-11-24T09:00:00+01:00"},
		"in summer":                    {&week, "2026-07-20T07:00:00Z", ""},
		"Friday evening":               {&week, "2026-11-27T16:00:00Z", "2026-11-30T09:00:00+01:00"},
		"over midnight, before":        {&night, "2026-11-27T21:00:00Z", "2026-11-27T22:00:00Z"},
		"over midnight, after":         {&night, "2026-11-28T03:59:00Z", ""},
		"over midnight, over":          {&night, "2026-11-28T04:00:00Z", "2026-12-04T22:00:00Z"},
		"another day's night":          {&night, "2026-11-27T03:00:00Z", "2026-11-27T22:00:00Z"},
		"every day":                    {&always, "2026-11-27T23:59:59Z", ""},
		"as long as a day":             {&Window{From: "05:00", To: "05:00"}, "2026-11-27T04:00:00Z", ""},
		"an hour that the clocks skip": {&skipped, "2026-03-28T12:00:00Z", "2026-03-29T03:10:00+02:00"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := c.w.Opens(now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s: opens %q, want %q", name, got, c.want)
		}
	}
}

func TestWindowOfAWave(t *testing.T) {
	for want, w := range map[string]v1alpha1.Window{
		"":                               {Days: []string{"Mon"}, From: "09:00", To: "24:00", TZ: "America/New_York"},
		`day "Monday" is none of`:        {Days: []string{"Monday"}, From: "09:00", To: "17:00"},
		`from: "9:00" is no time of day`: {From: "9:00", To: "17:00"},
		`to is missing`:                  {From: "09:00"},
		`to: "25:00" is no time of day`:  {From: "09:00", To: "25:00"},
		`from is missing`:                {},
		`day "Mon-Fri" is none of`:       {Days: []string{"Mon-Fri"}, From: "09:00", To: "17:00"},
		`day Mon is named twice`:         {Days: []string{"Mon", "Tue", "Mon"}, From: "09:00", To: "17:00"},
		`are the same, 09:00`:            {From: "09:00", To: "09:00"},
		`a day begins at 00:00`:          {From: "24:00", To: "04:00"},
		`tz "Berlin" is no name`:         {From: "09:00", To: "17:00", TZ: "Berlin"},
		`tz "Local" is no name`:          {From: "09:00", To: "17:00", TZ: "Local"},
	} {
		clusters := []fleet.Cluster{{ClusterSpec: v1alpha1.ClusterSpec{Name: "a", Group: "g"}}}
		sch, found := NewSchedule(&v1alpha1.Rollout{Waves: []v1alpha1.Wave{{Groups: []string{"g"}, Window: &w}}}, clusters, nil)
		if want == "" {
			if len(found) > 0 || sch.Waves[0].Window == nil {
				t.Errorf("%+v: %v", w, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Severity != diag.Error || !strings.Contains(found[0].What, want) {
			t.Errorf("%+v: %v, want %q", w, found, want)
		}
	}
}

// Nothing starts while the window of its wave is closed; what runs ends; what has nothing to do goes through.
func TestNextWaitsForAWindow(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	w := &Window{From: "09:00", To: "12:30"}
	sch := Schedule{Waves: []WaveSpec{{Name: "first"}, {Name: "second", Window: w, MaxParallel: 1}}, Members: []Member{
		{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 2}, {Cluster: "c", Wave: 2}, {Cluster: "d", Wave: 2, Unreachable: true}}}
	sch.Waves[1].MaxFailures = 1
	st, d := Next(sch, State{}, nil, noon)
	st, d = Next(sch, st, []Outcome{{Cluster: "a", OK: true}}, noon)
	if len(d.Start) != 1 || d.Start[0] != "b" {
		t.Fatalf("an open window: %+v", d)
	}
	late := noon.Add(time.Hour)
	closed, d := Next(sch, st, nil, late)
	if d.Closed || d.Done || len(d.Start) > 0 {
		t.Fatalf("while b runs: %+v", d)
	}
	closed, d = Next(sch, closed, []Outcome{{Cluster: "b", OK: true}}, late)
	opens := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	if !d.Closed || !d.WakeAt.Equal(opens) || d.Wave != 2 || d.Done || len(d.Start) > 0 {
		t.Fatalf("after it closed: %+v", d)
	}
	ends := sch.Keeps(d)
	if _, d = Next(sch, closed, nil, opens); len(d.Start) != 1 || d.Start[0] != "c" {
		t.Errorf("as it opens: %+v", d)
	}
	stopped, d := Next(sch, Stop(closed, ends), nil, late)
	if !d.Done || d.Stop != "the window of wave 2 (second) opens Tue 2026-11-24 09:00 UTC" || stopped.Phases["c"] != NotStarted || stopped.Phases["d"] != Failed {
		t.Errorf("ended there: %+v %+v", d, stopped)
	}
	// d does not answer: that counts when the window is open, and not before
	before, d := Next(sch, State{}, nil, late)
	if before, d = Next(sch, before, []Outcome{{Cluster: "a", OK: true}}, late); !d.Closed || before.Phases["d"] != Waiting {
		t.Errorf("before it opens: %+v %+v", d, before)
	}

	if f := Closed(sch, late, diag.Error); len(f) > 0 {
		t.Errorf("the first wave may change: %v", f)
	}
	here := Ready(sch, Past{}, func(cluster string) bool { return cluster == "a" || cluster == "b" })
	f := Closed(here, late, diag.Warning)
	if len(f) != 1 || f[0].Severity != diag.Warning || f[0].What != "wave 2 (second) may not change now" || f[0].Why != "its window is 09:00-12:30 UTC, and opens Tue 2026-11-24 09:00 UTC" {
		t.Errorf("the first wave is done: %v", f)
	}
	if here.UntilWave = 1; len(Closed(here, late, diag.Error)) > 0 {
		t.Error("--until-wave 1 does not come to it")
	}
	here.UntilWave = 0
	st, _ = Next(here, State{}, nil, late)
	if st, d = Next(here, st, []Outcome{{Cluster: "a", OK: true}}, late); len(d.Start) != 1 || d.Start[0] != "b" {
		t.Errorf("what has nothing to do: %+v", d)
	}
	if _, d = Next(here, st, []Outcome{{Cluster: "b", OK: true}}, late); !d.Closed {
		t.Errorf("what has: %+v", d)
	}
	read := Ready(sch, Past{}, func(string) bool { return false }) // a saved plan has a window of its own
	other := *read.Waves[1].Window
	if read.Waves[1].Window = &other; !Same(sch, read) {
		t.Error("another window")
	}
	if other.To = "13:00"; Same(sch, read) {
		t.Error("the same window")
	}
	if here = Ready(here, Past{Windows: true}, func(string) bool { return false }); here.Waves[1].Window != nil || sch.Waves[1].Window == nil || len(Closed(here, late, diag.Error)) > 0 {
		t.Error("without windows")
	}
}

// TestRulesOfAClosedWindow: the rules of a wave say that its window is closed, and when it opens.
func TestRulesOfAClosedWindow(t *testing.T) {
	w := WaveSpec{Window: &Window{Days: []string{"Tue"}, From: "09:00", To: "17:00"}}
	for now, want := range map[time.Time]string{
		{}: "all at once; only Tue 09:00-17:00 UTC",
		time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC): "all at once; only Tue 09:00-17:00 UTC",
		time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC): "all at once; only Tue 09:00-17:00 UTC (closed now, opens Tue 2026-11-24 09:00 UTC)",
	} {
		if got := w.Rules("all at once", now); got != want {
			t.Errorf("%s: %q, want %q", now, got, want)
		}
	}
}
