// Package workspace is what a run is given from the directory that it runs in: the documents, and what the hawser.lock beside
// them knows of their sources, their lineages and their clusters. What the run learned is kept there.
//
// workspace must not know how clusters are reached or what is delivered to them.
package workspace

import (
	"context"
	"io"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/source"
)

// Input says where everything lies.
type Input struct {
	// Files are the bundle's files, FleetFiles the fleet's; "-" is Stdin.
	Files, FleetFiles []string
	Stdin             io.Reader
	// Workdir is where CUE modules are looked for, Package the CUE package. Name is that of a bundle made of plain manifests,
	// Namespace for those of them that name none.
	Workdir, Package, Name, Namespace string
	// FleetOnly leaves the bundle's files unread where there are files of a fleet.
	FleetOnly bool
	// Promoted are pins in place of those that hawser.lock has of its promotions; nil leaves those.
	Promoted lockfile.Promotions
	// Retire says that a cluster is to leave the fleet: its hawser.lock may also lie beside the fleet's files.
	Retire bool
	// Watchdog bounds the evaluation; nil bounds nothing.
	Watchdog *cuelang.Watchdog
	// Elsewhere is where documents that compute something are evaluated; nil is here.
	Elsewhere document.Elsewhere
}

// Workspace is what was read. Copies of it share the file.
type Workspace struct {
	Program *document.Program
	Lock    lockfile.File
	// Path is that of hawser.lock, "" where there is no place for one.
	Path string
	// From is where the documents are, without the lineage of a bundle: Origin has it.
	From lineage.Run
	// places is the file in which deliveries are kept, "" for none.
	places string
}

// Open reads the documents and hawser.lock.
func Open(ctx context.Context, in Input) (*Workspace, error) {
	w := &Workspace{Path: lockfile.PathFor(in.Files), places: lockfile.Beside(in.Files, in.FleetFiles)}
	if in.Retire {
		w.Path = w.places
	}
	w.From = lockfile.Origin(in.Files, w.Path)
	files := in.Files
	if in.FleetOnly && len(in.FleetFiles) > 0 {
		files = nil
	}
	program, findings := document.Load(ctx, document.Options{Files: files, Fleet: in.FleetFiles, Stdin: in.Stdin, Workdir: in.Workdir,
		Package: in.Package, Name: in.Name, Namespace: in.Namespace, Place: w.From.Source.Name(), Watchdog: in.Watchdog, Elsewhere: in.Elsewhere})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	w.Program, w.From.Varies = program, program.Varies
	if f := program.Fleet(); f != nil {
		w.From.Fleet = f.Name
	}
	var err error
	if w.Lock, err = lockfile.Read(w.Path); in.Promoted != nil {
		w.Lock.Promoted = in.Promoted
	}
	return w, err
}

// Evaluate gives the bundles for a cluster, as Program.Evaluate does, with what was promoted for it.
func (w *Workspace) Evaluate(f fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings) {
	specs, findings := w.Program.Evaluate(f)
	for i, s := range specs {
		pins := w.Lock.Promoted.At(w.From.Fleet, s.Name, f.Group, f.Name)
		if len(pins) == 0 {
			continue
		}
		specs[i].Instances = slices.Clone(s.Instances) // those of the program are shared
		for k, in := range specs[i].Instances {
			if written, ok := source.Of(in); ok {
				specs[i].Instances[k].Promoted = v1alpha1.Pin(pins[written.Key()])
			}
		}
	}
	return specs, findings
}

// Fleet is the fleet of the documents, nil without one.
func (w *Workspace) Fleet() *v1alpha1.FleetSpec { return w.Program.Fleet() }

// Origin is where the run is from, with the lineage that is known for a bundle.
func (w *Workspace) Origin(bundle string) lineage.Run {
	from := w.From
	from.ID = w.Lock.Lineages[bundle]
	return from
}

// Known is what a cluster of the fleet is known by.
func (w *Workspace) Known(cluster string) fleet.Identity {
	return fleet.Identity{UID: w.Lock.UID(w.From.Fleet, cluster), Server: w.Lock.Server(w.From.Fleet, cluster)}
}

// Knows reports whether a cluster is known by more than its name: by the fleet's file, by hawser.lock, or as it was accepted.
func (w *Workspace) Knows(c fleet.Cluster, accepted bool) bool {
	return accepted || c.Implicit || c.UID != "" || w.Known(c.Name) != fleet.Identity{}
}

// Delivered reports whether the bundle runs on the cluster, as far as deliveries from here tell.
func (w *Workspace) Delivered(cluster, bundle string) bool {
	return w.Lock.Delivered(w.From.Fleet, cluster, bundle)
}

// Promise keeps the lineage of a bundle before any record has it, so that files are never refused for one that a run of
// theirs made, however that ended. What cannot be kept is said by Learn.
func (w *Workspace) Promise(bundle, id string) {
	_ = lockfile.Keep(w.Path, lockfile.News{Lineages: map[string]string{bundle: id}})
}

// Learn keeps what a run found out, in the file as it is now. Where a repository and a path tell as much as a lineage, a
// lineage that cannot be kept is no error.
func (w *Workspace) Learn(news lockfile.News) error {
	if w.Path == "" || !w.Lock.Learn(news) {
		return nil
	}
	err := lockfile.Keep(w.Path, news)
	if len(news.UIDs)+len(news.Servers) == 0 && w.From.Source.Repository != "" {
		return nil
	}
	return err
}

// KeepPlaces lets keep change where bundles run, in the file as it is now; it reports whether it did. Without a fleet there
// is nothing to keep.
func (w *Workspace) KeepPlaces(keep func(lockfile.File) bool) error {
	if w.places == "" || w.Fleet() == nil {
		return nil
	}
	return lockfile.Update(w.places, keep)
}

// Forget removes a cluster of the fleet from the file.
func (w *Workspace) Forget(cluster string) error {
	return lockfile.Update(w.Path, func(f lockfile.File) bool { return f.Forget(w.From.Fleet, cluster) })
}

// Place is where a bundle was delivered to, as it is kept.
func (w *Workspace) Place(c fleet.Cluster, kubeContext string) lockfile.Place {
	return retirement.PlaceOf(c, kubeContext, w.Path)
}
