package bind

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// mostParts is how many parts of what is open are tried where all of it together is refused: each costs a render.
const mostParts = 16

// Parts tries all of what is open at once, and where that is refused parts of it: each by itself where there are few, else halves, and halves of those that
// are refused. It returns what is in no part that was taken, and what of that was not tried by itself.
func Parts(all []From, try func(part []From) bool) (refused, untried []From) {
	switch {
	case len(all) == 0 || try(all):
		return nil, nil
	case len(all) == 1:
		return all, nil
	}
	parts := split(all, len(all) <= mostParts)
	for tries := 0; len(parts) > 0; tries++ {
		part := parts[0]
		parts = parts[1:]
		switch {
		case tries >= mostParts:
			refused, untried = append(refused, part...), append(untried, part...)
		case try(part):
		case len(part) == 1:
			refused = append(refused, part...)
		default:
			parts = append(parts, split(part, false)...)
		}
	}
	return refused, untried
}

// split is a list in halves, or in its items.
func split(all []From, items bool) [][]From {
	if size := max(1, (len(all)+1)/2); !items {
		return slices.Collect(slices.Chunk(all, size))
	}
	return slices.Collect(slices.Chunk(all, 1))
}

// Texts are those of what is open that a text stands in for, see Numbers.
func Texts(open []From) []From {
	return slices.DeleteFunc(slices.Clone(open), func(f From) bool { return f.Preview != nil && f.Bundle == "" })
}

// Without are those of a that are not in b, by where they are.
func Without(a, b []From) []From {
	in := map[string]bool{}
	for _, f := range b {
		in[f.At] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(f From) bool { return in[f.At] })
}

// Seen marks the scalars of objects in which a stand-in of what is open is seen, or what looks like one, as not known: of what is refused otherwise than it
// stands in, nobody can tell more. The objects given are not changed.
func Seen(objs []object.Object, open []From) []object.Object {
	marks := marksOf(open)
	if len(marks) == 0 {
		return objs
	}
	out := slices.Clone(objs)
	for i, o := range out {
		at := maps.Clone(o.Unknown)
		if at == nil {
			at = map[string]bool{}
		}
		seen("", o.Body, marks, at)
		for path := range maps.Clone(at) {
			if below, ok := strings.CutPrefix(path, "stringData"); ok && o.Ref().IsSecret() {
				at["data"+below] = true // where it comes to be
			}
		}
		if len(at) > len(o.Unknown) {
			out[i].Unknown = at
		}
	}
	return out
}

func seen(path string, v any, marks, at map[string]bool) {
	switch x := v.(type) {
	case map[string]any:
		for k, below := range x {
			seen(object.JoinPath(path, k), below, marks, at)
		}
	case []any:
		for i, below := range x {
			seen(path+"["+strconv.Itoa(i)+"]", below, marks, at)
		}
	default:
		if !strings.HasPrefix(path, "metadata.name") && path != "kind" && path != "apiVersion" && holds(v, marks) {
			at[path] = true
		}
	}
}

// CodeUntried is the code of warnings that a plan shows less of where values go than it could.
const CodeUntried = "values-untried"

// Untried warns that of n of the values that are open only those fields are shown as not known in which what stands in for them is seen.
func Untried(n int, open []From) diag.Finding {
	f := diag.Warnf(CodeUntried, "of %d values that are known after %s the plan shows only where what stands in for them is seen, not what is computed of them", n, strings.Join(After(open), ", "))
	f.Why = "what is rendered takes some of them in no other form, and " + strconv.Itoa(mostParts) + " renders have not told which"
	f.Fix = meanwhile(open)
	return f
}
