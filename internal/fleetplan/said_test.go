package fleetplan

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
)

// TestSaid: a plan says that its files were aborted, and which wave is approved, as long as that is about what it would bring.
func TestSaid(t *testing.T) {
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	hold := func(of func(*release.Hold)) *release.Hold {
		h := &release.Hold{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Wave: "wave 2 (prod)"}
		of(h)
		return h
	}
	word := &release.Word{By: "ann@laptop", At: at, Message: "CHG-1"}
	aborted, approved := hold(func(h *release.Hold) { h.Aborted, h.Approved = word, word }), hold(func(h *release.Hold) { h.Approved = word })
	record := func(n int, rollout string) *release.Record {
		return &release.Record{Release: n, Rollout: rollout, SourceDigest: "sha256:D"}
	}
	for name, c := range map[string]struct {
		holds release.Holds
		on    *release.Record
		want  string
	}{
		"nothing":                         {holds: release.Holds{"a": nil}},
		"approved on two":                 {holds: release.Holds{"a": approved, "b": approved, "c": nil}, want: "info wave 2 (prod) is approved for release 4 (D) of these files by ann@laptop at 2026-09-01T12:00:00Z: CHG-1 (on a, b)"},
		"aborted on one, approved on two": {holds: release.Holds{"a": aborted, "b": approved}, want: "warning release 4 (D), of the same files, was aborted by ann@laptop at 2026-09-01T12:00:00Z: CHG-1 (on a)"},
		"aborted, and it is there":        {holds: release.Holds{"a": aborted}, on: record(4, "D"), want: "warning release 4 (D), of the same files, was aborted"},
		"aborted, and applied again":      {holds: release.Holds{"a": aborted}, on: record(5, "E")},
		"approved, and it is there":       {holds: release.Holds{"a": approved}, on: record(4, "D")},
		"other files":                     {holds: release.Holds{"a": hold(func(h *release.Hold) { h.SourceDigest, h.Aborted = "sha256:E", word })}},
		"paused":                          {holds: release.Holds{"a": hold(func(h *release.Hold) { h.Paused = word })}, want: "warning release 4 (D) was paused by ann@laptop"},
	} {
		p := &FleetPlan{Bundle: "shop", SourceDigest: "sha256:D"}
		said := ""
		for _, f := range p.Said(c.holds, func(string) *release.Record { return c.on }) {
			said += string(f.Severity) + " " + f.What + "\n"
			if told := strings.Contains(f.Why, "references and queries"); told != (f.Code == CodeApproved) {
				t.Errorf("%s: what the approval does not cover: %q", name, f.Why)
			}
		}
		if said == "" != (c.want == "") || !strings.HasPrefix(said, c.want) || strings.Count(said, "\n") > 1 {
			t.Errorf("%s: %q", name, said)
		}
	}
}
