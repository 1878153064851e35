package bind

import (
	"maps"
	"reflect"
	"slices"
	"strings"
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
