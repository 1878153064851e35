package bind

import (
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

// mistaken warns of texts in values that are meant as references and are none, so that they go out as they are written: with
// text around, in capitals, with one slash. What stands there may be a password in part, and is not shown.
func mistaken(x *v1alpha1.Value, at v1alpha1.Path) diag.Findings {
	if x == nil {
		return nil
	}
	var fs diag.Findings
	rewrite(x, at, func(x *v1alpha1.Value, at v1alpha1.Path) (*v1alpha1.Value, bool) {
		s, ok := x.Str()
		if !ok {
			if n := mistakenStruct(x); n != nil {
				n.Pos, n.Path = diag.Pos(x.Fields[0].Value.Pos), at.String()
				fs = append(fs, *n)
			}
			return nil, false
		}
		f := diag.Warnf(diag.CodeNoReference, "this is no reference, and goes out as it is written")
		f.Pos, f.Path = diag.Pos(x.Pos), at.String()
		switch place := referenceIn(s); {
		case variable(s) != "":
			f.Code, f.What = codeMistaken, variable(s)+" is plain data here, and goes out as it is written"
			f.Fix = "nothing of the environment is put in: a secret is ref://[STORE:]NAME of a store (env), another value {$cluster: values.NAME} with --runtime-from-env; where the program itself reads the variable, it is right"
		case strings.HasPrefix(s, secret.Sealed):
			f.Code, f.What = codeMistaken, "what SOPS encrypted is plain data here, and goes out as it is written"
			f.Fix = "declare its file as a store of the fleet (secretStores: {NAME: {sops: {path: ...}}}), and take the value by ref://NAME:FILE/KEY"
		case ofOthers(s):
			f.Code, f.What = codeMistaken, "a reference of another program is plain data here, and goes out as it is written"
			f.Fix = "a secret is ref://[STORE:]NAME[/...]/PROPERTY; where something in the cluster reads what is written, it is right"
		case place < 0 || secret.IsRef(s):
			return x, true
		case place == 0 && !strings.ContainsAny(strings.TrimSpace(s), " \t\r\n"):
			f.Fix = "write it so: ref://[STORE:]NAME[/...]/PROPERTY, in small letters, with two slashes, and without spaces around"
		default:
			f.What = "ref:// within a text is no reference, and goes out as it is written"
			f.Fix = "put all of the text into the store, and write its reference alone: ref://[STORE:]NAME[/...]/PROPERTY"
		}
		fs = append(fs, f)
		return x, true
	})
	return fs
}

// codeMistaken is the code of the warning about data that was hardly meant as such.
const codeMistaken = "value-mistaken"

// guessed are the fields that people write below from who look for a secret, guessedObjects who look for an object of a cluster.
var (
	guessed        = []string{"secret", "secretRef", "secretKeyRef", "secretStore", "store", "vault", "env"}
	guessedObjects = []string{"object", "configMap", "configMapRef", "configMapKeyRef", "service"}
)

// mistakenStruct warns of a struct of one field that is plain data and was hardly meant so: {$clusters: ...},
// {generate: {len: ...}}, {from: {secret: ...}}. It has no place yet; nil for any other value.
func mistakenStruct(x *v1alpha1.Value) *diag.Finding {
	if len(x.Fields) != 1 {
		return nil
	}
	var name, fix string
	switch body := x.Fields[0].Value; x.Fields[0].Name {
	case "generate":
		if body.Lookup("length") != nil || !slices.ContainsFunc(body.Fields, func(f v1alpha1.Field) bool { return diag.Nearest(f.Name, generateFields) != "" || f.Name == "len" }) {
			return nil
		}
		name, fix = "generate", "write {generate: {length: 24}} for a text that is made up once; charset is the other field"
	case "from":
		name = "from"
		switch has := func(words []string) bool {
			return slices.ContainsFunc(body.Fields, func(f v1alpha1.Field) bool { return slices.Contains(words, f.Name) })
		}; {
		case has([]string{"instance", "file", "files"}):
			return nil
		case has(guessed):
			fix = "a value of a store of secrets is ref://[STORE:]NAME[/...]/PROPERTY; from takes instance, or file"
		case has(guessedObjects):
			fix = "an object of another instance is {from: {instance: NAME, object: v1/ConfigMap/NAME, path: data.KEY}}; " +
				"one that no bundle delivers is a query of the fleet (values), taken with {$cluster: values.NAME}"
		default:
			return nil
		}
	default:
		if name = x.Fields[0].Name; !strings.HasPrefix(name, "$") || diag.Nearest(name, []string{"$cluster"}) == "" {
			return nil
		}
		fix = "write {$cluster: name}, or another path of what is known about the cluster"
	}
	n := diag.Warnf(codeMistaken, "%s is plain data here, and goes out as it is written", name)
	n.Fix = fix
	return &n
}
