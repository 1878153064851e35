package document

import (
	"maps"
	"slices"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// signatures reads which content must be signed, and by whom.
func (d *decoder) signatures(v cue.Value) *v1alpha1.Signatures {
	out := &v1alpha1.Signatures{Pos: d.apiPos(v), Dir: d.dir(v)}
	for _, f := range d.demanded(v, []string{"required"}, "trustedRoot") {
		if f.name == "trustedRoot" {
			out.TrustedRoot, _ = d.str(f.value)
			d.place(f.value, out.TrustedRoot, "trustedRoot", absoluteFleetFix)
			out.Dir = d.dir(f.value)
			continue
		}
		items, ok := d.list(f.value)
		for _, item := range items {
			out.Required = append(out.Required, d.signatureRule(item))
		}
		if ok && len(items) == 0 {
			d.errorf(f.value, "invalid-rule", "there is no rule: leave signatures out to want none")
		}
	}
	return out
}

const absoluteFleetFix = "write an absolute path, or give the fleet as a file"

// demanded are the fields of a struct of which the first few have to be there.
func (d *decoder) demanded(v cue.Value, must []string, may ...string) []field {
	for _, name := range must {
		if _, ok := lookup(v, name); !ok && d.is(v, cue.StructKind, "a struct") {
			d.require(v, name)
		}
	}
	return d.fields(v, slices.Concat(must, may))
}

func (d *decoder) signatureRule(v cue.Value) v1alpha1.SignatureRule {
	out := v1alpha1.SignatureRule{Pos: d.apiPos(v)}
	for _, f := range d.demanded(v, []string{"sources", "by"}, "except") {
		items, ok := d.list(f.value)
		if ok && len(items) == 0 && f.name != "except" {
			d.errorf(f.value, "invalid-rule", "%s", map[string]string{"sources": "sources is empty: nothing is meant", "by": "by is empty: nobody could sign it"}[f.name])
		}
		for _, item := range items {
			if f.name == "by" {
				out.By = append(out.By, d.signedBy(item))
				continue
			}
			s, ok := d.str(item)
			if problem := v1alpha1.CheckPlace(s); ok && problem != "" {
				n := diag.Errorf("invalid-glob", "%q: %s", d.mask(s), problem)
				n.Fix = "for example registry.example.com/modules/**"
				d.add(n, item)
			}
			into := map[string]*[]string{"sources": &out.Sources, "except": &out.Except}[f.name]
			*into = append(*into, s)
		}
	}
	return out
}

func (d *decoder) signedBy(v cue.Value) v1alpha1.SignedBy {
	out := v1alpha1.SignedBy{Pos: d.apiPos(v), Dir: d.dir(v)}
	into := map[string]*string{"key": &out.Key, "identity": &out.Identity, "identityRegexp": &out.IdentityRegexp, "issuer": &out.Issuer, "issuerRegexp": &out.IssuerRegexp}
	read := true
	for _, f := range d.fields(v, append(slices.Sorted(maps.Keys(into)), "transparencyLog")) {
		if f.name == "transparencyLog" {
			out.TransparencyLog = d.boolean(f.value)
			continue
		}
		s, ok := d.str(f.value)
		read = read && ok
		if *into[f.name] = s; f.name == "key" {
			out.Dir = d.dir(f.value)
			d.place(f.value, s, "key", absoluteFleetFix)
		}
	}
	if problem := out.Problem(); read && problem != "" && d.is(v, cue.StructKind, "a struct") {
		d.errorf(v, "invalid-rule", "%s", problem)
	}
	return out
}
