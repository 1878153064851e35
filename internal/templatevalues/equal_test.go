package templatevalues

import (
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// TestEqualIsThatOfTemplates: eq and ne compare as those of text/template.
func TestEqualIsThatOfTemplates(t *testing.T) {
	type word string
	one := 1
	values := []any{nil, 0, 1, -1, int8(1), uint(1), uint64(1 << 63), 1.0, float32(0.1), 0.1, "1", "a", word("a"), true, false, complex(1, 0), &one, []any{}, []any(nil),
		map[string]any{}, map[string]any(nil), struct{ A int }{1}, [1]int{1}, func() {}}
	theirs := template.Must(template.New("").Parse("{{ eq .a .b }} {{ ne .a .b }} {{ eq .a .b .c }}"))
	ours := template.Must(template.New("").Funcs(template.FuncMap{"eq": equal, "ne": Bounding(sprig.TxtFuncMap(), nil)["ne"]}).Parse("{{ eq .a .b }} {{ ne .a .b }} {{ eq .a .b .c }}"))
	for _, a := range values {
		for _, b := range values {
			var x, y strings.Builder
			data := map[string]any{"a": a, "b": b, "c": "a"}
			errX, errY := theirs.Execute(&x, data), ours.Execute(&y, data)
			if x.String() != y.String() || (errX == nil) != (errY == nil) {
				t.Errorf("%T %v, %T %v: %s %v, want %s %v", a, reflect.ValueOf(a), b, reflect.ValueOf(b), y.String(), errY, x.String(), errX)
			}
		}
	}
}
