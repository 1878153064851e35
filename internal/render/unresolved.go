package render

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/secret"
)

// encodedScheme is how base64 of a reference begins, in the data of Secrets.
const encodedScheme = "cmVmOi8v"

// unresolved warns of objects that hold the text of a reference, which nobody replaces there: a manifest, a patch, a chart's own values
// name one. A reference in the instance's values that stands for itself, as its store is not asked, is none of these.
func unresolved(in v1alpha1.Instance, objs []object.Object) diag.Findings {
	type place struct {
		o    object.Object
		path string
	}
	var found []place
	var known map[string]bool
	for _, o := range objs {
		isSecret := o.Ref().IsSecret()
		references(o.Body, nil, func(at []string, text string) {
			encoded := strings.HasPrefix(text, encodedScheme)
			if encoded && (!isSecret || at[0] != "data") {
				return
			}
			if known == nil {
				known = map[string]bool{}
				standing(in.Values.Struct, known)
			}
			if plain, err := base64.StdEncoding.DecodeString(text); encoded && err == nil {
				text = string(plain)
			}
			text = strings.TrimSpace(text)
			if !strings.ContainsAny(text, " \t\r\n") && !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(ref string) bool { return strings.Contains(text, ref) }) {
				found = append(found, place{o, shownPath(at)})
			}
		})
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b place) int {
		if c := a.o.Ref().Compare(b.o.Ref()); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	f := diag.Warnf("reference-unresolved", "a ref:// reference goes out as the text that it is")
	if n := len(found) - 1; n > 0 {
		f.What = fmt.Sprintf("ref:// references go out as the texts that they are: here, and in %d more fields", n)
		if n == 1 {
			f.What = strings.TrimSuffix(f.What, "s")
		}
	}
	first := found[0]
	f.Pos, f.Object, f.Path, f.Instance = first.o.Pos, first.o.Ref().String(), first.path, first.o.Instance
	f.Why = "references are replaced in the values of instances alone, not in manifests, kustomizations, and what charts and modules bring along"
	f.Fix = "give the value in the values of an instance of a chart or a module, or the object to something else that fills it in; where the text is meant, there is nothing to do"
	return diag.Findings{f}
}

// references are the strings below a node that begin as references do.
func references(node any, at []string, found func(at []string, text string)) {
	switch node := node.(type) {
	case string:
		if secret.IsRef(node) || strings.HasPrefix(node, encodedScheme) {
			found(at, node)
		}
	case map[string]any:
		for key, below := range node {
			references(below, append(at, key), found)
		}
	case []any:
		for i, below := range node {
			references(below, append(at, strconv.Itoa(i)), found)
		}
	}
}

// standing are the references in values.
func standing(x *v1alpha1.Value, out map[string]bool) {
	if x == nil {
		return
	}
	if s, ok := x.Str(); ok && secret.IsRef(s) {
		out[s] = true
	}
	for _, f := range x.Fields {
		standing(f.Value, out)
	}
	for _, e := range x.Items {
		standing(e, out)
	}
}

// shownPath is a path as far as its names are those of fields: where a value of several lines was no value, its lines are keys.
func shownPath(at []string) string {
	for i, name := range at {
		if len(validation.IsConfigMapKey(name)) > 0 {
			at = at[:i]
			break
		}
	}
	return strings.Join(at, ".")
}
