package kustomize

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// placed gives findings about an object the place in the resource's file that it comes from, where one file alone has such
// an object with the value that the finding is about: a patch may have made it elsewhere.
func (t *tree) placed(o object.Object, found diag.Findings) diag.Findings {
	for i := range found {
		if found[i].Path == "" || found[i].Pos != t.at {
			continue
		}
		var places []diag.Pos
		for name, data := range t.files {
			for _, n := range valuesAt(data, o.Ref(), strings.Split(found[i].Path, ".")) {
				if !t.isKustomization(name) {
					places = append(places, diag.Pos{File: t.shown(name), Line: n.Line, Column: n.Column})
				}
			}
		}
		if len(places) == 1 {
			found[i].Pos = places[0]
		}
	}
	return found
}

func (t *tree) isKustomization(name string) bool {
	for _, k := range t.kustomizations {
		if k.file == name {
			return true
		}
	}
	return false
}

// valuesAt are the values at a path in those documents of a file that an object may come from: of its kind, with its name or
// a part of it, since kustomizations add to names.
func valuesAt(data []byte, ref object.Ref, at []string) []*yaml.Node {
	var out []*yaml.Node
	for docs := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		if docs.Decode(&doc) != nil || len(doc.Content) == 0 {
			return out // what is no YAML has been said
		}
		root := doc.Content[0]
		kind, name := nodeAt(root, []string{"kind"}), nodeAt(root, []string{"metadata", "name"})
		if kind == nil || name == nil || kind.Value != ref.Kind || name.Value == "" || !strings.Contains(ref.Name, name.Value) {
			continue
		}
		if n := nodeAt(root, at); n != nil {
			out = append(out, n)
		}
	}
}

// nodeAt is the value at a path of fields and list indexes, nil where there is none.
func nodeAt(n *yaml.Node, at []string) *yaml.Node {
	for _, step := range at {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
				next = n.Content[i]
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	return n
}
