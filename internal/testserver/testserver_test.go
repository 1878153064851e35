package testserver

import "testing"

// Who applies the same again changes nothing, not even the time of its entry: as a real API server has it, whatever time has passed.
func TestSameAgainKeepsItsTime(t *testing.T) {
	s := Start(t)
	const path, long = "/api/v1/namespaces/n/configmaps/a", "2020-01-01T00:00:00Z"
	body := func(value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"k": value}}
	}
	at := func(o map[string]any) any {
		return o["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["time"]
	}
	first := s.store(path, body("x"), "us")
	first["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["time"] = long
	for name, c := range map[string]struct {
		value, manager string
		keeps          bool
	}{"the same": {"x", "us", true}, "another value": {"y", "us", false}, "another manager": {"x", "them", false}} {
		if got := at(s.stamped(path, body(c.value), c.manager)); (got == long) != c.keeps {
			t.Errorf("%s: %v", name, got)
		}
	}
}
