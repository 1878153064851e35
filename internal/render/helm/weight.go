package helm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/templatevalues"
)

// written are the functions that write a whole value out, or read one: they are what Helm and sprig have, and refuse what
// would be too much.
func written(orig template.FuncMap) template.FuncMap {
	out := template.FuncMap{
		"toYaml":       writer("toYaml", yaml.Marshal, "\n"),
		"mustToYaml":   must("mustToYaml", yaml.Marshal, "\n"),
		"toJson":       writer("toJson", json.Marshal, ""),
		"mustToJson":   must("mustToJson", json.Marshal, ""),
		"toYamlPretty": writer("toYamlPretty", prettyYaml, "\n"),
		"mustToToml":   must("mustToToml", toml.Marshal, ""),
		"toToml": writer("toToml", func(v any) ([]byte, error) {
			data, err := toml.Marshal(v)
			if err != nil {
				return []byte(err.Error()), nil // as Helm's
			}
			return data, nil
		}, ""),
		"fromYaml": func(text string) map[string]any {
			m := map[string]any{}
			if err := read(text, &m); err != nil {
				m["Error"] = saidOf(err)
			}
			return m
		},
		"fromYamlArray": func(text string) []any {
			a := []any{}
			if err := read(text, &a); err != nil {
				a = []any{saidOf(err)}
			}
			return a
		},
		"fromToml": func(text string) map[string]any {
			m := map[string]any{}
			if err := templatevalues.ReadTOML(text, &m); err != nil {
				m["Error"] = saidOf(err)
			}
			return m
		},
		"printf": func(format string, parts ...any) (string, error) {
			if templatevalues.Formatted(format, parts) > templatevalues.MaxMade {
				return "", templatevalues.TooMuch("printf")
			}
			return fmt.Sprintf(format, parts...), nil
		},
	}
	for _, fn := range []string{"toPrettyJson", "toRawJson", "toString"} {
		if do, ok := orig[fn].(func(any) string); ok {
			out[fn] = func(v any) (string, error) {
				if templatevalues.Weight(v) > templatevalues.MaxMade {
					return "", templatevalues.TooMuch(fn)
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

func prettyYaml(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := goyaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writer is a function that writes a value, and gives nothing where it cannot be written.
func writer(fn string, marshal func(any) ([]byte, error), end string) func(any) (string, error) {
	return func(v any) (string, error) {
		if templatevalues.Weight(v) > templatevalues.MaxMade {
			return "", templatevalues.TooMuch(fn)
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
		if templatevalues.Weight(v) > templatevalues.MaxMade {
			return "", templatevalues.TooMuch(fn)
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

// saidOf is what the library says of a text, which a chart may put into an object: nothing of what stands there, as no mask knows a part.
func saidOf(err error) string {
	text := err.Error()
	for _, head := range []string{"error converting YAML to JSON: yaml: ", "yaml: ", "toml: "} {
		if rest, ok := strings.CutPrefix(text, head); ok {
			if fault := cuelang.YAMLFault(rest); len(rest) > len(fault) || !strings.HasSuffix(rest, fault[strings.Index(fault, ": ")+1:]) {
				return head + fault
			} // what quotes nothing is as Helm has it, which counts lines as the library does
		}
	}
	return text
}
