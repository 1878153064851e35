package cuegen

import (
	"encoding/json"
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// definition is what is read of a CustomResourceDefinition.
type definition struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
			Schema struct {
				OpenAPI *schema `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
	Items []json.RawMessage `json:"items"`
}

var (
	groupName   = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	kindName    = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*$`)
	versionName = lazyregexp.New(`^[a-z][a-z0-9]*$`)
)

// FromCRDs converts the custom resource definitions in YAML or JSON documents; other documents are passed over. Every
// served version becomes GROUP/KIND/VERSION/types_gen.cue with the definition #Kind. Errors (nothing was found, a name
// that cannot be a path, an old apiVersion) and warnings (a rule CUE cannot express) name the source.
func FromCRDs(source string, data []byte) ([]File, diag.Findings) {
	docs, fs := documents(source, data)
	if fs.HasErrors() {
		return nil, fs
	}
	files, patterns := map[string]File{}, &boundedregexp.Set{}
	for _, doc := range docs {
		made, found := fromDefinition(source, doc, patterns)
		fs = append(fs, found...)
		for _, f := range made {
			if _, dup := files[f.Path]; dup {
				fs = append(fs, at(diag.Warnf("crd-twice", "%s is defined twice; the later one counts", f.Path), source))
			}
			files[f.Path] = f
		}
	}
	if len(files) == 0 && !fs.HasErrors() {
		f := diag.Errorf("no-crd", "there is no custom resource definition with a schema")
		f.Fix = "name a file that holds objects of kind CustomResourceDefinition, apiVersion apiextensions.k8s.io/v1"
		fs = append(fs, at(f, source))
	}
	if fs.HasErrors() {
		return nil, fs.Sorted()
	}
	out := make([]File, 0, len(files))
	for _, path := range sorted(files) {
		out = append(out, files[path])
	}
	return out, fs.Sorted()
}

func at(f diag.Finding, source string) diag.Finding {
	f.Pos = diag.Pos{File: source}
	return f
}

// documents are the definitions of a file, lists unpacked.
func documents(source string, data []byte) ([]definition, diag.Findings) {
	if len(data) > maxInput {
		return nil, diag.Findings{at(diag.Errorf("source-too-large", "file has %d bytes, at most %d are read", len(data), maxInput), source)}
	}
	if err := cuelang.CheckValues(data, maxInputValues); err != nil {
		return nil, diag.Findings{at(diag.Errorf("source-too-large", "%v, of which definitions have fewer", err), source)}
	}
	f, err := cuelang.FromYAML(source, data)
	if err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "crd-syntax"})
	}
	if len(f.Decls) == 0 {
		return nil, nil
	}
	values := []ast.Expr{cuelang.FileData(f)}
	if list, ok := values[0].(*ast.ListLit); ok {
		values = list.Elts
	}
	var out []definition
	for _, x := range values {
		if _, empty := x.(*ast.BinaryExpr); empty {
			continue // what the reader makes of a document without content
		}
		plain, err := cuelang.FromSyntax(x)
		if err != nil {
			return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "crd-syntax"})
		}
		v, err := plain.Any()
		if err != nil {
			return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "crd-syntax"})
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, diag.Findings{at(diag.Errorf("crd-syntax", "%v", err), source)}
		}
		found, err := unpack(text, 0)
		if err != nil {
			return nil, diag.Findings{at(diag.Errorf("crd-syntax", "%v", err), source)}
		}
		out = append(out, found...)
	}
	return out, nil
}

// unpack reads one object: a definition, a list of objects, or nothing of interest.
func unpack(text []byte, depth int) ([]definition, error) {
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(text, &head) != nil || depth > 8 {
		return nil, nil
	}
	if head.Kind == "CustomResourceDefinition" {
		var d definition
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("custom resource definition: %w", err)
		}
		return []definition{d}, nil
	}
	var out []definition
	if strings.HasSuffix(head.Kind, "List") {
		for _, item := range head.Items {
			found, err := unpack(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func fromDefinition(source string, d definition, patterns *boundedregexp.Set) (out []File, fs diag.Findings) {
	group, kind := d.Spec.Group, d.Spec.Names.Kind
	if d.APIVersion != "apiextensions.k8s.io/v1" {
		f := diag.Errorf("crd-version", "%s has apiVersion %s", d.Metadata.Name, d.APIVersion)
		f.Fix = "only apiextensions.k8s.io/v1 is served by Kubernetes since 1.22: use the release's newer definitions"
		return nil, diag.Findings{at(f, source)}
	}
	if !groupName.MatchString(group) || !kindName.MatchString(kind) || len(group) > 253 || len(kind) > 63 {
		f := diag.Errorf("crd-name", "group %q and kind %q cannot be names of a package", clean(group), clean(kind))
		return nil, diag.Findings{at(f, source)}
	}
	for _, v := range d.Spec.Versions {
		if !v.Served || v.Schema.OpenAPI == nil {
			continue
		}
		if !versionName.MatchString(v.Name) || len(v.Name) > 63 {
			fs = append(fs, at(diag.Errorf("crd-name", "version %q of %s cannot be the name of a package", clean(v.Name), kind), source))
			continue
		}
		w := newWriter(source, kind+" "+v.Name, patterns)
		body := w.kind(group, v.Name, kind, d.Spec.Scope, v.Schema.OpenAPI)
		fs = append(fs, w.found...)
		data, err := file("the definition of "+kind+"."+group, v.Name, w.imports, body)
		if err != nil {
			fs = append(fs, at(diag.Errorf("crd-convert", "%s %s: %v", kind, v.Name, err), source))
			continue
		}
		out = append(out, File{Path: group + "/" + strings.ToLower(kind) + "/" + v.Name + "/types_gen.cue", Data: data})
	}
	return out, fs
}
