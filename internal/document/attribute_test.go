package document

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// loadText loads one file with the given name and content.
func loadText(t testing.TB, name, text string) (*Program, diag.Findings) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(context.Background(), Options{Files: []string{path}, Workdir: t.TempDir()})
}

// implicit are the facts of the implicit cluster with an environment.
func implicit(env map[string]string) fleet.Facts {
	c := fleet.Implicit("")
	return c.Facts(fleet.RuntimeValues(env, nil, c))
}

func codes(fs diag.Findings) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

// TestRuntimeLiterals is the table of what number, bool and string accept (T4).
func TestRuntimeLiterals(t *testing.T) {
	for _, c := range []struct {
		typ, value, want string
	}{
		{"number", "41", "41"}, {"number", "-41", "-41"}, {"number", "4.1", "4.1"}, {"number", "-4.1e-2", "-4.1e-2"},
		{"number", "0x1f", "0x1f"}, {"number", "1_000", "1_000"}, {"number", "2Mi", "2Mi"},
		{"number", "4\n", ""}, {"number", "{}", ""}, {"number", "1+1", ""}, {"number", "1 // comment", ""}, {"number", "", ""},
		{"number", "--1", ""}, {"number", "-", ""}, {"number", "abc", ""}, {"number", " 1", ""}, {"number", "1, a: 2", ""},
		{"bool", "true", "true"}, {"bool", "false", "false"}, {"bool", "true\n", ""}, {"bool", "{true}", ""}, {"bool", "_x", ""},
		{"bool", "TRUE", ""}, {"bool", "1", ""}, {"bool", "", ""},
		{"string", "x", `"x"`}, {"string", `a"b\(c)`, `"a\"b\\(c)"`}, {"string", "a\nb", `"a\nb"`}, {"string", "", `""`},
		{"string", "\xff", ""}, {"strings", "x", ""},
	} {
		x, err := runtimeLiteral(c.typ, c.value, token.NoPos)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s %q is accepted", c.typ, c.value)
			} else if len(c.value) > 2 && strings.Contains(err.Error(), c.value) {
				t.Errorf("%s %q: the value is shown: %v", c.typ, c.value, err)
			}
			continue
		}
		b, err2 := format.Node(x)
		if err != nil || err2 != nil || string(b) != c.want {
			t.Errorf("%s %q: %s %v, want %s", c.typ, c.value, b, err, c.want)
		}
	}
}

// TestPlain is the rule by syntax.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		expr string
		kind cuelang.Kind
		want bool
	}{
		{`"x"`, cuelang.StringKind, true}, {`80`, cuelang.NumberKind, true}, {`-80`, cuelang.NumberKind, true}, {`true`, cuelang.BoolKind, true}, {`null`, cuelang.NullKind, true},
		{`"\(plainText)-x"`, cuelang.StringKind, true}, {`plainText`, cuelang.StringKind, true}, {`s.inner`, cuelang.StringKind, true}, {`s["inner"]`, cuelang.StringKind, true},
		{`1 + 2`, cuelang.NumberKind, true}, {`(plainText + "x")`, cuelang.StringKind, true}, {`1 == 2`, cuelang.BoolKind, true}, {`!true`, cuelang.BoolKind, true},
		{`{a: 1}`, cuelang.OtherKind, true}, {`[1]`, cuelang.OtherKind, true}, {`viaRef`, cuelang.StringKind, true}, {`viaLet`, cuelang.StringKind, true},
		{`string`, "", false}, {`int & >5`, "", false}, {`*"x" | string`, "", false}, {`#D`, "", false}, {`typed`, "", false},
		{`strings.MinRunes(3)`, "", false}, {`nowhere`, "", false}, {`s.nowhere`, "", false}, {`loop`, "", false}, {`>5`, "", false},
		{`_#Hidden`, "", false}, {`s.#Def`, "", false}, {`bounded`, "", false},
	} {
		f, err := parser.ParseFile("x.cue", `import "strings"
plainText: "a"
typed: string
bounded: int & 5
viaRef: plainText
let viaLet = "x"
loop: loop
#D: "d"
_#Hidden: "d"
s: {inner: "b", #Def: "x"}
used: strings.ToUpper("x")
keep: viaLet
field: `+c.expr+"\n")
		if err != nil {
			t.Fatal(c.expr, err)
		}
		field, _ := f.Decls[len(f.Decls)-1].(*ast.Field)
		k, ok := cuelang.PlainExpr(field.Value)
		if ok != c.want || ok && k != c.kind {
			t.Errorf("%s: %v %q, want %v %q", c.expr, ok, k, c.want, c.kind)
		}
	}
}

// TestAttributes: what a program says about its attributes.
func TestAttributes(t *testing.T) {
	p, fs := loadText(t, "b.cue", `
_c: {name: string, ...} @hawser(cluster)
bundle: {
	_a: "x" @timoni(runtime:string:HOST)
	_b: 1 @hawser( runtime : number : PORT )
	apiVersion: "v1alpha1", name: "b", instances: {}
}
`)
	if fs != nil {
		t.Fatal(fs)
	}
	var got []string
	for _, a := range p.attrs {
		got = append(got, a.Field+" "+a.Type+" "+a.Var)
	}
	if d := cmp.Diff([]string{"_c  ", "_a string HOST", "_b number PORT"}, got); d != "" {
		t.Error(d)
	}
	if !p.Uses("HOST") || p.Uses("") || p.Uses("X") || p.UsesQueries() {
		t.Error("uses")
	}
	if names := p.Bundles(); len(names) != 1 || names[0] != "b" {
		t.Error(names)
	}
}

// TestVersionIsUsed: only what may read the version asks for it.
func TestVersionIsUsed(t *testing.T) {
	for expr, want := range map[string]bool{
		"_c.name": false, "_c.version": true, `"\(_c.version)"`: true, "_c": true, "_c.labels.version": false,
	} {
		p, fs := loadText(t, "b.cue", "_c: {...} @hawser(cluster)\nbundle: {apiVersion: \"v1alpha1\", name: \"b\", instances: {}, _x: "+expr+"}\n")
		if fs != nil {
			t.Fatal(fs)
		}
		if p.versionUsed != want {
			t.Errorf("%s: want %v", expr, want)
		}
	}
	p, fs := loadText(t, "b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x, values: {v: {$cluster: version}, r: {$cluster: values.R}}}}}\n")
	if fs != nil || !p.Uses("R") {
		t.Error(fs)
	}
}

// TestImplicitClusterIsALastResort: a default of the field's own wins over the implicit cluster's name.
func TestImplicitClusterIsALastResort(t *testing.T) {
	for expr, want := range map[string]string{
		`string`: `"default"`, `"dev"`: `"dev"`, `*"dev" | string`: `"dev"`, `string | *"dev"`: `"dev"`,
	} {
		p, _ := loadText(t, "b.cue", `bundle: {_n: `+expr+` @timoni(runtime:string:TIMONI_CLUSTER_NAME), apiVersion: "v1alpha1", name: "b",
	instances: a: {module: url: "file:///m", namespace: "x", values: n: _n}}`)
		specs, fs := p.Evaluate(implicit(nil))
		if fs != nil {
			t.Error(expr, fs)
			continue
		}
		if got := cuelang.Line(specs[0].Instances[0].Values.Struct.Lookup("n")); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}

// TestSecretsAreNotSaved: facts from a file have no secret values, and who needs one is told.
func TestSecretsAreNotSaved(t *testing.T) {
	p, _ := loadText(t, "b.cue", `bundle: {_p: string @timoni(runtime:string:PASS), apiVersion: "v1alpha1", name: "b",
	instances: a: {module: url: "file:///m", namespace: "x", values: p: _p}}`)
	f := implicit(nil)
	f.Values["PASS"] = fleet.Value{Secret: true, Absent: true, Layer: fleet.LayerQuery}
	if _, fs := p.Evaluate(f); !strings.Contains(codes(fs), "secret-not-saved") {
		t.Error(fs)
	}
}

// TestMemo: equal inputs are evaluated once, others are not mixed up.
func TestMemo(t *testing.T) {
	p, _ := loadText(t, "b.cue", `bundle: {_e: string @timoni(runtime:string:TIMONI_CLUSTER_GROUP), apiVersion: "v1alpha1", name: "b-\(_e)", instances: {}}`)
	for _, name := range []string{"a", "b", "c"} {
		for _, group := range []string{"g", "h"} {
			c := fleet.Cluster{}
			c.Name, c.Group = name, group
			specs, fs := p.Evaluate(c.Facts(fleet.RuntimeValues(map[string]string{"OTHER": name}, nil, c)))
			if fs != nil || specs[0].Name != "b-"+group {
				t.Error(name, group, specs, fs)
			}
		}
	}
	if len(p.memo) != 2 {
		t.Errorf("%d evaluations", len(p.memo))
	}
}

func FuzzAttribute(f *testing.F) {
	f.Add("@timoni(runtime:string:X)", `"x"`, "v")
	f.Add("@hawser(runtime:number:X)", `int & >5`, "2Mi")
	f.Add("@hawser(cluster)", `{name: string, ...}`, "true")
	f.Add("@timoni(runtime:bool:X)", `*true | bool`, "x\n")
	f.Fuzz(func(t *testing.T, attr, expr, value string) {
		if len(attr)+len(expr) > 200 || strings.ContainsAny(expr, "|[*") {
			t.Skip("the evaluation of disjunctions and comprehensions cannot be bounded inside a fuzz target")
		}
		text := "bundle: {apiVersion: \"v1alpha1\", name: \"b\", instances: {}, _x: " + expr + " " + attr + "\n}\n"
		p, _ := loadText(t, "b.cue", text)
		if p == nil {
			return
		}
		const mark = "5ecret"
		_, fs := p.Evaluate(implicit(map[string]string{"X": mark + value}))
		for _, finding := range fs {
			if strings.Contains(finding.String(), mark) && !strings.Contains(text, mark) {
				t.Errorf("the value is shown: %s", finding)
			}
		}
		if lit, err := runtimeLiteral("number", value, token.NoPos); err == nil {
			if !isNumber(lit) {
				t.Errorf("%q is no number literal", value)
			}
		}
	})
}

func isNumber(x ast.Expr) bool {
	if u, ok := x.(*ast.UnaryExpr); ok {
		x = u.X
	}
	lit, ok := x.(*ast.BasicLit)
	var info literal.NumInfo
	return ok && literal.ParseNum(lit.Value, &info) == nil
}

// TestVaries: a name that the cluster or the run's values are part of may be another one, whatever it is without them.
func TestVaries(t *testing.T) {
	for text, want := range map[string]bool{
		`bundle: {apiVersion: "v1alpha1", name: "tenant-\(_t)", instances: {}, _t: string @timoni(runtime:string:TENANT)}`:  true,
		`bundle: {apiVersion: "v1alpha1", name: "tenant-\(_t)", instances: {}, _t: "x" @timoni(runtime:string:TENANT)}`:     true,
		`bundles: one: {apiVersion: "v1alpha1", name: _t, instances: {}, _t: *"x" | string @timoni(runtime:string:TENANT)}`: true,
		`bundles: one: {apiVersion: "v1alpha1", name: "one", instances: {}, _t: "x" @timoni(runtime:string:TENANT)}`:        false,
		`bundles: one: {apiVersion: "v1alpha1", instances: {}, _t: "x" @timoni(runtime:string:TENANT)}`:                     false,
		`_n: "x"; bundle: {apiVersion: "v1alpha1", name: "shop-\(_n)", instances: {}}`:                                      false,
	} {
		p, fs := loadText(t, "b.cue", strings.ReplaceAll(text, "; ", "\n"))
		if fs != nil {
			t.Fatal(fs)
		}
		if got := p.Varies(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	p, fs := loadText(t, "b.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    app: {namespace: {$cluster: name}, manifests: {paths: [a.yaml]}}\n")
	if fs != nil || p.Varies() {
		t.Errorf("a name in YAML: %v", fs)
	}
}
