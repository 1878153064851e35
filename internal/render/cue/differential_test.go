package cue

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	cueyaml "cuelang.org/go/encoding/yaml"
	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// differentialCases are values for every fixture module; "" are the module's own.
var differentialCases = map[string][]string{
	"web": {"", `replicas: 3, env: {Z: "1", A: "2"}, ports: [{port: 1}, {name: "b", port: 2}]`, `ports: [], maybe: null, tier: "prod"`},
	"crd": {"", `size: "large"`}, "rbac": {"", `verbs: []`}, "health": {""}, "stages": {"", `count: 0`},
	"order": {"", `test: enabled: true`, `ui: {message: "x", color: "red"}, test: enabled: true, replicas: 2`,
		`test: {image: {tag: "a"}, enabled: true}, image: {digest: "x", tag: "y"}, settings: {b: "1", a: "2"}`,
		`extra: {z: 1, a: {q: 2, b: 3}}, image: tag: "2", hosts: [{port: 81, z: 1, a: 2}]`},
	"loops": {"", `teams: {b: members: ["x"], a: members: []}`}, "kinds": {"", `ratio: 2, text: 'ünicode', big: 12345678901`},
}

// TestDifferential compares every fixture with what the official loader and evaluator give from the files on disk.
func TestDifferential(t *testing.T) {
	r := New(Options{})
	mods, err := filepath.Glob("testdata/modules/*")
	if err != nil || len(mods) != len(differentialCases) {
		t.Fatalf("%d modules, %d cases: every fixture needs one (%v)", len(mods), len(differentialCases), err)
	}
	for _, dir := range mods {
		mod := filepath.Base(dir)
		for _, values := range differentialCases[mod] {
			t.Run(mod+"/"+values, func(t *testing.T) {
				req := request(t, mod, "inst", values)
				compare(t, r, req)
			})
		}
	}
	t.Run("example", func(t *testing.T) {
		compare(t, r, exampleRequest(t, "inst", `replicas: 4, settings: {b: "1", a: "2"}`))
	})
}

func compare(t *testing.T, r *Renderer, req render.Request) {
	t.Helper()
	res, err := r.Render(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if err := render.WriteYAML(&got, res.Objects); err != nil {
		t.Fatal(err)
	}
	if err := render.WriteYAML(&want, official(t, req)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("-official +ours\n%s", diff)
	}
}

// official renders as Timoni does, with the plain CUE API: a copy of the module on disk with the merged values as text,
// load.Instances with tags, one evaluation, objects through YAML.
func official(t *testing.T, req render.Request) []object.Object {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(req.Content.Root)); err != nil {
		t.Fatal(err)
	}
	ctx := cuecontext.New()
	if user := userValues(req); user != nil {
		text, err := os.ReadFile(filepath.Join(root, "values.cue"))
		if err != nil {
			t.Fatal(err)
		}
		values := cue.ParsePath("values")
		base := ctx.CompileBytes(text).LookupPath(values)
		over := ctx.CompileString(fmt.Sprintf("values: %v", ctx.BuildExpr(cuelang.Syntax(user)))).LookupPath(values)
		text = fmt.Appendf(nil, "package main\nvalues: %v", overBase(ctx, over, base))
		if err := os.WriteFile(filepath.Join(root, "values.cue"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	str := func(s string) load.TagVar {
		return load.TagVar{Func: func() (ast.Expr, error) { return ast.NewString(s), nil }}
	}
	insts := load.Instances([]string{"."}, &load.Config{
		Dir: root, ModuleRoot: root, Package: "main", Env: []string{"CUE_REGISTRY=none"},
		Tags:    []string{"name=" + req.Instance.Name, "namespace=" + req.Instance.Namespace},
		TagVars: map[string]load.TagVar{"moduleVersion": str(req.Content.Version), "kubeVersion": str(req.KubeVersion)},
	})
	v := ctx.BuildInstance(insts[0])
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	stages, err := v.LookupPath(applyPath).Fields()
	if err != nil {
		t.Fatal(err)
	}
	var out []object.Object
	for stages.Next() {
		items, err := stages.Value().List()
		if err != nil {
			t.Fatal(err)
		}
		for items.Next() {
			out = append(out, viaYAML(t, items.Value())...)
		}
	}
	return out
}

// overBase lays values over the module's by filling, field by field; a list may be longer than the module's.
func overBase(ctx *cue.Context, over, base cue.Value) cue.Value {
	out := over
	switch base.IncompleteKind() {
	case cue.StructKind:
		fields, _ := base.Fields(cue.All())
		for fields.Next() {
			path, value := cue.MakePath(fields.Selector()), fields.Value()
			if mine := over.LookupPath(path); mine.Exists() {
				value = overBase(ctx, mine, value)
			}
			out = out.FillPath(path, value)
		}
	case cue.ListKind:
		mine, _ := over.List()
		its, _ := base.List()
		var items []cue.Value
		for mine.Next() {
			if its.Next() {
				items = append(items, overBase(ctx, mine.Value(), its.Value()))
				continue
			}
			items = append(items, mine.Value())
		}
		out = ctx.NewList(items...)
	}
	return out
}

func viaYAML(t *testing.T, v cue.Value) []object.Object {
	t.Helper()
	text, err := cueyaml.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m == nil || m["kind"] == "Kustomization" {
		return nil
	}
	if m["kind"] == "List" {
		var out []object.Object
		for _, x := range m["items"].([]any) {
			out = append(out, object.Object{Body: x.(map[string]any)})
		}
		return out
	}
	return []object.Object{{Body: m}}
}

// TestTwiceAndShuffled renders all cases in two orders with one renderer: nothing of one render may reach another.
func TestTwiceAndShuffled(t *testing.T) {
	type entry struct{ mod, values string }
	var all []entry
	for mod, cases := range differentialCases {
		for _, v := range cases {
			all = append(all, entry{mod, v})
		}
	}
	text := func(r *Renderer, e entry) string {
		res, err := r.Render(t.Context(), request(t, e.mod, "inst", e.values))
		facts, objects := outcome(t, res, err)
		return facts + objects
	}
	one := New(Options{})
	first := map[entry]string{}
	for _, e := range all {
		first[e] = text(New(Options{}), e)
		if strings.HasPrefix(first[e], "error") {
			t.Fatal(first[e])
		}
	}
	// Map order is random, so each round has another order.
	for range 2 {
		for e, want := range first {
			if got := text(one, e); got != want {
				t.Errorf("%v: %s", e, cmp.Diff(want, got))
			}
		}
	}
}
