package bind

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// What came by a reference is a text, and where a package takes none it is the number or the boolean that it says; whatever is no such text stays
// what it is. Where nobody was asked, the package's own value of that kind stands in for it, or
// any; what another bundle writes first is refused.
func TestOfKinds(t *testing.T) {
	const b, i, f = v1alpha1.KindBool, v1alpha1.KindInt, v1alpha1.KindFloat
	for name, c := range map[string]struct {
		text, bundle, own string
		kinds             []v1alpha1.Kind
		want              string
		asked             bool
	}{
		"whole":             {"5432", "", "", []v1alpha1.Kind{i}, "5432", true},
		"with a line end":   {"-5\n", "", "", []v1alpha1.Kind{i}, "-5", true},
		"a number, whole":   {"5432", "", "", []v1alpha1.Kind{i, f}, "5432", true},
		"a number":          {"0.25", "", "", []v1alpha1.Kind{i, f}, "0.25", true},
		"with an exponent":  {"1e3", "", "", []v1alpha1.Kind{i, f}, "1e3", true},
		"float alone":       {"3", "", "", []v1alpha1.Kind{f}, "3.0", true},
		"boolean":           {"true", "", "", []v1alpha1.Kind{b}, "true", true},
		"text will do":      {"5432", "", "", nil, `"5432"`, true},
		"not whole":         {"5.5", "", "", []v1alpha1.Kind{i}, `"5.5"`, true},
		"number for a bool": {"1", "", "", []v1alpha1.Kind{b}, `"1"`, true},
		"leading zero":      {"007", "", "", []v1alpha1.Kind{i, f}, `"007"`, false},
		"a word":            {"hunter2", "", "", []v1alpha1.Kind{i}, `"hunter2"`, false},
		"yes":               {"yes", "", "", []v1alpha1.Kind{b}, `"yes"`, false},
		"endless, a text":   {strings.Repeat("7", 65), "", "", nil, `"` + strings.Repeat("7", 65) + `"`, true},
		"later, a number":   {"", "platform", "8080", []v1alpha1.Kind{i}, `"known after bundle platform (ref://db/port)"`, true},
		"later, text":       {"", "platform", "", nil, `"known after bundle platform (ref://db/port)"`, true},
		"not asked, own":    {"ref://db/port", "", "0.5", []v1alpha1.Kind{f}, "0.5", true},
		"not asked, text":   {"ref://db/port", "", `"a"`, []v1alpha1.Kind{b}, "true", true},
		"not asked":         {"ref://db/port", "", "", []v1alpha1.Kind{f}, "1.0", true},
	} {
		pos := v1alpha1.Position{File: "b.yaml", Line: 3}
		ref := From{At: "db.ports[0]", Pos: diag.Pos(pos), Ref: "ref://db/port", Bundle: c.bundle, node: &v1alpha1.Value{Pos: pos}}
		x := text(c.text, pos)
		if c.bundle != "" {
			x = StandIn(ref)
		}
		list := &v1alpha1.Value{Kind: v1alpha1.KindList, Items: []*v1alpha1.Value{x}}
		v := v1alpha1.Values{Struct: &v1alpha1.Value{Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{{Name: "db", Value: &v1alpha1.Value{
			Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{{Name: "ports", Value: list}}}}}}}
		var own *v1alpha1.Value
		if c.own != "" {
			own = new(v1alpha1.Value)
			if err := own.UnmarshalJSON([]byte(c.own)); err != nil {
				t.Fatal(err)
			}
		}
		asked := 0
		got, late := OfKinds(v, []From{ref}, Package{
			Kinds: func(at []v1alpha1.Path) [][]v1alpha1.Kind { asked += len(at); return [][]v1alpha1.Kind{c.kinds} },
			Own:   func(v1alpha1.Path) *v1alpha1.Value { return own }})
		if js, err := got.MarshalJSON(); err != nil || string(js) != fmt.Sprintf(`{"db":{"ports":[%s]}}`, c.want) || asked > 0 != c.asked {
			t.Errorf("%s: %s, %v, asked %d", name, js, err, asked)
		}
		if refused := c.bundle != "" && c.kinds != nil; refused != (len(late) == 1 && strings.Contains(late[0].Fix, "--bundle platform")) || len(late) > 1 {
			t.Errorf("%s: %v", name, late)
		}
		if now := got.Struct.Fields[0].Value.Fields[0].Value.Items[0]; now.Pos != pos {
			t.Errorf("%s: %+v", name, now)
		}
	}
}

// A number that no kind can hold, or that would become another one, is refused: what is said names the reference and has nothing of the number.
func TestNumbersThatDoNotFit(t *testing.T) {
	const b, i, f = v1alpha1.KindBool, v1alpha1.KindInt, v1alpha1.KindFloat
	for _, c := range []struct {
		text  string
		kinds []v1alpha1.Kind
		why   string
	}{
		{strings.Repeat("7", 1<<20), []v1alpha1.Kind{i}, "more than 64 characters"}, {"0." + strings.Repeat("7", 200), []v1alpha1.Kind{f}, "more than 64 characters"},
		{"123456789012345678901234567890", []v1alpha1.Kind{i}, "64 bits"}, {"-9223372036854775809\n", []v1alpha1.Kind{i, f}, "64 bits"}, {"9223372036854775808", []v1alpha1.Kind{b, i}, "64 bits"},
		{"1e400", []v1alpha1.Kind{f}, "too large"}, {"-1e999999999", []v1alpha1.Kind{i, f}, "too large"}, {"1e99999999999999999999", []v1alpha1.Kind{f}, "too large"},
		{"-1e-999999999", []v1alpha1.Kind{f}, "it would be zero"}, {"0.001E-400", []v1alpha1.Kind{i, f}, "it would be zero"},
		{"9223372036854775807", []v1alpha1.Kind{i}, ""}, {"-9223372036854775808", []v1alpha1.Kind{i, f}, ""}, {"0e-999", []v1alpha1.Kind{f}, ""}, {"-0.0", []v1alpha1.Kind{f}, ""}, {"1e-320", []v1alpha1.Kind{f}, ""},
		{"1.7976931348623157e308", []v1alpha1.Kind{f}, ""}, {"123456789012345678901234567890", []v1alpha1.Kind{f}, ""}, {"123456789012345678901234567890", nil, ""}, {"1e400", []v1alpha1.Kind{b}, ""},
		{strings.Repeat("a", 200), []v1alpha1.Kind{i}, ""},
	} {
		ref := From{At: "n", Ref: "ref://db/port", node: &v1alpha1.Value{}}
		v := v1alpha1.Values{Struct: &v1alpha1.Value{Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{{Name: "n", Value: text(c.text, v1alpha1.Position{})}}}}
		_, fs := OfKinds(v, []From{ref}, Package{Kinds: func(at []v1alpha1.Path) [][]v1alpha1.Kind { return [][]v1alpha1.Kind{c.kinds} }, Own: func(v1alpha1.Path) *v1alpha1.Value { return nil }})
		name := c.text[:min(len(c.text), 40)]
		if c.why == "" && len(fs) != 0 || c.why != "" && (len(fs) != 1 || !strings.Contains(fs[0].Why, c.why)) {
			t.Errorf("%s %v: %v, want %q", name, c.kinds, fs, c.why)
		}
		for _, n := range fs {
			if said := n.String(); strings.Contains(said, strings.TrimSpace(name)) || !strings.Contains(said, "ref://db/port") || n.Severity != diag.Error || n.Path != "values.n" {
				t.Errorf("%s: %s", name, said)
			}
		}
	}
}

// An error about what a reference leads to says where the reference stands and what to do, and nothing of errors about other values.
func TestMisfit(t *testing.T) {
	fs := diag.Findings{diag.Errorf("values", "got string, want integer"), diag.Errorf("values", "got string, want integer"), diag.Warnf("values", "w")}
	for i, at := range []string{"values.ports.0", "values.other", "values.ports[0]"} {
		fs[i].Path, fs[i].Fix = at, "skipSchema"
	}
	at := diag.Pos{File: "b.yaml", Line: 7}
	got := Misfit(slices.Clone(fs), []From{{At: "ports[0]", Pos: at, Ref: "ref://files:db.yaml/port"}})
	if got[0].Pos != at || !strings.HasPrefix(got[0].Fix, "correct what ref://files:db.yaml/port leads to in its store") || strings.Contains(got[0].Fix, "skipSchema") {
		t.Errorf("%+v", got[0])
	}
	if !got[1].Equal(fs[1]) || !got[2].Equal(fs[2]) {
		t.Errorf("%+v", got[1:])
	}
}
