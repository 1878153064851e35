package render

import (
	"fmt"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// listKey says which fields make the items of a list unique; lists are found by name below a parent.
type listKey struct {
	list string
	// fields of the key with the value that an absent field stands for; a field without default must be present.
	fields []keyField
}

type keyField struct{ name, absent string }

var (
	protocol      = keyField{"protocol", "TCP"}
	containerKeys = []listKey{
		{"env", []keyField{{"name", ""}}},
		{"ports", []keyField{{"containerPort", ""}, protocol}},
		{"volumeMounts", []keyField{{"mountPath", ""}}},
		{"volumeDevices", []keyField{{"devicePath", ""}}},
	}
	podKeys = []listKey{
		{"containers", []keyField{{"name", ""}}},
		{"initContainers", []keyField{{"name", ""}}},
		{"volumes", []keyField{{"name", ""}}},
		{"imagePullSecrets", []keyField{{"name", ""}}},
		{"hostAliases", []keyField{{"ip", ""}}},
		{"topologySpreadConstraints", []keyField{{"topologyKey", ""}, {"whenUnsatisfiable", ""}}},
	}
	serviceKeys = []listKey{{"ports", []keyField{{"port", ""}, protocol}}}
)

// podSpecs says where the pod of a kind is.
var podSpecs = map[string][]string{
	"/Pod": {"spec"}, "/ReplicationController": {"spec", "template", "spec"}, "/PodTemplate": {"template", "spec"},
	"apps/Deployment": {"spec", "template", "spec"}, "apps/StatefulSet": {"spec", "template", "spec"},
	"apps/DaemonSet": {"spec", "template", "spec"}, "apps/ReplicaSet": {"spec", "template", "spec"},
	"batch/Job":     {"spec", "template", "spec"},
	"batch/CronJob": {"spec", "jobTemplate", "spec", "template", "spec"},
}

// listKeys finds items of associative lists that have the same key.
func (v *vetter) listKeys() {
	kind := v.ref.Group + "/" + v.ref.Kind
	if path, ok := podSpecs[kind]; ok {
		pod := below(v.o.Body, path)
		at := strings.Join(path, ".")
		v.unique(pod, at, podKeys)
		for _, list := range []string{"containers", "initContainers"} {
			items, _ := pod[list].([]any)
			for i, x := range items {
				c, _ := x.(map[string]any)
				v.unique(c, at+"."+list+"."+strconv.Itoa(i), containerKeys)
			}
		}
	}
	if kind == "/Service" {
		v.unique(below(v.o.Body, []string{"spec"}), "spec", serviceKeys)
	}
}

func below(m map[string]any, path []string) map[string]any {
	for _, name := range path {
		m, _ = m[name].(map[string]any)
	}
	return m
}

func (v *vetter) unique(parent map[string]any, at string, keys []listKey) {
	for _, k := range keys {
		items, _ := parent[k.list].([]any)
		seen := make(map[string]int, len(items))
		for i, x := range items {
			item, ok := x.(map[string]any)
			if !ok {
				continue
			}
			key, ok := k.of(item)
			if !ok {
				continue
			}
			if first, dup := seen[key]; dup {
				f := diag.Errorf(CodeDuplicateKey, "%s is given twice, first as item %d: server-side apply refuses the object", key, first)
				f.Fix = fmt.Sprintf("remove item %d or item %d of %s, or give one another %s", first, i, k.list, k.names())
				v.addFinding(f, fmt.Sprintf("%s.%s.%d", at, k.list, i))
				continue
			}
			seen[key] = i
		}
	}
}

// of is the item's key in words; false when a part without default is absent.
func (k listKey) of(item map[string]any) (string, bool) {
	var parts []string
	for _, f := range k.fields {
		x, ok := item[f.name]
		switch {
		case ok:
			parts = append(parts, fmt.Sprintf("%s %v", f.name, x))
		case f.absent != "":
			parts = append(parts, f.name+" "+f.absent)
		default:
			return "", false
		}
	}
	return strings.Join(parts, ", "), true
}

// names are the fields of the key in words.
func (k listKey) names() string {
	var names []string
	for _, f := range k.fields {
		names = append(names, f.name)
	}
	return strings.Join(names, " or ")
}

// CodeDuplicateKey is the code of findings about entries of a keyed list that have the same key.
const CodeDuplicateKey = "duplicate-list-key"

// KeyField is the field that tells the entries of a list of a pod or a Service apart ("containerPort" of ports), "" where
// the entry has none.
func KeyField(list string, item map[string]any) string {
	for _, keys := range [][]listKey{containerKeys, podKeys, serviceKeys} {
		for _, k := range keys {
			if _, ok := item[k.fields[0].name]; ok && k.list == list {
				return k.fields[0].name
			}
		}
	}
	return ""
}
