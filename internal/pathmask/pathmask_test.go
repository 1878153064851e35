package pathmask

import (
	"strings"
	"testing"
)

// In a path what the schema names stays, whatever is secret; keys of items and quoted names are values.
func TestMask(t *testing.T) {
	mask := func(s string) string { return strings.NewReplacer("spec", "***", "hunter2", "***").Replace(s) }
	name := func(s string) string { return strings.ReplaceAll(s, "mine4u", "***") }
	for path, want := range map[string]string{
		"spec.template.spec.containers[hunter2].env[A].value": "spec.template.spec.containers[***].env[A].value",
		`data."hunter2.yaml"`: `data."***.yaml"`,
		"":                    "",
		"a[":                  "a[",
		"data.hunter2":        "data.***",
		"data.app-hunter2-x":  "data.app-***-x",
		"spec.template.metadata.annotations.hunter2": "spec.template.metadata.annotations.***",
		`metadata.labels."a.b/hunter2"`:              `metadata.labels."a.b/***"`,
		"spec.selector.hunter2":                      "spec.selector.***",
		"spec.hunter2.env.mine4u.x":                  "spec.hunter2.env.***.x",
		"hunter2.data.spec.spec":                     "hunter2.data.***.spec",
		`env["x]hunter2"].value`:                     `env["x]***"].value`, `c[name="a]hunter2"].spec`: `c[name="a]***"].spec`, `a[q"hunter2].b`: `a[q"***].b`,
	} {
		if got := Mask(path, mask, name); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
