package staleplan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Fields compares a saved value with one of now, both as their JSON is, and says of each field that differs which it is and
// what both have: `clusters[eu].group is "a" in the file, and "b" now`. words are the fields that are not looked at, by their
// names without indices: clusters.server. What is empty is the same as what is not there.
func Fields(saved, now any, words map[string]string) []string {
	var out []string
	walk("", "", tree(saved), tree(now), words, &out)
	return out
}

// Differ is all that Fields says, on one line.
func Differ(saved, now any) string {
	return strings.Join(Fields(saved, now, nil), "; ")
}

func tree(v any) any {
	var out any
	data, err := json.Marshal(v)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		err = dec.Decode(&out)
	}
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return out
}

func walk(name, shown string, saved, now any, words map[string]string, out *[]string) {
	if _, word := words[name]; word || empty(saved) && empty(now) {
		return
	}
	was, isMap := saved.(map[string]any)
	is, areMaps := now.(map[string]any)
	if (isMap || saved == nil) && (areMaps || now == nil) {
		keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			walk(strings.TrimPrefix(name+"."+key, "."), strings.TrimPrefix(shown+"."+key, "."), was[key], is[key], words, out)
		}
		return
	}
	before, isList := saved.([]any)
	after, areLists := now.([]any)
	if (isList || saved == nil) && (areLists || now == nil) {
		for i := range max(len(before), len(after)) {
			old, item := at(before, i), at(after, i)
			walk(name, shown+"["+label(old, item, i)+"]", old, item, words, out)
		}
		return
	}
	if x, y := text(saved), text(now); x != y {
		*out = append(*out, strings.TrimPrefix(fmt.Sprintf("%s is %s in the file, and %s now", shown, x, y), " is "))
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// label names an item of a list: by the name that both have, else by its number.
func label(saved, now any, i int) string {
	for _, key := range []string{"cluster", "name", "path"} {
		was, _ := saved.(map[string]any)
		is, _ := now.(map[string]any)
		if s, _ := is[key].(string); s != "" && (was == nil || was[key] == is[key]) {
			return s
		}
	}
	return fmt.Sprint(i)
}

func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(x)), func(v any) bool { return !empty(v) })
	case []any:
		return len(x) == 0
	}
	return v == "" || v == false || v == json.Number("0")
}

// longestShown bounds what is shown of a value, in bytes.
const longestShown = 160

func text(v any) string {
	if empty(v) {
		return "nothing"
	}
	s, err := diag.JSON(v)
	name, isString := v.(string)
	switch {
	case err != nil:
		return "unreadable"
	case isString:
		s = strconv.Quote(name)
	}
	if len(s) > longestShown {
		return strings.ToValidUTF8(s[:longestShown], "") + "..."
	}
	return s
}
