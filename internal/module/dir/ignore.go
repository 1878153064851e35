package dir

import (
	"os"
	"path"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

// ignoreFile holds patterns in the form of gitignore, relative to the module's root.
const ignoreFile = "timoni.ignore"

// ignore is an ordered list of patterns; the last one that matches decides.
type ignore struct{ patterns []pattern }

type pattern struct {
	segments []string
	negated  bool
	dirOnly  bool
}

func readIgnore(name string) (*ignore, error) {
	data, err := rootfs.ReadFile(name, 1<<20)
	if os.IsNotExist(err) {
		return &ignore{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIgnore(string(data)), nil
}

func parseIgnore(text string) *ignore {
	ig := &ignore{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var p pattern
		if line, p.negated = strings.CutPrefix(line, "!"); line == "" {
			continue
		}
		line = strings.TrimPrefix(line, `\`)
		line, p.dirOnly = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		p.segments = strings.Split(strings.Trim(line, "/"), "/")
		if !anchored {
			p.segments = append([]string{"**"}, p.segments...)
		}
		ig.patterns = append(ig.patterns, p)
	}
	return ig
}

// match reports whether the path (slashes, relative) is ignored. Parents are asked by the walk before their children.
func (ig *ignore) match(rel string, isDir bool) bool {
	segments := strings.Split(rel, "/")
	ignored := false
	for _, p := range ig.patterns {
		if p.dirOnly && !isDir {
			continue
		}
		if matchSegments(p.segments, segments) {
			ignored = !p.negated
		}
	}
	return ignored
}

func matchSegments(pattern, segments []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			rest := pattern[1:]
			if len(rest) == 0 {
				return len(segments) > 0
			}
			for i := range segments {
				if matchSegments(rest, segments[i:]) {
					return true
				}
			}
			return false
		}
		if len(segments) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], segments[0]); err != nil || !ok {
			return false
		}
		pattern, segments = pattern[1:], segments[1:]
	}
	return len(segments) == 0
}
