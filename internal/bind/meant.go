package bind

import (
	"cmp"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// MeantKey says at findings about values that are written as a container's env has them ({secretKeyRef: {name: ..., key: ...}}) how a value of a Secret or
// a ConfigMap is written here. What charts take so is no finding, and nothing is said of it.
func MeantKey(fs diag.Findings, v v1alpha1.Values) diag.Findings {
	for i, f := range fs {
		below, ok := strings.CutPrefix(f.Path, "values.")
		if !ok {
			continue
		}
		path, err := v1alpha1.ParsePath(below)
		if x := stepped(v.Struct, path); err == nil && x != nil {
			fs[i].Fix = cmp.Or(keyFix(x), f.Fix)
		}
	}
	return fs
}

// keyFix is how what a struct means is written, "" where it means no key of a Secret or a ConfigMap, and nothing that is made up or taken.
func keyFix(x *v1alpha1.Value) string {
	if len(x.Fields) == 1 && x.Fields[0].Name == "valueFrom" {
		x = x.Fields[0].Value
	}
	if len(x.Fields) != 1 {
		return ""
	}
	body := x.Fields[0].Value
	name, key := word(body.Lookup("name"), "NAME"), word(body.Lookup("key"), "KEY")
	from := "{from: {instance: INSTANCE, object: v1/%/" + name + ", path: " + v1alpha1.Path{{Name: "data"}, {Name: key}}.String() + "}}"
	switch x.Fields[0].Name {
	case "secretKeyRef", "secretRef":
		return "write ref://STORE:" + name + "/" + key + " with a store of the fleet, secretStores: {STORE: {kube: {namespace: NAMESPACE}}}; of a Secret that an instance makes: " +
			strings.Replace(from, "%", "Secret", 1)
	case "configMapKeyRef":
		return "write " + strings.Replace(from, "%", "ConfigMap", 1) + " of what an instance makes; one that no bundle delivers is a query of the fleet (values), taken with {$cluster: values.NAME}"
	}
	return wordFix(x)
}

// word is a text of the values that may stand in an example, else what stands for it.
func word(x *v1alpha1.Value, otherwise string) string {
	if s, ok := x.Str(); ok && s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") == "" {
		return s
	}
	return otherwise
}
