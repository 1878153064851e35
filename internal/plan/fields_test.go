package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
)

// TestTell: a change that no server was asked about shows the fields in which the declarations differ, secrets hidden;
// changes that were asked about, that have no recorded declaration, or that are no updates stay as they are.
func TestTell(t *testing.T) {
	body := func(kind, name string, data map[string]any) object.Object {
		return object.Object{Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}, "data": data}}
	}
	of := func(o object.Object, action Action, code Code) Change {
		return Change{Ref: o.Ref(), Action: action, Code: code}
	}
	was := body("ConfigMap", "app", map[string]any{"a": "1", "b": "2 hush", "gone": "x", "theirs": "0"})
	now := body("ConfigMap", "app", map[string]any{"a": "1", "b": "3 hush", "new": "y", "theirs": "9"})
	key := body("Secret", "key", map[string]any{"gone": "b2xk", "same": "c2FtZQ==", "token": "b2xk"})
	key2 := body("Secret", "key", map[string]any{"new": "bmV3", "same": "c2FtZQ==", "token": "bmV3"})
	other := body("ConfigMap", "other", map[string]any{"a": "2"})
	ceding := of(now, Update, CodeChanged)
	ceding.OmitFields = []string{"data.theirs"}
	asked := of(other, Update, CodeChanged)
	asked.Checked = true
	p := &Plan{Changes: []Change{ceding, of(key2, Update, CodeChanged), asked, of(other, Create, CodeNew), of(other, Update, CodeDrift),
		of(body("ConfigMap", "unknown", nil), Update, CodeChanged)}}
	base := map[object.Ref]object.Object{was.Ref(): was, key.Ref(): key, other.Ref(): body("ConfigMap", "other", map[string]any{"a": "1"})}
	p.Tell(base, map[object.Ref]object.Object{now.Ref(): now, key2.Ref(): key2, other.Ref(): other},
		func(s string) string { return strings.ReplaceAll(s, "hush", "***") })
	want := [][]FieldChange{
		{{Path: "data.b", Old: `"2 ***"`, New: `"3 ***"`}, {Path: "data.gone", Old: `"x"`, Undeclared: true}, {Path: "data.new", New: `"y"`}},
		{{Path: "data.gone", Hidden: true, Undeclared: true}, {Path: "data.new", Hidden: true, Added: true}, {Path: "data.token", Hidden: true}}, nil, nil, nil, nil}
	for i, ch := range p.Changes {
		if diff := cmp.Diff(want[i], ch.Fields); diff != "" {
			t.Errorf("%s %s: -want +got\n%s", ch.Action, ch.Ref, diff)
		}
	}
}

// Values are shown with the characters that they have, beside what is hidden too: <, > and & are escaped for HTML alone.
func TestFieldChangesShowCharactersAsTheyAre(t *testing.T) {
	body := func(page, pair string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}, "data": map[string]any{"page": page}, "list": []any{pair}}
	}
	o := object.Object{Body: body("<h1>wiki & more</h1>", "hush & c")}
	got := FieldChanges(o, body("<h1>wiki</h1>", "a & b"), o.Body, func(s string) string { return strings.ReplaceAll(s, "hush", "***") }, object.Setters{})
	want := []FieldChange{{Path: "data.page", Old: `"<h1>wiki</h1>"`, New: `"<h1>wiki & more</h1>"`}, {Path: "list", Old: `["a & b"]`, New: `["*** & c"]`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestFieldChangesOfLists: an adopted object's lists have other entries in another order. What is secret in ours is hidden
// in theirs by the keys of the entries, never by position, and what only stands in the same place is shown.
func TestFieldChangesOfLists(t *testing.T) {
	body := func(env ...any) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "env": env}}}}
	}
	entry := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	ours := object.Object{Body: body(entry("PASSWORD", "ours-hunter2"), entry("LEVEL", "info"))}
	ours.Sensitive = object.SensitivePaths(ours.Body, func(s string) bool { return s == "ours-hunter2" })
	live := body(entry("ADDED", "by hand"), entry("LEVEL", "debug"), entry("PASSWORD", "theirs-hunter2"))
	got := FieldChanges(ours, live, ours.Body, func(s string) string { return s }, object.Setters{})
	want := []FieldChange{
		{Path: "spec.containers[app].env[ADDED]", Old: `{"name":"ADDED","value":"by hand"}`},
		{Path: "spec.containers[app].env[LEVEL].value", Old: `"debug"`, New: `"info"`},
		{Path: "spec.containers[app].env[PASSWORD].value", Hidden: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
