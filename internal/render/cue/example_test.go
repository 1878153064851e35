package cue

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
)

const exampleModule = "file://../../../examples/modules/web"

// exampleRequest is a request for the module of the demo.
func exampleRequest(t testing.TB, name, values string) render.Request {
	t.Helper()
	content, err := fetcher.Fetch(t.Context(), module.Reference{URL: exampleModule})
	if err != nil {
		t.Fatal(err)
	}
	return render.Request{
		Content: content, KubeVersion: "1.36.3",
		Instance: v1alpha1.Instance{
			Name: name, Namespace: "shop", Module: &v1alpha1.ModuleSource{URL: exampleModule}, Values: valuesOf(t, values),
		},
	}
}

func TestExampleModule(t *testing.T) {
	r := New(Options{})
	res, err := r.Render(t.Context(), exampleRequest(t, "web", `replicas: 3, message: "hi", settings: color: "blue"`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range res.Objects {
		got = append(got, fmt.Sprintf("%d %s", o.Stage, o.Ref()))
	}
	want := "0 CustomResourceDefinition sites.examples.hawser.dev, 1 ServiceAccount shop/web, 1 Role shop/web, " +
		"1 RoleBinding shop/web, 1 ConfigMap shop/web, 1 Service shop/web, 1 Deployment shop/web, 1 Site shop/web"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if len(res.Images) != 1 || res.Images[0] != "example.com/web:1.4.2" {
		t.Errorf("images %v", res.Images)
	}
	if len(res.Findings) > 0 {
		t.Errorf("findings %v", res.Findings)
	}
	_, err = r.Render(t.Context(), exampleRequest(t, "web", "replicas: 0\nmesage: \"x\"\nservice: prot: 1"))
	if err == nil {
		t.Fatal("bad values are accepted")
	}
	for _, want := range []string{"bundle.cue:1:1: values.replicas", `did you mean "message"?`, `did you mean "port"?`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in\n%v", want, err)
		}
	}
}

// BenchmarkRender renders distinct instances of a loaded module: the budget is 20 ms each on one core.
func BenchmarkRender(b *testing.B) {
	r := New(Options{})
	if _, err := r.Render(b.Context(), exampleRequest(b, "warm", "")); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		req := exampleRequest(b, fmt.Sprintf("web-%d", i), fmt.Sprintf("replicas: %d", 1+i%9))
		if _, err := r.Render(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
