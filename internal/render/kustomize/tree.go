package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/rootfs"
)

// maxKustomizations bounds how many kustomizations one may be made of, and maxBytes what they read together.
const (
	maxKustomizations = 1000
	maxBytes          = 256 << 20
)

// tree is everything a kustomization reads, by slash-separated path below its root.
type tree struct {
	files map[string][]byte
	// start is the directory of the kustomization below the root ("." is the root), at its file.
	start string
	at    diag.Pos
	// schema tells that it brings a schema of its own.
	schema bool
	// kustomizations are those it is made of, each before the ones it names.
	kustomizations []kustomization
	// generated are the values that generators put into Secrets.
	generated []string
	// notes are what is to be said beside what stops it.
	notes diag.Findings
	// root is the root's path as the user knows it.
	root string
}

// kustomization is one kustomization's directory and file.
type kustomization struct{ dir, file string }

// shown is a file below the root as the user would write it.
func (t *tree) shown(name string) string {
	return render.DisplayPath(filepath.Join(t.root, filepath.FromSlash(name)))
}

// cost is how many kustomizations a build makes and how many bytes of files it reads, each as often as it is named.
type cost struct{ builds, bytes int }

// collector reads a tree through a root that no link leads out of.
type collector struct {
	*tree
	ctx    context.Context
	within rootfs.FS
	limits cuelang.Limits
	size   int
	// seen is what building each directory costs, by itself and all that it names; cost is that of the one being read.
	seen      map[string]cost
	cost      cost
	tooCostly bool
	// plain tells that only resources may be named: what generators and transformers are must be readable before they run.
	plain bool
	found diag.Findings
}

// collect follows a kustomization through everything it names. The findings say what lies outside of its root, would
// have to be fetched, or is not there.
func collect(ctx context.Context, src *v1alpha1.KustomizeSource, limits cuelang.Limits) (*tree, diag.Findings) {
	root, start, f := locate(src)
	if f != nil {
		return nil, diag.Findings{*f}
	}
	c := &collector{tree: &tree{files: map[string][]byte{}, start: start, root: root}, ctx: ctx, within: rootfs.FS{Root: root, Limit: math.MaxInt},
		limits: limits, seen: map[string]cost{}}
	c.kustomize(start, diag.Pos{}) // who asks says where: others may have named it, too
	if len(c.kustomizations) > 0 {
		c.at = diag.Pos{File: c.shown(c.kustomizations[0].file), Line: 1}
	}
	return c.tree, c.found
}

func missing(format string, args ...any) diag.Finding {
	f := diag.Errorf("no-kustomization", format, args...)
	f.Fix = "a relative path starts at the directory of the file that holds it"
	return f
}

// errNoDirectory is why what is named as a kustomization's directory is none.
var errNoDirectory = errors.New("it is not a directory")

// locate finds the root and the kustomization's directory below it; both lie in the repository of the file that names them.
func locate(src *v1alpha1.KustomizeSource) (root, start string, f *diag.Finding) {
	bound, err := rootfs.Bounds(src.Dir)
	if err != nil {
		n := missing("%s: %s", src.Path, reason(err))
		return "", "", &n
	}
	for _, named := range [][2]string{{"", src.Path}, {"root ", src.Root}} {
		if n := outside(bound, src.Dir, named[0], named[1]); n != nil {
			return "", "", n
		}
	}
	abs := func(p string) (string, error) {
		if p = filepath.FromSlash(p); !filepath.IsAbs(p) {
			p = filepath.Join(src.Dir, p)
		}
		p, err := filepath.Abs(p)
		if err == nil {
			p, err = filepath.EvalSymlinks(p)
		}
		return p, err
	}
	dir, err := abs(src.Path)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = errNoDirectory
		}
	}
	if err != nil {
		n := missing("%s: %s", src.Path, reason(err))
		if errors.Is(err, errNoDirectory) && slices.Contains(names, filepath.Base(dir)) {
			n.Fix = "name its directory: " + path.Dir(filepath.ToSlash(src.Path))
		}
		return "", "", &n
	}
	if src.Root != "" {
		if root, err = abs(src.Root); err != nil {
			n := missing("root %s: %s", src.Root, reason(err))
			return "", "", &n
		}
	} else {
		root = rootOf(dir, bound)
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) && rel != "." {
		n := diag.Errorf("outside-root", "%s does not lie below the root %s", src.Path, src.Root)
		return "", "", &n
	}
	return root, filepath.ToSlash(rel), nil
}

// outside is an error for a path that lies, or leads by a link, outside of what bounds a document's sources.
func outside(bound, dir, what, name string) *diag.Finding {
	full := filepath.FromSlash(name)
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	err := rootfs.Within(bound, full)
	if err == nil {
		return nil
	}
	n := diag.Errorf("outside", "%s%s %v", what, name, err)
	n.Fix = "copy it there, or let one repository hold both (git init)"
	return &n
}

// rootOf is the nearest directory above dir that is the top of a repository or a CUE module, else what bounds the document.
func rootOf(dir, bound string) string {
	if root, marked, err := rootfs.Bound(dir, rootfs.Marks...); err == nil && marked {
		return root
	}
	return bound
}

// resolve is what a path named in dir means below the root; ok is false when it leads out, which is said.
func (c *collector) resolve(dir, name string, at diag.Pos) (string, bool) {
	if filepath.IsAbs(name) || path.IsAbs(name) {
		c.find(at, "absolute-path", fmt.Sprintf("%s is an absolute path", name), "a kustomization names what it reads relative to itself")
		return "", false
	}
	full := path.Join(dir, filepath.ToSlash(name))
	if full != "." && !filepath.IsLocal(filepath.FromSlash(full)) {
		c.find(at, "outside-root", fmt.Sprintf("%s leads out of %s, which bounds what the kustomization may read", name, render.DisplayPath(c.root)),
			"name a directory that holds both as kustomize.root, or move what is named")
		return "", false
	}
	return full, true
}

func (c *collector) find(at diag.Pos, code, what, fix string) {
	f := diag.Errorf(code, "%s", what)
	f.Pos, f.Fix = at, fix
	c.found = append(c.found, f)
}

// isDir reports whether a path below the root is a directory; err tells that there is nothing, or a link out.
func (c *collector) isDir(full string) (bool, error) {
	info, err := c.within.Stat(full)
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}

// file reads one file, once; ok is false when it cannot be read, which is said.
func (c *collector) file(full, name string, at diag.Pos) ([]byte, bool) {
	if text, ok := c.files[full]; ok {
		return text, true
	}
	text, err := c.load(full)
	if err != nil {
		c.find(at, "no-file", fmt.Sprintf("%s: %s", name, reason(err)), "")
		return nil, false
	}
	c.files[full] = text
	if fs := cuelang.CheckAliases(c.shown(full), text); fs != nil {
		c.found = append(c.found, fs...)
		return nil, false
	}
	return text, true
}

func (c *collector) load(full string) ([]byte, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	f, err := c.within.Open(full)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > int64(c.limits.SourceBytes):
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), c.limits.SourceBytes)
	case len(c.files) >= c.limits.Files:
		return nil, fmt.Errorf("more than %d files", c.limits.Files)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(c.limits.SourceBytes)+1))
	if err != nil {
		return nil, err
	}
	if c.size += len(text); len(text) > c.limits.SourceBytes || c.size > maxBytes {
		return nil, fmt.Errorf("it makes more than %d MiB together with the others", maxBytes>>20)
	}
	return text, nil
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
	if out, ok := errors.AsType[*rootfs.OutsideError](err); ok {
		if out.Link {
			return "it is a link that leads out of the root"
		}
		return "it is a part of .git"
	}
	return err.Error()
}
