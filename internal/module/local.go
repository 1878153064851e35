package module

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// LocalVersion is the version of content from a local directory, whatever the reference says.
const LocalVersion = "0.0.0-devel"

// Limits of one local directory.
const (
	maxFiles = 20000
	maxBytes = 512 << 20
	maxDepth = 64
	// maxVendored is the size of one file of vendored CUE that a link leads to.
	maxVendored = 16 << 20
)

// Local reads local directories of one kind of content. It remembers digests by directory and stat signature (path,
// size and time of every file), so that many instances of one source hash it once per process.
type Local struct {
	// Noun is the kind in errors and their codes: "module", "chart".
	Noun string
	// IgnoreFile is the name of the file Ignore reads, for errors.
	IgnoreFile string
	// Ignore gives a directory's rule for what is left out; paths are below root, slash separated. A nil rule leaves out nothing.
	Ignore func(root string) (func(rel string, info fs.FileInfo) bool, error)
	// Outside reports whether a link at this path may lead out of the directory, to CUE packages; nil = no link may.
	Outside func(rel string) bool

	mu    sync.Mutex
	known map[string]localKnown
}

type localKnown struct {
	signature string
	content   Content
}

// Find resolves a path of a reference against its Dir (the working directory when empty) to what is there; the result
// is absolute. What a document names (Dir is set) lies in its repository: of what lies outside nothing is asked, not even whether
// it is there. Errors are *diag.FindingsError.
func (l *Local) Find(ref Reference, path string) (string, fs.FileInfo, error) {
	full := filepath.FromSlash(path)
	if !filepath.IsAbs(full) {
		full = filepath.Join(ref.Dir, full)
	}
	root, err := filepath.Abs(full)
	if err != nil {
		return "", nil, fmt.Errorf("path of %s %s: %w", l.Noun, ref.URL, err)
	}
	if ref.Dir != "" {
		bound, err := rootfs.Bounds(ref.Dir)
		if err != nil {
			return "", nil, fmt.Errorf("path of %s %s: %w", l.Noun, ref.URL, err)
		}
		if err := rootfs.Within(bound, root); err != nil {
			return "", nil, l.Failure("outside", fmt.Sprintf("%s %s %v", l.Noun, ref.URL, err), "copy it there, or let one repository hold both (git init); what comes from a registry may be named anywhere")
		}
	}
	if ref.Dir == "" {
		if err := rootfs.Given(root); err != nil {
			return "", nil, l.Failure("outside", fmt.Sprintf("%s %s: %v", l.Noun, ref.URL, err), "who wrote the link is not who named it: name what it leads to itself")
		}
	}
	info, err := os.Stat(root)
	switch {
	case os.IsNotExist(err):
		what, fix := "directory", "a relative path starts at the directory of the file that holds it"
		if strings.HasSuffix(full, ".tgz") {
			what = "file"
		}
		if ref.Dir == "" { // no file holds it: it was given by itself
			fix = "a relative path starts at the current directory"
		}
		return "", nil, l.Failure("not-found", fmt.Sprintf("%s %s: there is no %s %s", l.Noun, ref.URL, what, full), fix)
	case err != nil:
		return "", nil, l.Failure("not-found", fmt.Sprintf("%s %s: %v", l.Noun, ref.URL, err), "")
	}
	return root, info, nil
}

// Content lists and digests a directory: all regular files that are not ignored, symbolic links resolved, sorted by
// path. complete may refuse the list. Errors are *diag.FindingsError, or the context's.
func (l *Local) Content(ctx context.Context, root string, complete func(files []string) error) (Content, error) {
	files, err := l.list(ctx, root)
	if err != nil {
		return Content{}, err
	}
	c := Content{Root: root, Version: LocalVersion, Files: make([]string, 0, len(files))}
	for _, f := range files {
		c.Files = append(c.Files, f.path)
	}
	if err := complete(c.Files); err != nil {
		return Content{}, err
	}
	sig := signature(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.known[root]; ok && k.signature == sig {
		return k.content, nil
	}
	if c.Digest, err = l.digest(ctx, files); err != nil {
		return Content{}, err
	}
	if l.known == nil {
		l.known = map[string]localKnown{}
	}
	l.known[root] = localKnown{signature: sig, content: c}
	return c, nil
}

// Check compares the digest of what is there with the one the reference wants, if any. The error names both.
func (l *Local) Check(ref Reference, digest string) error {
	if ref.Digest == "" || ref.Digest == digest {
		return nil
	}
	f := diag.Errorf("digest-mismatch", "%s %s has digest %s, the bundle wants %s", l.Noun, ref.URL, digest, ref.Digest)
	f.Fix = "it was changed: review it, then set the digest it has now or remove the field"
	return diag.Findings{f}.Err()
}

// Failure is a finding as an error; its code is the noun with a suffix.
func (l *Local) Failure(code, what, fix string) error {
	f := diag.Errorf(l.Noun+"-"+code, "%s", what)
	f.Fix = fix
	return diag.Findings{f}.Err()
}

// Unreadable is the failure of a file or directory that cannot be read.
func (l *Local) Unreadable(path string, err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return l.Failure("unreadable", fmt.Sprintf("%s: %v", path, err), "")
}

// localFile is one file: its path below the root (slashes) and where its content really is.
type localFile struct {
	path string
	real string
	size int64
	time int64
}

type lister struct {
	*Local
	root   string // real path
	ignore func(rel string, info fs.FileInfo) bool
	files  []localFile
	bytes  int64
}

func (l *Local) list(ctx context.Context, root string) ([]localFile, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, l.Unreadable(root, err)
	}
	ls := &lister{Local: l, root: real}
	if l.Ignore != nil {
		if ls.ignore, err = l.Ignore(real); err != nil {
			return nil, l.Unreadable(filepath.Join(root, l.IgnoreFile), err)
		}
	}
	if err := ls.walk(ctx, "", real, 0); err != nil {
		return nil, err
	}
	slices.SortFunc(ls.files, func(a, b localFile) int { return cmp.Compare(a.path, b.path) })
	return ls.files, nil
}

func (l *lister) walk(ctx context.Context, rel, real string, depth int) error {
	if depth > maxDepth {
		return l.Failure("too-deep", fmt.Sprintf("%s: directories are nested more than %d deep", rel, maxDepth),
			"a link may point to one of its own parents")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return l.Unreadable(real, err)
	}
	for _, e := range entries {
		if err := l.entry(ctx, path.Join(rel, e.Name()), filepath.Join(real, e.Name()), e.Type(), depth); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) entry(ctx context.Context, rel, real string, mode os.FileMode, depth int) error {
	if path.Base(rel) == ".git" {
		return nil
	}
	info, err := os.Stat(real)
	link := mode&os.ModeSymlink != 0
	if link {
		at := info
		if err != nil { // a link that leads nowhere may still be ignored
			at, _ = os.Lstat(real)
		}
		if at != nil && l.ignored(rel, at) {
			return nil
		}
		if real, err = l.follow(rel, real); err != nil {
			return err
		}
		info, err = os.Stat(real)
	}
	if err != nil {
		return l.Unreadable(real, err)
	}
	if l.ignored(rel, info) {
		return nil
	}
	switch {
	case info.IsDir():
		return l.walk(ctx, rel, real, depth+1)
	case !info.Mode().IsRegular():
		return nil
	case !l.inside(real):
		if _, ok := cuelang.PackageFile(real, maxVendored); !ok {
			if link {
				return l.leadsOut(rel)
			}
			return nil // what lies beside vendored CUE is no part of it
		}
	}
	l.bytes += info.Size()
	if len(l.files) >= maxFiles || l.bytes > maxBytes {
		return l.Failure("too-large", fmt.Sprintf("the %s holds more than %d files or %d MiB", l.Noun, maxFiles, maxBytes>>20),
			"exclude what the "+l.Noun+" does not need in "+l.IgnoreFile)
	}
	l.files = append(l.files, localFile{path: rel, real: real, size: info.Size(), time: info.ModTime().UnixNano()})
	return nil
}

func (l *lister) ignored(rel string, info fs.FileInfo) bool {
	return l.ignore != nil && l.ignore(rel, info)
}

// follow resolves a link: it must stay inside the directory, save where Outside allows more.
func (l *lister) follow(rel, link string) (string, error) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", l.Failure("link", fmt.Sprintf("%s is a link that leads nowhere", rel), "")
	}
	if l.inside(target) || l.Outside != nil && l.Outside(rel) {
		return target, nil
	}
	return "", l.leadsOut(rel)
}

func (l *lister) leadsOut(rel string) error {
	return l.Failure("link", fmt.Sprintf("%s is a link that leads out of the %s", rel, l.Noun), "copy the target into the "+l.Noun)
}

// inside reports whether a path without links lies in the directory, and in no .git of it.
func (l *lister) inside(real string) bool {
	rel, err := filepath.Rel(l.root, real)
	return err == nil && filepath.IsLocal(rel) && !rootfs.InGit(rel)
}

func signature(files []localFile) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\n", f.path, f.real, f.size, f.time)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digest is over path and content of every file, in order. The mode class is "f" for all: links are resolved and
// permissions do not reach a render.
func (l *Local) digest(ctx context.Context, files []localFile) (string, error) {
	all := sha256.New()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		sum, err := digestFile(f.real)
		if err != nil {
			return "", l.Unreadable(f.real, err)
		}
		fmt.Fprintf(all, "f %s %q\n", strings.TrimPrefix(sum, "sha256:"), f.path)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// digestFile is "sha256:<hex>" of a file's content.
func digestFile(name string) (string, error) {
	in, err := rootfs.OpenFile(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
