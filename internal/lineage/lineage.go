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
	// CodeMoved is that of the warning that a release goes on in another repository.
	CodeMoved = "other-repository"
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
	if local(s.Repository) { // else a directory would stand for two places
		return "repository " + s.Repository + ", " + where
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
// directory that is not known is that of each. Records of earlier versions have the path of a repository on this machine as
// its remote was written.
func (s Source) same(o Source) bool {
	_, piped := s.piped()
	_, other := o.piped()
	written := strings.HasPrefix(s.Repository, ".") && local(o.Repository)
	return (written || strings.EqualFold(s.Repository, o.Repository)) && (s.Path == o.Path || piped && other && (s.Path == Stdin || o.Path == Stdin))
}

// named reports whether the source has an address that is the same wherever it is read. A repository in a directory of a machine
// has none: containers that are built alike have the same paths, and what is in them has nothing to do with each other. Such a
// path tells two places of one machine apart, as a directory's does, and proves nothing; the lineage does.
func (s Source) named() bool { return s.Repository != "" && !local(s.Repository) }

// elsewhere reports whether two sources have addresses that are not the same.
func (s Source) elsewhere(o Source) bool {
	return s.named() && o.named() && !strings.EqualFold(s.Repository, o.Repository)
}

// local reports whether a repository is a path and no address.
func local(repository string) bool {
	return strings.HasPrefix(repository, "/") || strings.HasPrefix(repository, ".")
}

// Record is what a release's record says of where it is from. The zero ID and Source are those of records that were
// written before there were any.
type Record struct {
	Bundle string
	ID     string
	Source Source
	// Files are what the bundle was read from, files and directories relative to the Source's; nil when that is not known.
	Files []string
	// Lent: it has let something go for other bundles of these files, who did not have it yet.
	Lent bool
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
	// Here is what the hawser.lock where such a run is says of the bundle; nil for nothing.
	Here *Run
	// Files are the bundle's files and directories, relative to its directory; Gone tells of such a name whether nothing is
	// there. nil: nobody knows.
	Files []string
	Gone  func(file string) bool
	// Varies tells whether the names of the files' bundles depend on the cluster or the run's values. nil: they do not.
	Varies func() bool
	// Dir is the absolute directory of the bundle's files, "" for standard input.
	Dir string
	// Commit is what is checked out of the Source's repository, "" where that is not known.
	Commit string
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

// proves reports whether the run has a release's lineage: hawser.lock, which is kept beside the files, knows it.
func (r Run) proves(rec Record) bool { return rec.ID != "" && rec.ID == r.ID }

// Judge compares a run with the release that a record describes. The findings are the refusal, or with takeOver the warning that
// the release is taken over, and a warning where it goes on in another repository.
func Judge(rec Record, run Run, takeOver bool) (Relation, diag.Findings) {
	rel := Compare(rec, run)
	switch was, now := rec.Source.Repository, run.Source.Repository; {
	case rel.Refused():
		return rel, diag.Findings{Refusal(rec, run, rel, takeOver)}
	case rel == Moved && was != "" && now != "" && !strings.EqualFold(was, now):
		f := diag.Warnf(CodeMoved, "bundle %s was applied here from another repository: %s", rec.Bundle, rec.Source)
		f.Because("this run is from " + run.Source.String() + ", and hawser.lock has the release's lineage: it goes on")
		return rel, diag.Findings{f}
	}
	return rel, nil
}

// Compare tells what a run is to the release that a record describes.
//
// Equal addresses of repositories and equal paths are the same source, whatever the lineages: one of two people may not have
// had the lock file. Else the lineage decides, and of equal lineages whether the former place is still there beside the run's
// own, because what was moved is not there any more and what was copied is; between two addresses it decides nothing. Where CI
// throws the lock file away, the run has no lineage: then repository and path decide, and without a repository the path alone.
func Compare(rec Record, run Run) Relation {
	switch {
	case rec.Fleet != "" && run.Fleet == "":
		return NoFleet
	case rec.Fleet != "" && rec.Fleet != run.Fleet:
		return OtherFleet
	case rec.ID == "" && rec.Source == Source{}:
		return Same
	case run.Source == Source{}:
		if run.Here.another(rec) {
			return OtherSource
		}
		return Same
	case rec.Source.named() && rec.Source.same(run.Source):
		return Same
	case rec.ID != "" && run.ID != "" && rec.ID != run.ID:
		return OtherSource
	case rec.Source.same(run.Source), rec.Source.Repository == "" && run.Dir != "" && rec.Source.Path == run.Dir:
		return Same // a repository may have come since
	case rec.Source.elsewhere(run.Source): // a lock file is copied with everything else: forks and templates have the lineage
		return OtherSource
	case run.proves(rec) && (run.StillThere == nil || !run.StillThere(rec)):
		return Moved
	}
	return OtherSource
}

// another reports whether a hawser.lock knows the name of a release as that of another bundle: with another lineage, and from another place.
func (r *Run) another(rec Record) bool {
	return r != nil && rec.ID != "" && r.ID != "" && r.ID != rec.ID && Compare(rec, *r) == OtherSource
}

// Absence is what a run knows of a bundle that it does not find in its files.
type Absence int

// The absences.
const (
	// NotTold: the bundle may be declared somewhere, or is somebody else's.
	NotTold Absence = iota
	// PathAlone: it was read from these files, or from files that are gone, as far as their path tells. It may be another
	// project's that was unpacked there before.
	PathAlone
	// Removed: it was read from them, and is declared nowhere: what it has may go to who declares it now.
	Removed
)

// Absent tells whether the documents of a release are a run's own, or are not there any more, so that a bundle that the run
// does not find in them is declared nowhere. It has to be proven, by the lineage or by the address of the repository, or to be
// said (takeOver); a record that does not say where it is from, or of which files, tells nothing, and neither do files whose
// bundles have other names for other values: one document may stand for several tenants.
func Absent(rec Record, run Run, takeOver bool) Absence {
	if rel := Compare(rec, run); rel != Same && rel != Moved || rec.Source == (Source{}) || run.Source == (Source{}) ||
		len(rec.Files) == 0 || len(run.Files) == 0 {
		return NotTold
	}
	for _, file := range rec.Files {
		read := slices.ContainsFunc(run.Files, func(own string) bool {
			return own == file || own == "." && below(file) || strings.HasPrefix(file, own+"/")
		})
		if !read && (run.Gone == nil || !run.Gone(file)) {
			return NotTold
		}
	}
	switch {
	case run.Varies != nil && run.Varies():
		return NotTold
	case takeOver, run.proves(rec), rec.Source.named() && rec.Source.same(run.Source):
		return Removed
	}
	return PathAlone
}

// Own reports whether a release is a run's own, where nobody named its bundle: nothing speaks against it, and a run that names no
// files has its lineage. delivered: hawser.lock says that the bundle was delivered from beside it.
func Own(rec Record, run Run, delivered bool) bool {
	if run.Source == (Source{}) {
		return run.proves(rec) || delivered && (rec.ID == "" || run.ID == "")
	}
	return !Compare(rec, run).Refused()
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
	again := "give one of the bundles another name; if it is the same one, moved or renamed: --take-over"
	if run.Here != nil && rel == OtherSource {
		here += ", and the hawser.lock of " + run.Here.Source.String() + " is of another bundle of that name"
		again, run = "if another one is meant, run it where that one's files are (delete takes them, too: -f); to go on with this one on purpose: --take-over", *run.Here
	}
	switch rel {
	case NoFleet:
		f = diag.Errorf(CodeSource, "bundle %s was applied here from the fleet %s, and this run has no fleet", rec.Bundle, rec.Fleet)
		f.Fix = "name the file of that fleet with --fleet; --take-over is for a release that is to leave the fleet"
	case OtherFleet:
		f = diag.Errorf(CodeFleet, "bundle %s was applied here from the fleet %s, not %s", rec.Bundle, rec.Fleet, run.Fleet)
		f.Fix = "give one of the bundles another name; if the fleet was renamed: --take-over"
	default:
		f = diag.Errorf(CodeSource, "bundle %s was applied here from another place: %s", rec.Bundle, rec.Source)
		if rec.Source.same(run.Source) {
			f.What = fmt.Sprintf("bundle %s was applied here with another lineage than that of hawser.lock: %s, not %s", rec.Bundle, short(rec.ID), short(run.ID))
		}
		f.Fix = again
	}
	f.Why = here + "; " + who(rec)
	if rel == OtherSource && !takeOver {
		f.Why += fits(rec, run) + "; each would delete what only the other declares"
	}
	if takeOver {
		f.Severity, f.Code, f.Fix = diag.Warning, CodeTakenOver, ""
		f.What += "; it is taken over"
	}
	return f
}

// fits says of a refused run whether the lineage that hawser.lock knows is the release's.
func fits(rec Record, run Run) string {
	switch {
	case rec.ID == "" || rec.Source.same(run.Source):
		return ""
	case run.ID == "":
		return "; hawser.lock, which would prove that it is the same one, does not know the bundle"
	case run.proves(rec) && rec.Source.elsewhere(run.Source):
		return "; hawser.lock has the release's lineage: the repository has another address now, or this is a copy of it"
	case run.proves(rec):
		return "; hawser.lock has the release's lineage, and the first place is still there: this is a copy of it"
	}
	return fmt.Sprintf("; hawser.lock has another lineage: %s, not %s", short(run.ID), short(rec.ID))
}

// Unproven refuses a release whose record is lost and of which nothing else, neither hawser.lock nor another cluster's
// record, tells that it is this run's: n objects carry the marks of a bundle of that name.
func Unproven(bundle string, n int, run Run) diag.Finding {
	f := diag.Errorf(CodeSource, "bundle %s has no record here, %d objects carry its marks, and nothing tells whose they are", bundle, n)
	f.Because("this run is from " + run.Source.String() + ", whose hawser.lock does not know the bundle; somebody else's would be overwritten, and deleted by the next apply")
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

// joins reports whether a run, which goes on with the record, knows no lineage of its own: then the clusters that it goes on
// with get one, whatever they had, so that hawser.lock, which keeps one, is not another one for some of them.
func (rec Record) joins(run Run) bool { return run.ID == "" && run.Source != Source{} }

// Next is the lineage and the source that the record has after a run. rec is nil for a first apply; fresh is the id that
// clusters get where the run knows none: that of the first record that it goes on with, else a new one.
func Next(rec *Record, run Run, rel Relation, fresh string) (string, Source) {
	id := run.ID
	if id == "" {
		id = fresh
	}
	switch {
	case rec == nil:
		return id, run.Source
	case run.Source == (Source{}) && rec.ID != "": // nobody would know another one
		id = rec.ID
	case rel.Refused(): // taken over: whoever had it is refused from now on
		if id == rec.ID && rel == OtherSource {
			id = fresh
		}
	case rec.ID != "" && !rec.joins(run):
		id = rec.ID
	}
	source := run.Source
	if source == (Source{}) || rel == Moved && source.Repository == "" && rec.Source.Repository != "" {
		source = rec.Source // what is known better stays
	}
	return id, source
}

// FilesOf are the files that the record names after a run: the run's, or what rec says where the run names none; both where
// something was let go for other bundles of them.
func FilesOf(rec *Record, run Run) []string {
	switch {
	case rec != nil && run.Source == (Source{}):
		return rec.Files
	case rec != nil && rec.Lent:
		files := slices.Concat(run.Files, rec.Files)
		slices.Sort(files)
		return slices.Compact(files)
	}
	return run.Files
}

// Learns reports whether an unchanged release's record should be written for its lineage's sake: it has none yet, its
// directory was moved, it is taken over, or it joins the others (see Next).
func Learns(rec Record, run Run, rel Relation, fresh string) bool {
	return rel != Same || rec.ID == "" && rec.Source == Source{} || rec.ID != "" && rec.ID != fresh && rec.joins(run)
}
