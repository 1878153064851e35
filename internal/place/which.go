package place

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// CodeWhich is the code of the finding that a bundle has to be chosen.
const CodeWhich = "which-bundle"

// Which is the finding that files hold no bundle of the wanted name, or, where none is wanted, several.
func Which(want string, names []string) diag.Finding {
	f := diag.Errorf(CodeWhich, "no bundle is named %q", want)
	if want == "" {
		f = diag.Errorf(CodeWhich, "the files hold %d bundles", len(names))
	}
	f.Fix = "choose one with --bundle: " + strings.Join(names, ", ")
	return f.Meant(want, names)
}

// Untold refuses to decide without knowing what a bundle of the same files declares (bundle "": any of them), when the
// findings why have errors; nil when they have none.
func Untold(bundle string, why diag.Findings) diag.Findings {
	if !why.HasErrors() {
		return nil
	}
	first := why.Errors()[0]
	f := diag.Errorf("untold-bundle", "it cannot be told what bundle %s of the same files declares, and the plan depends on it", bundle)
	if bundle == "" {
		f.What = "it cannot be told what the other bundles of the same files declare, and the plan depends on it"
	}
	f.Pos, f.Instance, f.Why = first.Pos, first.Instance, first.What
	if first.Why != "" {
		f.Why += ": " + first.Why
	}
	f.Fix = "mend that, or keep the bundles in files of their own: what is deleted here may be declared there"
	return diag.Findings{f}
}
