package lockfile

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPin(t *testing.T) {
	for name, c := range map[string]struct {
		sources []string            // that are pinned
		bundles map[string][]string // that are known
		uses    map[string][]string
		left    []string
		dropped []string
		known   map[string][]string
	}{
		"first":                 {nil, nil, map[string][]string{"a": {"x", "x"}}, []string{"x"}, nil, map[string][]string{"a": {"x"}}},
		"another bundle's":      {[]string{"x"}, map[string][]string{"a": {"x"}}, map[string][]string{"b": {"y"}}, []string{"x", "y"}, nil, map[string][]string{"a": {"x"}, "b": {"y"}}},
		"no longer used":        {[]string{"x"}, map[string][]string{"a": {"x"}}, map[string][]string{"a": {"y"}}, []string{"y"}, []string{"x"}, map[string][]string{"a": {"y"}}},
		"used by another":       {[]string{"x"}, map[string][]string{"a": {"x"}, "b": {"x"}}, map[string][]string{"a": {"y"}}, []string{"x", "y"}, nil, map[string][]string{"a": {"y"}, "b": {"x"}}},
		"moved to another":      {[]string{"x"}, map[string][]string{"a": {"x"}}, map[string][]string{"a": {}, "b": {"x"}}, []string{"x"}, nil, map[string][]string{"b": {"x"}}},
		"no sources any more":   {[]string{"x"}, map[string][]string{"a": {"x"}}, map[string][]string{"a": nil}, nil, []string{"x"}, map[string][]string{}},
		"nobody knows whose":    {[]string{"x"}, nil, map[string][]string{"a": {"y"}}, []string{"x", "y"}, nil, map[string][]string{"a": {"y"}}},
		"removed from the file": {nil, map[string][]string{"a": {"x"}}, map[string][]string{"a": {"y"}}, []string{"y"}, nil, map[string][]string{"a": {"y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := File{Bundles: maps.Clone(c.bundles)}.filled()
			for _, key := range c.sources {
				f.Sources[key] = Pin{Digest: "sha256:old"}
			}
			pins := map[string]Pin{}
			for _, keys := range c.uses {
				for _, key := range keys {
					pins[key] = Pin{Digest: "sha256:new"}
				}
			}
			dropped := f.Pin(pins, c.uses)
			if diff := cmp.Diff(c.left, slices.Sorted(maps.Keys(f.Sources))); diff != "" {
				t.Errorf("pinned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.dropped, slices.Sorted(maps.Keys(dropped))); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.known, f.Bundles); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
		})
	}
}
