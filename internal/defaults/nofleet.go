package defaults

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

// maxBeside is how many files of a directory are looked at.
const maxBeside = 100

// fleetRoot is the root of a fleet, or of a runtime, in YAML, CUE and JSON.
var fleetRoot = lazyregexp.New(`(?m)^(?:fleet|runtime)[ \t]*:[ \t]*(?:\{|#|\r?$)|^(?:\{|[ \t]+)?"(?:fleet|runtime)"[ \t]*:[ \t]*\{`)

// NoFleet says where a run that was given no fleet may find one: files beside those of the bundle that look like one, and
// defaults of a directory above that name one. dir is the run's directory, files are the bundle's; "" when there is neither.
func NoFleet(dir string, files []string) string {
	if found := fleetsBeside(dir, files); len(found) > 1 {
		last := len(found) - 1
		return strings.Join(found[:last], ", ") + " and " + found[last] + " look like fleets: --fleet " + found[0]
	} else if len(found) == 1 {
		return found[0] + " looks like a fleet: --fleet " + found[0]
	}
	if above := Above(dir); above != "" {
		if d, fs := Read(filepath.Join(dir, filepath.Dir(above))); fs == nil && len(d.Fleet) > 0 {
			return above + " names one for its own directory: run it there, or --fleet " + filepath.Join(filepath.Dir(above), d.Fleet[0])
		}
	}
	return ""
}

// Above is the nearest defaults file in a directory above dir, within its repository, relative to dir; "" when there is none.
func Above(dir string) string {
	root, marked, err := rootfs.Bound(dir, ".git")
	if err != nil || !marked {
		return ""
	}
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	for name := ".."; err == nil && at != root && at != filepath.Dir(at); name = filepath.Join(name, "..") {
		at = filepath.Dir(at)
		if In(at) {
			return filepath.Join(name, File)
		}
	}
	return ""
}

// fleetsBeside are the files that look like a fleet in the directories of some files, or in dir where there are none, as
// somebody in dir names them.
func fleetsBeside(dir string, files []string) []string {
	dirs := []string{"."}
	for i, f := range files {
		if i == 0 {
			dirs = nil
		}
		if f == "-" {
			continue
		}
		if info, err := os.Stat(absolute(dir, f)); err != nil || !info.IsDir() {
			f = filepath.Dir(f)
		}
		if !slices.Contains(dirs, f) {
			dirs = append(dirs, f)
		}
	}
	return fleetsIn(dir, dirs)
}

// extensions are those of documents.
var extensions = []string{".yaml", ".yml", ".cue", ".json"}

// fleetsIn are the files that look like a fleet in some directories, as somebody in dir names them.
func fleetsIn(dir string, dirs []string) (out []string) {
	for _, d := range dirs {
		entries, err := os.ReadDir(absolute(dir, d))
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), maxBeside)] {
			if !e.Type().IsRegular() || !slices.Contains(extensions, filepath.Ext(e.Name())) {
				continue
			}
			if data, err := rootfs.Read(absolute(dir, d), e.Name(), 1<<20); err == nil && fleetRoot.Match(data) {
				out = append(out, filepath.Join(d, e.Name()))
			}
		}
	}
	return out
}

// Beside are the documents in the directory of a file, whether that is there or not, with slashes; of a fleet those that look like one.
func Beside(name string, fleet bool) (out []string) {
	dir := filepath.Dir(name)
	if fleet {
		for _, found := range fleetsIn("", []string{dir}) {
			out = append(out, filepath.ToSlash(found))
		}
		return out
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))) {
			out = append(out, filepath.ToSlash(filepath.Join(dir, e.Name())))
		}
	}
	return out
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
