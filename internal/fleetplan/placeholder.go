package fleetplan

import (
	"slices"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/values"
)

// CodeStandIn is the code of findings about values that are not known where nothing is planned.
const CodeStandIn = "stand-in"

// Placeholder warns of a value that is not known where nothing is planned.
func Placeholder(from bind.From) diag.Finding {
	f := diag.Warnf(CodeStandIn, "the value is known only after %s", from.Instance)
	f.Why = "the object it comes from is not there, or no cluster was asked: something else stands in for it"
	f.Pos, f.Path = from.Pos, "values."+from.At
	return f
}

// Unprintable makes errors of the warnings that something stands in for a value: what is printed would be applied or
// published as if it were the value. Placeholders of what is made up at the first apply are shown, and not published.
func Unprintable(fs diag.Findings, publish bool) diag.Findings {
	out := slices.Clone(fs)
	for i, f := range out {
		if publish && f.Code == render.CodePlaceholder {
			out[i].Severity, out[i].Fix = diag.Error, "build for clusters where it was applied, give a value, or write the placeholders: --stand-ins"
		}
		if f.Code == CodeStandIn || f.Code == values.CodeNotRead {
			out[i].Severity, out[i].Fix = diag.Error, "build for clusters that have the value, or print what stands in for it: --stand-ins"
		}
	}
	return out
}
