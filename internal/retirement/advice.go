package retirement

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Advised are findings about the way to the cluster to retire, with what helps there: no other cluster is accepted in its
// place.
func Advised(fs diag.Findings, name string) diag.Findings {
	out := Unguessed(fs)
	for i, f := range out {
		grant, _, weak := strings.Cut(f.Fix, "; if it is the right one: --accept-cluster")
		switch {
		case f.Code == fleet.CodeUnknownContext:
			out[i].Fix = "name a context of " + name + " with --kube-context, or, if it is gone for good, forget it with --keep; " + f.Fix
		case f.Code != fleet.CodeWrongCluster:
		case weak:
			out[i].Fix = grant
		default:
			out[i].Fix = "name a context of " + name + " itself with --kube-context, or, if it is gone for good, forget it with --keep, which contacts nobody"
		}
	}
	return out
}

// Unguessed are findings about the way to clusters from which something is to be deleted: which other context may be meant
// is not guessed.
func Unguessed(fs diag.Findings) diag.Findings {
	out := slices.Clone(fs)
	for i, f := range out {
		if f.Code != fleet.CodeUnknownContext || !strings.HasPrefix(f.Fix, "did you mean ") {
			continue
		}
		if _, rest, ok := strings.Cut(f.Fix, "? There is: "); ok {
			out[i].Fix = "there is: " + rest
		}
	}
	return out
}
