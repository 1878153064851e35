//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a directory is this user's.
func mine(dir fs.FileInfo) bool {
	is, ok := dir.Sys().(*syscall.Stat_t)
	return ok && int(is.Uid) == os.Geteuid()
}

// madeBy reports whether a directory is of this user, of root, or of who has the file at a path.
func madeBy(dir fs.FileInfo, at string) bool {
	made, ok := dir.Sys().(*syscall.Stat_t)
	if !ok || made.Uid == 0 || int(made.Uid) == os.Geteuid() {
		return true
	}
	is, err := os.Stat(at)
	if err != nil {
		return true // nothing is read there
	}
	of, ok := is.Sys().(*syscall.Stat_t)
	return !ok || of.Uid == made.Uid
}
