package bind

import (
	"reflect"
	"testing"
)

// What a render with placeholders has otherwise is made up; the rest is certain, and what other instances give is told already.
func TestMade(t *testing.T) {
	body := map[string]any{"metadata": map[string]any{"name": "web", "annotations": map[string]any{"checksum": "5f2a", "plain": "x", "late": "known after db"}},
		"port": int64(8081), "fixed": int64(1), "on": true, "line": "sum=5f2a, user=web", "list": []any{"a", "5f2a"}, "longer": []any{"a", "5f2a"}, "new": map[string]any{"k": "v"}}
	placeholders := map[string]any{"metadata": map[string]any{"name": "web", "annotations": map[string]any{"checksum": "77", "plain": "x", "late": "77"}},
		"port": int64(8080), "fixed": int64(1), "on": true, "line": "sum=77, user=web", "list": []any{"a", "77"}, "longer": []any{"a"}}
	want := map[string]any{"metadata": map[string]any{"name": "web", "annotations": map[string]any{"checksum": AtApply, "plain": "x", "late": "known after db"}},
		"port": AtApply, "fixed": int64(1), "on": true, "line": "sum=" + AtApply + ", user=web", "list": []any{"a", AtApply}, "longer": []any{AtApply, AtApply}, "new": map[string]any{"k": AtApply}}
	if got := Made(body, placeholders); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if got := Made(body, body); !reflect.DeepEqual(got, body) {
		t.Errorf("nothing is made up: %v", got)
	}
}

// What is not known and does not say so, as a preview, is shown as known later with what stands there meanwhile; what says so already, is masked, or is
// known, stays.
func TestShown(t *testing.T) {
	body := map[string]any{"spec": map[string]any{"replicas": int64(2), "region": "eu", "own": int64(2), "list": []any{"eu", "x"}, "none": []any{}, "null": nil, "deep": map[string]any{}},
		"data": map[string]any{"uri": "see known after m", "hidden": "***"}}
	unknown := map[string]bool{"spec.replicas": true, "spec.region": true, "spec.list[0]": true, "spec.none": true, "spec.null": true, "spec.deep": true, "data.uri": true, "data.hidden": true}
	want := map[string]any{"spec": map[string]any{"replicas": "known after m, n (preview 2)", "region": "known after m, n (preview eu)", "own": int64(2),
		"list": []any{"known after m, n (preview eu)", "x"}, "none": "known after m, n (preview [])", "null": "known after m, n (preview null)", "deep": "known after m, n (preview {})"},
		"data": map[string]any{"uri": "see known after m", "hidden": "***"}}
	if got := Shown(body, unknown, []string{"m", "n"}, true); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if ShownAs("false", []string{"m"}, false) != "known after m" || ShownAs("false", []string{"m"}, true) != "known after m (preview false)" || ShownAs(`"known after m"`, nil, true) != `"known after m"` {
		t.Error("what comes of a text that stands in is called a preview, or the other way round")
	}
	if body["spec"].(map[string]any)["replicas"] != int64(2) {
		t.Error("the body is changed")
	}
}

// A preview has its characters, and none that are escaped for HTML.
func TestPreviewsHaveTheirCharacters(t *testing.T) {
	got := Shown(map[string]any{"a": "x & <y>"}, map[string]bool{"a": true}, []string{"m"}, true)
	if want := "known after m (preview x & <y>)"; got["a"] != want {
		t.Errorf("%v, want %s", got["a"], want)
	}
}
