package input

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
)

// Program gives bundles, which may depend on the cluster. Its methods may be called concurrently.
type Program interface {
	// Evaluate gives the bundles for a cluster.
	Evaluate(f fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings)
	// Bundles are their names as far as no cluster decides them, Fleet is the fleet, nil without one.
	Bundles() []string
	Fleet() *v1alpha1.FleetSpec
	// Uses reports whether a runtime value is read, UsesQueries whether any of those that clusters are asked for is.
	Uses(value string) bool
	UsesQueries() bool
	// Query gives the runtime values of a fleet's query from the object that it asks for.
	Query(q v1alpha1.RuntimeQuery, obj map[string]any) (map[string]fleet.Value, diag.Findings)
	// Comparisons are those with facts of the cluster, Fact says which fact stands somewhere, "" for none.
	Comparisons() []fleet.Comparison
	Fact(at diag.Pos) string
	// Value is the bundles' text for a cluster.
	Value(f fleet.Facts) (string, diag.Findings)
	// Digest is that of all of it, whatever the cluster.
	Digest() string
	// Plain: the only bundle is made of manifests alone. FormerName is the name that it had in earlier versions, "" for none;
	// Rename lets it have that again.
	Plain() bool
	FormerName() string
	Rename(name string)
}

// Of are documents of bundles that are values already, the same on every cluster, and of a fleet, nil for none. Nothing is
// known from runs before, and nothing is kept: fields of what it returns may be set for that.
func Of(f *v1alpha1.FleetSpec, bundles ...v1alpha1.BundleSpec) *Documents {
	d := &Documents{Program: &specs{fleet: f, bundles: bundles}}
	d.Lock, _ = lockfile.Read("") // of no file, which is empty
	if f != nil {
		d.From.Fleet = f.Name
	}
	return d
}

// Open gives the documents themselves: they are a Source.
func (d *Documents) Open(context.Context, Want) (*Documents, error) { return d, nil }

// HasBundles reports whether there are bundles.
func (d *Documents) HasBundles() bool { return len(d.Program.Bundles()) > 0 }

// Saved gives the documents: what is in memory is read by nobody, and what changed is found by comparing plans.
func (d *Documents) Saved(fleetplan.Decided, bool) (Source, diag.Findings) { return d, nil }

// specs is a program of bundles that depend on nothing.
type specs struct {
	fleet   *v1alpha1.FleetSpec
	bundles []v1alpha1.BundleSpec
}

func (s *specs) Evaluate(fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings) {
	return slices.Clone(s.bundles), nil
}

func (s *specs) Bundles() []string {
	var out []string
	for _, b := range s.bundles {
		out = append(out, b.Name)
	}
	return out
}

func (s *specs) Fleet() *v1alpha1.FleetSpec      { return s.fleet }
func (s *specs) Uses(string) bool                { return false }
func (s *specs) UsesQueries() bool               { return false }
func (s *specs) Comparisons() []fleet.Comparison { return nil }
func (s *specs) Fact(diag.Pos) string            { return "" }
func (s *specs) Plain() bool                     { return false }
func (s *specs) FormerName() string              { return "" }
func (s *specs) Rename(string)                   {}

func (s *specs) Query(q v1alpha1.RuntimeQuery, obj map[string]any) (map[string]fleet.Value, diag.Findings) {
	return fleet.EvaluateQuery(q, obj)
}

func (s *specs) Value(fleet.Facts) (string, diag.Findings) {
	data, err := json.MarshalIndent(s.bundles, "", "\t")
	return string(data), diag.From(err, "json")
}

func (s *specs) Digest() string {
	data, err := json.Marshal(s.bundles)
	if err != nil {
		panic("input: a bundle that is no JSON: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
