package v1alpha1

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathLookup(t *testing.T) {
	data := map[string]any{
		"name":   "x",
		"labels": map[string]string{"a.b/c": "d", "r": "eu"},
		"vars": map[string]any{"ports": []any{
			map[string]any{"name": "http", "port": int64(80)}, map[string]any{"name": "a=b", "port": int64(81)},
		}},
		"null": nil,
	}
	for _, c := range []struct {
		path    string
		want    any
		missing string
	}{
		{"name", "x", ""},
		{`labels."a.b/c"`, "d", ""},
		{"labels.a.b/c", nil, "labels has no a; there is: a.b/c, r"},
		{"vars.ports.0.port", int64(80), ""},
		{"vars.ports[1].port", int64(81), ""},
		{"vars.ports[name=http].port", int64(80), ""},
		{`vars.ports[name="a=b"].port`, int64(81), ""},
		{"vars.ports[port=81].name", "a=b", ""},
		{"vars.ports.2", nil, "vars.ports has no 2"},
		{"vars.ports[name=x]", nil, "vars.ports has no [name=x]"},
		{"vars.ports.01", nil, "vars.ports has no 01"},
		{"name.x", nil, "name has no x"},
		{"nme", nil, "there is no nme; there is: labels, name, null, vars"},
		{"null", nil, ""},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got, err := p.Lookup(data)
		var missing *MissingError
		if errors.As(err, &missing) != (c.missing != "") || err != nil && err.Error() != c.missing {
			t.Errorf("%s: error %v, want %q", c.path, err, c.missing)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %v, want %v", c.path, got, c.want)
		}
	}
}

func TestPathErrors(t *testing.T) {
	for s, why := range map[string]string{"": "1: expected a name", ".": "1: expected a name", "a.": "3: expected a name", "a..b": "3: expected a name", "a b": "2: expected . or [, found ' '", "[0]": "1: expected a name",
		"a[": "3: expected a name", "a[]": "3: expected a name", "a[x]": "4: expected an index or key=value in brackets", "a[-1]": "5: expected an index or key=value in brackets", "a[k=": "5: expected a name",
		"a[k=v": "6: expected ]", `a."b`: "5: quote is not closed", `"a\n"`: `4: only \" and \\ are escapes`, "a]": "2: expected . or [, found ']'", "a=b": "2: expected . or [, found '='", `a[""=x]`: "5: expected a key"} {
		if p, err := ParsePath(s); err == nil || !strings.HasSuffix(err.Error(), ": column "+why) {
			t.Errorf("%q is read as %v: %v, want %s", s, p, err, why)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.b.0", `a."b.c"[k=v][0].d`, `"\"\\"`, "a[", "values.NAME"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil {
			t.Fatalf("%q is printed as %q, which is not read: %v", s, p.String(), err)
		}
		if d := cmp.Diff(p, again); d != "" {
			t.Error(d)
		}
		_, _ = p.Lookup(map[string]any{"a": []any{map[string]any{"k": "v"}}})
	})
}
