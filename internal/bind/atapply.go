package bind

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
)

// AtApply stands in a plan for what is made up when it is applied.
const AtApply = "known at apply"

// Made is a body as a plan shows it: with AtApply in place of what another render of it has otherwise, one with placeholders
// for what was made up. What is known only after other instances stays as it is. Neither body is changed.
func Made(body, placeholders map[string]any) map[string]any {
	out, _ := made(body, placeholders).(map[string]any)
	return out
}

func made(a, b any) any {
	switch x := a.(type) {
	case map[string]any:
		y, _ := b.(map[string]any)
		out := maps.Clone(x)
		for k, v := range x {
			out[k] = made(v, y[k])
		}
		return out
	case []any:
		y, _ := b.([]any)
		out := slices.Clone(x)
		for i, v := range x {
			var other any
			if len(y) == len(x) {
				other = y[i]
			}
			out[i] = made(v, other)
		}
		return out
	case string:
		y, ok := b.(string)
		switch {
		case ok && x == y, strings.Contains(x, knownAfter):
			return a
		case ok:
			return (&unknown{label: AtApply}).text(x, y)
		}
		return AtApply
	}
	if reflect.DeepEqual(a, b) {
		return a
	}
	return AtApply
}

// ShownAs is a value, as JSON, that stands where something is not known: what that is known after, and, where a preview is given, what stands there
// meanwhile. What only comes of a text that stands in says nothing.
func ShownAs(value string, after []string, preview bool) string {
	switch {
	case strings.Contains(value, knownAfter):
		return value
	case !preview:
		return knownAfter + strings.Join(after, ", ")
	}
	return knownAfter + strings.Join(after, ", ") + " (preview " + strings.Trim(value, `"`) + ")"
}

// Previewed reports whether a user gave a preview of any of what is open.
func Previewed(open []From) bool {
	return slices.ContainsFunc(open, func(f From) bool { return f.Preview != nil && f.Bundle == "" })
}

// Shown is a body as a plan shows it: what stands at paths that are not known (object.Object.Unknown), and does not say so itself,
// says what it is known after, and with preview what stands there meanwhile. What is masked stays so. The body is not changed.
func Shown(body map[string]any, unknown map[string]bool, after []string, preview bool) map[string]any {
	var show func(path string, v any) any
	show = func(path string, v any) any {
		switch x := v.(type) {
		case string:
			if strings.Contains(x, knownAfter) || x == redact.Mask {
				return v
			}
		case map[string]any:
			if len(x) > 0 {
				out := maps.Clone(x)
				for k, below := range x {
					out[k] = show(object.JoinPath(path, k), below)
				}
				return out
			}
		case []any:
			if len(x) > 0 {
				out := slices.Clone(x)
				for i, below := range x {
					out[i] = show(path+"["+strconv.Itoa(i)+"]", below)
				}
				return out
			}
		}
		if text, err := diag.JSON(v); unknown[path] && err == nil {
			return ShownAs(text, after, preview)
		}
		return v
	}
	out, _ := show("", body).(map[string]any)
	return out
}
