package fleetplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// What a run was to write, and never did, is not ready because somebody else's object has its name: it is missing, and says whose that is.
// One with our marks may be what that run wrote before it died.
func TestSomebodyElsesIsNotReady(t *testing.T) {
	ref := deployment("web")
	for name, c := range map[string]struct {
		uid   string
		live  plan.Live
		state health.State
		says  string
	}{
		"of kubectl":                  {"", plan.Live{Found: true, UID: "x", Foreign: "kubectl"}, health.Missing, "of kubectl"},
		"of nobody knows whom":        {"", plan.Live{Found: true, UID: "x"}, health.Missing, "of somebody else"},
		"of another bundle":           {"", plan.Live{Found: true, UID: "x", OwnerLabel: "other", Foreign: "Hawser bundle pay", ForeignBundle: true}, health.Missing, "of Hawser bundle pay"},
		"of kubectl, and going":       {"", plan.Live{Found: true, UID: "x", Foreign: "kubectl", Terminating: true}, health.Missing, "of kubectl"},
		"with our label":              {"", plan.Live{Found: true, UID: "x", OwnerLabel: "me"}, health.Ready, ""},
		"with our fields":             {"", plan.Live{Found: true, UID: "x", ApplyHash: "e"}, health.Ready, ""},
		"not there":                   {"", plan.Live{}, health.Missing, "not in the cluster"},
		"written, and replaced since": {"u", plan.Live{Found: true, UID: "x", Foreign: "kubectl"}, health.Drifted, ""},
	} {
		rec := release.Record{Owner: "me", Phase: release.Failed, Inventory: []plan.InventoryEntry{{Ref: ref, Instance: "web", UID: c.uid}}}
		in := InstancesOf(rec, nil, map[object.Ref]plan.Live{ref: c.live}, map[object.Ref]health.Status{ref: {State: health.Ready}}, nil)[0]
		if o := in.Objects[0]; in.State != string(c.state) || !strings.Contains(o.Status.Reason, c.says) || o.Drifted != (c.state == health.Drifted) {
			t.Errorf("%s: %+v", name, in)
		}
	}
}
