// Package built writes what a build made: as one stream of documents, or as the files of a directory, of which it knows
// which are its own.
//
// built must not render, and decides nothing about files: outdir does.
package built

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// InOrder sorts objects as they would be written: by class, then identity.
func InOrder(objs []object.Object) []object.Object {
	return slices.SortedStableFunc(slices.Values(objs), func(a, b object.Object) int {
		x, y := a.Ref(), b.Ref()
		return cmp.Or(cmp.Compare(object.ClassOf(x), object.ClassOf(y)), x.Compare(y))
	})
}

// Stream writes all instances, each with its head, as one stream of documents.
func Stream(b *bytes.Buffer, r *fleetplan.BuildResult, mask bool) error {
	for _, item := range r.Items {
		fmt.Fprintf(b, "---\n# Instance: %s\n", item.Instance)
		if r.MultiCluster {
			fmt.Fprintf(b, "# Cluster: %s\n", item.Cluster)
		}
		for _, o := range item.Objects {
			if mask {
				o.Instance = item.Instance
				o = Masked(o, r.Mask)
			}
			data, err := Printed(o)
			if err != nil {
				return err
			}
			b.WriteString("---\n")
			b.Write(data)
		}
		if len(item.Objects) == 0 {
			b.WriteString("---\n")
		}
	}
	return nil
}

// YAML is an object as YAML, for a file.
func YAML(o object.Object) ([]byte, error) {
	data, err := yaml.Marshal(o.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Ref(), err)
	}
	return data, nil
}

// Printed is the same for a log, in which no line of it is an order to a CI system.
func Printed(o object.Object) ([]byte, error) {
	data, err := json.Marshal(o.Body)
	if err == nil {
		data, err = diag.YAML(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Ref(), err)
	}
	return data, nil
}

// Masked is a copy of an object with *** for the values of a Secret, and for values that are secret wherever they stand:
// texts, numbers, what they are part of. Fields keep their names, and the object what it is called by. nil knows no secrets.
func Masked(o object.Object, m plan.Masker) object.Object {
	if m == nil {
		m = (*redact.Redactor)(nil)
	}
	o.Body = o.Masked(func(text string) string { return m.Value(o.Instance, text) }, func(text string) string { return m.Own(o.Instance, text) }, func(name string) string { return m.Name(o.Instance, name) }, m.Redact)
	return o
}

func severalNamespaces(objs []object.Object) bool {
	seen := map[string]bool{}
	for _, o := range objs {
		if ns := o.Ref().Namespace; ns != "" {
			seen[ns] = true
		}
	}
	return len(seen) > 1
}

// fileName is [<namespace>_]<group>_<version>_<kind>_<name>.yaml in lower case; the core group has no name. Colons,
// which RBAC names may hold and file systems may not, become underscores.
func fileName(o object.Object, withNamespace bool) string {
	gvk, ref := o.GVK(), o.Ref()
	var parts []string
	if withNamespace && ref.Namespace != "" {
		parts = append(parts, ref.Namespace)
	}
	if gvk.Group != "" {
		parts = append(parts, gvk.Group)
	}
	name := strings.ToLower(strings.Join(append(parts, gvk.Version, gvk.Kind, ref.Name), "_"))
	return strings.NewReplacer("/", "_", ":", "_").Replace(name) + ".yaml"
}
