package cuelang_test

import (
	"strings"
	"testing"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/internal/cuelang"
)

// What stands where a struct belongs is told how it is written.
func TestShapeHint(t *testing.T) {
	for _, c := range []struct {
		path       string
		want, have cue.Kind
		hint       string
	}{
		{"bundle.requires.0", cue.StructKind, cue.StringKind, "requires: [{bundle: NAME}]"},
		{"bundle.instances.a", cue.StructKind, cue.StringKind, "an instance is NAME: {"},
		{"bundle.instances.a", cue.StructKind, cue.ListKind, "an instance is NAME: {"},
		{"bundle.instances.a.values", cue.StructKind, cue.StringKind, "values: {from: {file:"},
		{"bundle.instances.a.values", cue.StructKind, cue.ListKind, "values: {KEY: VALUE"},
		{"bundle.instances.a.dependsOn", cue.ListKind, cue.StringKind, "dependsOn: [...]"},
		{"bundle.name", cue.StringKind, cue.NumberKind, "quotes"},
		{"bundle.instances", cue.StructKind, cue.ListKind, "instances: {NAME: {...}}"},
		{"instances", cue.StructKind, cue.NullKind, ""},
		{"", cue.StructKind, cue.ListKind, ""},
	} {
		var path []string
		if c.path != "" {
			path = strings.Split(c.path, ".")
		}
		got := cuelang.ShapeHint(path, c.want, c.have)
		if (c.hint == "") != (got == "") || !strings.Contains(got, c.hint) {
			t.Errorf("%s, %v for %v: %q, not %q", c.path, c.have, c.want, got, c.hint)
		}
	}
}
