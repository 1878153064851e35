package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListItem(t *testing.T) {
	type m = map[string]any
	list := m{"apiVersion": "apps/v1", "kind": "DeploymentList"}
	for name, c := range map[string]struct{ list, item, want m }{
		"neither":           {list, m{"x": 1}, m{"apiVersion": "apps/v1", "kind": "Deployment", "x": 1}},
		"empty texts":       {list, m{"kind": "", "apiVersion": ""}, m{"apiVersion": "apps/v1", "kind": "Deployment"}},
		"its own":           {list, m{"apiVersion": "v1", "kind": "Secret"}, m{"apiVersion": "v1", "kind": "Secret"}},
		"kind alone":        {list, m{"kind": "Secret"}, m{"kind": "Secret"}},
		"version alone":     {list, m{"apiVersion": "v1"}, m{"apiVersion": "v1"}},
		"of another type":   {list, m{"kind": 1}, m{"kind": 1}},
		"a List of all":     {m{"apiVersion": "v1", "kind": "List"}, m{"x": 1}, m{"x": 1}},
		"nothing":           {list, nil, m{"apiVersion": "apps/v1", "kind": "Deployment"}},
		"no kind that ends": {m{}, m{"x": 1}, m{"x": 1}},
	} {
		if d := cmp.Diff(c.want, ListItem(c.list, c.item)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	item := m{"x": 1}
	if ListItem(list, item); len(item) != 1 {
		t.Error("the item was changed")
	}
}
