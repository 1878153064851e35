package plain

import (
	"bytes"
	"os"
	"strconv"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// maxPositionFile bounds the files that are read again to find a line in them.
const maxPositionFile = 16 << 20

// Position is where a value of an object stands in the YAML file that the object came from: path are its fields and list
// indexes from the object's root, at the object's own position. A part of the path that is not written there ends the
// search at what is; a file that cannot be read any more, or is no YAML, gives the object's position back.
func Position(at diag.Pos, path []string) diag.Pos {
	info, err := os.Stat(at.File)
	if at.Line == 0 || err != nil || !info.Mode().IsRegular() || info.Size() > maxPositionFile {
		return at
	}
	text, err := rootfs.ReadFile(at.File, maxPositionFile)
	if err != nil {
		return at
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		if decode(dec, &n) != nil {
			return at
		}
		for _, root := range roots(content(&n)) {
			if root.Line == at.Line {
				return follow(root, at, path)
			}
		}
	}
}

// roots are a document and, of a List, its items.
func roots(n *yaml.Node) []*yaml.Node {
	out := []*yaml.Node{n}
	if items := child(n, "items"); items != nil && items.Kind == yaml.SequenceNode {
		out = append(out, items.Content...)
	}
	return out
}

// follow goes down from an object's root as far as the path is written there.
func follow(n *yaml.Node, at diag.Pos, path []string) diag.Pos {
	for _, name := range path {
		if n.Kind == yaml.AliasNode && n.Alias != nil {
			n = n.Alias
		}
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if key := n.Content[i]; key.Value == name {
					at.Line, at.Column, next = key.Line, key.Column, n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
				next = n.Content[i]
				at.Line, at.Column = next.Line, next.Column
			}
		}
		if next == nil {
			return at
		}
		n = next
	}
	return at
}
