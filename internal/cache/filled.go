package cache

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

// keptAt is what the path of kept content looks like in every cache.
var keptAt = regexp.MustCompile(`(?i)[/\\](?:blobs|trees)[/\\]sha256[/\\][0-9a-f]{64}(?:-[^/\\]*)?(?:[/\\]|$)`)

// Filled reports whether a path, links resolved, lies where Hawser puts what others wrote: in a cache (one of dirs, or one that looks so,
// wherever it is), or among the temporary files of one of its processes.
func Filled(name string, dirs ...string) bool {
	for _, dir := range dirs {
		if dir != "" && rootfs.Holds(dir, name) {
			return true
		}
	}
	for _, at := range spellings(name) {
		if keptAt.MatchString(at) || temporary(at) {
			return true
		}
	}
	return false
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
