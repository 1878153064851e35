package leftover

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestBundles: the plan that takes over from a bundle that was removed says what is left of it.
func TestBundles(t *testing.T) {
	var refs []plan.InventoryEntry
	for _, name := range []string{"a", "b"} {
		refs = append(refs, plan.InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}, Instance: "i", UID: "u-" + name})
	}
	owner := object.OwnerID("", "", "old")
	adopt := plan.Change{Action: plan.Adopt, Code: plan.CodeMoved, Ref: refs[0].Ref, FromManagers: []string{object.Manager(owner)}}
	mine := plan.Change{Action: plan.Unchanged, Ref: refs[1].Ref}
	for _, c := range []struct {
		reason  string
		changes []plan.Change
		removed bool
		want    []string
	}{
		{"all of it is taken", []plan.Change{adopt, mine}, true, []string{"nothing of it is left", "deletes nothing"}},
		{"something is left", []plan.Change{adopt}, true, []string{"not all", "ConfigMap ns/b", "hawser delete old deletes"}},
		{"it is in the files", []plan.Change{adopt, mine}, false, nil},
		{"nothing is taken", []plan.Change{mine}, true, nil},
	} {
		fs := Bundles(&plan.Plan{Changes: c.changes}, &plan.Beside{Former: map[string]plan.Former{owner: {Bundle: "old", Inventory: refs, Removed: c.removed}}})
		if len(fs) != min(1, len(c.want)) {
			t.Errorf("%s: %v", c.reason, fs)
		}
		for _, want := range c.want {
			if !slices.ContainsFunc(strings.Split(fs[0].String(), "\n"), func(line string) bool { return strings.Contains(line, want) }) {
				t.Errorf("%s: %q is not in %s", c.reason, want, fs[0])
			}
		}
	}
	if Bundles(&plan.Plan{}, nil) != nil {
		t.Error("nobody was asked")
	}
}
