package v1alpha1

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// BundleSchema and FleetSchema are the documents' schemas in CUE, for printing and for programs; FleetSchema uses
// definitions of BundleSchema. They say the form; what needs a look at several fields is checked in code.
var (
	//go:embed bundle.schema.cue
	BundleSchema string
	//go:embed fleet.schema.cue
	FleetSchema string
)

// jsonSchema holds the same as JSON Schema 2020-12, as definitions.
//
//go:embed schema.json
var jsonSchema []byte

// SchemaKinds are the kinds Schema knows; SchemaFormats the formats.
var (
	SchemaKinds   = []string{"bundle", "fleet"}
	SchemaFormats = []string{"cue", "json"}
)

// Schema is the schema of a document for editors: kind is "bundle", "fleet" (or "runtime"), any letter case; format
// "cue" or "json". It ends in a newline.
func Schema(kind, format string) (string, error) {
	kind = strings.ToLower(kind)
	root := map[string]string{"bundle": "BundleDocument", "fleet": "FleetDocument", "runtime": "FleetDocument"}[kind]
	if root == "" {
		return "", fmt.Errorf("there is no schema of kind %q; there is: %s", kind, strings.Join(SchemaKinds, ", "))
	}
	switch format {
	case "json":
		return rooted(root)
	case "cue":
		if kind == "bundle" {
			return BundleSchema + "\nbundle?: #Bundle\nbundles?: [#Name]: #Bundle\n", nil
		}
		return strings.TrimSpace(BundleSchema) + "\n\n" + FleetSchema + "\nfleet?:   #Fleet\nruntime?: #Runtime\n", nil
	}
	return "", fmt.Errorf("there is no schema in format %q; there is: %s", format, strings.Join(SchemaFormats, ", "))
}

// rooted is the JSON Schema with one of its definitions as root.
func rooted(def string) (string, error) {
	var s struct {
		Schema string          `json:"$schema"`
		Ref    string          `json:"$ref"`
		Defs   json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(jsonSchema, &s); err != nil {
		return "", fmt.Errorf("schema: %w", err)
	}
	s.Ref = "#/$defs/" + def
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return "", fmt.Errorf("schema: %w", err)
	}
	return b.String(), nil
}
