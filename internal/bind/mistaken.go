package bind

import (
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

// mistakenStruct warns of {$clusters: ...}, which is plain data and was hardly meant so. It has no place yet; nil for any other value.
func mistakenStruct(x *v1alpha1.Value) *diag.Finding {
	if len(x.Fields) != 1 {
		return nil
	}
	name := x.Fields[0].Name
	if !strings.HasPrefix(name, "$") || diag.Nearest(name, []string{"$cluster"}) == "" {
		return nil
	}
	n := plainData(name)
	n.Fix = "write {$cluster: name}, or another path of what is known about the cluster"
	return &n
}

// plainData warns of a word that has no meaning here.
func plainData(name string) diag.Finding {
	return diag.Warnf(codeMistaken, "%s is plain data here, and goes out as it is written", name)
}
