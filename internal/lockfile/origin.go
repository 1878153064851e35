package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/checkout"
	"hawser.dev/hawser/internal/lineage"
)

// Origin is where a run's documents are: what lineages are compared by. files are those of the bundle, path is that of the
// hawser.lock beside them, "" where there is none. Without files it is zero.
func Origin(files []string, path string) lineage.Run {
	var out lineage.Run
	if len(files) == 0 {
		return out
	}
	dir, err := os.Getwd()
	if path != "" {
		dir, err = filepath.Abs(filepath.Dir(path))
	}
	if real, rerr := filepath.EvalSymlinks(dir); err == nil && rerr == nil {
		dir = real
	}
	at := checkout.Of(dir)
	out.Source.Repository, out.Commit = lineage.Repository(at.Source), at.Revision
	rel, err := filepath.Rel(at.Root, dir)
	switch {
	case path == "" && out.Source.Repository != "" && err == nil:
		out.Source.Path = lineage.Piped(filepath.ToSlash(rel))
	case path == "":
		out.Source.Path = lineage.Piped(filepath.ToSlash(dir))
	case out.Source.Repository != "" && err == nil:
		out.Source.Path, out.Dir = filepath.ToSlash(rel), dir
	default:
		out.Source.Path, out.Dir = filepath.ToSlash(dir), filepath.ToSlash(dir)
	}
	out.StillThere = func(rec lineage.Record) bool {
		dir := filepath.FromSlash(rec.Source.Path)
		switch {
		case rec.Source.Repository == "":
		case strings.EqualFold(rec.Source.Repository, out.Source.Repository):
			dir = filepath.Join(at.Root, dir)
		case out.Source.Repository == "":
			return false
		default: // a fork names what it was made of among its remotes
			return slices.ContainsFunc(at.Remotes, func(url string) bool { return strings.EqualFold(lineage.Repository(url), rec.Source.Repository) })
		}
		f, err := Read(filepath.Join(dir, Name))
		return err == nil && f.Lineages[rec.Bundle] == rec.ID
	}
	if path == "" {
		return out
	}
	out.Gone = func(file string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		return errors.Is(err, fs.ErrNotExist)
	}
	for _, f := range files {
		real, err := filepath.EvalSymlinks(f)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if rel, rerr := filepath.Rel(dir, real); err == nil && rerr == nil {
			out.Files = append(out.Files, filepath.ToSlash(rel))
		}
	}
	if len(out.Files) < len(files) {
		out.Files = nil // standard input among them: nobody can tell later what was read
	}
	return out
}
