package render

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Limits the API server sets on every object.
const (
	maxAnnotations = 256 << 10
	maxData        = 1 << 20
	maxCronJobName = 52
)

// VetObject finds what every API server refuses, without asking one: missing identity, names, namespaces, labels and
// annotations that break the rules, Secrets and ConfigMaps over 1 MiB or with keys that break them, list keys used twice (server-side apply answers
// them with an internal error). It is pure; findings name Pos, Object and the path in the object, and never hold data of Secrets.
func VetObject(o object.Object) diag.Findings {
	v := &vetter{o: o, ref: o.Ref()}
	if v.identity() {
		v.names()
		v.marks()
		v.data()
		v.listKeys()
	}
	return v.out
}

// VetIdentity reports objects that have the same group, kind, namespace and name; both positions are named.
func VetIdentity(objs []object.Object) diag.Findings {
	var out diag.Findings
	seen := make(map[object.Ref]object.Object, len(objs))
	for _, o := range objs {
		ref := o.Ref()
		if ref.Name == "" || ref.Kind == "" {
			continue
		}
		first, dup := seen[ref]
		if !dup {
			seen[ref] = o
			continue
		}
		f := diag.Errorf("duplicate-object", "the object is given twice")
		f.Pos, f.Object, f.Instance = o.Pos, ref.String(), o.Instance
		if first.Pos.IsValid() {
			f.Why = "first at " + first.Pos.String()
		}
		if first.Instance != o.Instance {
			f.What = fmt.Sprintf("instances %s and %s both render the object", first.Instance, o.Instance)
		}
		f.Fix = "remove or rename one of them"
		out = append(out, f)
	}
	return out
}

// vetter collects the findings on one object.
type vetter struct {
	o   object.Object
	ref object.Ref
	out diag.Findings
}

func (v *vetter) add(code, path, format string, args ...any) {
	v.addFinding(diag.Errorf(code, format, args...), path)
}

func (v *vetter) addFinding(f diag.Finding, path string) {
	f.Pos, f.Path, f.Instance = v.o.Pos, path, v.o.Instance
	if v.ref.Kind != "" && v.ref.Name != "" {
		f.Object = v.ref.String()
	}
	v.out = append(v.out, f)
}

// identity reports whether the object has what identifies it, and says what is missing.
func (v *vetter) identity() bool {
	var missing []string
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		x, ok, err := unstructured.NestedString(v.o.Body, path...)
		switch {
		case err != nil:
			v.add("metadata", strings.Join(path, "."), "must be a string: put the value in quotes")
			return false
		case ok && x != "":
			continue
		}
		missing = append(missing, strings.Join(path, "."))
	}
	if _, _, err := unstructured.NestedString(v.o.Body, "metadata", "namespace"); err != nil {
		v.add("metadata", "metadata.namespace", "must be a string: put the value in quotes")
		return false
	}
	generated, _, _ := unstructured.NestedString(v.o.Body, "metadata", "generateName")
	if generated != "" {
		f := diag.Errorf("generate-name", "metadata.generateName cannot be applied")
		f.Why = "every run would create another object that nobody finds again"
		f.Fix = "give the object a metadata.name"
		v.addFinding(f, "metadata.generateName")
		return false
	}
	if len(missing) > 0 {
		v.add("metadata", "", "missing required field %s", strings.Join(missing, " and "))
	}
	return len(missing) == 0
}

// pathNamed kinds take any name that is one segment of a path.
var pathNamed = map[string]bool{
	"rbac.authorization.k8s.io/Role": true, "rbac.authorization.k8s.io/ClusterRole": true,
	"rbac.authorization.k8s.io/RoleBinding": true, "rbac.authorization.k8s.io/ClusterRoleBinding": true,
	"certificates.k8s.io/ClusterTrustBundle": true, "networking.k8s.io/IPAddress": true,
}

func (v *vetter) names() {
	name, kind := v.ref.Name, v.ref.Group+"/"+v.ref.Kind
	check := content.IsDNS1123Subdomain
	switch {
	case pathNamed[kind]:
		check = content.IsPathSegmentName
	case kind == "/Namespace" || kind == "/Service":
		check = content.IsDNS1123Label
	}
	for _, msg := range check(name) {
		v.add("name", "metadata.name", "Kubernetes refuses the name %q: %s", name, rule(msg))
	}
	if kind == "/Service" && name[0] >= '0' && name[0] <= '9' {
		f := diag.Warnf("name", "a Service name that starts with a digit is refused by most clusters")
		v.addFinding(f, "metadata.name")
	}
	if kind == "batch/CronJob" && len(name) > maxCronJobName {
		v.add("name", "metadata.name", "the name of a CronJob has at most %d characters, this one %d", maxCronJobName, len(name))
	}
	if v.ref.Namespace != "" {
		for _, msg := range content.IsDNS1123Label(v.ref.Namespace) {
			v.add("name", "metadata.namespace", "Kubernetes refuses the namespace %q: %s", v.ref.Namespace, rule(msg))
		}
	}
	if kind == "apiextensions.k8s.io/CustomResourceDefinition" {
		plural, _, _ := unstructured.NestedString(v.o.Body, "spec", "names", "plural")
		group, _, _ := unstructured.NestedString(v.o.Body, "spec", "group")
		if want := plural + "." + group; plural != "" && group != "" && want != name {
			v.add("name", "metadata.name", "the name must be %q, made of spec.names.plural and spec.group", want)
		}
	}
}

// rule is a rule of Kubernetes in words, without the regular expression behind it.
func rule(msg string) string {
	text, _, _ := strings.Cut(msg, " (e.g.")
	return text
}

// marks checks labels and annotations.
func (v *vetter) marks() {
	meta, ok := v.o.Body["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, key := range v.stringMap(meta, "labels") {
		for _, msg := range content.IsLabelKey(key.name) {
			v.add("label", "metadata.labels."+key.name, "the key is refused: %s", rule(msg))
		}
		for _, msg := range content.IsLabelValue(key.value) {
			v.add("label", "metadata.labels."+key.name, "the value is refused: %s", rule(msg))
		}
	}
	total := 0
	for _, key := range v.stringMap(meta, "annotations") {
		for _, msg := range content.IsLabelKey(strings.ToLower(key.name)) {
			v.add("annotation", "metadata.annotations."+key.name, "the key is refused: %s", rule(msg))
		}
		total += len(key.name) + len(key.value)
	}
	if total > maxAnnotations {
		v.add("too-large", "metadata.annotations", "annotations have %d bytes, at most %d are allowed", total, maxAnnotations)
	}
}

type keyValue struct{ name, value string }

func (v *vetter) stringMap(meta map[string]any, field string) []keyValue {
	raw, present := meta[field]
	if !present || raw == nil {
		return nil
	}
	m, ok := raw.(map[string]any)
	if !ok {
		v.add("metadata", "metadata."+field, "must be a map of strings")
		return nil
	}
	var out []keyValue
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s, ok := m[k].(string)
		if !ok {
			v.add("metadata", "metadata."+field+"."+k, "must be a string: put the value in quotes")
			continue
		}
		out = append(out, keyValue{k, s})
	}
	return out
}

// quoteFix is how a value is written that is no text where one is wanted; encoded: the text would have to be base64.
func quoteFix(value any, encoded bool) string {
	fix := "put the value in quotes; in a template of a chart: {{ ... | quote }}"
	switch value.(type) {
	case map[string]any, []any:
		fix = "write it as one text: KEY: |, with its lines below, further in"
	}
	if encoded {
		return "under stringData, where it stands as it is, " + fix
	}
	return fix
}

// data checks what the API server allows in Secrets and ConfigMaps.
func (v *vetter) data() {
	if v.ref.Group != "" || v.ref.Kind != "Secret" && v.ref.Kind != "ConfigMap" {
		return
	}
	encoded := map[string]bool{"data": v.ref.Kind == "Secret", "binaryData": true}
	total := 0
	for _, field := range []string{"data", "binaryData", "stringData"} {
		m, _ := v.o.Body[field].(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			for _, msg := range validation.IsConfigMapKey(k) {
				if v.ref.Kind == "Secret" { // where a value of several lines was no value, its lines are keys
					v.add("data", field, "Kubernetes refuses a key of %d characters, which is not shown, as it may be a part of a secret: %s", len(k), rule(msg))
					continue
				}
				v.add("data", field+"."+k, "Kubernetes refuses the key: %s", rule(msg))
			}
			if also, _ := v.o.Body["data"].(map[string]any); field == "binaryData" && also[k] != nil {
				v.add("data", field+"."+k, "the key is in data, too")
			}
			s, ok := m[k].(string)
			switch {
			case !ok && m[k] != nil:
				n := diag.Errorf("data", "must be a string")
				n.Fix = quoteFix(m[k], v.ref.Kind == "Secret" && field == "data")
				v.addFinding(n, field+"."+k)
				continue
			case encoded[field]:
				if _, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(s, "\n", "")); err != nil {
					n := diag.Errorf("data", "is not base64")
					switch {
					case strings.HasPrefix(s, "ENC["):
						n.Fix = diag.FixEncrypted
					case field == "data":
						n.Fix = "write it under stringData, where it stands as it is, or encode it"
					default:
						n.Fix = "encode it"
					}
					v.addFinding(n, field+"."+k)
				}
				total += len(s) / 4 * 3
			default:
				total += len(s)
			}
		}
	}
	if total > maxData {
		v.add("too-large", "", "%s holds %d bytes, Kubernetes takes at most %d", v.ref.Kind, total, maxData)
	}
}
