package bind

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// What is computed of a value that is not known yet (a digest) says so, like what holds it, and what is computed of
// others stays.
func TestUnknown(t *testing.T) {
	v := values(t, "b.yaml", `{uri: {from: {instance: db, object: v1/Secret/x, path: data.uri}}, port: {from: {instance: db, object: v1/Secret/x, path: data.port, preview: 5432}},
		on: {from: {instance: gate, object: v1/Secret/x, path: data.on, preview: true}}, own: "known"}`)
	open, _ := Froms(v)
	bound, fs := Bind(v, Fill{From: func(f From) (*v1alpha1.Value, *diag.Finding) { return StandIn(f), nil }})
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	second := Otherwise(bound, open, false)
	same(t, "first", `{uri: "known after db", port: 5432, on: true, own: "known"}`, show(bound.Struct))
	same(t, "second", `{uri: "not known after db0", port: 5433, on: false, own: "known"}`, show(second.Struct))

	got := Unknown(rendered(t, bound), rendered(t, second), open)
	const label = "known after db, gate"
	want := []object.Object{
		{Unknown: at("data.digest", "data.beside", "data.number", "data.list[1]", "data.uri"), Body: body("ConfigMap", "computed", map[string]any{
			"digest": label, "beside": "a: sha256:" + label + ", b", "number": int64(10864), "list": []any{"x", label}, "uri": "u=known after db", "own": "known"})},
		{Unknown: at("data.digest"), Body: body("Secret", "computed", map[string]any{"digest": base64.StdEncoding.EncodeToString([]byte(label)), "own": "a25vd24="})},
		{Body: body("ConfigMap", "own", map[string]any{"digest": sum("known")})},
		{Unknown: at(), Body: body("ConfigMap", "gated", map[string]any{})},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if first := rendered(t, bound)[0].Body["data"].(map[string]any)["digest"]; first == label {
		t.Error("what was rendered is changed")
	}
}

func at(paths ...string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		out[p] = true
	}
	return out
}

func sum(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:])
}

func body(kind, name string, data map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}, "data": data}
}

// rendered is what a chart makes of the values.
func rendered(t *testing.T, v v1alpha1.Values) []object.Object {
	data, err := v.Struct.Any()
	if err != nil {
		t.Fatal(err)
	}
	m := data.(map[string]any)
	digest := sum(fmt.Sprint(m))
	out := []object.Object{
		{Body: body("ConfigMap", "computed", map[string]any{"digest": digest, "beside": "a: sha256:" + digest + ", b", "number": 2 * m["port"].(int64),
			"list": []any{"x", digest}, "uri": "u=" + m["uri"].(string), "own": m["own"]})},
		{Body: body("Secret", "computed", map[string]any{"digest": base64.StdEncoding.EncodeToString([]byte(digest)), "own": "a25vd24="})},
		{Body: body("ConfigMap", "own", map[string]any{"digest": sum(m["own"].(string))})},
	}
	if m["on"].(bool) {
		out = append(out, object.Object{Body: body("ConfigMap", "gated", map[string]any{})})
	}
	return out
}

// What is empty stands in for anything: the other render has something there, texts or maps, and it is open as a whole where it was empty.
func TestUnknownOfNothing(t *testing.T) {
	v := values(t, "b.yaml", `{list: {from: {instance: db, object: v1/Secret/x, path: data.list, preview: []}}, map: {from: {instance: db, object: v1/Secret/x, path: data.map, preview: {}}},
		null: {from: {instance: db, object: v1/Secret/x, path: data.null, preview: null}}, half: {from: {instance: db, object: v1/Secret/x, path: data.half, preview: 0.5}},
		deep: {from: {instance: db, object: v1/Secret/x, path: data.deep, preview: {items: []}}}, own: [], none: {}}`)
	open, _ := Froms(v)
	bound, fs := Bind(v, Fill{From: func(f From) (*v1alpha1.Value, *diag.Finding) { return StandIn(f), nil }})
	if len(fs) > 0 || !EmptyLists(open) || EmptyLists(open[1:2]) {
		t.Fatal(fs, len(open))
	}
	values := func(v v1alpha1.Values) []object.Object {
		data, err := v.Struct.Any()
		if err != nil {
			t.Fatal(err)
		}
		return []object.Object{{Body: body("ConfigMap", "x", data.(map[string]any))}}
	}
	for maps, want := range map[bool]string{
		false: `{list: ["not known after 0"], map: {other: "not known after 0"}, null: "not known after 0", half: 1, deep: {items: ["not known after 0"]}, own: [], none: {}}`,
		true:  `{list: [{}], map: {other: "not known after 0"}, null: "not known after 0", half: 1, deep: {items: [{}]}, own: [], none: {}}`,
	} {
		second := Otherwise(bound, open, maps)
		same(t, fmt.Sprint("maps: ", maps), want, show(second.Struct))
		got := Unknown(values(bound), values(second), open)[0]
		if diff := cmp.Diff(at("data.list", "data.map", "data.null", "data.half", "data.deep.items"), got.Unknown); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(values(bound)[0].Body, got.Body); diff != "" {
			t.Error(diff)
		}
	}
}

// References that a bundle writes have a stand-in each, which says what they are known after and which they are; as they are written where such a
// text is refused. What is computed of them says what it is known after.
func TestUnknownReferences(t *testing.T) {
	const a, b = "known after bundle platform (ref://vault:db/user)", "known after bundle platform (ref://vault:db/password)"
	v := values(t, "b.yaml", `{user: "ref://vault:db/user", password: "ref://vault:db/password", own: "ref://env"}`)
	var refs []From
	bound, fs := Bind(v, Fill{Ref: func(r Ref) (*v1alpha1.Value, *diag.Finding) {
		bundle := map[bool]string{true: "platform"}[r.Store == "vault"]
		refs = append(refs, r.From(bundle))
		if bundle == "" {
			return r.Text("x"), nil
		}
		return StandIn(refs[len(refs)-1]), nil
	}})
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	same(t, "stand-ins", `{user: "`+a+`", password: "`+b+`", own: "x"}`, show(bound.Struct))
	written, as := Written(bound, refs)
	same(t, "as they are written", `{user: "ref://vault:db/user", password: "ref://vault:db/password", own: "x"}`, show(written.Struct))
	same(t, "otherwise", `{user: "ref://vault:db/user0", password: "ref://vault:db/password0", own: "x"}`, show(Otherwise(written, as[:2], false).Struct))
	same(t, "numbers", `{user: "1401", password: "1402", own: "x"}`, show(Numbers(written, as[:2])[0].Struct))
	if got := Numbers(bound, []From{{At: "own", Instance: "db", Preview: refs[2].node}}); got != nil {
		t.Errorf("a preview stays: %v", got)
	}
	of := func(v v1alpha1.Values) []object.Object {
		data, err := v.Struct.Any()
		if err != nil {
			t.Fatal(err)
		}
		m := data.(map[string]any)
		m["both"], m["sum"] = fmt.Sprint(m["user"], ":", m["password"]), sum(fmt.Sprint(m))
		return []object.Object{{Body: body("ConfigMap", "x", m)}}
	}
	for _, c := range []struct {
		v                    v1alpha1.Values
		refs                 []From
		user, password, both string
	}{
		{bound, refs, a, b, a + ":" + b},
		{written, as, "ref://vault:db/user", "ref://vault:db/password", "ref://vault:db/user:ref://vault:db/password"},
	} {
		got := Unknown(of(c.v), of(Otherwise(c.v, c.refs[:2], false)), c.refs[:2])
		want := []object.Object{{Unknown: at("data.user", "data.password", "data.both", "data.sum"), Body: body("ConfigMap", "x", map[string]any{
			"user": c.user, "password": c.password, "both": c.both, "own": "x", "sum": "known after bundle platform"})}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !Holds(got[0].Body, c.refs[:2]) || Holds(map[string]any{"own": "x"}, c.refs[:2]) {
			t.Error("what stands in is not found")
		}
	}
}
