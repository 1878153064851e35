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

func readIgnore(root string) (*ignore, error) {
	data, err := rootfs.Read(root, ignoreFile, 1<<20)
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

// matchSegments matches a path whole. A segment ** of the pattern stands for any number of segments, the last one for at least
// one. Only the latest ** is tried with more: what an earlier one could take besides, the latest can take as well.
func matchSegments(pattern, segments []string) bool {
	p, s, star, from := 0, 0, -1, 0
	for s < len(segments) {
		switch {
		case p < len(pattern) && pattern[p] == "**" && p == len(pattern)-1:
			return true
		case p < len(pattern) && pattern[p] == "**":
			star, from = p, s
			p++
			continue
		case p < len(pattern):
			if ok, err := path.Match(pattern[p], segments[s]); err == nil && ok {
				p, s = p+1, s+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		p, s = star+1, from
	}
	return p == len(pattern)
}
