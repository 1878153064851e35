package module

import (
	"os"
	"path"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

// IgnoreFile holds patterns in the form of gitignore, relative to the directory it lies in: what is left out of it.
const IgnoreFile = "timoni.ignore"

// Ignore is an ordered list of patterns; the last one that matches decides.
type Ignore struct{ patterns []pattern }

type pattern struct {
	segments []string
	negated  bool
	dirOnly  bool
}

// ReadIgnore reads the patterns of a directory; one without has none.
func ReadIgnore(root string) (*Ignore, error) {
	data, err := rootfs.Read(root, IgnoreFile, 1<<20)
	if os.IsNotExist(err) {
		return &Ignore{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIgnore(string(data)), nil
}

func parseIgnore(text string) *Ignore {
	ig := &Ignore{}
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

// Match reports whether the path (slashes, relative) is ignored. Parents are asked by the walk before their children.
func (ig *Ignore) Match(rel string, isDir bool) bool {
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
