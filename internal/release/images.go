package release

import (
	"slices"

	"hawser.dev/hawser/internal/object"
)

// imagesIn are the images that the containers of an object run, each once and sorted: those of every pod template or pod in
// it, at whatever depth a kind has it.
func imagesIn(o object.Object) []string {
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			for key, inner := range x {
				if list, ok := inner.([]any); ok && slices.Contains([]string{"containers", "initContainers", "ephemeralContainers"}, key) {
					out = append(out, imagesOf(list)...)
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

// imagesOf are the images of a list of containers.
func imagesOf(containers []any) []string {
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

// ImagesOf are the images of objects by instance; those of hooks are none of the instance's. nil when there are none.
func ImagesOf(objects []object.Object) map[string][]string {
	var out map[string][]string
	for _, o := range objects {
		images := imagesIn(o)
		if o.Hook != nil || len(images) == 0 {
			continue
		}
		if out == nil {
			out = map[string][]string{}
		}
		out[o.Instance] = append(out[o.Instance], images...)
	}
	for name, images := range out {
		slices.Sort(images)
		out[name] = slices.Compact(images)
	}
	return out
}
