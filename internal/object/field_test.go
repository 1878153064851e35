package object

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

func TestFieldsNamed(t *testing.T) {
	body := yamlMap(t, `{metadata: {labels: {a: x, app.kubernetes.io/name: x}}, data: {app.yaml: x, "odd]name[": x, 'q"uote': x},
spec: {replicas: 1, ports: [{port: 80, name: a}, {port: 53, protocol: UDP}, {port: 53, protocol: TCP, name: tcp}], items: [{a: 1}, {a: 2}],
finalizers: [a, "b]c"], containers: [{name: api, image: x, env: [{name: "A=B],", value: x}]}], toggles: [{key: true, v: 1}, {key: 2.5, v: 1}]}, two: {a: {b: 1}, a.b: 2}}`)
	for _, c := range []struct{ in, want string }{
		{".spec.replicas", "spec.replicas"},
		{".data.app.yaml", `data."app.yaml"`},
		{".data.odd]name[", `data."odd]name["`},
		{`.data.q"uote`, `data."q\"uote"`},
		{".metadata.labels.app.kubernetes.io/name", `metadata.labels."app.kubernetes.io/name"`},
		{`.spec.containers[name="api"].image`, "spec.containers[api].image"},
		{`.spec.containers[name="api"].env[name="A=B],"].value`, `spec.containers[api].env["A=B],"].value`},
		{`.spec.ports[port=80,protocol="TCP"].name`, "spec.ports[80].name"},
		{`.spec.ports[port=53,protocol="UDP"]`, "spec.ports[53/UDP]"},
		{`.spec.ports[port=53,protocol="UDP"].name`, ""},
		{`.spec.ports[port=53,protocol="TCP"].name`, "spec.ports[53].name"},
		{`.spec.ports[port=80,protocol="UDP"].name`, ""},
		{`.spec.finalizers[="b]c"]`, `spec.finalizers["b]c"]`},
		{`.spec.items[1].a`, "spec.items[1].a"},
		{`.spec.toggles[key=true].v`, "spec.toggles[true].v"},
		{`.spec.toggles[key=2.5].v`, "spec.toggles[2.5].v"},
		{".two.a.b", `two.a.b two."a.b"`},
		{".spec.containers[name=\"web\"].image", ""},
		{".spec.containers", "spec.containers"},
		{".nothing", ""}, {".spec.items[x=]", ""}, {".spec.items[", ""}, {".spec.items[99999999999999999999]", ""}, {"", ""},
	} {
		var got []string
		for _, f := range FieldsNamed(body, c.in) {
			got = append(got, f.String())
			if !f.In(body) || f.In(map[string]any{}) {
				t.Errorf("%s: in the body %v, in an empty one %v", c.in, f.In(body), f.In(map[string]any{}))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
	}
}

// schemaOfFields has every shape that fields have: names with dots, keyed lists of one and two keys, sets, atomic lists.
const schemaOfFields = `types:
- name: root
  map:
    fields:
    - {name: data, type: {map: {elementType: {scalar: string}}}}
    - {name: nested, type: {map: {elementType: {map: {elementType: {scalar: numeric}}}}}}
    - name: list
      type: {list: {elementRelationship: associative, keys: [name], elementType: {namedType: item}}}
    - name: ports
      type: {list: {elementRelationship: associative, keys: [port, protocol], elementType: {namedType: item}}}
    - {name: set, type: {list: {elementRelationship: associative, elementType: {scalar: string}}}}
    - {name: atomic, type: {list: {elementRelationship: atomic, elementType: {scalar: string}}}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}}
    - {name: image, type: {scalar: string}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
`

var oddNames = []string{"a", "a.b", "a.b.c", "b", "app.yaml", `q"x`, "x]y", "[z", "k=v", "a,b", "", "é", "0", "new\nline"}

func drawBody(t *rapid.T, label string) map[string]any {
	name := rapid.SampledFrom(oddNames)
	texts := rapid.MapOfN(name, rapid.Just[any]("v"), 0, 4)
	item := func(key map[string]any) any {
		if rapid.Bool().Draw(t, "image") {
			key["image"] = "x"
		}
		if l := texts.Draw(t, "labels"); len(l) > 0 {
			key["labels"] = l
		}
		return key
	}
	body := map[string]any{}
	if d := texts.Draw(t, label+" data"); len(d) > 0 {
		body["data"] = d
	}
	nested := map[string]any{}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "nested") {
		inner := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(name, 1, 2, rapid.ID).Draw(t, "inner") {
			inner[k] = int64(1)
		}
		nested[n] = inner
	}
	body["nested"] = nested
	var list, ports, set []any
	for _, n := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "list") {
		list = append(list, item(map[string]any{"name": n}))
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.Int64Range(1, 4), 0, 3, rapid.ID).Draw(t, "ports") {
		ports = append(ports, item(map[string]any{"port": n, "protocol": rapid.SampledFrom([]string{"TCP", "UDP"}).Draw(t, "protocol")}))
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "set") {
		set = append(set, n)
	}
	for k, l := range map[string][]any{"list": list, "ports": ports, "set": set, "atomic": {"x", "x"}} {
		if len(l) > 0 {
			body[k] = l
		}
	}
	return body
}

// One rule decides whether two bodies have the same field, and it is structured-merge-diff's: what that calls a path of
// one body is found by its text, under that path, and is in another body exactly when structured-merge-diff has it there.
func TestFieldsAreThoseOfStructuredMergeDiff(t *testing.T) {
	parser, err := typed.NewParser(schemaOfFields)
	if err != nil {
		t.Fatal(err)
	}
	fields := func(t *rapid.T, body map[string]any) *fieldpath.Set {
		v, err := parser.Type("root").FromUnstructured(body)
		if err != nil {
			t.Fatal(err)
		}
		set, err := v.ToFieldSet()
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := drawBody(t, "ours"), drawBody(t, "theirs")
		mine, other := fields(t, ours), fields(t, theirs)
		entries := entriesOf(t, other)
		mine.Iterate(func(p fieldpath.Path) {
			p = p.Copy()
			found := FieldsNamed(ours, p.String())
			at := slices.IndexFunc(found, func(f Field) bool { return f.path.Equals(p) })
			if at < 0 {
				t.Fatalf("%s is not found in %v", p, ours)
			}
			for _, f := range found {
				if f.path.String() != p.String() {
					t.Fatalf("%s is found for %s", f.path, p)
				}
			}
			there := other.Has(p) || hasBelow(other, p)
			if found[at].In(theirs) != there {
				t.Fatalf("%s: in %v, structured-merge-diff says %v", p, theirs, there)
			}
		})
		for _, d := range Diff(theirs, ours, Mask{}) { // who owns what differs
			manager, _ := SettersOf(entries, "us").Of(d)
			if d.HasOld && manager != "them" {
				t.Fatalf("%s of %v is owned by nobody", d.Path, theirs)
			}
		}
	})
}

func hasBelow(set *fieldpath.Set, p fieldpath.Path) bool {
	for _, el := range p {
		set = set.WithPrefix(el)
	}
	return !set.Empty()
}

func entriesOf(t *rapid.T, set *fieldpath.Set) []metav1.ManagedFieldsEntry {
	f, err := fieldsOf(set)
	if err != nil {
		t.Fatal(err)
	}
	return []metav1.ManagedFieldsEntry{{Manager: "them", Operation: "Update", FieldsV1: f}}
}

func FuzzFieldsNamed(f *testing.F) {
	f.Add(`.spec.containers[name="api"].image`)
	f.Add(`.a[="\xff"],[1][`)
	f.Fuzz(func(t *testing.T, text string) {
		body := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "api", "image": "x"}}}, "a": []any{"x", []any{"y"}}}
		for _, field := range FieldsNamed(body, text) {
			if !field.In(body) {
				t.Errorf("%q gives %s, which is not there", text, field)
			}
		}
	})
}

func TestWithoutPathsKnowsNames(t *testing.T) {
	body := yamlMap(t, `{data: {app.yaml: x, app: {yaml: z}, k: v}, l: [{name: a}]}`)
	if diff := cmp.Diff(yamlMap(t, `{data: {app: {yaml: z}}, l: [{name: a}]}`), WithoutPaths(body, []string{`data."app.yaml"`, "data.k", "l[a]", "l[name=a]", "l[0]", "", "x..y"})); diff != "" {
		t.Error(diff)
	}
	if _, ok := body["data"].(map[string]any)["app.yaml"]; !ok {
		t.Error("the body was changed")
	}
}
