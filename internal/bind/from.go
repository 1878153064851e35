package bind

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/object"
)

// Format says how a text becomes a value.
type Format string

// The formats. Inherent is the value as it is: a file by its extension, a field by its type.
const (
	Inherent Format = ""
	AsText   Format = "text"
	AsJSON   Format = "json"
	AsYAML   Format = "yaml"
)

// From says where a value comes from: an object of another instance, a file, or what a reference leads to.
type From struct {
	// At is the data path below the values, Pos the place in the user's file.
	At  string
	Pos diag.Pos
	// Instance is the instance that makes Object; "" for a file.
	Instance string
	Object   Object
	// Ref is the reference as it is written, in its shortest spelling; "" for anything else. Bundle is carried out before, and what the reference
	// leads to is known when it is done; "" where it is known.
	Ref, Bundle string
	// Stood: the reference is not read, and stands for itself.
	Stood bool
	// Secret is what the reference leads to on the cluster, and Key what it takes of it; zero for what is elsewhere.
	Secret object.Ref
	Key    string
	// File is a path relative to the file that holds the text; "" for an object.
	File string
	// Path leads to the value in the object or the file; empty is all of a file.
	Path v1alpha1.Path
	As   Format
	// Preview stands in while the value is not known; nil when the user gave none.
	Preview *v1alpha1.Value

	node *v1alpha1.Value
	// fileName is the file that holds the text of File, as its positions name it.
	fileName string
	// chart is set for values of a Helm chart, whose files mean what Helm makes of them.
	chart bool
	// note takes warnings about what a file holds; nil is nobody.
	note func(diag.Findings)
}

// Object names an object as the documents write it: APIVERSION/KIND/[NAMESPACE/]NAME.
type Object struct {
	APIVersion, Kind string
	// Namespace is "" for that of the source instance, and for kinds without namespaces.
	Namespace, Name string
}

// String is the object in the documents' form.
func (o Object) String() string {
	parts := []string{o.APIVersion, o.Kind, o.Namespace, o.Name}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}

// Ref is the object's identity; namespace is that of the source instance, used where the object names none. For kinds
// without namespaces the caller clears it.
func (o Object) Ref(namespace string) object.Ref {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	if o.Namespace != "" {
		namespace = o.Namespace
	}
	return object.Ref{Group: group, Kind: o.Kind, Namespace: namespace, Name: o.Name}
}

// OfSecret is a key of a Secret that an instance makes, as a value that is taken of it.
func OfSecret(instance string, at object.Ref, key string) From {
	return From{Instance: instance, Object: Object{APIVersion: "v1", Kind: at.Kind, Namespace: at.Namespace, Name: at.Name},
		Path: v1alpha1.Path{{Name: "data"}, {Name: key}}, node: &v1alpha1.Value{}}
}

var (
	versionRule = lazyregexp.New(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	kindRule    = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
)

// ParseObject reads v1/Secret/NAME, v1/Secret/NAMESPACE/NAME or apps/v1/Deployment/[NAMESPACE/]NAME.
func ParseObject(s string) (Object, error) {
	parts := strings.Split(s, "/")
	var o Object
	switch {
	case len(parts) > 1 && versionRule.MatchString(parts[0]):
		o.APIVersion, parts = parts[0], parts[1:]
	case len(parts) > 2 && versionRule.MatchString(parts[1]) && len(validation.IsDNS1123Subdomain(parts[0])) == 0:
		o.APIVersion, parts = parts[0]+"/"+parts[1], parts[2:]
	default:
		return o, fmt.Errorf("%q does not start with an API version", s)
	}
	if !kindRule.MatchString(parts[0]) {
		return o, fmt.Errorf("%q: %q cannot be a kind", s, parts[0])
	}
	o.Kind = parts[0]
	switch len(parts) {
	case 2:
		o.Name = parts[1]
	case 3:
		o.Namespace, o.Name = parts[1], parts[2]
		if len(validation.IsDNS1123Label(o.Namespace)) > 0 {
			return o, fmt.Errorf("%q: %q cannot be a namespace", s, o.Namespace)
		}
	default:
		return o, fmt.Errorf("%q does not end in a name, or a namespace and a name", s)
	}
	if o.Name == "" || o.Name == "." || o.Name == ".." || strings.ContainsAny(o.Name, "%\x00 \t\r\n") {
		return o, fmt.Errorf("%q: %q cannot be a name", s, o.Name)
	}
	return o, nil
}

var (
	objectFields = []string{"instance", "object", "path", "as", "preview"}
	fileFields   = []string{"file", "path", "as"}
)

// newFrom reads {from: {...}} and says everything that is wrong with it.
func newFrom(s *v1alpha1.Value, at v1alpha1.Path) (From, diag.Findings) {
	f := From{At: at.String(), Pos: diag.Pos(s.Pos), node: s}
	body := s.Lookup("from") // fromStruct has seen it
	if !f.Pos.IsValid() {
		f.Pos = diag.Pos(body.Pos)
	}
	known := fileFields
	if body.Lookup("instance") != nil {
		known = objectFields
	}
	var fs diag.Findings
	fail := func(x v1alpha1.Field, what, fix string) {
		n := f.Finding("value-from", "%s", what)
		n.Path, n.Fix = strings.TrimPrefix(f.At+".from."+x.Name, "."), fix
		if at := diag.Pos(x.Pos); at.IsValid() {
			n.Pos = at
		}
		fs = append(fs, *n)
	}
	for _, x := range body.Fields {
		f.field(x, known, fail)
	}
	for _, name := range known[:len(known)-2] {
		if name == "path" && f.File != "" || body.Lookup(name) != nil {
			continue
		}
		fail(v1alpha1.Field{Name: name}, name+" is required", "")
	}
	if f.Instance != "" && f.At == "" {
		n := f.Finding("value-from", "all the values cannot come from one object")
		n.Fix = "take each field from it, or all the values from a file"
		fs = append(fs, *n)
	}
	return f, fs
}

// field reads one field of from.
func (f *From) field(x v1alpha1.Field, known []string, fail func(x v1alpha1.Field, what, fix string)) {
	if !slices.Contains(known, x.Name) {
		what := fmt.Sprintf("unknown field %q", x.Name)
		fix := diag.DidYouMean(x.Name, known)
		if fix == "" {
			fix = "known here: " + strings.Join(known, ", ")
		}
		if x.Name == "file" || x.Name == "instance" {
			what, fix = "a value comes from a file or from an instance, not from both", ""
		}
		fail(x, what, fix)
		return
	}
	if x.Name == "preview" {
		f.Preview = x.Value
		return
	}
	s, ok := x.Value.Str()
	if !ok || s == "" {
		fail(x, x.Name+" must be a text", "")
		return
	}
	var err error
	switch x.Name {
	case "instance":
		f.Instance = s
	case "object":
		if f.Object, err = ParseObject(s); err != nil {
			fail(x, "object "+err.Error(), "v1/Secret/NAME, or apps/v1/Deployment/NAMESPACE/NAME")
		}
	case "file":
		f.File, f.fileName = s, fileOf(x.Value.Pos, x.Pos)
	case "path":
		if f.Path, err = v1alpha1.ParsePath(strings.TrimPrefix(s, ".")); err != nil {
			fail(x, err.Error(), "")
		}
	case "as":
		if f.As = Format(s); !slices.Contains([]Format{AsText, AsJSON, AsYAML}, f.As) {
			fail(x, fmt.Sprintf("as is %q", s), "it is one of text, json and yaml")
		}
	}
}

// fileOf is the first file the positions name.
func fileOf(all ...v1alpha1.Position) string {
	for _, p := range all {
		if p.File != "" {
			return p.File
		}
	}
	return ""
}

// After is what a value is known after, for people: an instance, or a bundle; "" for a file.
func (f From) After() string {
	if f.Bundle != "" {
		return "bundle " + f.Bundle
	}
	return f.Instance
}

// Finding is an Error about the value, with its place.
func (f From) Finding(code, format string, args ...any) *diag.Finding {
	n := diag.Errorf(code, format, args...)
	n.Pos, n.Path = f.Pos, f.At
	return &n
}

// String is where the value comes from, for people: "db v1/Secret/db-conn data.uri", "values.yaml a.b".
func (f From) String() string {
	out := f.File
	if f.Instance != "" {
		out = f.Instance + " " + f.Object.String()
	}
	return strings.TrimSuffix(out+" "+f.Path.String(), " ")
}
