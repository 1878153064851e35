package bind

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

// guessed are the fields that people write below from who look for a secret, guessedObjects who look for an object of a cluster.
var (
	guessed        = []string{"secret", "secretRef", "secretKeyRef", "secretStore", "store", "vault", "env"}
	guessedObjects = []string{"object", "configMap", "configMapRef", "configMapKeyRef", "service"}
)

// Words finds structs of one field that are called as what gives a value here is (generate, from, ref), and are no such thing. Where the package's own
// value is no struct, nothing else can be meant: an error. (In a file of values for charts it may be, and what the package makes of it is said by itself.)
// Where the package has no value, what cannot be told apart from plain data is left out, and the rest a warning; so it is with what comes near generate
// and from in a struct that has no such field. own gives the package's value at a path, nil for none.
func Words(v v1alpha1.Values, own func(v1alpha1.Path) *v1alpha1.Value) diag.Findings {
	if v.Struct == nil {
		return nil
	}
	var fs diag.Findings
	rewrite(v.Struct, nil, func(x *v1alpha1.Value, at v1alpha1.Path) (*v1alpha1.Value, bool) {
		if fromStruct(x) != nil || generateStruct(x) != nil {
			return x, true
		}
		if wordFix(x) == "" {
			return nil, false
		}
		theirs := own(slices.Clone(at))
		if theirs != nil && theirs.Kind == v1alpha1.KindNull {
			theirs = nil
		}
		name, near := nearWord(x)
		var n diag.Finding
		switch plain := theirs != nil && theirs.Kind != v1alpha1.KindStruct; {
		case plain && (name[0] == '$' || foreign(x) || !near && !likely(x) && !ours(x)):
			return nil, false
		case plain:
			n = noValue(x)
		case theirs.Lookup(name) != nil, !near && (theirs != nil || len(at) == 0 || !likely(x)):
			return nil, false
		default:
			n = plainData(name)
		}
		n.Pos, n.Path, n.Fix = diag.Pos(x.Fields[0].Value.Pos), "values."+at.String(), wordFix(x)
		fs = append(fs, n)
		return x, true
	})
	return fs
}

// noValue is that a struct stands where something plain is wanted, and is not what gives a value.
func noValue(x *v1alpha1.Value) diag.Finding {
	code, takes := codeMistaken, "a reference to a secret is a text, and no struct"
	switch x.Fields[0].Name {
	case "generate":
		code, takes = "value-generate", "generate takes {length: ...}, and gives no value so"
	case "from":
		code, takes = "value-from", "from takes {instance: ...} or {file: ...}, and gives no value so"
	}
	n := diag.Errorf(code, "%s", takes)
	n.Why = "the value is a struct, and the package's own is not"
	return n
}

// foreign reports whether some of a value is a text of a file of values for charts.
func foreign(x *v1alpha1.Value) (found bool) {
	rewrite(x, nil, func(x *v1alpha1.Value, _ v1alpha1.Path) (*v1alpha1.Value, bool) {
		found = found || x.Foreign
		return nil, false
	})
	return found
}

// nearWord is the word that a struct of one field is called by, and whether its body is hardly anything else than generate or from with other fields.
func nearWord(x *v1alpha1.Value) (name string, near bool) {
	name = x.Fields[0].Name
	has := func(ok func(string) bool) bool {
		return slices.ContainsFunc(x.Fields[0].Value.Fields, func(f v1alpha1.Field) bool { return ok(f.Name) })
	}
	switch name {
	case "generate":
		near = has(func(field string) bool { return field == "len" || diag.Nearest(field, generateFields) != "" })
	case "from":
		near = has(func(field string) bool {
			return slices.Contains(guessed, field) || slices.Contains(guessedObjects, field)
		})
		near = near && !has(func(field string) bool { return field == "files" })
	}
	return name, near
}

// likely reports whether a body is what somebody gives who wants a value: a length or nothing for generate, a variable's name for a reference.
func likely(x *v1alpha1.Value) bool {
	body := x.Fields[0].Value
	switch x.Fields[0].Name {
	case "from":
		return false
	case "generate":
		return body.Kind == v1alpha1.KindInt || body.Kind == v1alpha1.KindStruct && len(body.Fields) == 0
	}
	text, ok := body.Str()
	return ok && variableRule.MatchString(text)
}

// ours reports whether a body is of the kind that our words take: a place in a store, or a struct of fields. Charts take others for a text of their own ({ref: main}).
func ours(x *v1alpha1.Value) bool {
	body := x.Fields[0].Value
	if text, ok := body.Str(); ok {
		return x.Fields[0].Name == "ref" && (secret.IsRef(text) || strings.Contains(text, "/") && placeRule.MatchString(text))
	}
	return body.Kind == v1alpha1.KindStruct && len(body.Fields) > 0 && x.Fields[0].Name != "ref"
}

// wordFix is how what a struct of one field means is written: {generate: 24}, {from: {secret: db}}, {ref: ADMIN_TOKEN}. "" for any other.
func wordFix(x *v1alpha1.Value) string {
	if len(x.Fields) != 1 {
		return ""
	}
	body := x.Fields[0].Value
	has := func(words []string) bool {
		return slices.ContainsFunc(body.Fields, func(f v1alpha1.Field) bool { return slices.Contains(words, f.Name) })
	}
	text, isText := body.Str()
	switch x.Fields[0].Name {
	case "generate":
		length := "24"
		if body.Kind == v1alpha1.KindInt && len(body.Text) <= len(fmt.Sprint(maxLength)) && whole.MatchString(body.Text) && body.Text > "0" {
			length = body.Text
		}
		return "write {generate: {length: " + length + "}} for a text that is made up once; charset is the other field"
	case "from":
		switch {
		case has(guessed):
			return "a value of a store of secrets is ref://[STORE:]NAME[/...]/PROPERTY; from takes instance, or file"
		case has(guessedObjects):
			return "an object of another instance is {from: {instance: NAME, object: v1/ConfigMap/NAME, path: data.KEY}}; " +
				"one that no bundle delivers is a query of the fleet (values), taken with {$cluster: values.NAME}"
		}
		return "write {from: {instance: NAME, object: v1/ConfigMap/NAME, path: data.KEY}} for a value of another instance, {from: {file: PATH}} for one of a file"
	case "ref", "$ref", "$env":
		switch {
		case !isText:
			return ""
		case secret.IsRef(text):
			return "write the reference by itself, without the struct around it: " + x.Fields[0].Name + " goes"
		case variableRule.MatchString(text):
			return "write ref://NAME with a store of the fleet, secretStores: {default: {env: {}}}"
		}
		return "write ref://[STORE:]NAME[/...]/PROPERTY, a text, with a store of the fleet (secretStores)"
	}
	return ""
}
