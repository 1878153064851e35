package values

import (
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/redact"
)

// valuesOf are those of a YAML document.
func valuesOf(t *testing.T, text string) v1alpha1.Values {
	t.Helper()
	f, err := cuelang.FromYAML("shop.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuelang.FromFile(f)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Values{Struct: x}
}

// References in values become texts; what cannot be resolved is said at its line, and what only warns has a value.
func TestRef(t *testing.T) {
	r, redactor := reader(new(atomic.Int32))
	values := valuesOf(t, "a: ref://db/password\nb:\n- ref://none/x\n- ref://vault:db/password\nc: see ref://db/password\n")
	out, findings := bind.Bind(values, bind.Fill{Ref: func(ref bind.Ref) (*v1alpha1.Value, *diag.Finding) {
		x, _, f := r.Ref(t.Context(), Target{Cluster: "a"}, ref)
		return x, f
	}})
	got, err := out.Struct.Any()
	if err != nil {
		t.Fatal(err)
	}
	m := got.(map[string]any)
	if m["a"] != "hunter2" || m["c"] != "see ref://db/password" || m["b"].([]any)[1] != "ref://vault:db/password" {
		t.Errorf("values: %v", m)
	}
	if redactor.Redact("x hunter2 y") != "x *** y" {
		t.Error("the redactor does not know the value")
	}
	if len(findings) != 2 || findings[0].Code != "secret-not-found" || findings[0].Pos.Line != 3 || findings[0].Path != "b[0]" ||
		findings[1].Severity != diag.Warning || findings[1].Pos.Line != 4 {
		t.Errorf("findings: %v", findings)
	}
}

// What a bundle writes that is done first is something that stands in for it, and is told as that.
func TestRefOfABundle(t *testing.T) {
	r, _ := reader(new(atomic.Int32))
	_, findings := bind.Bind(valuesOf(t, "a: ref://vault:db/password\n"), bind.Fill{Ref: func(ref bind.Ref) (*v1alpha1.Value, *diag.Finding) {
		x, from, f := r.Ref(t.Context(), written("db"), ref)
		if x.Text != "known after bundle platform (ref://vault:db/password)" || from.After() != "bundle platform" || from.At != "a" {
			t.Errorf("%q, %+v", x.Text, from)
		}
		return x, f
	}})
	if len(findings) != 1 || findings[0].Code != CodeNotRead || findings[0].Pos.Line != 1 {
		t.Errorf("%v", findings)
	}
}

// What comes from a Secret is secret, whole and in its parts; what comes from another object is not.
func TestObject(t *testing.T) {
	for _, c := range []struct {
		kind, from string
		hidden     []string
		shown      []string
	}{
		{"Secret", "{instance: db, object: v1/Secret/s, path: data.uri}", []string{"hunter2-uri"}, []string{"uri"}},
		{"Secret", "{instance: db, object: v1/Secret/s, path: data.doc, as: json}", []string{"hunter2-deep", "42424242", `{"deep":"hunter2-deep","n":42424242}`}, []string{"deep"}},
		{"Secret", "{instance: db, object: v1/Secret/s, path: data}", []string{"hunter2-uri", "hunter2-deep"}, nil},
		{"ConfigMap", "{instance: db, object: v1/ConfigMap/s, path: data.uri}", nil, []string{"aHVudGVyMi11cmk="}},
	} {
		redactor := redact.New()
		r := New(Options{Redactor: redactor})
		froms, findings := bind.Froms(valuesOf(t, "v: {from: "+c.from+"}\n"))
		if len(froms) != 1 || findings != nil {
			t.Fatal(froms, findings)
		}
		obj := map[string]any{"apiVersion": "v1", "kind": c.kind, "metadata": map[string]any{"name": "s"}, "data": map[string]any{
			"uri": "aHVudGVyMi11cmk=", "doc": "eyJkZWVwIjoiaHVudGVyMi1kZWVwIiwibiI6NDI0MjQyNDJ9"}}
		if _, f := r.Object("web", froms[0], obj); f != nil {
			t.Fatal(f)
		}
		for _, text := range c.hidden {
			if redactor.Redact(text) != redact.Mask {
				t.Errorf("%s: %q is shown as %q", c.from, text, redactor.Redact(text))
			}
		}
		for _, text := range c.shown {
			if redactor.Redact(text) != text {
				t.Errorf("%s: %q is hidden", c.from, text)
			}
		}
	}
	r := New(Options{})
	froms, _ := bind.Froms(valuesOf(t, "v: {from: {instance: db, object: v1/Secret/s, path: data.nothing}}\n"))
	x, f := r.Object("web", froms[0], map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"uri": "aHVudGVyMg=="}})
	if x != nil || f == nil || strings.Contains(f.String(), "hunter2") {
		t.Errorf("%v, %v", x, f)
	}
}
