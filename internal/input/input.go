// Package input is what a run is about, as values: a program that gives the bundles of a cluster, the fleet, and what is known
// from runs before. What the run learns is handed to whoever keeps it.
//
// input must not know where any of it comes from: who reads files gives it the same as who has objects of an API.
package input

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/source"
)

// Source gives a run what it is about, as it is when the run begins.
type Source interface {
	// Open gives it.
	Open(ctx context.Context, want Want) (*Documents, error)
	// HasBundles is false where there is but a fleet.
	HasBundles() bool
	// Saved is the source of a plan that was saved, for a request that has this one, and what stands against reading it: what
	// changed since, and where nothing vouches for the plan's file (sound) what is not to be read because the file says so.
	Saved(d fleetplan.Decided, sound bool) (Source, diag.Findings)
}

// Want is what a run needs of its source.
type Want struct {
	// FleetOnly wants no bundle where there is a fleet.
	FleetOnly bool
	// Promoted are pins in place of those that are known of promotions; nil leaves those.
	Promoted lockfile.Promotions
	// Retire says that a cluster is to leave the fleet.
	Retire bool
	// Watchdog bounds evaluations; nil bounds nothing.
	Watchdog *cuelang.Watchdog
	// Elsewhere is where documents that compute something are evaluated; nil is here.
	Elsewhere Elsewhere
}

// Elsewhere evaluates documents in another process.
type Elsewhere = document.Elsewhere

// Keeper keeps what a run learned for those after it.
type Keeper interface {
	// Learn adds news to what is known.
	Learn(news lockfile.News) error
	// Update changes what is known by now; change reports whether it did.
	Update(change func(lockfile.File) bool) error
	// UpdatePlaces is Update for where bundles run.
	UpdatePlaces(change func(lockfile.File) bool) error
}

// Documents are what a run is about. Runs of the same may share them, unless the program is renamed.
type Documents struct {
	Program Program
	// Lock is what is known from runs before: what sources were, which cluster a name is, whose a bundle is and where it runs.
	Lock lockfile.File
	// From is where the documents are, without the lineage of a bundle: Origin has it.
	From lineage.Run
	// Nearby is what a hawser.lock says of a bundle that is named without files, from where the run is; nil for nothing.
	Nearby func(bundle string) *lineage.Run
	// Keeper keeps what the run learns; nil keeps nothing.
	Keeper Keeper

	// Facts are used by vet and build instead of clusters; nil asks them.
	Facts *fleet.Snapshot

	// Path names what Keeper keeps, for people; "" where nothing is kept.
	Path string
	// Paths are where the documents were read, seen from Dir, and Files what was read by name, with digests: none of what is in memory.
	Paths fleetplan.Paths
	Dir   string
	Files map[string]string
	// Once says what they are where they cannot be read again, "" where they can.
	Once string
	// Commit tells of files and directories that the run read beside the documents whether all of it is what the commit has
	// (release.Clean, release.Dirty), or "" where that cannot be told; nil cannot tell.
	Commit func(read []string) string
	// FleetNear says where a fleet may be found where none was given, "" for nowhere; nil is nowhere.
	FleetNear func() string
}

// Tree tells whether what the run has read, the documents, files of values and what instances are made of, is what its commit has;
// "" for a run of no commit.
func (d *Documents) Tree(values map[string]string, paths []string) string {
	if d.Commit == nil || d.From.Commit == "" {
		return ""
	}
	return d.Commit(slices.Concat(slices.Sorted(maps.Keys(values)), paths))
}

// NearFleet says where a fleet may be found where none was given.
func (d *Documents) NearFleet() string {
	if d.FleetNear == nil {
		return ""
	}
	return d.FleetNear()
}

// Evaluate gives the bundles for a cluster, as the program does, with what was promoted for it, and what others pinned.
func (d *Documents) Evaluate(f fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings) {
	specs, findings := d.Program.Evaluate(f)
	for i, s := range specs {
		pins := d.Lock.Promoted.At(d.From.Fleet, s.Name, f.Group, f.Name)
		copied := false
		for k, in := range s.Instances {
			written, ok := source.Of(in)
			if !ok {
				continue
			}
			if len(pins) > 0 {
				in.Promoted = v1alpha1.Pin(pins[written.Key()])
			}
			in.PinOfOthers = d.ofOthers(s.Name, written)
			if in.Promoted == (v1alpha1.Pin{}) && !in.PinOfOthers {
				continue
			}
			if !copied {
				specs[i].Instances, copied = slices.Clone(s.Instances), true // those of the program are shared
			}
			specs[i].Instances[k] = in
		}
	}
	return specs, findings
}

// ofOthers reports whether what is pinned for a bundle's source may be another one's, which other bundles have.
func (d *Documents) ofOthers(bundle string, s source.Source) bool {
	if !s.Hides() {
		return false
	}
	users := d.Lock.Users(s.Key())
	return len(users) > 0 && !slices.Contains(users, bundle)
}

// Fleet is the fleet of the documents, nil without one.
func (d *Documents) Fleet() *v1alpha1.FleetSpec { return d.Program.Fleet() }

// Origin is where the run is from, with the lineage that is known for a bundle.
func (d *Documents) Origin(bundle string) lineage.Run {
	from := d.From
	if from.ID = d.Lock.Lineages[bundle]; d.Nearby != nil {
		from.Here = d.Nearby(bundle)
	}
	return from
}

// Known is what a cluster of the fleet is known by.
func (d *Documents) Known(cluster string) fleet.Identity {
	return fleet.Identity{UID: d.Lock.UID(d.From.Fleet, cluster), Server: d.Lock.Server(d.From.Fleet, cluster)}
}

// Knows reports whether a cluster is known by more than its name: by the fleet, from runs before, or as it was accepted.
func (d *Documents) Knows(c fleet.Cluster, accepted bool) bool {
	return accepted || c.Implicit || c.UID != "" || d.Known(c.Name) != fleet.Identity{}
}

// Delivered reports whether the bundle runs on the cluster, as far as deliveries from here tell.
func (d *Documents) Delivered(cluster, bundle string) bool {
	return d.Lock.Delivered(d.From.Fleet, cluster, bundle)
}

// Promise keeps the lineage of a bundle before any record has it, so that documents are never refused for one that a run of
// theirs made, however that ended. What cannot be kept is said by Learn.
func (d *Documents) Promise(bundle, id string) {
	if d.Keeper != nil {
		_ = d.Keeper.Learn(lockfile.News{Lineages: map[string]string{bundle: id}})
	}
}

// Learn keeps what a run found out. Where a repository and a path tell as much as a lineage, a lineage that cannot be kept is
// no error.
func (d *Documents) Learn(news lockfile.News) error {
	if d.Keeper == nil || d.Path == "" || !d.Lock.Learn(news) {
		return nil
	}
	err := d.Keeper.Learn(news)
	if len(news.UIDs)+len(news.Servers) == 0 && d.From.Source.Repository != "" {
		return nil
	}
	return err
}

// KeepPlaces lets keep change where bundles run, as it is known by now; it reports whether it did. Without a fleet there is
// nothing to keep.
func (d *Documents) KeepPlaces(keep func(lockfile.File) bool) error {
	if d.Keeper == nil || d.Fleet() == nil {
		return nil
	}
	return d.Keeper.UpdatePlaces(keep)
}

// Forget removes what is known of a cluster of the fleet.
func (d *Documents) Forget(cluster string) error {
	if d.Keeper == nil {
		return nil
	}
	return d.Keeper.Update(func(f lockfile.File) bool { return f.Forget(d.From.Fleet, cluster) })
}

// Place is where a bundle was delivered to, as it is kept.
func (d *Documents) Place(c fleet.Cluster, kubeContext string) lockfile.Place {
	return retirement.PlaceOf(c, kubeContext, d.Path)
}
