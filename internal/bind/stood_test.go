package bind

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// standing is an instance with values in JSON, and references of which those are not read that stand for themselves.
func standing(t *testing.T, values string, at ...string) (in v1alpha1.Instance, refs []From) {
	t.Helper()
	x := new(v1alpha1.Value)
	if err := x.UnmarshalJSON([]byte(values)); err != nil {
		t.Fatal(err)
	}
	for i, path := range at {
		pos := v1alpha1.Position{File: "b.yaml", Line: i + 1}
		refs = append(refs, From{At: path, Pos: diag.Pos(pos), Ref: "ref://" + strings.ToUpper(path[len(path)-1:]), Stood: true, node: &v1alpha1.Value{Pos: pos}})
	}
	return v1alpha1.Instance{Name: "api", Values: v1alpha1.Values{Struct: x}}, refs
}

// Errors that may come of what stands in are one warning of the instance, which says what stands in, what is wrong and what is not checked; what is
// certain stays an error.
func TestDoubtful(t *testing.T) {
	in, refs := standing(t, `{"a": "ref://A", "in": {"b": "ref://B"}, "n": "x"}`, "a", "in.b")
	read := refs[1]
	read.Stood = false
	find := func(code, path string) diag.Finding {
		f := diag.Errorf(code, "is wrong")
		f.Path, f.Instance = path, "api"
		return f
	}
	of := func(f diag.Finding, instance string) diag.Finding { f.Instance = instance; return f }
	for name, c := range map[string]struct {
		found  diag.Finding
		refs   []From
		doubts bool
	}{
		"at the place":          {find("values", "values.in.b"), refs, true},
		"around the place":      {find("values", "values.in"), refs, true},
		"at all values":         {find("values", "values"), refs, true},
		"elsewhere":             {find("render", ""), refs, true},
		"computed of it":        {find("render", "values.in.both"), refs, true},
		"as it is written":      {find("values", "values.n"), refs, false},
		"a field nobody has":    {find("unknown-field", "values.a"), refs, false},
		"one that is not there": {find("missing-field", "values.z"), refs, false},
		"a kind nobody has":     {find("unknown-kind", ""), refs, false},
		"syntax":                {find("syntax", ""), refs, false},
		"of another instance":   {of(find("render", ""), "web"), refs, false},
		"all are read":          {find("values", "values.in.b"), []From{read}, false},
		"that one is read":      {find("values", "values.in.b"), []From{refs[0], read}, false},
	} {
		fs := diag.Findings{c.found, diag.Warnf("w", "w")}
		got := Doubtful(fs, in, c.refs, "instance %s does not render", "it is not checked")
		if got.HasErrors() == c.doubts || len(got) != 2 {
			t.Errorf("%s: %v", name, got)
		}
	}
	all := diag.Findings{find("render", ""), find("values", "values.in.b"), find("values", "values.a"), find("render", "x")}
	got := Doubtful(all, in, refs, "instance %s does not render", "it is not checked")
	if n := got[0]; len(got) != 1 || n.Severity != diag.Warning || n.What != "instance api does not render with what stands in for ref://A, ref://B" || n.Path != "values.in.b" || n.Pos.Line != 2 ||
		n.Why != "is wrong; values.in.b: is wrong; values.a: is wrong; and 1 more" || !strings.HasPrefix(n.Fix, "it is not checked") {
		t.Errorf("%+v", got)
	}
}

// The package's own texts stand in where it has some.
func TestOwnTexts(t *testing.T) {
	in, refs := standing(t, `{"a": "ref://A", "in": {"b": "ref://B"}, "c": "ref://C", "d": 1}`, "a", "in.b", "c", "d")
	own := map[string]string{"a": `"gold"`, "in.b": `""`, "c": "7", "d": `"x"`}
	v, of := OwnTexts(in.Values, refs, func(at v1alpha1.Path) *v1alpha1.Value {
		x := new(v1alpha1.Value)
		if err := x.UnmarshalJSON([]byte(own[at.String()])); err != nil {
			t.Fatal(err)
		}
		return x
	})
	if got, _ := v.Struct.Lookup("a").Str(); len(of) != 1 || of[0].Ref != "ref://A" || got != "gold" {
		t.Errorf("%q, %v", got, of)
	}
	if got, _ := v.Struct.Lookup("in", "b").Str(); got != "ref://B" {
		t.Error(got)
	}
	if n := OwnStandsIn(of); n.Severity != diag.Warning || n.Path != "values.a" || !strings.Contains(n.What, "own value stands in for ref://A") {
		t.Error(n)
	}
}

// What a reference that nobody read leads to is nobody's to correct.
func TestMisfitOfWhatIsNotRead(t *testing.T) {
	_, refs := standing(t, `{"a": "ref://A"}`, "a")
	f := diag.Errorf("values", "does not match")
	f.Path = "values.a"
	got := Misfit(diag.Findings{f}, refs)[0]
	if strings.Contains(got.Fix, "in its store") || !strings.Contains(got.Why, "nobody read what ref://A leads to") || !strings.Contains(got.Fix, "--stand-ins") || got.Pos.Line != 1 {
		t.Error(got)
	}
}
