package object

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/internal/redact"

	"hawser.dev/hawser/internal/pathmask"
)

// follow goes along a path of Object.Sensitive and a trail together, as far as both go: ok when nothing parts them, left
// and below are what the longer one has more.
func follow(path string, trail []trailStep, fits func(trailStep, fieldpath.PathElement) bool) (left string, below []trailStep, ok bool) {
	for i, st := range trail {
		if path == "" {
			return "", trail[i:], true
		}
		if st.position == "" {
			if rest, is := afterKey(path, st, trail[max(0, i-1)].name, fits); i > 0 && is {
				path, ok = rest, true
				continue
			}
			path, ok = afterName(path, st.name)
		} else {
			path, ok = afterItem(path, st, fits)
		}
		if !ok {
			return path, trail[i:], false
		}
	}
	return path, nil, true
}

// afterName takes a name off the start of a path: in quotes where the grammar wants them, as it is in older paths.
func afterName(path, name string) (string, bool) {
	path = strings.TrimPrefix(path, ".")
	for _, text := range []string{JoinPath("", name), name} {
		if rest, ok := strings.CutPrefix(path, text); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return rest, true
		}
	}
	return path, false
}

// afterKey takes the place of an entry off the start of a path.
func afterKey(path string, st trailStep, in string, fits func(trailStep, fieldpath.PathElement) bool) (string, bool) {
	if el, rest, ok := itemElement(path); ok && el.Index != nil {
		any := fits(st, fieldpath.IndexElement(-1))
		return rest, any && pathmask.Keys(in) || !any && *el.Index == st.at
	}
	return "", false
}

// afterItem takes an item off the start of a path. What cannot be read may be any item.
func afterItem(path string, st trailStep, fits func(trailStep, fieldpath.PathElement) bool) (string, bool) {
	if strings.HasPrefix(path, "[") {
		el, rest, ok := itemElement(path)
		if !ok {
			_, rest, _ = strings.Cut(path, "]")
			return rest, true
		}
		return rest, fits(st, el)
	}
	digits, ok := strings.CutPrefix(path, ".")
	end := strings.IndexAny(digits+".", ".[")
	at, err := strconv.Atoi(digits[:end])
	return digits[end:], ok && err == nil && fits(st, fieldpath.IndexElement(at))
}

// TestPathSetUnclosed: a path that ends within an item, as only a hostile record has, takes nothing from others that begin as it does.
func TestPathSetUnclosed(t *testing.T) {
	body := map[string]any{"args": []any{map[string]any{"name": "hush-a"}, map[string]any{"name": "b", "port": "hush-c"}}}
	for _, unclosed := range []string{"args[", "args[name", "args[0"} {
		o := Object{Body: body, Sensitive: []string{unclosed, "args[0].name", `args[name="b"].port`}}
		if got := o.SensitiveValues(); !slices.Equal(got, []string{"hush-a", "hush-c"}) {
			t.Errorf("%s: %q", unclosed, got)
		}
	}
	quoted := Object{Body: map[string]any{"args": []any{map[string]any{"name": "x]y", "port": "hush"}}}, Sensitive: []string{`args[name="x]`, `args[name="x]y"].port`}}
	if got := quoted.SensitiveValues(); !slices.Equal(got, []string{"hush"}) {
		t.Errorf("behind a quote that is open: %q", got)
	}
}

// TestPathSet: paths looked up together hide and find what each of them does by itself.
func TestPathSet(t *testing.T) {
	path := rapid.SliceOfN(rapid.SampledFrom([]string{"env", "data", "ports", "args", "l", "v", "w", ".", ".", "[", "]", `[name="a"]`, `[name="b",port=80]`, "[0]", "[1]", ".1", ".10", ".0", `"x.y"`, "x.y", `[type="b"]`,
		`[="a"]`, "[name=", `"a.b"`, "a.b"}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		body := anyBody(t, "old", &n, 3)
		other, _ := changed(t, body, "new", &n).(map[string]any)
		o := Object{Body: body, Sensitive: SensitivePaths(body, hush)}
		for range rapid.IntRange(0, 6).Draw(t, "more") {
			o.Sensitive = append(o.Sensitive, strings.Join(path.Draw(t, "path"), ""))
		}
		var want []string
		scalars(body, nil, func(trail []trailStep, text string) {
			if slices.ContainsFunc(o.Sensitive, func(s string) bool {
				left, below, ok := follow(s, trail, trailStep.is)
				return ok && left == "" && len(below) == 0
			}) {
				want = append(want, text)
			}
		}, nil)
		if got := o.SensitiveValues(); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", o.Sensitive, got, want)
		}
		for _, d := range Diff(body, other, o.Mask()) {
			alone := func(trail []trailStep) bool {
				return slices.ContainsFunc(o.Sensitive, func(s string) bool {
					_, _, ok := follow(s, trail, trailStep.mayBe)
					return ok
				})
			}
			if d.Hidden && !alone(d.trail) {
				t.Fatalf("%q: %s is hidden", o.Sensitive, d.Path)
			}
			for _, v := range []any{d.Old, d.New} {
				scalars(v, slices.Clone(d.trail), func(trail []trailStep, text string) {
					if text != redact.Mask && alone(trail) {
						t.Fatalf("%q: %s shows %s", o.Sensitive, d.Path, text)
					}
				}, nil)
			}
		}
	})
}

// TestManyPaths: what paths take grows with the object and them, and not with their product; a hostile record's end, and hide.
func TestManyPaths(t *testing.T) {
	const n = 20_000
	fields, items, plain := map[string]any{}, []any{}, []any{}
	var byName, byItem, byPosition, hostile []string
	for i := range n {
		at := strconv.Itoa(i)
		fields["k"+at], items, plain = "v", append(items, map[string]any{"name": "n" + at, "v": "x"}), append(plain, map[string]any{"w": "x"})
		byName, byItem = append(byName, "a.k"+at), append(byItem, fmt.Sprintf("a[name=%q].v", "n"+at))
		byPosition, hostile = append(byPosition, "a["+at+"].w"), append(hostile, fmt.Sprintf("a[name=\"n\",id=%d].w%d", i, i))
	}
	same := []any{}
	for range n {
		same = append(same, map[string]any{"name": "n", "w": "x"})
	}
	for name, c := range map[string]struct {
		value any
		paths []string
		want  int
	}{
		"fields": {fields, byName, n}, "items": {items, byItem, n}, "positions": {plain, byPosition, n}, "hostile": {same, hostile, 0}, "unread": {same, []string{"a[x].v", "a[y].v"}, 0},
		"of fields": {items, byName, 0}, "odd": {same, slices.Repeat([]string{strings.Repeat("a[", n)}, 3), 0},
	} {
		o := Object{Body: map[string]any{"a": c.value}, Sensitive: c.paths}
		began := time.Now()
		if got := len(o.SensitiveValues()); got != c.want {
			t.Errorf("%s: %d are found, want %d", name, got, c.want)
		}
		shown := o.Masked(AsNamed, AsNamed, AsNamed, AsNamed)
		took := time.Since(began)
		if took > 20*time.Second {
			t.Errorf("%s: %s", name, took)
		}
		if c.want > 0 && strings.Contains(fmt.Sprint(shown), ":x") {
			t.Errorf("%s: something is shown", name)
		}
		t.Log(name, took)
	}
}
