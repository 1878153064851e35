package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // where the system has none

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Days are the week, as a window writes it, from Sunday.
var Days = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// WrongWindow is the finding about a window that cannot be used, nil for one that can, and for none.
func WrongWindow(w *v1alpha1.Window) *diag.Finding {
	if w == nil {
		return nil
	}
	why, fix := wrongWindow(*w), `write it like {days: [Mon, Fri], from: "09:00", to: "17:00", tz: Europe/Berlin}`
	switch {
	case why == "":
		return nil
	case w.From == w.To && w.From != "":
		fix = `for the whole day write from: "00:00", to: "24:00"`
	}
	f := diag.Errorf("wrong-window", "the window cannot be used: %s", why)
	f.Fix = fix
	return &f
}

func wrongWindow(w v1alpha1.Window) string {
	if _, err := time.LoadLocation(w.TZ); err != nil || w.TZ == "Local" {
		return fmt.Sprintf("tz %q is no name of the IANA time zone database, like Europe/Berlin", w.TZ)
	}
	for i, day := range w.Days {
		if !slices.Contains(Days, day) {
			return fmt.Sprintf("day %q is none of %s", day, strings.Join(Days, ", "))
		}
		if slices.Contains(w.Days[:i], day) {
			return "day " + day + " is named twice"
		}
	}
	for i, text := range []string{w.From, w.To} {
		name := []string{"from", "to"}[i]
		if text == "" {
			return name + " is missing"
		}
		if _, _, err := Clock(text); err != nil {
			return name + ": " + err.Error()
		}
	}
	switch w.From {
	case "24:00":
		return "from: a day begins at 00:00"
	case w.To:
		return "from and to are the same, " + w.From
	}
	return ""
}

// Clock reads a time of day like "09:00"; the end of the day is "24:00". Anything else is an error.
func Clock(text string) (hour, minute int, err error) {
	if text == "24:00" {
		return 24, 0, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, 0, fmt.Errorf("%q is no time of day like 09:00", text)
	}
	return at.Hour(), at.Minute(), nil
}

// WrongApproval is the finding about what a wave says of its approval, nil for what can be said.
func WrongApproval(approval string) *diag.Finding {
	if approval == "" || approval == v1alpha1.ApprovalManual {
		return nil
	}
	f := diag.Errorf("wrong-approval", "the approval is %q", approval)
	f.Fix = "write approval: manual, or leave it out"
	return &f
}

// WrongOnFailure is the finding about what a rollout says of its failures, nil for what can be said.
func WrongOnFailure(what string) *diag.Finding {
	if what == "" || what == v1alpha1.OnFailureRollback {
		return nil
	}
	f := diag.Errorf("wrong-on-failure", "onFailure is %q", what)
	f.Fix = "write onFailure: rollback, or leave it out"
	return &f
}

// OutsideWaves finds clusters that are in no wave of the fleet's rollout, or in several. sound: nothing else is wrong with what the
// waves say; else that may be why a cluster of a group is in none.
func OutsideWaves(f *v1alpha1.FleetSpec, sound bool) diag.Findings {
	var out diag.Findings
	for _, c := range f.Clusters {
		in := WavesOf(f.Rollout, c)
		n := diag.Errorf("no-wave", "cluster %s is in no wave", c.Name)
		n.Fix = "add it, its group or its labels to a wave"
		switch {
		case len(in) == 1, len(in) == 0 && c.Group != "" && !sound:
			continue
		case len(in) > 1:
			n = diag.Errorf("two-waves", "cluster %s is in wave %d and wave %d", c.Name, in[0]+1, in[1]+1)
		case c.Group == "":
			n.Why, n.Fix = "it has no group", "give it a group that a wave names (group: NAME), or add the cluster itself to a wave"
		}
		n.Pos, n.Path = diag.Pos(c.Pos), "rollout.waves"
		out = append(out, n)
	}
	return out
}
