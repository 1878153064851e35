package specdecode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

type inner struct {
	Path string            `json:"path" hawser:"required,pos,dir,empty=no-path"`
	Dir  string            `json:"-"`
	Pos  v1alpha1.Position `json:"-"`
	Deep *inner            `json:"deep,omitempty"`
	Wait v1alpha1.Duration `json:"wait,omitzero" hawser:"format=short"`
	Yes  *bool             `json:"yes,omitempty"`
	Free map[string]any    `json:"free,omitempty"`
	Data v1alpha1.Values   `json:"data,omitzero"`
	By   map[string]inner  `json:"by,omitempty" hawser:"format=lower"`
	Env  map[string]string `json:"env,omitempty"`
	List []string          `json:"list,omitempty" hawser:"format=lower,empty=no-list"`
	Vars []variable        `json:"vars,omitempty"`
	All  []named           `json:"all,omitempty" hawser:"empty=no-all"`
	N    int               `json:"n,omitempty" hawser:"min=1,max=3,format=count"`
	M    int               `json:"m,omitempty"`
	None struct{}          `json:"none,omitzero"`
	Seen v1alpha1.Position `json:"-"`
	MPos v1alpha1.Position `json:"-"`
}

type variable struct {
	Name string `json:"name" hawser:"key,format=lower"`
	Expr string `json:"expr" hawser:"value"`
}

type named struct {
	Name string            `json:"name" hawser:"key"`
	From string            `json:"from" hawser:"required=check"`
	Pos  v1alpha1.Position `json:"-"`
}

// read decodes text into an inner, and gives what was found, a line each.
func read(t *testing.T, text string) (inner, []string, *Decoder) {
	t.Helper()
	lower := Format{Check: func(d *Decoder, f Field, s string) {
		if strings.ToLower(s) != s {
			d.Errorf(f.Value, "not-lower", "%s has %s", d.Mask(f.Name), d.Mask(s))
		}
	}}
	d := &Decoder{
		Locate: func(v cue.Value) diag.Pos { return cuelang.Pos(v.Pos()) }, Dir: func(v cue.Value) string { return "dir of " + v.Path().String() },
		Mask:     func(s string) string { return strings.ReplaceAll(s, "HIDDEN", "***") },
		MaskPath: func(s string) string { return strings.ReplaceAll(s, "HIDDEN", "***") },
	}
	d.Rules = Rules{
		Formats: map[string]Format{
			"lower": lower, "short": {Check: func(d *Decoder, f Field, s string) { d.Errorf(f.Value, "short", "asked of %s", s) }},
			"count": {Kind: func(n *diag.Finding, have cue.Kind) { n.Fix = "write a number, and no " + cuelang.KindWord(have) }},
		},
		Checks:  map[reflect.Type]Check{},
		Instead: map[reflect.Type]func(*Decoder, cue.Value) bool{reflect.TypeFor[struct{}](): func(_ *Decoder, v cue.Value) bool { return v.Kind() == cue.StringKind }},
		Later:   map[reflect.Type][]string{reflect.TypeFor[inner](): {"later"}},
		Empty:   map[string]diag.Finding{"all": {What: "nobody is there", Fix: "name one"}},
	}
	of, check := CheckOf(func(d *Decoder, s Struct, out *named) {
		if s.Sound && !s.Has("from") {
			d.Errorf(s.Value, "no-from", "%s comes from nowhere", out.Name)
		}
	})
	d.Rules.Checks[of] = check
	v := cuecontext.New().CompileString(text, cue.Filename("f.cue"))
	var out inner
	d.Decode(v.LookupPath(cue.ParsePath("x")), &out)
	var said []string
	for _, f := range d.Findings {
		said = append(said, f.Code+" "+f.String())
	}
	return out, said, d
}

// Every kind of field is read, with the places that the type wants to know.
func TestDecode(t *testing.T) {
	out, said, d := read(t, `x: {
	path: "p", wait: "90s", yes: false, free: {a: 1, b: [1.5]}, data: {z: 1, a: 2}
	deep: {path: *"q" | string, data: null}
	by: {a: {path: "r"}}, env: {A: "b"}, list: [], vars: {b: "1", a: "2"}, all: {n: {from: "here"}}
	n: 2, m: 3000000000, none: "word"
}`)
	if want := []string{"short f.cue:2:13: x.wait: asked of 90s", "no-list f.cue:4:39: x.list: list is empty"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	got, err := json.Marshal(out)
	want := `{"path":"p","deep":{"path":"q"},"wait":"1m30s","yes":false,"free":{"a":1,"b":[1.5]},"data":{"z":1,"a":2},"by":{"a":{"path":"r"}},` +
		`"env":{"A":"b"},"vars":[{"name":"b","expr":"1"},{"name":"a","expr":"2"}],"all":[{"name":"n","from":"here"}],"n":2,"m":2147483647}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v\nwant %s", got, err, want)
	}
	if out.Pos.Line != 2 || out.Dir != "dir of x.path" || out.Deep.Pos.Line != 3 || out.All[0].Pos.Column == 0 || out.MPos.Line != 5 || out.Seen.Line != 0 ||
		out.List == nil || out.Wait.Duration != 90*time.Second || d.CUEErrors != nil {
		t.Errorf("%+v %v", out, d.CUEErrors)
	}
}

// What is wrong is said of each field, and the rest is read.
func TestFindings(t *testing.T) {
	for text, want := range map[string]string{
		`x: {}`:                                 "missing-field f.cue:1:1: x.path: path is required",
		`x: {later: 1}`:                         "not-available f.cue:1:5: x.later: later is not available in this version",
		`x: {path: " "}`:                        "no-path f.cue:1:5: x.path: path is empty",
		`x: {path: 1}`:                          "wrong-type f.cue:1:5: x.path: must be a string, is a number (put it in quotes)",
		`x: {path: "p", pth: 1}`:                `unknown-field f.cue:1:16: x.pth: unknown field "pth" (did you mean "path"?)`,
		`x: {path: "p", list: ["a", "HIDDEN"]}`: "not-lower f.cue:1:28: x.list[1]: list has ***",
		`x: {path: "p", by: {HIDDEN: {path: "r"}}}`: "not-lower f.cue:1:21: x.by.***: *** has ***",
		`x: {path: "p", vars: {A: ""}}`:             "not-lower f.cue:1:23: x.vars.A: A has A",
		`x: {path: "p", all: {}}`:                   "no-all f.cue:1:16: x.all: nobody is there (name one)",
		`x: {path: "p", all: {a: {}}}`:              "no-from f.cue:1:22: x.all.a: a comes from nowhere",
		`x: {path: "p", all: {a: {form: ""}}}`:      `unknown-field f.cue:1:26: x.all.a.form: unknown field "form" (did you mean "from"?)`,
		`x: {path: "p", all: {a: 1}}`:               "wrong-type f.cue:1:22: x.all.a: must be a struct, is a number",
		`x: {path: "p", n: 0}`:                      "out-of-range f.cue:1:16: x.n: must be 1 to 3, is 0",
		`x: {path: "p", m: -1}`:                     "out-of-range f.cue:1:16: x.m: must be 0 or more, is -1",
		`x: {path: "p", m: 1e30}`:                   "wrong-type f.cue:1:16: x.m: must be a whole number, is a number",
		`x: {path: "p", m: 99999999999999999999}`:   "out-of-range f.cue:1:16: x.m: number is too large",
		`x: {path: "p", n: "1"}`:                    "wrong-type f.cue:1:16: x.n: must be a whole number, is a string (write a number, and no a string)",
		`x: {path: "p", wait: 5}`:                   "wrong-type f.cue:1:16: x.wait: must be a duration, is a number without a unit (write for example 90s, 2m30s or 1h)",
		`x: {path: "p", wait: "-5s"}`:               `invalid-duration f.cue:1:16: x.wait: "-5s" is no duration (write for example 90s, 2m30s or 1h)`,
		`x: {path: "p", data: []}`:                  "wrong-type f.cue:1:16: x.data: must be a struct, is a list (write each entry under its name: data: {NAME: {...}})",
		`x: {path: "p", none: {a: 1}}`:              `unknown-field f.cue:1:23: x.none.a: unknown field "a" (known here: )`,
	} {
		if _, said, _ := read(t, text); len(said) != 1 || said[0] != want {
			t.Errorf("%s: %q\nwant %q", text, said, want)
		}
	}
}

// What CUE refuses is left to CUE, and not forgotten.
func TestRefused(t *testing.T) {
	for _, text := range []string{`x: {path: "p" & "q"}`, `x: {path: string}`, `x: {path: "p", data: {a: 1 & 2}}`, `x: {path: "p", n: int}`, `x: {path: "p", list: 1 & 2}`, `x: {path: "p", yes: bool}`} {
		_, said, d := read(t, text)
		if d.CUEErrors == nil {
			t.Errorf("%s: nothing is refused, and said is %q", text, said)
		}
	}
	if items := Items(cue.Value{}); items != nil {
		t.Error(fmt.Sprint(items))
	}
}
