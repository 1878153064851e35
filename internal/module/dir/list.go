package dir

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is one file of a module: its path below the root (slashes) and where its content really is.
type file struct {
	path string
	real string
	size int64
	time int64
}

type lister struct {
	root   string // real path
	ignore *ignore
	files  []file
	bytes  int64
}

// vendored is where Timoni's own tree has links that lead outside the module.
const vendored = "cue.mod/pkg/"

// list walks the module: all regular files that are not ignored, symbolic links resolved, sorted by path.
func list(ctx context.Context, root string) ([]file, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, unreadable(root, err)
	}
	ig, err := readIgnore(filepath.Join(real, ignoreFile))
	if err != nil {
		return nil, unreadable(filepath.Join(root, ignoreFile), err)
	}
	l := &lister{root: real, ignore: ig}
	if err := l.walk(ctx, "", real, 0); err != nil {
		return nil, err
	}
	slices.SortFunc(l.files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return l.files, nil
}

func (l *lister) walk(ctx context.Context, rel, real string, depth int) error {
	if depth > maxDepth {
		return failure("module-too-deep", fmt.Sprintf("%s: directories are nested more than %d deep", rel, maxDepth),
			"a link may point to one of its own parents")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return unreadable(real, err)
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
	if mode&os.ModeSymlink != 0 {
		if l.ignore.match(rel, err == nil && info.IsDir()) {
			return nil
		}
		if real, err = l.follow(rel, real); err != nil {
			return err
		}
		info, err = os.Stat(real)
	}
	if err != nil {
		return unreadable(real, err)
	}
	if l.ignore.match(rel, info.IsDir()) {
		return nil
	}
	switch {
	case info.IsDir():
		return l.walk(ctx, rel, real, depth+1)
	case !info.Mode().IsRegular():
		return nil
	}
	l.bytes += info.Size()
	if len(l.files) >= maxFiles || l.bytes > maxBytes {
		return failure("module-too-large",
			fmt.Sprintf("the module holds more than %d files or %d MiB", maxFiles, maxBytes>>20),
			"exclude what the module does not need in "+ignoreFile)
	}
	l.files = append(l.files, file{path: rel, real: real, size: info.Size(), time: info.ModTime().UnixNano()})
	return nil
}

// follow resolves a link: it must stay inside the module, save for vendored CUE packages, which are digested by content.
func (l *lister) follow(rel, link string) (string, error) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", failure("module-link", fmt.Sprintf("%s is a link that leads nowhere", rel), "")
	}
	inside, err := filepath.Rel(l.root, target)
	if err == nil && filepath.IsLocal(inside) || strings.HasPrefix(rel+"/", vendored) {
		return target, nil
	}
	return "", failure("module-link", fmt.Sprintf("%s is a link that leads out of the module", rel),
		"copy the target into the module; only "+strings.TrimSuffix(vendored, "/")+" may link to elsewhere")
}

func signature(files []file) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\n", f.path, f.real, f.size, f.time)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digest is over path and content of every file, in order. The mode class is "f" for all: links are resolved and
// permissions do not reach a render.
func digest(ctx context.Context, files []file) (string, error) {
	all := sha256.New()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		sum, err := digestFile(f.real)
		if err != nil {
			return "", unreadable(f.real, err)
		}
		fmt.Fprintf(all, "f %s %q\n", sum, f.path)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

func digestFile(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
