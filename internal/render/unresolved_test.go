package render

import (
	"context"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

type fixedRenderer struct{ objects []object.Object }

func (fixedRenderer) Name() string                                 { return "manifests" }
func (fixedRenderer) Key(context.Context, Request) (string, error) { return "k", nil }
func (r fixedRenderer) Render(context.Context, Request) (Result, error) {
	return Result{Objects: r.objects}, nil
}

// TestUnresolved: objects that hold the text of a reference are warned of once for an instance, with object and field, and
// with nothing of what stands there; what the instance's values give unread is not.
func TestUnresolved(t *testing.T) {
	secretOf := func(field, text string) object.Object {
		return object.Object{Instance: "a", Body: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "db"}, field: map[string]any{"p": text}}}
	}
	config := object.Object{Instance: "a", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"},
		"data": map[string]any{"a": "see ref://C4NARY", "b": "cmVmOi8vC4NARY", "c": "href://x", "two\nC4NARY": "ref://x"}}}
	env := object.Object{Instance: "a", Body: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "w"},
		"spec": map[string]any{"containers": []any{map[string]any{"env": []any{map[string]any{"name": "P", "value": "ref://vault:C4NARY/x"}}}}}}}
	values := v1alpha1.Values{Struct: &v1alpha1.Value{Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{
		{Name: "p", Value: &v1alpha1.Value{Kind: v1alpha1.KindString, Text: "ref://vault:C4NARY/x"}}}}}
	for name, c := range map[string]struct {
		objects []object.Object
		values  v1alpha1.Values
		want    string
	}{
		"a Secret's text":        {[]object.Object{secretOf("stringData", "ref://C4NARY")}, v1alpha1.Values{}, "Secret db stringData.p a ref:// reference goes out as the text that it is"},
		"a Secret's data":        {[]object.Object{secretOf("data", "cmVmOi8vQzROQVJZ")}, v1alpha1.Values{}, "Secret db data.p a ref:// reference goes out as the text that it is"},
		"a list, and others":     {[]object.Object{secretOf("stringData", "ref://C4NARY"), env, config}, v1alpha1.Values{}, "ConfigMap c data ref:// references go out as the texts that they are: here, and in 2 more fields"},
		"a field of a list":      {[]object.Object{env}, v1alpha1.Values{}, "Pod w spec.containers.0.env.0.value a ref:// reference goes out as the text that it is"},
		"not read, and so given": {[]object.Object{env, secretOf("data", "cmVmOi8vdmF1bHQ6QzROQVJZL3g=")}, values, ""},
		"with text around it":    {[]object.Object{secretOf("stringData", "ref://vault:C4NARY/x:5432"), secretOf("data", "cmVmOi8vdmF1bHQ6QzROQVJZL3gvZGI=")}, values, ""},
		"another one beside":     {[]object.Object{secretOf("data", "cmVmOi8vQzROQVJZ")}, values, "Secret db data.p a ref:// reference goes out as the text that it is"},
		"prose":                  {[]object.Object{secretOf("stringData", "ref://C4NARY is how")}, v1alpha1.Values{}, ""},
		"none":                   {[]object.Object{secretOf("stringData", "C4NARY")}, v1alpha1.Values{}, ""},
	} {
		var memo Memo
		res, _, err := memo.Render(context.Background(), fixedRenderer{c.objects}, Request{Instance: v1alpha1.Instance{Name: "a", Values: c.values}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range res.Findings {
			got += f.Object + " " + f.Path + " " + f.What
			if f.Instance != "a" || f.Fix == "" || strings.Contains(f.String(), "C4NARY") || res.Findings.HasErrors() {
				t.Errorf("%s: %s", name, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
