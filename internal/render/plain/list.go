package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
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
	base   string            // where the path that is being read starts, "" for an absolute one
	top    string            // what is read of the path lies below it when it is opened, links resolved
	open   *rootfs.Tree      // of top
	reals  map[string]string // directories with their links resolved
	show   func(string) string
	except map[string]bool // files, links resolved, that are not read when a directory holds them
	limits cuelang.Limits
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
		if err := rootfs.Within(l.bound, full); err != nil {
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
	if err == nil && l.root != "" && !l.fetched(full) {
		err = errors.New("it is a link that leads out of what was fetched")
	}
	if err != nil {
		l.fail("no-manifests", fmt.Sprintf("%s: %s", p, reason(err)),
			l.start("path"))
		return
	}
	root, ok := l.real(full)
	switch {
	case !ok:
	case info.IsDir():
		l.within(root)
		l.walk(root, full, root, 0)
	default:
		l.within(filepath.Dir(root))
		l.file(full, root)
	}
}

// within sets what bounds the files that are read now: the document's repository, the fetched content, or what the user named.
func (l *lister) within(named string) {
	l.top = named
	if l.bound != "" {
		l.top = l.bound
	}
	if l.root != "" {
		if root, err := filepath.EvalSymlinks(l.root); err == nil {
			l.top = root
		}
	}
	l.close()
	l.open = rootfs.NewTree(l.top)
}

func (l *lister) close() {
	if l.open != nil {
		l.open.Close()
	}
}

// below is a path without links below what may be read: whatever has become a link since leads nowhere else.
func (l *lister) below(real string) string {
	rel, err := filepath.Rel(l.top, real)
	if err != nil {
		rel = ".." // is refused when it is opened
	}
	return filepath.ToSlash(rel)
}

func (l *lister) glob(p, full string) {
	matches, err := filepath.Glob(full)
	matches = slices.DeleteFunc(matches, func(m string) bool { // the names in a linked directory outside are not told
		return l.bound != "" && rootfs.Within(l.bound, filepath.Dir(m)) != nil
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
	l.within(root)
	for _, m := range matches {
		if !strings.HasPrefix(filepath.Base(m), ".") {
			l.entry(root, m, true, 0)
		}
	}
}

// walk adds the manifests below dir, which lies at real, sorted by path; hidden files and directories are skipped.
func (l *lister) walk(root, dir, real string, depth int) {
	entries, err := rootfs.FS{Root: l.top, Limit: math.MaxInt}.ReadDir(l.below(real))
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
	info, err := os.Lstat(name)
	if err != nil {
		l.fail("unreadable", fmt.Sprintf("%s: %s", l.show(name), reason(err)), "")
		return
	}
	real, ok := l.realOf(name, info)
	if !ok || !named && l.ours(name, real) {
		return
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		l.fail("manifest-link", fmt.Sprintf("%s is a link that leads out of its directory", l.show(name)),
			"name the target itself in manifests.paths")
		return
	}
	if info.Mode()&leads != 0 {
		info, err = os.Stat(name)
	}
	switch {
	case err != nil:
		l.fail("unreadable", fmt.Sprintf("%s: %s", l.show(name), reason(err)), "")
	case info.IsDir():
		l.walk(root, name, real, depth+1)
	case info.Mode().IsRegular() && (named || isManifest(name)):
		l.file(name, real)
	}
}

// leads are the modes of what leads elsewhere: links, and junctions, which are Windows' own.
const leads = fs.ModeSymlink | fs.ModeIrregular

// realOf is real for an entry of a directory, whose links are resolved once for all its entries.
func (l *lister) realOf(name string, info fs.FileInfo) (string, bool) {
	if info.Mode()&leads != 0 {
		return l.real(name)
	}
	dir := filepath.Dir(name)
	real, ok := l.reals[dir]
	if !ok {
		if real, ok = l.real(dir); !ok {
			return "", false
		}
		l.reals[dir] = real
	}
	return filepath.Join(real, filepath.Base(name)), true
}

// start says where a relative path or glob starts.
func (l *lister) start(what string) string {
	if l.root != "" {
		return "a " + what + " starts at the top of what was fetched"
	}
	return "a relative " + what + " starts at the directory of the file that holds it"
}

// fetched reports whether a path, links resolved, lies below the fetched content.
func (l *lister) fetched(full string) bool {
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

// file reads a file, known by name; real is where it lies, links resolved.
func (l *lister) file(name, real string) {
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
	text, err := l.read(real)
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

func (l *lister) read(real string) ([]byte, error) {
	in, info, err := l.open.Open(l.below(real))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > int64(l.limits.SourceBytes):
		return nil, fmt.Errorf("%d bytes, at most %d are read", info.Size(), l.limits.SourceBytes)
	}
	return rootfs.ReadAll(in, filepath.Base(real), l.limits.SourceBytes)
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
