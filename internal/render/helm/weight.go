package helm

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/lazyregexp"
)

// written are the functions that write a whole value out, or read one: they are what Helm and sprig have, and refuse what
// would be too much.
func written(orig template.FuncMap) template.FuncMap {
	out := template.FuncMap{
		"toYaml":     writer("toYaml", yaml.Marshal, "\n"),
		"mustToYaml": must("mustToYaml", yaml.Marshal, "\n"),
		"toJson":     writer("toJson", json.Marshal, ""),
		"mustToJson": must("mustToJson", json.Marshal, ""),
		"fromYaml": func(text string) map[string]any {
			m := map[string]any{}
			if err := read(text, &m); err != nil {
				m["Error"] = err.Error()
			}
			return m
		},
		"fromYamlArray": func(text string) []any {
			a := []any{}
			if err := read(text, &a); err != nil {
				a = []any{err.Error()}
			}
			return a
		},
		"printf": func(format string, parts ...any) (string, error) {
			if formatted(format, parts) > maxMade {
				return "", tooMuch("printf")
			}
			return fmt.Sprintf(format, parts...), nil
		},
	}
	for _, fn := range []string{"toPrettyJson", "toRawJson", "toString"} {
		if do, ok := orig[fn].(func(any) string); ok {
			out[fn] = func(v any) (string, error) {
				if weight(v) > maxMade {
					return "", tooMuch(fn)
				}
				return do(v), nil
			}
		}
	}
	for _, fn := range []string{"quote", "squote"} {
		out[fn] = joined(fn, orig[fn].(func(...any) string))
	}
	return out
}

// writer is a function that writes a value, and gives nothing where it cannot be written.
func writer(fn string, marshal func(any) ([]byte, error), end string) func(any) (string, error) {
	return func(v any) (string, error) {
		if weight(v) > maxMade {
			return "", tooMuch(fn)
		}
		data, err := marshal(v)
		if err != nil {
			return "", nil
		}
		return strings.TrimSuffix(string(data), end), nil
	}
}

// must is a writer that panics where a value cannot be written, as Helm's does.
func must(fn string, marshal func(any) ([]byte, error), end string) func(any) (string, error) {
	return func(v any) (string, error) {
		if weight(v) > maxMade {
			return "", tooMuch(fn)
		}
		data, err := marshal(v)
		if err != nil {
			panic(err)
		}
		return strings.TrimSuffix(string(data), end), nil
	}
}

// read reads a YAML text whose aliases stand for no more than a file may hold.
func read(text string, into any) error {
	if fs := cuelang.CheckAliases("-", []byte(text)); fs != nil {
		return fmt.Errorf("line %d: %s", fs[0].Pos.Line, fs[0].What)
	}
	return yaml.Unmarshal([]byte(text), into)
}

var (
	widths  = lazyregexp.New(`[0-9]+`)
	starred = lazyregexp.New(`%[^a-zA-Z%]*\*`)
)

// formatted is about how many bytes printf may make: its arguments, each time that the format names them by number, and
// the widths.
func formatted(format string, parts []any) int {
	const widest = 1_000_000 // of package fmt
	sum := len(format) + weight(parts...)
	if strings.Contains(format, "[") {
		sum += min(weight(parts...), maxMade) * strings.Count(format, "%")
	}
	for _, d := range widths.FindAllString(format, -1) {
		n, _ := strconv.Atoi(d)
		sum += min(n, widest)
	}
	return sum + widest*len(starred.FindAllString(format, -1))
}

// weight is how many bytes a value has when it is written out, at least; counting ends where that is too much. A value of
// a template holds the same text, list or map as often as it likes.
func weight(values ...any) int {
	sum := 0
	for _, v := range values {
		sum += weightOf(v, maxMade-sum)
		if sum > maxMade {
			break
		}
	}
	return sum
}

func weightOf(v any, left int) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case map[string]any:
		sum := 1
		for k, x := range v {
			if sum += len(k) + weightOf(x, left-sum); sum > left {
				break
			}
		}
		return sum
	case []any:
		sum := 1
		for _, x := range v {
			if sum += weightOf(x, left-sum); sum > left {
				break
			}
		}
		return sum
	case []string:
		return len(v) + len(strings.Join(v, ""))
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 1
}
