package plan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

// What is let go for another bundle of the same files stays known until somebody has it: it is pruned when the files declare it
// nowhere any more, and stays as long as nobody can tell.
func TestLent(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	o := InventoryEntry{Ref: ref, Version: "v1", Instance: "app", UID: "u", ApplyHash: "e", Digest: "d"}
	ours := Live{Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}
	with := func(change func(*Live)) Live { l := ours; change(&l); return l }
	declares := map[object.Ref]Declaration{ref: {Bundle: "other"}}
	told := Beside{Told: true}
	for name, tt := range map[string]struct {
		in     Input
		live   Live
		action string
		lent   bool // still
	}{
		"let go": {Input{Inventory: []InventoryEntry{o}, Beside: Beside{Declares: declares}}, ours, "release moved", true},
		"let go, of an installation that goes on": {Input{Inventory: []InventoryEntry{o}, Beside: Beside{Declares: declares}, HookStates: map[string]HookState{"app": {Step: Install}}}, ours, "", false},
		"dropped":                                  {Input{Inventory: []InventoryEntry{o}, Beside: told}, ours, "delete dropped", false},
		"declared there still":                     {Input{Lent: []InventoryEntry{o}, Beside: Beside{Told: true, Declares: declares}}, ours, "", true},
		"declared nowhere any more":                {Input{Lent: []InventoryEntry{o}, Beside: told}, ours, "delete dropped", true},
		"nobody can tell":                          {Input{Lent: []InventoryEntry{o}}, ours, "", true},
		"narrowed to instances":                    {Input{Lent: []InventoryEntry{o}, Beside: told, Options: Options{NoPrune: true}}, ours, "", true},
		"the record is made again":                 {Input{Lent: []InventoryEntry{o}, Beside: told, Rebuilt: true}, ours, "", true},
		"taken":                                    {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.OwnerLabel, l.ForeignBundle = "o", true }), "", false},
		"taken by half":                            {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.ForeignBundle = true }), "", false},
		"gone":                                     {Input{Lent: []InventoryEntry{o}, Beside: told}, Live{}, "", false},
		"another object":                           {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.UID = "v" }), "", false},
		"without our marks":                        {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.OwnerLabel = "" }), "", false},
		"annotated to be kept since":               {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.Keep = true }), "release kept", false},
		"of a Helm release since":                  {Input{Lent: []InventoryEntry{o}, Beside: told}, with(func(l *Live) { l.Released = true }), "release foreign", false},
		"not to be looked at":                      {Input{Lent: []InventoryEntry{o}, Beside: told}, Live{Unseen: "forbidden"}, "", true},
		"of a kind that is not served":             {Input{Lent: []InventoryEntry{o}, Beside: told}, Live{Unserved: true, Unseen: "not served"}, "", true},
		"recorded as ours: a run died in between":  {Input{Lent: []InventoryEntry{o}, Inventory: []InventoryEntry{o}, Beside: Beside{Told: true, Declares: declares}}, ours, "release moved", true},
		"declared here again":                      {Input{Lent: []InventoryEntry{o}, Desired: []Desired{{Ref: ref, Version: "v1", Digest: "d", Instance: "app"}}, Beside: told}, ours, "update again", false},
		"the bundle is deleted":                    {Input{Lent: []InventoryEntry{o}, Options: Options{Deleting: true}}, ours, "", true},
		"the bundle is deleted, and none wants it": {Input{Lent: []InventoryEntry{o}, Beside: told, Options: Options{Deleting: true}}, ours, "delete dropped", true},
	} {
		tt.in.Owner, tt.in.Live = "me", map[object.Ref]Live{ref: tt.live}
		if tt.in.HookStates != nil {
			tt.in.Beside.Declares = declares
		}
		p := Compute(tt.in)
		action := ""
		for _, ch := range p.Changes {
			action = strings.TrimSpace(action + " " + string(ch.Action) + " " + string(ch.Code))
		}
		if action != tt.action || tt.lent != (len(p.Lent) == 1) || p.Findings.HasErrors() {
			t.Errorf("%s: %q, lent %v, %v", name, action, p.Lent, p.Findings)
		}
		if forgotten := len(tt.in.Lent) > 0 && action == "" && !tt.lent; forgotten && !p.Refresh {
			t.Errorf("%s: the record does not learn that", name)
		}
		if left := tt.in.Options.Deleting && tt.action == ""; left != (len(p.Findings) == 1 && p.Findings[0].Code == "left-to-nobody") {
			t.Errorf("%s: %v", name, p.Findings)
		}
	}
}

// Who has let something go asks the other bundles, and can do without an answer.
func TestAsksOfLent(t *testing.T) {
	lent := []InventoryEntry{{Ref: object.Ref{Kind: "ConfigMap", Name: "a"}}}
	for _, tt := range []struct {
		in   Input
		want bool
	}{{Input{}, false}, {Input{Lent: lent}, true}, {Input{Lent: lent, Options: Options{NoPrune: true}}, false}} {
		if got := AsksOfLent(tt.in); got != tt.want || AsksBeside(tt.in) {
			t.Errorf("%+v: %v", tt.in, got)
		}
	}
}
