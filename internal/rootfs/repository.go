package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Together reports whether a file, links resolved, may have come with the files of a directory, so that whoever wrote those wrote it, too: it
// lies in the directory's Repository, or in that of the current directory. Without any mark the current directory counts by itself, as a tree
// that was unpacked, unless it holds the user's home. What cannot be told counts as come together.
func Together(dir, name string) bool {
	real, err := filepath.Abs(name)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return true
	}
	whole, _, err := Repository(dir)
	if err != nil || holds(whole, real) {
		return true
	}
	here, marked, err := Repository(".")
	if err != nil || !holds(here, real) {
		return err != nil
	}
	return marked || !holdsHome(here)
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

// superproject is the directory above a working tree whose .git holds that of the tree, "" when there is none: a submodule's .git is
// a file that names ../.git/modules/NAME.
func superproject(root string) (string, error) {
	const prefix = "gitdir:"
	file := filepath.Join(root, Marks[0])
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return "", err
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
	if at, err = resolve(filepath.Clean(at), maxLinks); err != nil {
		return "", err
	}
	for up := filepath.Dir(root); ; up = filepath.Dir(up) {
		git, err := filepath.EvalSymlinks(filepath.Join(up, Marks[0]))
		if err == nil && holds(git, at) {
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
