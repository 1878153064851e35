package render

import (
	"maps"
	"strings"
)

// ListItem is an item of a List. One of a list of a kind (ConfigMapList) that says neither kind nor version has those of the list, as
// API servers write them and kubectl reads them. The item given is not changed.
func ListItem(list, item map[string]any) map[string]any {
	kind, _ := list["kind"].(string)
	kind = strings.TrimSuffix(kind, "List")
	says := func(field string) bool { s, is := item[field].(string); return item[field] != nil && (!is || s != "") }
	if kind == "" || says("kind") || says("apiVersion") {
		return item
	}
	out := maps.Clone(item)
	if out == nil {
		out = map[string]any{}
	}
	out["kind"], out["apiVersion"] = kind, list["apiVersion"]
	return out
}
