package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMasked: keys are shown, what is secret is not, and the object itself stays as it is.
func TestMasked(t *testing.T) {
	same := func(s string) string { return s }
	redact := func(s string) string { return strings.ReplaceAll(s, "canary", "***") }
	for name, tt := range map[string]struct {
		o    Object
		want map[string]any
	}{
		"a Secret's data, whatever it holds": {
			o: Object{Body: map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "s"},
				"data": map[string]any{"a": "eA==", "b": ""}, "stringData": map[string]any{"c": "x"}, "type": "Opaque", "immutable": true}},
			want: map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "s"},
				"data": map[string]any{"a": "***", "b": "***"}, "stringData": map[string]any{"c": "***"}, "type": "Opaque", "immutable": true},
		},
		"values and names that are known to be secret": {
			o:    Object{Body: map[string]any{"kind": "ConfigMap", "data": map[string]any{"url": "x://canary@y", "canary": "1"}}},
			want: map[string]any{"kind": "ConfigMap", "data": map[string]any{"url": "x://***@y", "canary": "1"}},
		},
		"paths that are sensitive, and what is beside them": {
			o: Object{Sensitive: []string{`spec.env[name="PW"].value`, "spec.port"}, Body: map[string]any{"kind": "X", "spec": map[string]any{
				"port": int64(80), "replicas": int64(2), "env": []any{map[string]any{"name": "PW", "value": "p"}, map[string]any{"name": "B", "value": "q"}}}}},
			want: map[string]any{"kind": "X", "spec": map[string]any{"port": "***", "replicas": int64(2),
				"env": []any{map[string]any{"name": "PW", "value": "***"}, map[string]any{"name": "B", "value": "q"}}}},
		},
		"entries and items by their place, and none beside them": {
			o: Object{Sensitive: []string{"metadata.labels[0]", "metadata.labels[=0]", "spec.args[1]"}, Body: map[string]any{"kind": "X", "metadata": map[string]any{"labels": map[string]any{"acme": "p", "managed-by": "q"}},
				"spec": map[string]any{"args": []any{"a", "b"}}}},
			want: map[string]any{"kind": "X", "metadata": map[string]any{"labels": map[string]any{"acme": "***", "managed-by": "q"}}, "spec": map[string]any{"args": []any{"a", "***"}}},
		},
		"kubectl's copy": {
			o:    Object{Body: map[string]any{"kind": "X", "metadata": map[string]any{"annotations": map[string]any{LastApplied: "{}", "a": "b"}}}},
			want: map[string]any{"kind": "X", "metadata": map[string]any{"annotations": map[string]any{LastApplied: "***", "a": "b"}}},
		},
	} {
		if diff := cmp.Diff(tt.want, tt.o.Masked(redact, redact, same, same)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	two := RedactBody(map[string]any{"canary": "a", "***": "b"}, redact, redact, redact, redact)
	if len(two) != 2 {
		t.Errorf("an entry is lost: %v", two)
	}
	if n := RedactBody(map[string]any{"pin": int64(12345678)}, func(s string) string { return strings.ReplaceAll(s, "12345678", "***") }, same, same, same); n["pin"] != "***" {
		t.Errorf("a number is shown: %v", n)
	}
	named := map[string]any{"apiVersion": "canary/v1", "kind": "canary", "metadata": map[string]any{"name": "canary", "namespace": "canary"}, "canary": int64(1)}
	if diff := cmp.Diff(named, RedactBody(named, redact, redact, same, same)); diff != "" {
		t.Errorf("a name is masked: %s", diff)
	}
}
