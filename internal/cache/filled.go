package cache

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

// keptAt is what the path of kept content looks like in every cache.
var keptAt = lazyregexp.New(`(?i)[/\\](?:blobs|trees)[/\\]sha256[/\\][0-9a-f]{64}(?:-[^/\\]*)?(?:[/\\]|$)`)

// within are directories that a cache has and nothing else, and that others' content is in.
var within = []string{"trees/sha256", "documents/sha512"}

// Filled reports whether a path, links resolved, lies where Hawser puts what others wrote: in a cache (one of dirs, "hawser" in the home's .cache,
// or one that looks so, wherever it is), or among the temporary files of one of its processes.
func Filled(name string, dirs ...string) bool {
	for _, dir := range dirs {
		if dir != "" && rootfs.Holds(dir, name) {
			return true
		}
	}
	if home, err := os.UserHomeDir(); err == nil && rootfs.Holds(filepath.Join(home, ".cache", "hawser"), name) {
		return true // as it was before XDG_CACHE_HOME named another place
	}
	return slices.ContainsFunc(spellings(name), func(at string) bool { return keptAt.MatchString(at) || temporary(at) || inCache(at) })
}

// inCache reports whether a path lies in a directory that has what a cache has, made by who could have put the path there: who may make a directory
// somewhere above (in /tmp) has no say in what is below.
func inCache(at string) bool {
	for up := filepath.Dir(at); ; up = filepath.Dir(up) {
		for _, dir := range within {
			if ours(up, dir, at) {
				return true
			}
		}
		if up == filepath.Dir(up) {
			return false
		}
	}
}

// ours reports whether a directory below another one, and each one between them, was made by who could have put a path there, and is no link.
func ours(up, dir, at string) bool {
	for _, name := range strings.Split(filepath.ToSlash(dir), "/") {
		up = filepath.Join(up, name)
		if is, err := os.Lstat(up); err != nil || !is.IsDir() || !madeBy(is, at) {
			return false
		}
	}
	return true
}

// spellings are a path as it is, and with its links resolved.
func spellings(name string) []string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return []string{name}
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return []string{abs, real}
	}
	return []string{abs}
}

// temporary reports whether a path lies in a directory that a process makes for temporary files: hawser-NAME below that of the system, or
// .hawser-NAME beside what it writes.
func temporary(at string) bool {
	for up := at; ; up = filepath.Dir(up) {
		base := strings.ToLower(filepath.Base(up))
		if strings.HasPrefix(base, ".hawser-") && up != at {
			return true
		}
		if strings.HasPrefix(base, "hawser-") && up != at && rootfs.Holds(os.TempDir(), filepath.Dir(up)) && rootfs.Holds(filepath.Dir(up), os.TempDir()) {
			return true
		}
		if up == filepath.Dir(up) {
			return false
		}
	}
}
