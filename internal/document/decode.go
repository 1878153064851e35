package document

import (
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/advice"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// decoder reads values into the documents' types and collects what is wrong with them. It goes on after an error, so
// that a misspelled field is found beside any other mistake; what CUE itself reports (conflicts, values that are not
// concrete) is not reported again.
type decoder struct {
	p        *Program
	in       *injection
	findings diag.Findings
	// refused are values that could not be read because CUE refuses them.
	refused errors.Error
}

// refuse notes a value that CUE refuses: CUE says why when it checks the whole.
func (d *decoder) refuse(err error) { d.refused = appendError(d.refused, err) }

// refuseValue is refuse for a value that is there: a field nobody wrote is no mistake.
func (d *decoder) refuseValue(v cue.Value, err error) {
	if v.Exists() {
		d.refuse(err)
	}
}

// dropped is what could not be read and nothing among the findings explains: what is left out silently would change
// the meaning of the rest.
func (d *decoder) dropped(said diag.Findings) diag.Findings {
	if d.refused == nil || said.HasErrors() {
		return nil
	}
	in := d.in
	if in == nil {
		in = newInjection(fleet.Facts{})
	}
	return d.p.cueFindings(in, d.refused)
}

// field is one field of a struct.
type field struct {
	name  string
	value cue.Value
}

func (d *decoder) add(n diag.Finding, v cue.Value) {
	n.Pos, n.Path = d.pos(v), dataPath(v)
	if d.in != nil {
		n.Path = d.in.masker.Redact(n.Path)
	}
	d.findings = append(d.findings, advice.For(n))
}

// addAny adds what was found out about a value, if anything.
func (d *decoder) addAny(n *diag.Finding, v cue.Value) {
	if n != nil {
		d.add(*n, v)
	}
}

func (d *decoder) errorf(v cue.Value, code, format string, args ...any) {
	d.add(diag.Errorf(code, format, args...), v)
}

// pos is where a value stands in the user's files.
func (d *decoder) pos(v cue.Value) diag.Pos {
	at := cuelang.Pos(v.Pos())
	if at.IsValid() {
		at.File = display(d.p.cwd, at.File)
	}
	return at
}

func (d *decoder) apiPos(v cue.Value) v1alpha1.Position {
	at := d.pos(v)
	return v1alpha1.Position{File: at.File, Line: at.Line, Column: at.Column}
}

// dir is the directory of the file that holds the value's literal, also when the value is a reference to it.
func (d *decoder) dir(v cue.Value) string {
	pos := v.Pos()
	for range 8 {
		next := cue.Dereference(v)
		if next.Path().String() == v.Path().String() {
			break
		}
		v = next
		if p := v.Pos(); p.IsValid() {
			pos = p
		}
	}
	return d.p.dirOf(pos)
}

// dirOf is the directory of a position's file; standard input stands in the current directory.
func (p *Program) dirOf(pos token.Pos) string {
	name := ""
	if pos.IsValid() {
		name = pos.Filename()
	}
	for _, s := range p.all {
		if s.name == name {
			return s.dir
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Dir(name)
	}
	return p.cwd
}

// fromStdin reports whether the value's literal was read from standard input.
func (d *decoder) fromStdin(v cue.Value) bool {
	pos := cue.Dereference(v).Pos()
	return pos.IsValid() && pos.Filename() == stdinName
}

func dataPath(v cue.Value) string { return v.Path().String() }

// fields lists a struct's fields in order, after reporting those that are not known. later are fields of other
// versions, with a word on each.
func (d *decoder) fields(v cue.Value, known []string, later ...string) []field {
	out, ok := d.anyFields(v)
	if !ok {
		return nil
	}
	kept := out[:0]
	for _, f := range out {
		switch {
		case slices.Contains(known, f.name):
			kept = append(kept, f)
		case slices.Contains(later, f.name):
			d.errorf(f.value, "not-available", "%s is not available in this version", f.name)
		default:
			n := unknownField("", f.name, diag.Pos{}, slices.Concat(known, later))
			d.add(n, f.value)
		}
	}
	return kept
}

// anyFields lists the fields of a struct with free names.
func (d *decoder) anyFields(v cue.Value) ([]field, bool) {
	if !d.is(v, cue.StructKind, "a struct") {
		return nil, false
	}
	it, err := v.Fields()
	if err != nil {
		d.refuse(err)
		return nil, false
	}
	var out []field
	for it.Next() {
		out = append(out, field{it.Selector().Unquoted(), it.Value()})
	}
	return out, true
}

// is checks a value's kind. Values CUE refuses are left to CUE.
func (d *decoder) is(v cue.Value, kind cue.Kind, article string) bool {
	have := v.IncompleteKind()
	if have == cue.BottomKind {
		// An error inside a struct makes it bottom, yet its fields can be listed.
		if kind != cue.StructKind {
			d.refuseValue(v, v.Err())
			return false
		}
		_, err := v.Fields()
		d.refuseValue(v, err)
		return err == nil
	}
	if have&kind != 0 {
		return true
	}
	n := diag.Errorf("wrong-type", "must be %s, is %s", article, cuelang.KindWord(have))
	n.Fix = cuelang.ShapeHint(cuelang.PathOf(v), kind, have)
	d.add(n, v)
	return false
}

func (d *decoder) str(v cue.Value) (string, bool) {
	v, _ = v.Default()
	if !d.is(v, cue.StringKind, "a string") {
		return "", false
	}
	s, err := v.String()
	d.refuse(err)
	return s, err == nil
}

func (d *decoder) boolean(v cue.Value) bool {
	v, _ = v.Default()
	if !d.is(v, cue.BoolKind, "true or false") {
		return false
	}
	b, err := v.Bool()
	d.refuse(err)
	return b
}

// count is a whole number from 0.
func (d *decoder) count(v cue.Value) int {
	v, _ = v.Default()
	if !d.is(v, cue.IntKind, "a whole number") {
		return 0
	}
	i, err := v.Int64()
	if err != nil {
		if v.IncompleteKind() == cue.IntKind && v.IsConcrete() {
			d.errorf(v, "out-of-range", "number is too large")
		}
		d.refuse(err)
		return 0
	}
	if i < 0 {
		d.errorf(v, "out-of-range", "must be 0 or more, is %d", i)
		return 0
	}
	return int(min(i, 1<<31-1))
}

// list gives the items of a list.
func (d *decoder) list(v cue.Value) ([]cue.Value, bool) {
	v, _ = v.Default()
	if !d.is(v, cue.ListKind, "a list") {
		return nil, false
	}
	it, err := v.List()
	if err != nil {
		d.refuse(err)
		return nil, false
	}
	out := []cue.Value{}
	for it.Next() {
		out = append(out, it.Value())
	}
	return out, true
}

// strings is a list of strings, never nil when it is a list: an empty list is not an absent one.
func (d *decoder) strings(v cue.Value) []string {
	items, ok := d.list(v)
	if !ok {
		return nil
	}
	out := []string{}
	for _, item := range items {
		if s, ok := d.str(item); ok {
			out = append(out, s)
		}
	}
	return out
}

// stringMap is a struct of strings.
func (d *decoder) stringMap(v cue.Value) map[string]string {
	fields, ok := d.anyFields(v)
	if !ok {
		return nil
	}
	out := make(map[string]string, len(fields))
	for _, f := range fields {
		if s, ok := d.str(f.value); ok {
			out[f.name] = s
		}
	}
	return out
}

// data is a struct as data; what is not concrete is left to CUE.
func (d *decoder) data(v cue.Value) v1alpha1.Values {
	if !d.is(v, cue.StructKind, "a struct") {
		return v1alpha1.Values{}
	}
	x, err := cuelang.Data(v)
	if err != nil {
		d.refuse(err)
		return v1alpha1.Values{}
	}
	if x.Kind != v1alpha1.KindStruct {
		return v1alpha1.Values{}
	}
	return v1alpha1.Values{Struct: x}
}

// valuesData is data, where null (in YAML also ~, or nothing after the colon) is no values.
func (d *decoder) valuesData(v cue.Value) v1alpha1.Values {
	if x, _ := v.Default(); x.IncompleteKind() == cue.NullKind {
		return v1alpha1.Values{}
	}
	if x, ok := lookup(v, "valuesFor"); ok {
		n := diag.Errorf("misplaced-field", "valuesFor stands inside of values")
		n.Fix = "put it beside values, on the instance"
		d.add(n, x)
	}
	return d.data(v)
}

// name checks a name by Timoni's rule for bundles, instances and clusters.
func (d *decoder) name(v cue.Value, what, name string) {
	if nameRule.MatchString(name) {
		return
	}
	d.errorf(v, "invalid-name", "%q cannot be %s: 1 to 63 lower-case letters, digits, '-', '_' and '.', "+
		"with a letter or digit at both ends", d.mask(name), what)
}

// mask hides runtime values in a text that quotes a value.
func (d *decoder) mask(text string) string {
	if d.in == nil {
		return text
	}
	return d.in.masker.Value("", text)
}

// require reports a field that is not there.
func (d *decoder) require(v cue.Value, name string) {
	n := diag.Errorf("missing-field", "%s is required", name)
	n.Pos, n.Path = d.pos(v), d.mask(strings.TrimPrefix(dataPath(v)+"."+name, "."))
	d.findings = append(d.findings, advice.For(n))
}

func (d *decoder) apiVersion(v cue.Value) string {
	s, ok := d.str(v)
	if ok && s != v1alpha1.ShortAPIVersion {
		d.errorf(v, "wrong-version", "apiVersion must be %q, is %q", v1alpha1.ShortAPIVersion, d.mask(s))
	}
	return s
}

func (d *decoder) labelSelector(v cue.Value) *v1alpha1.LabelSelector {
	out := &v1alpha1.LabelSelector{}
	for _, f := range d.fields(v, []string{"matchLabels", "matchExpressions"}) {
		if f.name == "matchLabels" {
			out.MatchLabels = d.stringMap(f.value)
			continue
		}
		items, _ := d.list(f.value)
		for _, item := range items {
			out.MatchExpressions = append(out.MatchExpressions, d.requirement(item))
		}
	}
	if _, err := fleet.LabelSelector(out); err != nil {
		d.errorf(v, "invalid-selector", "%v", err)
	}
	return out
}

func (d *decoder) requirement(v cue.Value) v1alpha1.LabelSelectorRequirement {
	var out v1alpha1.LabelSelectorRequirement
	for _, f := range d.fields(v, []string{"key", "operator", "values"}) {
		switch f.name {
		case "key":
			out.Key, _ = d.str(f.value)
		case "operator":
			out.Operator, _ = d.str(f.value)
		case "values":
			out.Values = d.strings(f.value)
		}
	}
	return out
}
