package bind

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// ValueOf is the value that f takes from the live object (JSON types, as apimachinery decodes them), as data at
// f's place. What a Secret holds is decoded. Findings name object, path and keys, and never a value.
func ValueOf(f From, obj map[string]any) (*v1alpha1.Value, *diag.Finding) {
	ref := object.Object{Body: obj}.Ref()
	fail := func(format string, args ...any) *diag.Finding {
		n := f.Finding("value-from", format, args...)
		n.Object = ref.String()
		return n
	}
	if ref.IsSecret() {
		obj = decoded(obj)
	}
	v, err := f.Path.Lookup(obj)
	if missing := (*v1alpha1.MissingError)(nil); errors.As(err, &missing) {
		return nil, f.missing(ref, missing)
	} else if err != nil {
		return nil, fail("%v", err)
	}
	x, err := data(v, f.node.Pos)
	if err != nil {
		return nil, fail("%s is %v", f.Path, err)
	}
	return f.as(x, ref.String())
}

// missing is the finding about a path that an object does not have.
func (f From) missing(ref object.Ref, err *v1alpha1.MissingError) *diag.Finding {
	n := f.Finding("value-from", "%s of instance %s has no %s", ref, f.Instance, f.Path)
	n.Object, n.Why, n.Fix = ref.String(), err.Error(), diag.DidYouMean(err.Step, err.Have)
	return n
}

// Lacks is what is wrong with a path into the data of a ConfigMap or a Secret that is declared without it, nil when
// nothing is, or when somebody else may add it: other fields and kinds, and objects FilledByOthers. The body is as it
// is written, stringData in data.
func Lacks(f From, body map[string]any) *diag.Finding {
	ref := object.Object{Body: body}.Ref()
	if !holdsData(ref) || FilledByOthers(body) || len(f.Path) == 0 || f.Path[0].Name != "data" && f.Path[0].Name != "binaryData" {
		return nil
	}
	_, err := f.Path.Lookup(body)
	if missing := (*v1alpha1.MissingError)(nil); errors.As(err, &missing) {
		return f.missing(ref, missing)
	}
	return nil
}

// FilledByOthers reports that the object is a ConfigMap or a Secret which is declared for somebody else to fill in: it
// has no data, or it is the token of a service account.
func FilledByOthers(body map[string]any) bool {
	ref := object.Object{Body: body}.Ref()
	if !holdsData(ref) {
		return false
	}
	data, _ := body["data"].(map[string]any)
	binary, _ := body["binaryData"].(map[string]any)
	return len(data)+len(binary) == 0 || ref.IsSecret() && body["type"] == "kubernetes.io/service-account-token"
}

func holdsData(ref object.Ref) bool {
	return ref.IsSecret() || ref.Group == "" && ref.Kind == "ConfigMap"
}

// decoded is a Secret with its data as texts; what is no text stays as bytes.
func decoded(obj map[string]any) map[string]any {
	held, ok := obj["data"].(map[string]any)
	if !ok {
		return obj
	}
	plain := make(map[string]any, len(held))
	for key, v := range held {
		plain[key] = v
		s, isText := v.(string)
		b, err := base64.StdEncoding.DecodeString(s)
		switch {
		case !isText || err != nil:
		case utf8.Valid(b):
			plain[key] = string(b)
		default:
			plain[key] = b
		}
	}
	obj = maps.Clone(obj)
	obj["data"] = plain
	return obj
}

// as brings a value into the format that is asked for.
func (f From) as(x *v1alpha1.Value, where string) (*v1alpha1.Value, *diag.Finding) {
	if f.As == Inherent {
		return x, nil
	}
	s, isText := x.Str()
	if f.As == AsText {
		if isText {
			return x, nil
		}
		v, err := x.Any()
		switch v.(type) {
		case int64, float64, bool:
			if err == nil {
				return text(fmt.Sprint(v), x.Pos), nil
			}
		}
		return nil, f.Finding("value-from", "%s in %s is no text", f.Path, where)
	}
	if !isText {
		return nil, f.Finding("value-from", "%s in %s is no text to read as %s", f.Path, where, f.As)
	}
	parsed, err := parseData(f.As, "", []byte(s))
	if err != nil { // what the library says may quote the value
		return nil, f.Finding("value-from", "%s in %s is not %s", f.Path, where, strings.ToUpper(string(f.As)))
	}
	return stamp(parsed, f.node.Pos), nil
}

// parseData reads YAML or JSON as data.
func parseData(format Format, name string, src []byte) (*v1alpha1.Value, error) {
	if format == AsJSON {
		x, err := cuelang.FromJSON(name, src)
		if err != nil {
			return nil, err
		}
		return cuelang.FromSyntax(x)
	}
	f, err := cuelang.FromYAML(name, src)
	if err != nil {
		return nil, err
	}
	switch x := cuelang.FileData(f).(type) {
	case *ast.BottomLit, *ast.BinaryExpr: // no document is "*null | _" for the library
		return nil, nil
	default:
		return cuelang.FromSyntax(x)
	}
}

// data is JSON types as data, fields sorted by name, everything at one place.
func data(v any, pos v1alpha1.Position) (*v1alpha1.Value, error) {
	if hasBytes(v) {
		return nil, errors.New("no text, but bytes")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("no JSON value")
	}
	x, err := parseData(AsJSON, "", b)
	if err != nil {
		return nil, errors.New("nested too deeply")
	}
	return stamp(x, pos), nil
}

func hasBytes(v any) bool {
	switch v := v.(type) {
	case []byte:
		return true
	case map[string]any:
		for _, e := range v {
			if hasBytes(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if hasBytes(e) {
				return true
			}
		}
	}
	return false
}

// stamp puts data that nobody else holds at one place.
func stamp(x *v1alpha1.Value, pos v1alpha1.Position) *v1alpha1.Value {
	x.Pos = pos
	for i := range x.Fields {
		x.Fields[i].Pos = pos
		stamp(x.Fields[i].Value, pos)
	}
	for _, e := range x.Items {
		stamp(e, pos)
	}
	return x
}

func text(s string, pos v1alpha1.Position) *v1alpha1.Value {
	return &v1alpha1.Value{Kind: v1alpha1.KindString, Text: s, Pos: pos}
}

// StandIn stands in for a value that is not known yet: the user's preview, else a text that says so, for each reference one of its own.
func StandIn(f From) *v1alpha1.Value {
	if f.Preview != nil {
		return f.Preview
	}
	out := text(f.standInText(), f.node.Pos)
	out.Foreign = true
	return out
}

const knownAfter = "known after "

func (f From) standInText() string {
	if f.Ref != "" {
		return knownAfter + f.After() + " (" + f.Ref + ")"
	}
	return knownAfter + f.After()
}

// Written gives values, in which stand-ins stand for the references among refs that are known when a bundle is done, with those references as they are
// written instead, and refs as they are then: for a schema that takes no text but one of a form.
func Written(v v1alpha1.Values, refs []From) (v1alpha1.Values, []From) {
	refs = slices.Clone(refs)
	at := map[string]*v1alpha1.Value{}
	for i, f := range refs {
		if f.Bundle != "" {
			refs[i].Preview = text(f.Ref, f.node.Pos)
			at[f.At] = refs[i].Preview
		}
	}
	return Replaced(v, at), refs
}

// Replaced is values with others at some paths; v is not changed.
func Replaced(v v1alpha1.Values, at map[string]*v1alpha1.Value) v1alpha1.Values {
	if v.Struct == nil || len(at) == 0 {
		return v
	}
	v.Struct = rewrite(v.Struct, nil, func(_ *v1alpha1.Value, p v1alpha1.Path) (*v1alpha1.Value, bool) {
		x := at[p.String()]
		return x, x != nil
	})
	return v
}

// Holds reports whether a rendered object's body (or any part of it, as JSON types) holds a stand-in of one of the
// values: a text that contains it, also in base64, or for previews of other types an equal value. It errs on the side
// of true.
func Holds(body any, froms []From) bool {
	marks := marksOf(froms)
	return len(marks) > 0 && holds(body, marks)
}

func holds(v any, marks map[string]bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if holds(e, marks) {
				return true
			}
		}
		return false
	case []any:
		for _, e := range v {
			if holds(e, marks) {
				return true
			}
		}
		return false
	case string:
		plain, _ := base64.StdEncoding.DecodeString(v)
		for mark, inside := range marks {
			if v == mark || inside && (strings.Contains(v, mark) || strings.Contains(string(plain), mark)) {
				return true
			}
		}
		return false
	case float64:
		_, ok := marks[strconv.FormatFloat(v, 'g', -1, 64)]
		return ok
	}
	_, ok := marks[fmt.Sprint(v)]
	return ok
}
