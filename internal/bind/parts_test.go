package bind

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
)

// Where all at once is refused, few are tried by themselves and many in halves, and never more than mostParts of them.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		of              int
		refuses         func(i int) bool
		tries           int
		refused, atMost int // atMost: refused, and of those untried
	}{
		{0, func(int) bool { return true }, 0, 0, 0},
		{1, func(int) bool { return true }, 1, 1, 0},
		{5, func(i int) bool { return i == 3 }, 6, 1, 0},
		{16, func(int) bool { return true }, 17, 16, 0},
		{300, func(int) bool { return false }, 1, 0, 0},
		{300, func(i int) bool { return i == 17 }, 17, 1, 0},
		{40, func(i int) bool { return i == 17 }, 13, 1, 0},
		{300, func(int) bool { return true }, 17, 300, 300},
	} {
		var all []From
		for i := range c.of {
			all = append(all, From{At: strconv.Itoa(i)})
		}
		tries := 0
		refused, untried := Parts(all, func(part []From) bool {
			tries++
			return !slices.ContainsFunc(part, func(f From) bool { i, _ := strconv.Atoi(f.At); return c.refuses(i) })
		})
		if tries > c.tries || len(refused) != c.refused || len(untried) != c.atMost {
			t.Errorf("%d: %d tries, %d refused, %d untried", c.of, tries, len(refused), len(untried))
		}
		for i := range c.of {
			if c.refuses(i) != slices.ContainsFunc(refused, func(f From) bool { return f.At == strconv.Itoa(i) }) && len(untried) == 0 {
				t.Errorf("%d: %d", c.of, i)
			}
		}
	}
}

// What looks like a stand-in is not known where nobody can tell more; names and kinds are what they are, and what is found already stays.
func TestSeen(t *testing.T) {
	open, _ := Froms(values(t, "b.yaml", `{n: {from: {instance: db, object: v1/Secret/x, path: data.n, preview: 2}}, to: {from: {instance: db, object: v1/Secret/x, path: data.to, preview: eu}}}`))
	given := []object.Object{
		{Unknown: at("data.found"), Body: body("ConfigMap", "eu", map[string]any{"found": "x", "n": int64(2), "own": int64(3), "list": []any{"x", "in eu"}})},
		{Body: body("ConfigMap", "certain", map[string]any{"own": "x"})},
		{Body: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"to": "eu"}}},
	}
	var got []map[string]bool
	for _, o := range Seen(given, open) {
		got = append(got, o.Unknown)
	}
	if diff := cmp.Diff([]map[string]bool{at("data.found", "data.n", "data.list[1]"), nil, at("stringData.to", "data.to")}, got); diff != "" || len(given[0].Unknown) != 1 {
		t.Error(diff, given[0].Unknown)
	}
	if texts := Texts(open); len(texts) > 0 || len(Seen(given, nil)) != 3 || !strings.Contains(Untried(2, open).What, "2 values that are known after db") {
		t.Error(texts)
	}
}
