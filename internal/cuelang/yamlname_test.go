package cuelang

import (
	"strings"
	"testing"
)

// TestYAMLFaultInAnyFile: what is wrong with a YAML file is told with its place and without its texts, whatever the file is called.
func TestYAMLFaultInAnyFile(t *testing.T) {
	for _, name := range []string{"a.yaml", "d\nx/a.yaml", "my dir/a.yaml", "a:1: b.yml", "d/noext", "d\n.yaml"} {
		for src, want := range map[string]string{"a: 1\nb: *c4nary\n": "an alias of an anchor that is not there", "a:\n  - b\n  c: [\n": "did not find"} {
			_, err := FromYAML(name, []byte(src))
			for _, fs := range [][]string{{FindingsFor(err, Show{})[0].What, FindingsFor(err, Show{})[0].Pos.File}, {YAMLFindings(name, []byte(src), err)[0].What, name}} {
				if fs[1] != name || strings.Contains(fs[0], "c4nary") || !strings.Contains(fs[0], want) && !strings.Contains(fs[0], "indentation") {
					t.Errorf("%q: %q", name, fs)
				}
			}
		}
	}
}
