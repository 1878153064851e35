package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Together reports whether a file, links resolved, may have come with the files of a directory, so that whoever wrote those wrote it, too: it
// lies in the directory's Repository, in another working tree of it, or in a repository around it, or so of the current directory. Without any
// mark the current directory counts by itself, as a tree that was unpacked. What holds the user's home came with nothing, unless it is the
// Repository itself. What cannot be told counts as come together.
func Together(dir, name string) bool {
	real, err := filepath.Abs(name)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return true
	}
	its, err := commonOf(filepath.Dir(real))
	if err != nil {
		return true
	}
	for _, from := range []string{dir, "."} {
		whole, marked, err := Repository(from)
		if err != nil || Holds(whole, real) && (marked || from == dir || !holdsHome(whole)) {
			return true
		}
		if !marked {
			continue
		}
		common, err := common(whole)
		if err != nil || common != "" && common == its || around(whole, real) {
			return true
		}
	}
	return false
}

// around reports whether a file lies in a repository around a directory.
func around(dir, real string) bool {
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, Marks[0])); err == nil && Holds(up, real) && !holdsHome(up) {
			return true
		}
	}
	return false
}

// Holds reports whether a path lies in a directory, or is it, links of both resolved. Directories are compared and not their names, of
// which a file system may know several. What is not there holds nothing.
func Holds(dir, name string) bool {
	whole, err := os.Stat(dir)
	if err != nil {
		return false
	}
	at, err := filepath.Abs(name)
	if err == nil {
		at, err = resolve(at, maxLinks)
	}
	for ; err == nil; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(whole, info) {
			return true
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return false
}

// commonOf is common of the Repository that holds a directory.
func commonOf(dir string) (string, error) {
	root, marked, err := Repository(dir)
	if err != nil || !marked {
		return "", err
	}
	return common(root)
}

// common is the .git that all working trees of a repository share, links resolved: that of git worktree's is named by the file commondir
// in their own. "" when there is none.
func common(root string) (string, error) {
	at, err := gitDir(root)
	if err != nil || at == "" {
		return "", err
	}
	data, err := ReadFile(filepath.Join(at, "commondir"), MaxSmall)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return at, nil
	}
	if err != nil {
		return "", err
	}
	to := strings.TrimSpace(string(data))
	if !filepath.IsAbs(to) {
		to = filepath.Join(at, to)
	}
	return resolve(filepath.Clean(to), maxLinks)
}

// Repository is Bounds, and for a submodule, or a working tree in another one, the outermost repository that it belongs to. marked tells
// whether there is any mark.
func Repository(dir string) (root string, marked bool, err error) {
	root, marked, err = Bound(dir, Marks[0])
	if err != nil || !marked {
		if err == nil {
			root, marked, err = Bound(dir, Marks[1])
		}
		return root, marked, err
	}
	for {
		above, err := superproject(root)
		if err != nil || above == "" {
			return root, true, err
		}
		root = above
	}
}

// gitDir is the .git of a working tree, or what its .git names when that is a file; links are resolved. "" when there is none.
func gitDir(root string) (string, error) {
	const prefix = "gitdir:"
	file := filepath.Join(root, Marks[0])
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return filepath.EvalSymlinks(file)
	}
	data, err := ReadFile(file, MaxSmall)
	if err != nil {
		return "", err
	}
	at, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if at = strings.TrimSpace(at); !ok || at == "" {
		return "", nil
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(root, at)
	}
	return resolve(filepath.Clean(at), maxLinks)
}

// superproject is the directory above a working tree whose .git holds that of the tree, "" when there is none: a submodule's .git is
// a file that names ../.git/modules/NAME.
func superproject(root string) (string, error) {
	if info, err := os.Stat(filepath.Join(root, Marks[0])); err != nil || info.IsDir() {
		return "", err
	}
	at, err := gitDir(root)
	if err != nil || at == "" {
		return "", err
	}
	for up := filepath.Dir(root); ; up = filepath.Dir(up) {
		git, err := gitDir(up)
		if err == nil && git != "" && git != at && holds(git, at) {
			return up, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if up == filepath.Dir(up) {
			return "", nil
		}
	}
}

// holds reports whether a path without links lies in a directory without links, or is it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// holdsHome reports whether the user's home lies in a directory, or is it.
func holdsHome(dir string) bool {
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	return err == nil && holds(dir, home)
}
