// Package lineage tells whether a run may go on with what a release's record says is somebody's: it compares lineage,
// source and fleet of both, so that two teams whose bundles have one name never delete each other's objects.
//
// A pure room: lineage must not read files, repositories or records, and not know how a refusal is lifted but by the
// flag that it names.
package lineage

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// Stdin is the path of documents that came from standard input. Records of earlier versions have it alone; since then the
// directory of the run follows it, because two that pipe a bundle of one name are no more one place than two directories.
const Stdin = "-"

// Piped is the path of documents that came from standard input to a run in a directory, which is written as Path is.
func Piped(dir string) string { return Stdin + ":" + dir }

// piped reports whether documents came from standard input, and in which directory, "" where that is not known.
func (s Source) piped() (dir string, is bool) {
	dir, is = strings.CutPrefix(s.Path, Stdin+":")
	return dir, is || s.Path == Stdin
}

// Codes of refusals.
const (
	// CodeSource: the release is from another place, or from a fleet while the run has none.
	CodeSource = "other-source"
	// CodeFleet: the release is from a fleet with another name.
	CodeFleet = "other-fleet"
	// CodeTakenOver is that of the warning where --take-over lifts a refusal.
	CodeTakenOver = "taken-over"
)

// Source is where the documents of a bundle are.
type Source struct {
	// Repository is the Git repository as Repository writes it, "" where there is none that is known.
	Repository string `json:"repository,omitempty"`
	// Path is the directory with the bundle's files: below the repository's root ("." is the root itself), absolute
	// without a repository; Piped, or Stdin, for standard input.
	Path string `json:"path,omitempty"`
}

// String is the source for people: "github.com/acme/shop, directory deploy".
func (s Source) String() string {
	where := "directory " + s.Path
	switch dir, piped := s.piped(); {
	case piped && dir != "":
		where = "standard input in directory " + dir
	case piped:
		where = "standard input"
	case s.Path == ".":
		where = "its root"
	case s.Path == "":
		where = "a directory that is not known"
	}
	if s.Repository == "" {
		return where
	}
	return s.Repository + ", " + where
}

// Name is what names a bundle that has no name of its own: the directory's path in its repository, "" without one.
func (s Source) Name() string {
	switch _, piped := s.piped(); {
	case s.Repository == "", piped:
		return ""
	case s.Path == ".":
		return path.Base(s.Repository)
	}
	return s.Path
}

// same compares repositories and paths. Hosts of repositories do not tell upper from lower case; standard input of a
// directory that is not known is that of each.
func (s Source) same(o Source) bool {
	_, piped := s.piped()
	_, other := o.piped()
	return strings.EqualFold(s.Repository, o.Repository) && (s.Path == o.Path || piped && other && (s.Path == Stdin || o.Path == Stdin))
}

// Record is what a release's record says of where it is from. The zero ID and Source are those of records that were
// written before there were any.
type Record struct {
	Bundle string
	ID     string
	Source Source
	// Files are what the bundle was read from, files and directories relative to the Source's; nil when that is not known.
	Files []string
	// Fleet is "" for a release without a fleet.
	Fleet string
	// Revision, Author and At are for people.
	Revision int
	Author   string
	At       time.Time
}

// Run is what is known of a run.
type Run struct {
	// ID is the bundle's lineage in hawser.lock, "" when that knows none.
	ID string
	// Source is zero for a run that names its bundle and no files.
	Source Source
	// Files are the bundle's files and directories, relative to its directory; Gone tells of such a name whether nothing is
	// there. nil: nobody knows.
	Files []string
	Gone  func(file string) bool
	// Dir is the absolute directory of the bundle's files, "" for standard input.
	Dir string
	// Fleet is the fleet's name, "" for a run without one.
	Fleet string
	// StillThere tells whether the source of a record is at hand beside the run's own: its directory, with a hawser.lock
	// of the record's lineage. nil: no.
	StillThere func(Record) bool
}

// Relation is what a run is to a release.
type Relation int

// The relations. The refused ones come last.
const (
	// Same: nothing contradicts.
	Same Relation = iota
	// Moved: the same lineage, whose directory was moved.
	Moved
	// NoFleet: the release is a fleet's, and the run has none.
	NoFleet
	// OtherFleet: both have a fleet, and they have other names.
	OtherFleet
	// OtherSource: another place, or another lineage.
	OtherSource
)

// Refused reports whether such a run needs to take the release over.
func (r Relation) Refused() bool { return r >= NoFleet }

// Compare tells what a run is to the release that a record describes.
//
// Equal repositories and paths are the same source, whatever the lineages: one of two people may not have had the lock
// file. Another repository is another source, whatever the lineages: a lock file is copied with everything else. In
// between the lineage decides, and of equal lineages whether the former directory is still there, because a directory
// that was moved is not there any more and one that was copied is. Where CI throws the lock file away, the run has no
// lineage: then repository and path decide, and without a repository the path alone.
func Compare(rec Record, run Run) Relation {
	switch {
	case rec.Fleet != "" && run.Fleet == "":
		return NoFleet
	case rec.Fleet != "" && rec.Fleet != run.Fleet:
		return OtherFleet
	case rec.ID == "" && rec.Source == Source{}, run.Source == Source{}:
		return Same
	}
	differ := rec.ID != "" && run.ID != "" && rec.ID != run.ID
	proven := rec.ID != "" && rec.ID == run.ID
	switch {
	case rec.Source.Repository != "" && rec.Source.same(run.Source):
		return Same
	case rec.Source.Repository != "" && run.Source.Repository != "" && !strings.EqualFold(rec.Source.Repository, run.Source.Repository):
		return OtherSource
	case differ:
		return OtherSource
	case rec.Source.same(run.Source), rec.Source.Repository == "" && run.Dir != "" && rec.Source.Path == run.Dir:
		return Same // a repository may have come since
	case proven && (run.StillThere == nil || !run.StillThere(rec)):
		return Moved
	}
	return OtherSource
}

// Abandoned reports whether the documents of a release are a run's own, or are not there any more, so that a bundle that
// the run does not find in them is declared nowhere: what it has may go to who declares it now. It has to be known: a
// record that does not say where it is from, or of which files, tells nothing.
func Abandoned(rec Record, run Run) bool {
	if rel := Compare(rec, run); rel != Same && rel != Moved || rec.Source == (Source{}) || run.Source == (Source{}) ||
		len(rec.Files) == 0 || len(run.Files) == 0 {
		return false
	}
	for _, file := range rec.Files {
		read := slices.ContainsFunc(run.Files, func(own string) bool {
			return own == file || own == "." && below(file) || strings.HasPrefix(file, own+"/")
		})
		if !read && (run.Gone == nil || !run.Gone(file)) {
			return false
		}
	}
	return true
}

// below reports whether a relative name stays below the directory that it is relative to.
func below(file string) bool { return file != ".." && !strings.HasPrefix(file, "../") }

// Refusal is the finding of a refused relation. With takeOver it is the warning that the release is taken over.
func Refusal(rec Record, run Run, rel Relation, takeOver bool) diag.Finding {
	var f diag.Finding
	here := "this run is from " + run.Source.String()
	if run.Source == (Source{}) {
		here = "this run names no files"
	}
	switch rel {
	case NoFleet:
		f = diag.Errorf(CodeSource, "bundle %s was applied here from the fleet %s, and this run has no fleet", rec.Bundle, rec.Fleet)
		f.Fix = "name the fleet with --fleet; to go on without it on purpose: --take-over"
	case OtherFleet:
		f = diag.Errorf(CodeFleet, "bundle %s was applied here from the fleet %s, not %s", rec.Bundle, rec.Fleet, run.Fleet)
		f.Fix = "give one of the bundles another name; if the fleet was renamed: --take-over"
	default:
		f = diag.Errorf(CodeSource, "bundle %s was applied here from another place: %s", rec.Bundle, rec.Source)
		if rec.Source.same(run.Source) {
			f.What = fmt.Sprintf("bundle %s was applied here with another lineage than that of hawser.lock: %s, not %s", rec.Bundle, short(rec.ID), short(run.ID))
		}
		f.Fix = "give one of the bundles another name; if it is the same one, moved or renamed: --take-over"
	}
	f.Why = here + "; " + who(rec)
	if rel == OtherSource && !takeOver {
		f.Why += "; each would delete what only the other declares"
	}
	if takeOver {
		f.Severity, f.Code, f.Fix = diag.Warning, CodeTakenOver, ""
		f.What += "; it is taken over"
	}
	return f
}

// Unproven refuses a release whose record is lost and of which nothing else, neither hawser.lock nor another cluster's
// record, tells that it is this run's: n objects carry the marks of a bundle of that name.
func Unproven(bundle string, n int, run Run) diag.Finding {
	f := diag.Errorf(CodeSource, "bundle %s has no record here, %d objects carry its marks, and nothing tells whose they are", bundle, n)
	f.Why = "this run is from " + run.Source.String() + ", whose hawser.lock does not know the bundle; somebody else's would be overwritten, and deleted by the next apply"
	f.Fix = "give the bundle another name; if it is the same one: --take-over"
	return f
}

// who says which revision it is about.
func who(rec Record) string {
	out := fmt.Sprintf("revision %d", rec.Revision)
	if rec.Author != "" {
		out += " by " + rec.Author
	}
	if !rec.At.IsZero() {
		out += " of " + rec.At.UTC().Format("2006-01-02")
	}
	return out
}

func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

// Next is the lineage and the source that the record has after a run. rec is nil for a first apply; fresh is the id that
// a new lineage gets.
func Next(rec *Record, run Run, rel Relation, fresh string) (string, Source) {
	id := run.ID
	if id == "" {
		id = fresh
	}
	switch {
	case rec == nil:
		return id, run.Source
	case rel.Refused(): // taken over: whoever had it is refused from now on
		if id == rec.ID && rel == OtherSource {
			id = fresh
		}
	case rec.ID != "":
		id = rec.ID
	}
	source := run.Source
	if source == (Source{}) || rel == Moved && source.Repository == "" && rec.Source.Repository != "" {
		source = rec.Source // what is known better stays
	}
	return id, source
}

// Learns reports whether an unchanged release's record should be written for its lineage's sake: it has none yet, its
// directory was moved, or it is taken over.
func Learns(rec Record, rel Relation) bool {
	return rel != Same || rec.ID == "" && rec.Source == Source{}
}
