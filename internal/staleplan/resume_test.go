package staleplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// How a cluster stands to a saved plan is what its own record says, and nothing of what the file says.
func TestStands(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		planned int
		now     Left
		want    Standing
	}{
		"as planned":                    {"f", 2, Left{Revision: 2}, Untouched},
		"planned without a record":      {"f", 0, Left{}, Untouched},
		"carried out by this file":      {"f", 2, Left{Plan: "f", Revision: 3, Ended: true}, Done},
		"the first release":             {"f", 0, Left{Plan: "f", Revision: 1, Ended: true}, Done},
		"begun by it, and died":         {"f", 2, Left{Plan: "f", Revision: 3}, Begun},
		"begun by it twice":             {"f", 2, Left{Plan: "f", Revision: 4}, Begun},
		"by another file":               {"f", 2, Left{Plan: "g", Revision: 3, Ended: true}, Superseded},
		"by no file":                    {"f", 2, Left{Revision: 3, Ended: true}, Superseded},
		"by no file, and it died":       {"f", 2, Left{Revision: 3}, Superseded},
		"a file without a name":         {"", 2, Left{Revision: 3, Ended: true}, Superseded},
		"the plan that was made of it":  {"f", 3, Left{Plan: "f", Revision: 3, Ended: true}, Untouched},
		"deleted since":                 {"f", 2, Left{}, Superseded},
		"deleted, and made by the file": {"f", 2, Left{Plan: "f", Revision: 1, Ended: true}, Superseded},
	} {
		if got := Stands(c.file, c.planned, c.now); got != c.want || got.Vouched() != (c.want == Done || c.want == Begun) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What is left of a plan that was begun is what was shown or less of it, and what is written is the same.
func TestRemains(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	change := func(a plan.Action, name, uid, digest string) plan.Change {
		return plan.Change{Action: a, Ref: ref(name), UID: uid, Digest: digest}
	}
	forced := func(foreign string) plan.Change {
		ch := change(plan.Update, "drifted", "3", "d")
		ch.Force, ch.ForeignDigest = true, foreign
		return ch
	}
	hook := func(a plan.Action, name, uid string) plan.Change {
		ch := change(a, name, uid, "d")
		ch.Hook = &plan.HookTask{}
		return ch
	}
	shown := &plan.Plan{Changes: []plan.Change{change(plan.Create, "new", "", "d"), change(plan.Update, "old", "1", "d"), change(plan.Delete, "gone", "2", ""), forced("alice's"),
		change(plan.Recreate, "again", "4", "d"), hook(plan.Create, "job", "")}}
	for name, c := range map[string]struct {
		now  []plan.Change
		want string
	}{
		"nothing is left":           {nil, ""},
		"nothing was written":       {shown.Changes, ""},
		"some is left":              {shown.Changes[2:3], ""},
		"it was deleted, not made":  {[]plan.Change{change(plan.Create, "again", "", "d")}, ""},
		"another was not shown":     {[]plan.Change{change(plan.Create, "other", "", "d")}, "now it would create ConfigMap shop/other"},
		"it renders differently":    {[]plan.Change{change(plan.Create, "new", "", "e")}, "renders differently"},
		"made, and changed since":   {[]plan.Change{change(plan.Update, "new", "9", "d")}, "now it would update ConfigMap shop/new"},
		"replaced since":            {[]plan.Change{change(plan.Update, "old", "9", "d")}, "now it would update ConfigMap shop/old"},
		"taken by somebody":         {[]plan.Change{change(plan.Conflict, "new", "", "d")}, "somebody else owns ConfigMap shop/new"},
		"others wrote it meanwhile": {[]plan.Change{forced("bob's")}, "ConfigMap shop/drifted"},
		"a hook was begun":          {[]plan.Change{hook(plan.Recreate, "job", "5")}, ""},
		"a hook has run":            {[]plan.Change{hook(plan.Delete, "job", "5")}, ""},
		"no hook was shown":         {[]plan.Change{hook(plan.Delete, "old", "1")}, "now it would delete ConfigMap shop/old"},
		"a hook's object, and none": {[]plan.Change{change(plan.Delete, "job", "5", "")}, "now it would delete ConfigMap shop/job"},
		"deleted instead":           {[]plan.Change{change(plan.Delete, "old", "1", "")}, "now it would delete ConfigMap shop/old"},
	} {
		same := func(a, b string) bool { return a == b }
		got := Remains(shown, &plan.Plan{Changes: c.now}, func(ch plan.Change, digest string) bool { return ch.Digest == digest }, same)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].What, c.want) || got[0].Code != CodeStale || got[0].Fix == "") {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}
