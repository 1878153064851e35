package fleetplan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/source"
)

// FleetReport is what `fleet ls|check|values` shows. Its JSON form is public and versioned.
type FleetReport struct {
	V        int           `json:"v"` // diag.DocumentVersion
	Fleet    string        `json:"fleet,omitempty"`
	Clusters []FleetRow    `json:"clusters"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Join adds what was found for another bundle on the same clusters, each finding and right once.
func (r *FleetReport) Join(other *FleetReport) {
	r.Fleet = other.Fleet
	for _, f := range other.Findings {
		if !slices.Contains(r.Findings, f) {
			r.Findings = append(r.Findings, f)
		}
	}
	for _, row := range other.Clusters {
		i := slices.IndexFunc(r.Clusters, func(c FleetRow) bool { return c.Cluster == row.Cluster })
		if i < 0 {
			r.Clusters = append(r.Clusters, row)
			continue
		}
		for _, text := range row.Missing {
			if !slices.Contains(r.Clusters[i].Missing, text) {
				r.Clusters[i].Missing = append(r.Clusters[i].Missing, text)
			}
		}
	}
}

// FleetRow is one cluster. Connection fields are empty where nobody was asked.
type FleetRow struct {
	Cluster string            `json:"cluster"`
	Group   string            `json:"group,omitempty"`
	Wave    int               `json:"wave,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Access  string            `json:"access"` // "context prod-eu of ~/.kube/config"
	Server  string            `json:"server,omitempty"`
	Version string            `json:"version,omitempty"`
	UID     string            `json:"uid,omitempty"`
	Problem string            `json:"problem,omitempty"`
	// Unreachable: it did not answer, which is its problem.
	Unreachable bool `json:"unreachable,omitempty"`
	// Missing are rights this bundle needs and the user does not have.
	Missing []string `json:"missing,omitempty"`
	// Values are the runtime values by name; secret ones are hidden.
	Values map[string]fleet.Value `json:"values,omitempty"`
}

// LockReport is what lock wrote. Its JSON form is public and versioned.
type LockReport struct {
	V    int    `json:"v"` // diag.DocumentVersion
	File string `json:"file"`
	// Sources by key, those that are no longer used last.
	Sources []LockedSource `json:"sources"`
}

// LockedSource is one pin of hawser.lock.
type LockedSource struct {
	Source  string `json:"source"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest"`
	// Was is the pin before; nil for a new one.
	Was *lockfile.Pin `json:"was,omitempty"`
	// Dropped: no instance uses it any more; the pin is the former one.
	Dropped bool `json:"dropped,omitempty"`
}

// OutdatedReport compares a bundle's sources with what there is. Its JSON form is public and versioned.
type OutdatedReport struct {
	V       int              `json:"v"` // diag.DocumentVersion
	Bundle  string           `json:"bundle,omitempty"`
	Sources []OutdatedSource `json:"sources"`
}

// OutdatedSource is one source. Versions are "" where there is none.
type OutdatedSource struct {
	Source string `json:"source"`
	// Instances are the names of those that have it.
	Instances []string `json:"instances,omitempty"`
	// Want is the version or range the bundle writes, Locked what is pinned.
	Want   string        `json:"want,omitempty"`
	Locked *lockfile.Pin `json:"locked,omitempty"`
	// Newest is the newest the bundle allows, Overall the newest stable one.
	Newest  *lockfile.Pin  `json:"newest,omitempty"`
	Overall *lockfile.Pin  `json:"overall,omitempty"`
	Verdict source.Verdict `json:"verdict"`
	// Local: files beside the bundle, of which nothing is newer anywhere.
	Local   bool   `json:"local,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Newer reports whether the bundle allows something else than is pinned.
func (s OutdatedSource) Newer() bool {
	switch s.Verdict {
	case source.Behind, source.Moved, source.Edited:
		return true
	}
	return s.Verdict == source.Loose && !s.Local
}

// BuildItem is one rendered instance for one cluster, unmarked objects as the source gives them.
type BuildItem struct {
	Instance string          `json:"instance"`
	Cluster  string          `json:"cluster"`
	Objects  []object.Object `json:"-"`
	// Namespaces are those that apply would make for the instance, and nobody declares.
	Namespaces []object.Object `json:"-"`
}

// BuildResult is what build prints: items by instance, then cluster.
type BuildResult struct {
	Bundle       string
	Items        []BuildItem
	MultiCluster bool
	// Clusters are those it was built for; Whole tells that these are all of the fleet.
	Clusters []string
	Whole    bool
	Findings diag.Findings
	// Reads are the objects in the clusters that values are taken from, and the Secrets that references lead to.
	Reads []object.Ref
	// Recorded are the objects that the clusters' records name, where they were asked for.
	Recorded []object.Ref
	// Mask hides the secret values that this run came to know, for masked output.
	Mask plan.Masker
}

// ClusterValues is the evaluated bundle for one cluster, as CUE text.
type ClusterValues struct {
	Cluster string `json:"cluster"`
	Bundle  string `json:"bundle"`
}

// VetReport is what vet found. Declared tells whether the clusters are declared by a fleet. Its JSON form is public and
// versioned.
type VetReport struct {
	V         int             `json:"v"` // diag.DocumentVersion
	Bundle    string          `json:"bundle"`
	Declared  bool            `json:"declared"`
	Clusters  []ClusterValues `json:"clusters"`
	Instances []string        `json:"instances"`
	// Asked is how many of the clusters were asked; of the others it is known what files say, or nothing.
	Asked    int           `json:"asked"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Of adds a bundle as one cluster has it: its name, and the instances that were not there yet.
func (r *VetReport) Of(spec v1alpha1.BundleSpec) {
	r.Bundle = spec.Name
	for _, in := range spec.Instances {
		if !slices.Contains(r.Instances, in.Name) {
			r.Instances = append(r.Instances, in.Name)
		}
	}
}

// ValidInstance says of an instance without a mistake that it is valid, or that this is not known: references stand in for its values.
func (r *VetReport) ValidInstance(name string) string {
	if slices.ContainsFunc(r.Findings, func(f diag.Finding) bool { return f.Code == bind.CodeMisfit && f.Instance == name }) {
		return "instance " + name + " is not checked as a whole"
	}
	return "instance " + name + " is valid"
}

// Valid says of a bundle without a mistake on what it is valid.
func (r *VetReport) Valid() string {
	text, n := "bundle "+r.Bundle+" is valid", len(r.Clusters)
	if r.Asked == 0 && !r.Declared {
		return text + "; no cluster was asked: --fleet, or --kube-context, says which"
	}
	if text += fmt.Sprintf(" on %d clusters", n); n == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	if left := n - r.Asked; left > 0 {
		text += fmt.Sprintf(", %d of which not asked", left)
	}
	return text
}

// Pin adds the sources that are used, each once, with the pins there were, and returns the new pins.
func (r *LockReport) Pin(used []source.Use, old map[string]lockfile.Pin) map[string]lockfile.Pin {
	pins := map[string]lockfile.Pin{}
	for _, u := range used {
		if _, twice := pins[u.Key()]; twice || u.Promoted.Digest != "" { // what was promoted is pinned where it was promoted to
			continue
		}
		pin := u.Pin()
		row := LockedSource{Source: u.Key(), Version: pin.Version, Digest: pin.Digest}
		if was := old[u.Key()]; was.Digest != "" {
			row.Was = &was
		}
		pins[u.Key()] = pin
		r.Sources = append(r.Sources, row)
	}
	slices.SortFunc(r.Sources, func(a, b LockedSource) int { return cmp.Compare(a.Source, b.Source) })
	return pins
}

// Drop adds the pins that nothing uses any more, behind the others.
func (r *LockReport) Drop(pins map[string]lockfile.Pin) {
	for _, key := range slices.Sorted(maps.Keys(pins)) {
		pin := pins[key]
		r.Sources = append(r.Sources, LockedSource{Source: key, Version: pin.Version, Digest: pin.Digest, Was: &pin, Dropped: true})
	}
}

// Outdated is the row of one source that was compared with what there is.
func Outdated(s source.Declared, row source.Row, redact func(string) string) OutdatedSource {
	pin := func(m module.Resolved) *lockfile.Pin {
		if m.Digest == "" {
			return nil
		}
		return &lockfile.Pin{Version: m.Version, Digest: m.Digest}
	}
	out := OutdatedSource{Instances: s.Names(), Want: s.Want, Newest: pin(row.Newest), Overall: pin(row.Overall), Verdict: row.Verdict, Local: s.Local()}
	s.Want = ""
	out.Source = redact(s.Key())
	if row.Locked.Digest != "" {
		out.Locked = &row.Locked
	}
	if row.Err != nil {
		out.Problem = redact(diag.From(row.Err, "source")[0].String())
	}
	return out
}

// Sort puts the items, which come cluster by cluster, in the order of their instances, as they came first.
func (r *BuildResult) Sort() {
	first := map[string]int{}
	for i, item := range r.Items {
		if _, ok := first[item.Instance]; !ok {
			first[item.Instance] = i
		}
	}
	slices.SortStableFunc(r.Items, func(a, b BuildItem) int { return first[a.Instance] - first[b.Instance] })
}
