// Package images tells which images the containers of objects run.
//
// The package must not know what a kind means: it finds containers wherever a kind has them; nor what is secret: it is told.
package images

import (
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
)

// in are the images that the containers of an object run, each once and sorted: those of every pod template or pod in
// it, at whatever depth a kind has it.
func in(o object.Object) []string {
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			for key, inner := range x {
				if list, ok := inner.([]any); ok && slices.Contains([]string{"containers", "initContainers", "ephemeralContainers"}, key) {
					out = append(out, listed(list)...)
				}
				walk(inner)
			}
		case []any:
			for _, inner := range x {
				walk(inner)
			}
		}
	}
	walk(o.Body["spec"])
	walk(o.Body["template"]) // a PodTemplate
	slices.Sort(out)
	return slices.Compact(out)
}

// listed are the images of a list of containers.
func listed(containers []any) []string {
	var out []string
	for _, c := range containers {
		if fields, ok := c.(map[string]any); ok {
			if image, ok := fields["image"].(string); ok && image != "" {
				out = append(out, image)
			}
		}
	}
	return out
}

// Of are the images of objects by instance, as they may be shown and kept; those of hooks are none of the instance's. nil when there are none.
// own hides in a text what is secret of the instance's own. One that its object says is secret, and in which own knows nothing to hide, is
// hidden as a whole.
func Of(objects []object.Object, own func(instance, text string) string) map[string][]string {
	var out map[string][]string
	for _, o := range objects {
		found := in(o)
		if o.Hook != nil || len(found) == 0 {
			continue
		}
		if out == nil {
			out = map[string][]string{}
		}
		secret := o.SensitiveValues()
		for _, image := range found {
			shown := own(o.Instance, image)
			if shown == image && slices.Contains(secret, image) {
				shown = redact.Mask
			}
			out[o.Instance] = append(out[o.Instance], shown)
		}
	}
	for name, all := range out {
		slices.Sort(all)
		out[name] = slices.Compact(all)
	}
	return out
}
