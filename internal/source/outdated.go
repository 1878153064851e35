package source

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
)

// Verdict says in a word how a source stands to what there is.
type Verdict string

const (
	// Current: pinned to the newest that the bundle allows.
	Current Verdict = "upToDate"
	// Behind: the bundle allows a newer one than is pinned.
	Behind Verdict = "newerInRange"
	// Moved: the tag means other content than is pinned.
	Moved Verdict = "tagMoved"
	// Beyond: only what the bundle does not allow is newer.
	Beyond Verdict = "newerOutOfRange"
	// Loose: nothing pins it.
	Loose Verdict = "notPinned"
	// Edited: local content is not what is pinned.
	Edited Verdict = "changed"
	// Unknown: it could not be asked.
	Unknown Verdict = "unknown"
)

// Row is one source compared with what there is.
type Row struct {
	Source Source
	// Locked is what the bundle or hawser.lock pins, Newest the newest that the bundle allows, Overall the newest stable
	// one. Zero = there is none.
	Locked          lockfile.Pin
	Newest, Overall module.Resolved
	Verdict         Verdict
	// Err is set when the verdict is Unknown.
	Err error
}

// Compare asks what a source means now and what the newest version of it is.
func (r *Resolver) Compare(ctx context.Context, s Source) Row {
	row := Row{Source: s}
	row.Locked, _ = s.PinIn(r.Pins)
	f := r.Fetchers[s.Scheme()]
	if s.Ref.Digest != "" {
		row.Locked = lockfile.Pin{Version: s.Want, Digest: s.Ref.Digest}
	}
	if f == nil {
		row.Verdict = Unknown
		return row
	}
	ref := s.Ref
	if !s.files() {
		ref.Digest = ""
	}
	if row.Newest, row.Err = f.Resolve(ctx, ref); row.Err != nil {
		row.Verdict = Unknown
		return row
	}
	if !s.Local() && !s.files() {
		ref.Version = "*"
		if overall, err := f.Resolve(ctx, ref); err == nil { // a repository without semantic versions has no newest one
			row.Overall = overall
		}
	}
	row.Verdict = verdict(s, row)
	return row
}

// CompareFiles compares the files that an instance's renderer reads itself with what is pinned: nothing newer is anywhere.
// What a kustomization would have to fetch is an error, as it is for every other verb.
func (r *Resolver) CompareFiles(ctx context.Context, in v1alpha1.Instance) Row {
	s, _ := Of(in)
	row := Row{Source: s, Locked: r.Pins[s.Key()]}
	if row.Newest.Digest, row.Err = r.Digest(ctx, in, nil); row.Err != nil {
		row.Verdict = Unknown
		return row
	}
	row.Verdict = verdict(s, row)
	return row
}

// files reports whether the source is a file of a web server, which has no versions: its digest is all there is.
func (s Source) files() bool { return s.Scheme() == "https" || s.Scheme() == "http" }

func verdict(s Source, r Row) Verdict {
	switch {
	case r.Locked.Digest == "":
		return Loose
	case r.Locked.Digest != r.Newest.Digest && s.Local():
		return Edited
	case r.Locked.Digest != r.Newest.Digest && r.Locked.Version == r.Newest.Version:
		return Moved
	case r.Locked.Digest != r.Newest.Digest:
		return Behind
	case newer(r.Overall.Version, r.Newest.Version):
		return Beyond
	}
	return Current
}

// newer compares semantic versions; anything else is not newer.
func newer(a, b string) bool {
	x, errA := semver.NewVersion(a)
	y, errB := semver.NewVersion(b)
	return errA == nil && errB == nil && x.GreaterThan(y)
}
