package render

import (
	"os"
	"path/filepath"
)

// DisplayPath is a path as a person in the working directory would write it: relative when it lies below, slashes.
func DisplayPath(p string) string { return Displayer()(p) }

// Displayer is DisplayPath for many files.
func Displayer() func(string) string {
	wd, err := os.Getwd()
	return func(p string) string {
		if err == nil && filepath.IsAbs(p) {
			if rel, err := filepath.Rel(wd, p); err == nil && filepath.IsLocal(rel) {
				p = rel
			}
		}
		return filepath.ToSlash(p)
	}
}
