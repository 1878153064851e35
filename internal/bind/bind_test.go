package bind

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// values reads YAML as an instance's values.
func values(t testing.TB, file, src string) v1alpha1.Values {
	t.Helper()
	f, err := cuelang.FromYAML(file, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuelang.FromFile(f)
	if err != nil || x.Kind != v1alpha1.KindStruct {
		t.Fatalf("%s is no struct", src)
	}
	return v1alpha1.Values{Struct: x}
}

// show is data on one line; sealed values stand in round brackets.
func show(x *v1alpha1.Value) string {
	if x.Whole {
		own := *x
		own.Whole = false
		return "(" + show(&own) + ")"
	}
	switch x.Kind {
	case v1alpha1.KindStruct:
		var parts []string
		for _, f := range x.Fields {
			parts = append(parts, f.Name+": "+show(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v1alpha1.KindList:
		var parts []string
		for _, e := range x.Items {
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return cuelang.Line(x)
}

func lines(fs diag.Findings) string {
	var out []string
	for _, f := range fs {
		s := string(f.Severity) + " " + f.String()
		if f.Instance != "" {
			s = f.Instance + ": " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

func TestFroms(t *testing.T) {
	for _, c := range []struct{ reason, src, want, findings string }{
		{"an object of the instance's namespace", `{a: {from: {instance: db, object: v1/Secret/conn, path: .data.uri}}}`,
			"a @1:5 db v1/Secret/conn data.uri", ""},
		{"an object of a group, in a namespace, in a list", `{a: [1, {b: {from: {instance: db, object: apps/v1/Deployment/ns/web, path: "spec.replicas", as: text}}}]}`,
			"a[1].b @1:13 db apps/v1/Deployment/ns/web spec.replicas as text", ""},
		{"a preview", `{a: {from: {instance: db, object: a.b/v1beta1/C/n, path: x, preview: {b: [1]}}}}`,
			"a @1:5 db a.b/v1beta1/C/n x preview {b: [1]}", ""},
		{"a file", `{a: {from: {file: ./x.yaml, path: "a[n=1].\"b.c\""}}, b: {from: {file: x}}}`,
			"a @1:5 ./x.yaml a[n=1].\"b.c\"\nb @1:58 x", ""},
		{"all values from a file", `{from: {file: x.yaml}}`, " @1:2 x.yaml", ""},
		{"not the form: a list, other fields, an empty struct, a text", `{from: [{podSelector: {}}], a: {from: {}}, b: {from: db}, c: {from: {kind: x}}}`, "", ""},
		{"beside other fields it is data", `{a: {from: {instance: db, object: v1/Secret/x, path: a}, b: 1}}`, "", ""},
		{"all values from an object", `{from: {instance: db, object: v1/Secret/x, path: a}}`, "",
			"error x.yaml:1:2: all the values cannot come from one object (take each field from it, or all the values from a file)"},
		{"missing fields", `{a: {from: {instance: db}}}`, "", `
error x.yaml:1:5: a.from.object: object is required
error x.yaml:1:5: a.from.path: path is required`},
		{"wrong fields", `{a: {from: {instance: db, objct: x, object: Secret/x, path: "a..b", as: xml}}}`, "", `
error x.yaml:1:27: a.from.objct: unknown field "objct" (did you mean "object"?)
error x.yaml:1:37: a.from.object: object "Secret/x" does not start with an API version (v1/Secret/NAME, or apps/v1/Deployment/NAMESPACE/NAME)
error x.yaml:1:55: a.from.path: path "a..b": column 3: expected a name
error x.yaml:1:69: a.from.as: as is "xml" (it is one of text, json and yaml)`},
		{"both", `{a: {from: {file: x, instance: db, object: v1/Secret/x, path: a}}}`, "",
			"error x.yaml:1:13: a.from.file: a value comes from a file or from an instance, not from both"},
		{"a file with an instance's fields", `{a: {from: {file: x, preview: 1, zzz: 1}}}`, "", `
error x.yaml:1:22: a.from.preview: unknown field "preview" (known here: file, path, as)
error x.yaml:1:34: a.from.zzz: unknown field "zzz" (known here: file, path, as)`},
		{"no texts", `{a: {from: {instance: 1, object: "", path: [a]}}}`, "", `
error x.yaml:1:13: a.from.instance: instance must be a text
error x.yaml:1:26: a.from.object: object must be a text
error x.yaml:1:38: a.from.path: path must be a text`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			froms, fs := Froms(values(t, "x.yaml", c.src))
			var got []string
			for _, f := range froms {
				s := f.At + " @" + strings.TrimPrefix(f.Pos.String(), "x.yaml:") + " " + f.String()
				if f.As != "" {
					s += " as " + string(f.As)
				}
				if f.Preview != nil {
					s += " preview " + show(f.Preview)
				}
				got = append(got, s)
			}
			same(t, "froms", c.want, strings.Join(got, "\n"))
			same(t, "findings", c.findings, lines(fs))
		})
	}
}

func TestParseObject(t *testing.T) {
	for s, want := range map[string]Object{
		"v1/Secret/a":               {"v1", "Secret", "", "a"},
		"v1/Secret/ns/a.b":          {"v1", "Secret", "ns", "a.b"},
		"apps/v1/Deployment/a":      {"apps/v1", "Deployment", "", "a"},
		"a.b.io/v1alpha1/Kind/ns/a": {"a.b.io/v1alpha1", "Kind", "ns", "a"},
		"rbac.authorization.k8s.io/v1/ClusterRole/system:node": {"rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node"},
	} {
		got, err := ParseObject(s)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v", s, got, err)
		}
		if got.String() != s {
			t.Errorf("%s is printed as %s", s, got)
		}
	}
	for _, s := range []string{"", "v1", "v1/", "v1/Secret", "v1/Secret/", "v1/Secret//a", "v1/Secret/Ns/a", "v1/Secret/a/b/c", "v1/secret/a",
		"Secret/a", "apps/Deployment/a", "/v1/Secret/a", "A/v1/B/c", "v1/Secret/..", "v1/Secret/a%2Fb", "v1/Secret/ a"} {
		if o, err := ParseObject(s); err == nil {
			t.Errorf("%q is read as %+v", s, o)
		}
	}
	ref := Object{"apps/v1", "Deployment", "", "a"}.Ref("shop")
	if ref.Group != "apps" || ref.Namespace != "shop" || (Object{"v1", "Secret", "other", "a"}).Ref("shop").Namespace != "other" {
		t.Error(ref)
	}
}

// depends names the instances whose objects the values take something of.
func depends(v v1alpha1.Values) string {
	var out []string
	froms, _ := Froms(v)
	for _, f := range froms {
		if f.Instance != "" {
			out = append(out, f.Instance)
		}
	}
	return strings.Join(out, " ")
}

func TestRefs(t *testing.T) {
	var got []string
	_, fs := Bind(values(t, "x.yaml", `{a: "ref://db/password", b: ["x ref://no/ref", "ref://vault:a/b/c?version=2"], c: "ref://", d: {from: {file: x}}}`),
		Fill{Ref: func(r Ref) (*v1alpha1.Value, *diag.Finding) {
			got = append(got, r.At+" @"+r.Pos.String()+" "+r.String())
			return nil, nil
		}})
	same(t, "refs", "a @x.yaml:1:5 ref://db/password\nb[1] @x.yaml:1:48 ref://vault:a/b/c?version=2", strings.Join(got, "\n"))
	same(t, "findings", `error x.yaml:1:83: c: ref://: "" cannot be a part of a reference (ref://[STORE:]NAME[/...]/PROPERTY)`, lines(fs))
}

// TestBind: what is put in is not looked at again, what is not replaced is shared, and nothing given is changed.
func TestBind(t *testing.T) {
	v := values(t, "x.yaml", `{keep: {a: 1}, b: ["ref://s/p", {from: {instance: db, object: v1/ConfigMap/c, path: data.x}}], last: 2.0}`)
	before := show(v.Struct)
	out, fs := Bind(v, Fill{
		From: func(f From) (*v1alpha1.Value, *diag.Finding) {
			x, n := ValueOf(f, map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "c"},
				"data": map[string]any{"x": "ref://not/asked"}})
			return x, n
		},
		Ref: func(r Ref) (*v1alpha1.Value, *diag.Finding) { return r.Text("of " + r.Path), nil },
	})
	same(t, "findings", "", lines(fs))
	same(t, "bound", `{keep: {a: 1}, b: ["of s", "ref://not/asked"], last: 2.0}`, show(out.Struct))
	same(t, "given", before, show(v.Struct))
	if out.Struct.Lookup("keep") != v.Struct.Lookup("keep") {
		t.Error("what has no reference is copied")
	}
	if pos := out.Struct.Lookup("b").Items[1].Pos; pos.File != "x.yaml" || pos.Line != 1 {
		t.Errorf("the value stands at %v", pos)
	}
	same(t, "nothing to fill", before, show(must(Bind(v, Fill{})).Struct))
	if got := must(Bind(v1alpha1.Values{}, Fill{})); !got.IsZero() {
		t.Error("no values become some")
	}
	_, fs = Bind(v, Fill{From: func(f From) (*v1alpha1.Value, *diag.Finding) { return nil, f.Finding("x", "no %s", f.Instance) },
		Ref: func(r Ref) (*v1alpha1.Value, *diag.Finding) { return nil, r.Finding("x", "no %s", r.Store) }})
	same(t, "findings", "error x.yaml:1:20: b[0]: no default\nerror x.yaml:1:33: b[1]: no db", lines(fs))
}

func must(v v1alpha1.Values, _ diag.Findings) v1alpha1.Values { return v }

// TestLayers: a value from elsewhere is replaced as a whole by a layer above it, and replaces one below it.
func TestLayers(t *testing.T) {
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "db"}, {Name: "cache"}, {
		Name: "api",
		Values: values(t, "b.yaml", `{uri: {from: {instance: db, object: v1/Secret/a, path: data.uri, preview: x}}, host: localhost,
			both: {from: {instance: db, object: v1/Secret/a, path: data.a, preview: y}}}`),
		ValuesFor: []v1alpha1.ValuesFor{{Name: "dev", Values: values(t, "b.yaml",
			`{uri: "sqlite://", host: {from: {instance: cache, object: v1/Service/c, path: spec.clusterIP}},
			both: {from: {instance: cache, object: v1/Secret/b, path: data.b}}}`)}},
	}}}
	got, fs := Spec(spec, nil)
	same(t, "findings", "", lines(fs))
	merged, err := cuelang.Overlay(got.Instances[2].Values.Struct, got.Instances[2].ValuesFor[0].Values.Struct)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "merged", `{uri: "sqlite://", host: ({from: {instance: "cache", object: "v1/Service/c", path: "spec.clusterIP"}}), `+
		`both: ({from: {instance: "cache", object: "v1/Secret/b", path: "data.b"}})}`, show(merged))
	v := v1alpha1.Values{Struct: merged}
	same(t, "depends", "cache cache", depends(v))
	bound, fs := Bind(v, Fill{From: func(f From) (*v1alpha1.Value, *diag.Finding) { return StandIn(f), nil }})
	same(t, "findings", "", lines(fs))
	same(t, "bound", `{uri: "sqlite://", host: "known after cache", both: "known after cache"}`, show(bound.Struct))
}

// TestLayersKinds: a value from elsewhere does not replace a struct that has fields, as no other value does.
func TestLayersKinds(t *testing.T) {
	spec, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "db"}, {Name: "api",
		Values:    values(t, "b.yaml", "{db: {host: a}}"),
		ValuesFor: []v1alpha1.ValuesFor{{Name: "x", Values: values(t, "b.yaml", "{db: {from: {instance: db, object: v1/Secret/a, path: data}}}")}}}}}, nil)
	same(t, "findings", "", lines(fs))
	_, err := cuelang.Overlay(spec.Instances[1].Values.Struct, spec.Instances[1].ValuesFor[0].Values.Struct)
	if err == nil || !strings.Contains(err.Error(), "a value from elsewhere cannot replace the struct") {
		t.Error(err)
	}
}

func TestSpec(t *testing.T) {
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{
		{Name: "db", Values: values(t, "b.yaml", "{a: {from: {instance: db, object: v1/Secret/x, path: a}}, r: 'ref://a b/'}")},
		{Name: "api", Values: values(t, "b.yaml", "{a: {from: {instance: dbb, object: v1/Secret/x, path: a}}, b: {from: {file: x}, c: 1}}"),
			ValuesFor: []v1alpha1.ValuesFor{{Name: "prod", Values: values(t, "b.yaml", "{a: {from: {instance: zzzz, object: v1/Secret/x, path: a}}, f: {from: {file: x}}}")}}},
		{Name: "web", Values: values(t, "b.yaml", "{from: {file: list}}")},
	}}
	_, fs := Spec(spec, func(f From) (*v1alpha1.Value, *diag.Finding) {
		if f.File == "list" {
			return &v1alpha1.Value{Kind: v1alpha1.KindList}, nil
		}
		return nil, f.Finding("x", "no %s", f.File)
	})
	same(t, "findings", `
db: error b.yaml:1:5: values.a: an instance cannot take values of its own objects
db: error b.yaml:1:62: values.r: ref://a b/: "" cannot be a part of a reference (ref://[STORE:]NAME[/...]/PROPERTY)
api: warning b.yaml:1:70: values.b: from is plain data here: other fields stand beside it (give it a field of its own, or put the other fields into a layer of valuesFor)
api: error b.yaml:1:5: values.a: there is no instance "dbb" (did you mean "db"?)
api: error b.yaml:1:5: valuesFor.prod.values.a: there is no instance "zzzz" (there is: db, api, web)
api: error b.yaml:1:64: valuesFor.prod.values.f: no x
web: error b.yaml:1:2: values: values must be a struct`, lines(fs))
}

// TestFilesThatFromDoesNotRead: what is written for several files is data to from, which nobody means.
func TestFilesThatFromDoesNotRead(t *testing.T) {
	const way = ": from is plain data here: one file is named by {from: {file: PATH}} (for one file write {from: {file: PATH}}; each further file is a layer without a selector: valuesFor: {NAME: {values: {from: {file: PATH}}}})"
	for src, want := range map[string]string{
		"{from: [{file: a.yaml}, {file: b.yaml}]}":      "api: warning b.yaml:1:8: " + way,
		"{from: {files: [a.yaml]}}":                     "api: warning b.yaml:1:8: " + way,
		"{from: a.yaml}":                                "api: warning b.yaml:1:8: " + way,
		"{from: [a.yaml, b.yml]}":                       "api: warning b.yaml:1:8: " + way,
		"{a: {from: {files: [a.yaml]}}}":                "api: warning b.yaml:1:12: values.a" + way,
		"{from: me@example.com}":                        "",
		"{from: a.yaml, replicas: 1}":                   "",
		"{mail: {from: a.yaml}}":                        "",
		"{ingress: [{from: [{podSelector: {a: b}}]}]}":  "",
		"{from: [10.0.0.0/8], to: {files: [x]}, n: []}": "",
	} {
		_, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "api", Values: values(t, "b.yaml", src)}}}, nil)
		same(t, src, strings.Replace(want, "1:8: : ", "1:8: values: ", 1), lines(fs))
	}
}

func TestInstances(t *testing.T) {
	take := func(of ...string) v1alpha1.Values {
		var parts []string
		for i, name := range of {
			parts = append(parts, string(rune('a'+i))+": {from: {instance: "+name+", object: v1/Secret/x, path: a}}")
		}
		return values(t, "b.yaml", "{"+strings.Join(parts, ", ")+"}")
	}
	for _, c := range []struct {
		reason         string
		placed         []v1alpha1.Instance
		want, findings string
	}{
		{"a value is a dependency, once", []v1alpha1.Instance{
			{Name: "db"}, {Name: "api", DependsOn: []string{"db"}, Values: take("db", "db", "cache")}, {Name: "cache"}},
			"db[] api[db cache] cache[]", ""},
		{"the source is not placed here", []v1alpha1.Instance{{Name: "api", Values: take("db")}}, "api[]",
			"api: error b.yaml:1:5: a: api takes a value of db, which is not placed on this cluster"},
		{"a cycle through a value and dependsOn", []v1alpha1.Instance{
			{Name: "db", DependsOn: []string{"api"}}, {Name: "api", Values: take("db")}}, "db[api] api[db]",
			"api: error b.yaml:1:5: a: instances need each other: api -> db -> api"},
		{"a cycle through values", []v1alpha1.Instance{
			{Name: "x", Values: take("y")}, {Name: "y", Values: take("z")}, {Name: "z", Values: take("x")}}, "x[y] y[z] z[x]",
			"x: error b.yaml:1:5: a: instances need each other: x -> y -> z -> x"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			out, fs := Instances(c.placed)
			var got []string
			for _, in := range out {
				got = append(got, in.Name+"["+strings.Join(in.DependsOn, " ")+"]")
			}
			same(t, "instances", c.want, strings.Join(got, " "))
			same(t, "findings", c.findings, lines(fs))
		})
	}
}

func FuzzBind(f *testing.F) {
	for _, s := range []string{
		`{a: {from: {instance: db, object: v1/Secret/conn, path: .data.uri, preview: 1}}}`, `{a: {from: {file: ./x.yaml, path: "a[n=1]"}}}`,
		`{from: {file: x}}`, `{a: ["ref://x/y?version=1", "ref://", {from: {from: {file: 1}}}]}`, `{a: {from: {instance: {file: x}}}}`,
		"a:\n  from:\n    instance: db\n    file: x\n", `{a: "ref://a:b/c%2Fd"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		parsed, err := cuelang.FromYAML("f.yaml", []byte(src))
		if err != nil {
			return
		}
		s, err := cuelang.FromFile(parsed)
		if err != nil || s.Kind != v1alpha1.KindStruct || fits(s) != nil {
			return
		}
		v := v1alpha1.Values{Struct: s}
		before := show(s)
		prepared, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "a", Values: v}, {Name: "db"}}}, nil)
		if after := show(s); before != after {
			t.Fatalf("%s became %s", before, after)
		}
		if fs.HasErrors() {
			return
		}
		froms, again := Froms(prepared.Instances[0].Values)
		if again.HasErrors() {
			t.Fatalf("sealed values are refused: %s", lines(again))
		}
		bound, bad := Bind(prepared.Instances[0].Values, Fill{
			From: func(f From) (*v1alpha1.Value, *diag.Finding) { return f.node.Fields[0].Value, nil },
			Ref:  func(r Ref) (*v1alpha1.Value, *diag.Finding) { return r.Text(r.String()), nil },
		})
		if len(froms) > 0 && froms[0].At == "" {
			return // all the values: what is put in is no file
		}
		if bad.HasErrors() || strings.Contains(show(bound.Struct), "(") && !strings.Contains(before, "(") {
			t.Fatalf("%s is bound to %s: %s", before, show(bound.Struct), lines(bad))
		}
	})
}
