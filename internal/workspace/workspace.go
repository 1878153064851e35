// Package workspace gives a run what it is about from the directory that it runs in: the documents of its files, and what the
// hawser.lock beside them knows of their sources, their lineages and their clusters. What the run learned is kept there.
//
// workspace must not know how clusters are reached or what is delivered to them.
package workspace

import (
	"cmp"
	"context"
	"io"
	"maps"
	"path"
	"slices"

	"hawser.dev/hawser/internal/checkout"
	"hawser.dev/hawser/internal/defaults"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/release"
)

// Files are the source of a run that reads files.
type Files struct {
	fleetplan.Paths
	// Stdin is what "-" stands for. Every Open reads it anew where it is kept in memory.
	Stdin io.Reader
	// Dir is the directory that file names are relative to.
	Dir string
	// Facts is a file of facts that are used instead of clusters, "" for none.
	Facts string
}

// memory is a reader of what is in memory, which can be read once more: a file may have been at another place than its beginning.
type memory interface {
	io.Seeker
	Len() int
}

// HasBundles reports whether there are files of a bundle.
func (f *Files) HasBundles() bool { return len(f.Files) > 0 }

// Open reads the documents and hawser.lock.
func (f *Files) Open(ctx context.Context, want input.Want) (*input.Documents, error) {
	if kept, ok := f.Stdin.(memory); ok {
		_, _ = kept.Seek(0, io.SeekStart) // never fails
	}
	kept := files{lock: lockfile.PathFor(f.Files), places: lockfile.Beside(f.Files, f.FleetFiles)}
	if want.Retire {
		kept.lock = kept.places
	}
	d := &input.Documents{Keeper: kept, Path: kept.lock, From: lockfile.Origin(f.Files, kept.lock), Paths: f.Paths, Dir: f.Dir, Files: map[string]string{}}
	if len(f.Files) > 0 && f.Files[0] == "-" {
		d.Once = "documents from standard input"
	}
	bundles := f.Files
	if want.FleetOnly && len(f.FleetFiles) > 0 {
		bundles = nil
	}
	program, findings := document.Load(ctx, document.Options{Files: bundles, Fleet: f.FleetFiles, Stdin: f.Stdin, Workdir: f.Workdir,
		Package: f.Package, Name: f.Name, Namespace: f.Namespace, Place: d.From.Source.Name(), Watchdog: want.Watchdog, Elsewhere: want.Elsewhere})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	d.Program, d.From.Varies = program, program.Varies
	if of := program.Fleet(); of != nil {
		d.From.Fleet = of.Name
	}
	d.Commit = func(read []string) string { return f.tree(program, read) }
	d.FleetNear = func() string { return defaults.NoFleet(f.Dir, f.Files) }
	for _, read := range program.Files() {
		d.Files[read.Path] = read.Digest
	}
	if len(f.Files) == 0 && !want.Retire {
		d.Nearby = f.nearby(d.From.Fleet)
	}
	if f.Facts != "" {
		facts, findings := fleet.LoadSnapshot(f.Facts)
		if err := findings.Err(); err != nil {
			return nil, err
		}
		d.Facts = &facts
	}
	var err error
	if d.Lock, err = lockfile.Read(kept.lock); want.Promoted != nil {
		d.Lock.Promoted = want.Promoted
	}
	return d, err
}

// nearby tells what the hawser.lock of the directory of a run without files says of a bundle, or the one beside the fleet's files; nil where
// neither knows it. One that cannot be read says nothing.
func (f *Files) nearby(fleet string) func(bundle string) *lineage.Run {
	places := [][]string{{cmp.Or(f.Dir, ".")}}
	if len(f.FleetFiles) > 0 {
		places = append(places, f.FleetFiles)
	}
	return func(bundle string) *lineage.Run {
		for _, files := range places {
			at := lockfile.PathFor(files)
			if lock, err := lockfile.Read(at); err == nil && lock.Lineages[bundle] != "" {
				here := lockfile.Origin(files, at)
				here.ID, here.Fleet = lock.Lineages[bundle], fleet
				return &here
			}
		}
		return nil
	}
}

// tree says whether the documents and the other files and directories that a run read are what the commit has (release.Clean) or not
// (release.Dirty), "" where that cannot be told. A fleet that lies in no repository is one of its own.
func (f *Files) tree(program *document.Program, read []string) string {
	paths := slices.Sorted(slices.Values(read))
	for _, of := range program.Files() {
		if !slices.Contains(f.FleetFiles, of.Path) || checkout.Of(path.Dir(of.Path)).Root != "" {
			paths = append(paths, of.Path)
		}
	}
	switch dirty, known := checkout.Dirty(slices.Compact(paths)); {
	case dirty:
		return release.Dirty
	case known:
		return release.Clean
	}
	return ""
}

// Of are the files of a request's documents, for changing those of that request alone.
func Of(documents *input.Source) *Files {
	f := *(*documents).(*Files)
	*documents = &f
	return &f
}

// Former are a request's documents with the fleet that records are moved from, nil for the clusters' own Secrets ("cluster").
func Former(documents input.Source, fleet []string) input.Source {
	if len(fleet) == 1 && fleet[0] == "cluster" {
		return nil
	}
	Of(&documents).FleetFiles = fleet
	return documents
}

// Saved are the files that a saved plan was made of, as they are seen from the directory of f.
func (f *Files) Saved(d fleetplan.Decided, sound bool) (input.Source, diag.Findings) {
	var findings diag.Findings
	if !sound {
		findings = defaults.Unvouched(f.Dir, slices.Concat(d.Paths.Files, d.FleetFiles, []string{d.Workdir}, slices.Collect(maps.Keys(d.Inputs.Files))))
	}
	if len(findings) == 0 {
		findings = d.Inputs.Moved(f.Dir)
	}
	return &Files{Paths: d.Paths, Stdin: f.Stdin, Dir: f.Dir}, findings
}

// files keep what runs learn: lock is the path of hawser.lock, places that of the one in which deliveries are kept, "" for none.
type files struct{ lock, places string }

func (f files) Learn(news lockfile.News) error { return lockfile.Keep(f.lock, news) }

func (f files) Update(change func(lockfile.File) bool) error { return lockfile.Update(f.lock, change) }

func (f files) UpdatePlaces(change func(lockfile.File) bool) error {
	if f.places == "" {
		return nil
	}
	return lockfile.Update(f.places, change)
}
