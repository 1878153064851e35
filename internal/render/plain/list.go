package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// maxDepth is how deep directories may be nested.
const maxDepth = 64

// file is one file that was read; name is what the user knows it by, path where it lies below the directory that relative
// paths start at, or absolute where the user says so: the same wherever a command is run.
type file struct {
	name, path string
	text       []byte
}

// lister collects files in the order of the paths, each once.
type lister struct {
	// root, when set, holds fetched content: paths start there and do not lead out. show is a file as the user knows it.
	root string
	// bound, when set, is the directory that holds everything that the paths of a document may name: its repository or module.
	bound  string
	base   string // where the path that is being read starts, "" for an absolute one
	show   func(string) string
	limits cuelang.Limits
	at     diag.Pos
	seen   map[string]bool
	files  []file
	found  diag.Findings
}

func (l *lister) fail(code, what, fix string) {
	f := diag.Errorf(code, "%s", what)
	f.Fix = fix
	l.found = append(l.found, f)
}

// path adds what one path names: a file, a directory or a glob. Those of a document lie in its repository, those that a
// user gave lead anywhere; links below a directory or glob may not lead out of it.
func (l *lister) path(dir, p string) {
	full := filepath.FromSlash(p)
	if l.root != "" && p != "." && !filepath.IsLocal(full) {
		l.fail("outside-content", p+" leads out of what was fetched", "name files of the archive or artifact, relative to its top")
		return
	}
	if l.base = ""; !filepath.IsAbs(full) {
		l.base, full = dir, filepath.Join(dir, full)
	}
	if l.bound != "" {
		if err := within(l.bound, full); err != nil {
			l.fail("outside", p+" "+err.Error(), "copy it there, or deliver it by itself: hawser apply -f FILE")
			return
		}
	}
	if strings.ContainsAny(p, "*?[") {
		if _, err := os.Lstat(full); err != nil {
			l.glob(p, full)
			return
		}
	}
	info, err := os.Stat(full)
	if err == nil && l.root != "" && !l.below(full) {
		err = errors.New("it is a link that leads out of what was fetched")
	}
	if err != nil {
		l.fail("no-manifests", fmt.Sprintf("%s: %s", p, reason(err)),
			l.start("path"))
		return
	}
	if !info.IsDir() {
		l.file(full)
		return
	}
	if root, ok := l.real(full); ok {
		l.walk(root, full, 0)
	}
}

// within is an error for what lies, or leads by a link, outside of a directory, or in a repository's own .git. Of what is not
// there, and of a glob, the part before counts: whether something is there outside is not told.
func within(root, name string) error {
	real, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if i := strings.IndexAny(real, "*?["); i >= 0 {
		if _, err := os.Lstat(real); err != nil {
			real = filepath.Dir(real[:i] + "x")
		}
	}
	for at := real; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			rest, err := filepath.Rel(at, real)
			if err != nil {
				return err
			}
			real = filepath.Join(resolved, rest)
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	rel, err := filepath.Rel(root, real)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return fmt.Errorf("lies, or leads by a link, outside of %s", root)
	case slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git"):
		return errors.New("is a part of .git")
	}
	return nil
}

func (l *lister) glob(p, full string) {
	matches, err := filepath.Glob(full)
	matches = slices.DeleteFunc(matches, func(m string) bool { // the names in a linked directory outside are not told
		return l.bound != "" && within(l.bound, filepath.Dir(m)) != nil
	})
	if err != nil || len(matches) == 0 {
		what := fmt.Sprintf("%s matches no file", p)
		if err != nil {
			what = fmt.Sprintf("%s is not a glob: %v", p, err)
		}
		l.fail("no-manifests", what, l.start("glob"))
		return
	}
	slices.Sort(matches)
	base := full[:strings.IndexAny(full, "*?[")]
	root, ok := l.real(filepath.Dir(base + "x"))
	if !ok {
		return
	}
	for _, m := range matches {
		if !strings.HasPrefix(filepath.Base(m), ".") {
			l.entry(root, m, true, 0)
		}
	}
}

// walk adds the manifests below dir, sorted by path; hidden files and directories are skipped.
func (l *lister) walk(root, dir string, depth int) {
	entries, err := os.ReadDir(dir)
	if err == nil && depth > maxDepth {
		err = errors.New("directories are nested too deeply")
	}
	if err != nil {
		l.fail("unreadable", fmt.Sprintf("%s: %s", l.show(dir), reason(err)), "")
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			l.entry(root, filepath.Join(dir, e.Name()), false, depth)
		}
	}
}

// entry adds a file or directory found below root. Named files (of a glob) are read whatever their ending.
func (l *lister) entry(root, name string, named bool, depth int) {
	real, ok := l.real(name)
	if !ok {
		return
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		l.fail("manifest-link", fmt.Sprintf("%s is a link that leads out of its directory", l.show(name)),
			"name the target itself in manifests.paths")
		return
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		l.fail("unreadable", fmt.Sprintf("%s: %s", l.show(name), reason(err)), "")
	case info.IsDir():
		l.walk(root, name, depth+1)
	case info.Mode().IsRegular() && (named || isManifest(name)):
		l.file(name)
	}
}

// start says where a relative path or glob starts.
func (l *lister) start(what string) string {
	if l.root != "" {
		return "a " + what + " starts at the top of what was fetched"
	}
	return "a relative " + what + " starts at the directory of the file that holds it"
}

// below reports whether a path, links resolved, lies below the fetched content.
func (l *lister) below(full string) bool {
	root, err := filepath.EvalSymlinks(l.root)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

func (l *lister) real(name string) (string, bool) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		l.fail("unreadable", fmt.Sprintf("%s: %s", l.show(name), reason(err)), "")
		return "", false
	}
	return real, true
}

func (l *lister) file(name string) {
	name = filepath.Clean(name)
	if l.seen[name] {
		return
	}
	l.seen[name] = true
	shown := l.show(name)
	if len(l.files) >= l.limits.Files {
		if len(l.files) == l.limits.Files {
			l.fail("too-many-files", fmt.Sprintf("more than %d manifest files", l.limits.Files), "")
		}
		return
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil && info.Size() > int64(l.limits.SourceBytes) {
		err = fmt.Errorf("%d bytes, at most %d are read", info.Size(), l.limits.SourceBytes)
	}
	var text []byte
	if err == nil {
		text, err = rootfs.ReadFile(name, l.limits.SourceBytes)
	}
	if err != nil {
		f := diag.Errorf("unreadable", "%s", reason(err))
		f.Pos = diag.Pos{File: shown}
		l.found = append(l.found, f)
		return
	}
	path := name
	if rel, err := filepath.Rel(l.base, name); err == nil && l.base != "" {
		path = rel
	}
	l.files = append(l.files, file{name: shown, path: filepath.ToSlash(path), text: text})
}

func isManifest(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// reason is the error without the path and the name of the system call.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file or directory"
	}
	return err.Error()
}
