package fleetplan

import (
	"slices"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/values"
)

// Unprintable makes errors of the warnings that something stands in for a value: what is printed would be applied or
// published as if it were the value. Placeholders of what is made up at the first apply are shown, and not published.
func Unprintable(fs diag.Findings, publish bool) diag.Findings {
	out := slices.Clone(fs)
	for i, f := range out {
		if publish && f.Code == render.CodePlaceholder {
			out[i].Severity, out[i].Fix = diag.Error, "build for clusters where it was applied, give a value, or write the placeholders: --stand-ins"
		}
		if f.Code == bind.CodeStandIn || f.Code == values.CodeNotRead {
			out[i].Severity, out[i].Fix = diag.Error, "build for clusters that have the value, or print what stands in for it: --stand-ins"
		}
	}
	return out
}
