package report

import (
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// content prints an object that is made as YAML, without what the line above it says and without our own labels.
func (l layout) content(o *out, c plan.Change) {
	if !o.st.Full || c.Content == nil || c.Replaces != nil && len(c.Fields) > 0 {
		return
	}
	body := maps.Clone(c.Content)
	delete(body, "kind")
	if meta, ok := body["metadata"].(map[string]any); ok {
		if meta = unmarked(meta); len(meta) > 0 {
			body["metadata"] = meta
		} else {
			delete(body, "metadata")
		}
	}
	text, err := yaml.Marshal(map[string]any(body))
	if err != nil {
		return // it is in the JSON
	}
	indent := strings.Repeat(" ", colField)
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		line = strings.TrimRight(clean(line), " ")
		if line == "" {
			o.line()
			continue
		}
		for _, part := range chunks(line, max(20, o.st.width()-colField-2)) {
			o.line(indent, o.st.paint(green, part))
		}
	}
}

// unmarked is metadata without name, namespace and Hawser's labels.
func unmarked(meta map[string]any) map[string]any {
	meta = maps.Clone(meta)
	delete(meta, "name")
	delete(meta, "namespace")
	labels, ok := meta["labels"].(map[string]any)
	if !ok {
		return meta
	}
	labels = maps.Clone(labels)
	for _, ours := range []string{object.LabelOwner, object.LabelBundle, object.LabelInstance} {
		delete(labels, ours)
	}
	if meta["labels"] = labels; len(labels) == 0 {
		delete(meta, "labels")
	}
	return meta
}

// variants says which clusters of a group get the same of an object whose contents differ.
func (l layout) variants(o *out, c plan.Change, of []group.Variants) {
	for _, v := range of {
		if v.Ref != c.Ref {
			continue
		}
		for i, names := range v.Clusters {
			o.wrapped(colField, fmt.Sprintf("%d: %s", i+1, Names(names)), "")
		}
		if c.Action == plan.Create {
			o.line(strings.Repeat(" ", colField), o.st.paint(dim, "--full shows what each gets"))
		}
	}
}

// named is the object of a change; of one that replaces another, from which name to which.
func named(c plan.Change) string {
	if c.Replaces == nil {
		return c.Ref.String()
	}
	return c.Replaces.String() + " -> " + c.Ref.Name
}
