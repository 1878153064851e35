package operation

import (
	"context"
	"slices"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/place"
)

type checker struct{ asked []string }

func (c *checker) Check(_ context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	if c.asked = append(c.asked, req.Bundle); req.Bundle == "" {
		return nil, diag.Findings{place.Which("", []string{"a", "b"})}.Err()
	}
	if req.Bundle == "broken" {
		return nil, diag.Findings{diag.Errorf("syntax", "b.yaml cannot be read")}.Err()
	}
	f := diag.Errorf("missing-rights", "you may not get Secret in namespace %s", req.Bundle)
	f.Cluster = "eu"
	same := f
	same.What, same.Object = "you may not get Lease", "Lease"
	return &fleetplan.FleetReport{Fleet: "f", Findings: diag.Findings{f, same}, Clusters: []fleetplan.FleetRow{{Cluster: "eu", Missing: []string{f.What, same.What}}, {Cluster: "us"}}}, diag.Findings{f, same}.Err()
}

// Of several bundles it is told in one report what is missing for any of them, each once.
func TestCheckOfFiles(t *testing.T) {
	c := &checker{}
	r, err := Check(t.Context(), c, engine.Request{}, func(context.Context, engine.Request) ([]string, error) { return []string{"a", "b"}, nil })
	if !slices.Equal(c.asked, []string{"", "a", "b"}) || err == nil || len(r.Clusters) != 2 || r.Fleet != "f" {
		t.Fatalf("%q, %v, %+v", c.asked, err, r)
	}
	want := []string{"you may not get Secret in namespace a", "you may not get Lease", "you may not get Secret in namespace b"}
	if got := r.Clusters[0].Missing; !slices.Equal(got, want) || len(r.Findings) != 3 || r.Clusters[1].Missing != nil {
		t.Errorf("%q, %v", got, r.Findings)
	}
}

// What cannot be evaluated is told beside what is missing for the others; alone it is the error.
func TestCheckBesideABrokenBundle(t *testing.T) {
	names := func(all ...string) func(context.Context, engine.Request) ([]string, error) {
		return func(context.Context, engine.Request) ([]string, error) { return all, nil }
	}
	r, err := Check(t.Context(), &checker{}, engine.Request{}, names("a", "broken", "b"))
	if err == nil || r == nil || len(r.Clusters) != 2 || len(r.Clusters[0].Missing) != 3 || !slices.ContainsFunc(r.Findings, func(f diag.Finding) bool { return f.Code == "syntax" }) {
		t.Fatalf("%v, %+v", err, r)
	}
	if r, err := Check(t.Context(), &checker{}, engine.Request{}, names("broken", "broken")); r != nil || err == nil {
		t.Errorf("%v, %+v", err, r)
	}
}
