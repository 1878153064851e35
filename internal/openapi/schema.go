package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/object"
)

// fields is what is used of a schema object.
type fields struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Properties map[string]*fields `json:"properties"`
	Additional *additional        `json:"additionalProperties"`
	Items      *fields            `json:"items"`
	Required   []string           `json:"required"`
	Enum       []any              `json:"enum"`
	AllOf      []*fields          `json:"allOf"`
	OneOf      []*fields          `json:"oneOf"`
	AnyOf      []*fields          `json:"anyOf"`
	Default    json.RawMessage    `json:"default"`
	Pattern    string             `json:"pattern"`

	Minimum          *float64 `json:"minimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMinimum bool     `json:"exclusiveMinimum"`
	ExclusiveMaximum bool     `json:"exclusiveMaximum"`
	MinLength        *int64   `json:"minLength"`
	MaxLength        *int64   `json:"maxLength"`
	MinItems         *int64   `json:"minItems"`
	MaxItems         *int64   `json:"maxItems"`

	Preserve    bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource"`
	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`
	GVKs        []gvk    `json:"x-kubernetes-group-version-kind"`
}

type gvk struct{ Group, Version, Kind string }

// additional is a schema, or whether further fields may stand there.
type additional struct {
	allowed bool
	schema  *fields
}

// UnmarshalJSON reads both forms.
func (a *additional) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &a.allowed); err == nil {
		return nil
	}
	a.allowed = true
	return json.Unmarshal(data, &a.schema)
}

// Document holds the schemas of some kinds. It may be used from several goroutines.
type Document struct {
	// builtin: the schemas are Kubernetes' own, made of Go types, whose defaults are zero values.
	builtin func(component string) bool
	raw     map[string]json.RawMessage
	kinds   map[schema.GroupVersionKind]string
	bytes   int64 // of the document, as a Library keeps it

	// patterns are those of the schemas; what takes too long is the server's to check.
	patterns boundedregexp.Set

	mu     sync.Mutex
	parsed map[string]*fields
}

// Parse reads one document as an API server publishes it under /openapi/v3. Only the schemas that are asked for are
// decoded, when they are. The error says that it is no such document.
func Parse(data []byte) (*Document, error) {
	schemas := schemasAlone(data)
	if schemas == nil {
		var err error
		if schemas, err = schemasOf(data); err != nil {
			return nil, err
		}
	}
	d := &Document{raw: schemas, parsed: map[string]*fields{}, kinds: map[schema.GroupVersionKind]string{},
		builtin: func(name string) bool { return strings.HasPrefix(name, "io.k8s.") }}
	for name, raw := range d.raw {
		if !bytes.Contains(raw, []byte(`"x-kubernetes-group-version-kind"`)) {
			continue
		}
		var head struct {
			GVKs []gvk `json:"x-kubernetes-group-version-kind"`
		}
		if json.Unmarshal(raw, &head) != nil || len(head.GVKs) != 1 {
			continue // options and the like are of every group
		}
		k := head.GVKs[0]
		d.kinds[schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}] = name
	}
	return d, nil
}

// schemasOf reads a whole document.
func schemasOf(data []byte) (map[string]json.RawMessage, error) {
	var doc struct {
		OpenAPI    string `json:"openapi"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("no OpenAPI document: %w", err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("no OpenAPI v3 document: its version is %.20q", doc.OpenAPI)
	}
	return doc.Components.Schemas, nil
}

// schemasAlone reads what an API server writes last, without the paths before it, which are most of a document: nil for a
// document of another form. A run waits for it before its first write.
func schemasAlone(data []byte) map[string]json.RawMessage {
	const begin, at = `{"openapi":"3.`, `},"components":{"schemas":`
	i := bytes.LastIndex(data, []byte(at))
	if !bytes.HasPrefix(data, []byte(begin)) || i < 0 {
		return nil
	}
	var schemas map[string]json.RawMessage
	in := json.NewDecoder(bytes.NewReader(data[i+len(at):]))
	if in.Decode(&schemas) != nil {
		return nil
	}
	return schemas
}

// Has reports whether the document has a schema for a kind.
func (d *Document) Has(k schema.GroupVersionKind) bool { return d.kinds[k] != "" }

// Kinds are those the document has, in no order.
func (d *Document) Kinds() []schema.GroupVersionKind { return slices.Collect(maps.Keys(d.kinds)) }

// component returns a schema by its name; nil when there is none or it cannot be read.
func (d *Document) component(name string) *fields {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f, ok := d.parsed[name]; ok {
		return f
	}
	var f *fields
	if raw, ok := d.raw[name]; ok {
		f = new(fields)
		if json.Unmarshal(raw, f) != nil {
			f = nil
		}
	}
	d.parsed[name] = f
	return f
}

// Location is where a document is. Hash, which changes with the content, is its SHA-512 where the server tells it so.
type Location struct{ URL, Hash string }

// Index maps the paths of an API server's groups and versions ("api/v1", "apis/apps/v1") to where their documents are,
// from the answer to /openapi/v3.
func Index(data []byte) (map[string]Location, error) {
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("no index of OpenAPI documents: %w", err)
	}
	out := make(map[string]Location, len(index.Paths))
	for path, at := range index.Paths {
		u, err := url.Parse(at.URL)
		if err != nil {
			return nil, fmt.Errorf("no index of OpenAPI documents: %w", err)
		}
		out[path] = Location{URL: at.URL, Hash: strings.ToLower(u.Query().Get("hash"))}
	}
	return out, nil
}

// IndexKey is the key of a group and version in the index.
func IndexKey(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.Group + "/" + gv.Version
}

// Definitions are the documents of the CustomResourceDefinitions among some objects, by the kinds they define.
func Definitions(bodies map[object.Ref]object.Object) map[schema.GroupKind]*Document {
	out := map[schema.GroupKind]*Document{}
	for ref, o := range bodies {
		if !ref.IsCRD() {
			continue
		}
		if d := Definition(o.Body); d != nil {
			for _, k := range d.Kinds() {
				out[k.GroupKind()] = d
			}
		}
	}
	return out
}

// Definition makes a document of a CustomResourceDefinition (apiextensions.k8s.io/v1, as JSON), for objects that come with
// it in one plan. Versions without a schema are left out; nil when the object is no such definition or keeps every field.
func Definition(body map[string]any) *Document {
	data, err := json.Marshal(body)
	if err != nil {
		return nil
	}
	var crd struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
			Preserve bool `json:"preserveUnknownFields"`
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPI json.RawMessage `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if json.Unmarshal(data, &crd) != nil || crd.Kind != "CustomResourceDefinition" || crd.APIVersion != "apiextensions.k8s.io/v1" || crd.Spec.Preserve {
		return nil
	}
	d := &Document{builtin: func(string) bool { return false }, raw: map[string]json.RawMessage{}, parsed: map[string]*fields{},
		kinds: map[schema.GroupVersionKind]string{}}
	for _, v := range crd.Spec.Versions {
		if len(v.Schema.OpenAPI) > 0 {
			d.raw[v.Name] = v.Schema.OpenAPI
			d.kinds[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = v.Name
		}
	}
	return d
}
