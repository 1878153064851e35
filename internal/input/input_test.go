package input

import (
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
)

// Bundles that are values already are a program: the same on every cluster, their own source, and nothing is kept of them unless
// somebody keeps it.
func TestOf(t *testing.T) {
	a, b := v1alpha1.BundleSpec{Name: "a"}, v1alpha1.BundleSpec{Name: "b"}
	d := Of(&v1alpha1.FleetSpec{Name: "prod"}, a, b)
	opened, err := d.Open(t.Context(), Want{})
	if err != nil || opened != d || !d.HasBundles() || Of(nil).HasBundles() || d.From.Fleet != "prod" {
		t.Errorf("%+v, %v", opened, err)
	}
	if s, findings := d.Saved(fleetplan.Decided{}, false); s != Source(d) || len(findings) > 0 {
		t.Errorf("%+v, %v", s, findings)
	}
	specs, findings := d.Program.Evaluate(fleet.Facts{Name: "eu"})
	if len(specs) != 2 || len(findings) > 0 {
		t.Errorf("%+v, %v", specs, findings)
	}
	specs[0].Name = "other"
	if names := d.Program.Bundles(); names[0] != "a" {
		t.Error("who changes what was evaluated changes the program")
	}
	if d.Program.Digest() == Of(nil, a).Program.Digest() || d.Program.Digest() != Of(nil, a, b).Program.Digest() {
		t.Error("the digest is not that of the bundles")
	}
	d.Promise("a", "id")
	if err := d.Learn(lockfile.News{Lineages: map[string]string{"a": "id"}}); err != nil || d.Known("eu") != (fleet.Identity{}) || d.Delivered("eu", "a") || d.NearFleet() != "" {
		t.Errorf("something is known: %v", err)
	}
	if err := d.KeepPlaces(func(lockfile.File) bool { t.Error("kept"); return true }); err != nil {
		t.Error(err)
	}
	if err := d.Forget("eu"); err != nil {
		t.Error(err)
	}
}
