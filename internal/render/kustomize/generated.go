package kustomize

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secrets remembers what a generator puts into a Secret: values of literals and of the lines of env files, whole files.
func (c *collector) secrets(dir string, generator *yaml.Node) {
	for key, value := range fields(generator) {
		for _, n := range scalars(value) {
			switch {
			case is(key, "literals"):
				if _, v, ok := strings.Cut(n.Value, "="); ok {
					c.generated = append(c.generated, unquotedValue(v))
				}
			case is(key, "envs", "env"):
				for line := range strings.Lines(string(c.files[path.Join(dir, n.Value)])) {
					if name, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok && !strings.HasPrefix(strings.TrimSpace(name), "#") {
						c.generated = append(c.generated, unquotedValue(v))
					}
				}
			case is(key, "files"):
				name := n.Value
				if _, after, ok := strings.Cut(name, "="); ok {
					name = after
				}
				c.generated = append(c.generated, string(c.files[path.Join(dir, name)]))
			}
		}
	}
}

// unquotedValue is a value without the quotes that kustomize takes off.
func unquotedValue(v string) string {
	v = strings.TrimSpace(v)
	if n := len(v); n > 1 && v[0] == v[n-1] && (v[0] == '"' || v[0] == '\'') {
		return v[1 : n-1]
	}
	return v
}
