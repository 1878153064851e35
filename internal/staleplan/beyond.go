package staleplan

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// beyond are the fields in which an object that was rendered with the values that came is otherwise than the plan showed it with
// what stood in for them. A scalar that the plan showed as known only then may become any scalar. A value may stand where its
// stand-in stood, as a whole (also where it is a map or a list) or inside of a text. Everything else is as it was shown: every other
// scalar, the keys of maps, the lengths of lists.
func beyond(was, now *plan.Late) []string {
	if was == nil || now == nil || len(was.Open) == 0 {
		return nil
	}
	c := comparison{open: was.Object.Unknown}
	for _, at := range slices.Sorted(slices.Values(was.Open)) {
		if value, ok := now.Values[at]; ok && !slices.Contains(now.Open, at) {
			c.came = append(c.came, came{was.Values[at], value})
		}
	}
	c.walk("", was.Object.Body, now.Object.Body)
	return c.differ
}

// told are the values of an object as people know them: values.image.
func told(l *plan.Late) []string {
	out := slices.Sorted(maps.Keys(l.Values))
	for i, at := range out {
		out[i] = strings.TrimSuffix("values."+at, ".")
	}
	return out
}

// came is a value that was not known, with what stood in for it.
type came struct{ standIn, value any }

// comparison is one of two bodies of an object. open are the paths of scalars of the first that may be others.
type comparison struct {
	open   map[string]bool
	came   []came
	differ []string
}

func (c *comparison) walk(path string, was, is any) {
	switch {
	case scalar(was) && scalar(is) && (c.open[path] || was == is || c.replaced(was, is)), c.whole(path, was, is):
		return
	}
	switch x := was.(type) {
	case map[string]any:
		if y, ok := is.(map[string]any); ok {
			c.entries(path, x, y)
			return
		}
	case []any:
		if y, ok := is.([]any); ok && len(x) == len(y) {
			for i := range x {
				c.walk(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
			}
			return
		}
	}
	c.differ = append(c.differ, path)
}

// entries compares two maps. One that is null is as good as none.
func (c *comparison) entries(path string, was, is map[string]any) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		c.walk(object.JoinPath(path, key), was[key], is[key])
	}
}

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// whole reports whether a value stands where its stand-in stood. What is empty, or not there, may be anything's: it is a stand-in where the plan
// showed that it is not known.
func (c *comparison) whole(path string, was, is any) bool {
	if c.blank(path, was) {
		return false
	}
	for _, v := range c.came {
		if sameJSON(was, v.standIn) && sameJSON(is, v.value) {
			return true
		}
	}
	return false
}

// blank reports whether nothing tells a value from others: all of it is empty, and the plan does not show all of that as not known.
func (c *comparison) blank(path string, v any) bool {
	m, _ := v.(map[string]any)
	if len(m) == 0 {
		return empty(v) && !c.open[path]
	}
	return empty(v) && slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(key string) bool { return c.blank(object.JoinPath(path, key), m[key]) })
}

// replaced reports whether a text is another one with the values that came in place of what stood in for them, as it is or in base64.
func (c *comparison) replaced(was, is any) bool {
	x, ok := was.(string)
	y, isText := is.(string)
	if !ok || !isText {
		return false
	}
	put := func(s string) string {
		for _, v := range c.came {
			if standIn, ok := v.standIn.(string); ok && standIn != "" && scalar(v.value) {
				s = strings.ReplaceAll(s, standIn, fmt.Sprint(v.value))
			}
		}
		return s
	}
	if put(x) == y {
		return true
	}
	a, err := base64.StdEncoding.DecodeString(x)
	b, err2 := base64.StdEncoding.DecodeString(y)
	return err == nil && err2 == nil && put(string(a)) == string(b)
}

// sameJSON compares scalars first: most are not the same.
func sameJSON(a, b any) bool {
	if scalar(a) != scalar(b) {
		return false
	}
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
