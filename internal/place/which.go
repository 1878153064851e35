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
