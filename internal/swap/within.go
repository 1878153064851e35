package swap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

// Within is an error for a file that is not to be edited: it leads, by a link, out of the repository that it lies in, it lies in none of those
// of the files and directories that were given, or it is reached by a link below cue.mod, where links may lead to packages of others. The
// error names the file and where it leads.
func Within(name string, given []string) error {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	if err := rootfs.Given(name); err != nil {
		return fmt.Errorf("%s leads to %s: %w", name, real, err)
	}
	if link := vendoredLink(name); link != "" {
		return fmt.Errorf("%s leads to %s: %s is a link, and what lies there is another package's", name, real, link)
	}
	var why error
	for _, file := range given {
		for one := range strings.SplitSeq(file, ",") {
			if why = in(strings.TrimSpace(one), real); why == nil {
				return nil
			}
		}
	}
	if why == nil {
		return nil // nothing was given that bounds it
	}
	return fmt.Errorf("%s: %s %w", name, real, why)
}

// in is an error for a file, links resolved, that lies out of the repository of a file or directory.
func in(given, real string) error {
	dir := given
	if info, err := os.Stat(given); err != nil || !info.IsDir() {
		dir = filepath.Dir(given)
	}
	bound, err := rootfs.Bounds(dir)
	if err != nil {
		return err
	}
	return rootfs.Within(bound, real)
}

// vendoredLink is the link on the way to a file below cue.mod, or the file itself, "" when there is none.
func vendoredLink(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	for at := abs; strings.Contains(filepath.ToSlash(at)+"/", "/cue.mod/"); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}
