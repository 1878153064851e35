package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func hush(text string) bool { return strings.Contains(text, "hush") }

// TestSensitiveInOtherPositions: what is secret in one version is hidden in another one in which its list has other
// items, another order, or another key; what stands beside it is shown.
func TestSensitiveInOtherPositions(t *testing.T) {
	for _, c := range []struct {
		name, live, declared string
		want                 []string
	}{
		{"an entry before", "{env: [{name: NEW, value: a}, {name: PW, value: theirs}]}", "{env: [{name: PW, value: hush}, {name: NEW, value: b}]}",
			[]string{`env[NEW].value: "a" -> "b"`, "env[PW].value: *** -> ***"}},
		{"an item is gone", "{c: [{name: a, env: [{name: PW, value: theirs}]}, {name: b}]}", "{c: [{name: b, env: [{name: PW, value: hush}]}, {name: a, env: [{name: PW, value: x}]}]}",
			[]string{`c[a].env[PW].value: "theirs" -> "x"`, `c[b].env[PW]: - -> {"name":"PW","value":"***"}`}},
		{"the key changed", "{ports: [{port: 80, name: web, token: theirs}]}", "{ports: [{port: 81, name: web, token: hush}]}",
			[]string{`ports[80]: {"name":"web","port":80,"token":"***"} -> -`, `ports[81]: - -> {"name":"web","port":81,"token":"***"}`}},
		{"the key is another field there", "{m: [{name: a, mountPath: /x, v: theirs}, {name: a, mountPath: /y, v: theirs2}]}", "{m: [{name: a, mountPath: /y, v: b}, {name: b, mountPath: /x, v: hush}]}",
			[]string{`m[/x].name: "a" -> "b"`, "m[/x].v: *** -> ***", `m[/y].v: "theirs2" -> "b"`}},
		{"no key", "{l: [{v: theirs, w: 1}, {v: x, w: 1}]}", "{l: [{v: y, w: 2}, {v: hush, w: 1}]}",
			[]string{"l[0].v: *** -> ***", "l[0].w: 1 -> 2", "l[1].v: *** -> ***"}},
		{"twice the same key", "{l: [{name: a, v: x}, {name: b, v: theirs}, {name: b, v: z}]}", "{l: [{name: b, v: hush}, {name: b, v: x}, {name: a, v: y}]}",
			[]string{`l[0].name: "a" -> "b"`, "l[0].v: *** -> ***", "l[1].v: *** -> ***", `l[2].name: "b" -> "a"`, "l[2].v: *** -> ***"}},
		{"plain values", "{args: [a, theirs]}", "{args: [hush]}", []string{"args: *** -> ***"}},
		{"a key that is secret", "{l: [{name: theirs, v: 1}]}", "{l: [{name: hush, v: 1}]}", []string{`l[***]: {"name":"***","v":1} -> -`, `l[***]: - -> {"name":"***","v":1}`}},
		{"a type is no name", "{l: [{type: t, key: a, v: x}, {type: t, key: b, v: theirs}]}", "{l: [{type: t, key: b, v: hush}, {type: t, key: a, v: z}]}",
			[]string{`l[a].v: "x" -> "z"`, "l[b].v: *** -> ***"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Object{Body: yamlMap(t, c.declared)}
			o.Sensitive = SensitivePaths(o.Body, hush)
			if diff := cmp.Diff(c.want, printed(Diff(yamlMap(t, c.live), o.Body, o.Mask()))); diff != "" {
				t.Errorf("%q\n%s", o.Sensitive, diff)
			}
			for _, d := range Diff(o.Body, yamlMap(t, c.live), o.Mask()) {
				if text := fmt.Sprint(d.Path, d.Old, d.New); hush(text) {
					t.Errorf("the other way round: %s", text)
				}
			}
		})
	}
}

// Records from before keep paths with positions: they are exact in their own body, and may be any item in others.
func TestSensitivePathsOfOldRecords(t *testing.T) {
	o := Object{Body: yamlMap(t, "{a.b: {c: old-1}, env: [{name: A, value: plain}, {name: PW, value: old-2}], args: [x, old-3], '0': w}"),
		Sensitive: []string{"a.b.c", "env.1.value", "args.1"}}
	if got := o.SensitiveValues(); !slices.Equal(got, []string{"old-1", "old-3", "old-2"}) {
		t.Errorf("values: %q", got)
	}
	now := yamlMap(t, "{a.b: {c: q}, env: [{name: PW, value: z}, {name: B, value: b}, {name: A, value: q}], args: [x, x], '0': z}")
	want := []string{`0: "w" -> "z"`, `"a.b".c: *** -> ***`, "args: *** -> ***", "env[A].value: *** -> ***", "env[PW].value: *** -> ***", `env[B]: - -> {"name":"B","value":"***"}`}
	if diff := cmp.Diff(want, printed(Diff(o.Body, now, o.Mask()))); diff != "" {
		t.Error(diff)
	}
}

// What cannot be read in a stored path hides rather than shows, and never panics.
// Whatever a path says, what it gives are values of the object, no difference shows one of them, nor does what is shown of the
// object whole.
func FuzzSensitivePath(f *testing.F) {
	for _, s := range []string{`a[name="x"].v`, "a.0.v", "a[].v", "a[name=", "a[3", "a[0].v", `a[name="x"`, ".", "a.", "a.[", `"a"[0]`, "a[1]", "b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		body := func(mark string) map[string]any {
			return map[string]any{"a": []any{map[string]any{"name": "x", "v": mark + "-v"}, mark + "-item"}, "b": mark + "-b"}
		}
		o := Object{Body: body("old"), Sensitive: []string{path}}
		whole := fmt.Sprint(o.Masked(AsNamed, AsNamed, AsNamed, AsNamed))
		var shown string
		for _, d := range Diff(o.Body, body("new"), o.Mask()) {
			shown += fmt.Sprintln(d.Old, d.New)
		}
		for _, value := range o.SensitiveValues() {
			if !slices.Contains([]string{"x", "old-v", "old-item", "old-b"}, value) {
				t.Errorf("%q gives %q, which is not there", path, value)
			}
			if value != "x" && (strings.Contains(shown, value) || strings.Contains(shown, "new"+value[3:]) || strings.Contains(whole, value)) {
				t.Errorf("%q is secret, and shown: %s%s", path, shown, whole)
			}
		}
	})
}

// anyBody draws an object's part with lists of every kind; every third value is secret, of the side that it is drawn for.
func anyBody(t *rapid.T, side string, n *int, depth int) map[string]any {
	value := func() any {
		*n++
		if rapid.IntRange(0, 2).Draw(t, "secret") == 0 {
			return "hush-" + side + strconv.Itoa(*n)
		}
		return rapid.SampledFrom([]any{"a", "b", int64(80), "x.y", `q"]`}).Draw(t, "plain")
	}
	var any1 func(depth int) any
	item := func(depth int) any {
		m := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"name", "port", "protocol", "mountPath", "type", "key", "v", "w", "a.b", "l", "data"}), 1, 5, rapid.ID).Draw(t, "fields") {
			m[k] = any1(depth - 1)
		}
		return m
	}
	any1 = func(depth int) any {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case depth <= 0 || kind < 3:
			return value()
		case kind == 3:
			return item(depth)
		}
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			if kind == 4 {
				list = append(list, item(depth))
			} else {
				list = append(list, any1(depth-1))
			}
		}
		return list
	}
	out := map[string]any{}
	for _, k := range []string{"env", "ports", "args", "x.y"} {
		out[k] = any1(depth)
	}
	return out
}

// changed is a version of a body as others make them: items come, go and move, values are others.
func changed(t *rapid.T, v any, side string, n *int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range sortedKeys(v) {
			if rapid.IntRange(0, 9).Draw(t, "drop") > 0 {
				out[k] = changed(t, v[k], side, n)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if rapid.IntRange(0, 5).Draw(t, "drop") > 0 {
				out = append(out, changed(t, item, side, n))
			}
			if rapid.IntRange(0, 3).Draw(t, "add") == 0 {
				out = append(out, anyBody(t, side, n, 1))
			}
		}
		if len(out) > 1 {
			out = rapid.Permutation(out).Draw(t, "order")
		}
		return out
	case string:
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			*n++
			return "hush-" + side + strconv.Itoa(*n)
		case 1:
			return "c"
		}
	}
	return v
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestNoSecretOfEitherSideIsShown: however lists differ, no secret that either version is known to hold is in the
// differences shown, in their paths, or in the paths that are stored; and all are found again by those.
func TestNoSecretOfEitherSideIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		old := Object{Body: anyBody(t, "old", &n, 4)}
		next, _ := changed(t, old.Body, "new", &n).(map[string]any)
		now := Object{Body: next}
		old.Sensitive, now.Sensitive = SensitivePaths(old.Body, hush), SensitivePaths(now.Body, hush)
		for _, o := range []Object{old, now} {
			if text := strings.Join(o.Sensitive, "\n"); hush(text) {
				t.Fatalf("a stored path holds a secret: %s", text)
			}
			all := 0
			scalars(o.Body, nil, func(_ []trailStep, text string) {
				if hush(text) {
					all++
				}
			}, nil)
			found := slices.DeleteFunc(o.SensitiveValues(), func(s string) bool { return !hush(s) })
			if len(found) != all {
				t.Fatalf("%d of %d secrets are found again", len(found), all)
			}
		}
		now.Sensitive = slices.Concat(now.Sensitive, old.Sensitive)
		for _, d := range Diff(old.Body, now.Body, now.Mask()) {
			shown, err := json.Marshal([]any{d.Path, d.Old, d.New})
			if err != nil || hush(string(shown)) {
				t.Fatalf("shown: %s (%v)\nold %v\nnew %v\npaths %q", shown, err, old.Body, now.Body, now.Sensitive)
			}
		}
	})
}
