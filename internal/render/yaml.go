package render

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
)

// leading are the fields a person looks for first; the others follow in alphabetical order.
var leading = []string{"apiVersion", "kind", "metadata"}

// WriteYAML writes the objects as a YAML stream in the given order, each document followed by what separates it from
// the next. The text is a function of the objects alone.
func WriteYAML(w io.Writer, objs []object.Object) error {
	for i, o := range objs {
		if i > 0 {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if err := WriteObject(w, o); err != nil {
			return err
		}
	}
	return nil
}

// WriteObject writes one object as a YAML document without a separator.
func WriteObject(w io.Writer, o object.Object) error {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(o.Body)), func(k string) bool { return slices.Contains(leading, k) })
	for _, k := range append(slices.Clone(leading), rest...) {
		x, ok := o.Body[k]
		if !ok {
			continue
		}
		data, err := json.Marshal(map[string]any{k: x})
		if err != nil {
			return fmt.Errorf("%s: %w", o.Ref(), err)
		}
		text, err := yaml.JSONToYAML(data)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Ref(), err)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}
