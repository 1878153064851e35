package render

import (
	"os"
	"path/filepath"
)

// DisplayPath is a path as a person in the working directory would write it: relative when it lies below, slashes.
func DisplayPath(p string) string {
	if filepath.IsAbs(p) {
		if wd, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(wd, p); err == nil && filepath.IsLocal(rel) {
				p = rel
			}
		}
	}
	return filepath.ToSlash(p)
}
