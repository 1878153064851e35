package values

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

// standsForItself is what the warning about a reference that is not read says behind it.
const standsForItself = " stands for itself: "

// stands is a reference as its own value, with the warning that it was not read, and why.
func stands(ref secret.Ref, why string) (value, bundle string, _ *diag.Finding) {
	f := diag.Warnf(CodeNotRead, "%s%s%s", ref, standsForItself, why)
	return ref.String(), "", &f
}

// Unbuilt makes errors of the warnings that an instance does not render with what stands in: nothing of it would be printed.
func Unbuilt(fs diag.Findings) diag.Findings {
	out := slices.Clone(fs)
	for i, f := range out {
		if f.Code == bind.CodeMisfit {
			out[i].Severity, out[i].Fix = diag.Error, "a stand-in does not fit there: do the same where the references can be read"
		}
	}
	return out
}

// StoodIn adds to the findings of a run that wants stand-ins how many references stand for themselves in it, and which.
func StoodIn(fs diag.Findings, wanted bool) diag.Findings {
	var refs []string
	for _, f := range fs {
		if ref, _, ok := strings.Cut(f.What, standsForItself); ok && f.Code == CodeNotRead && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if !wanted || len(refs) == 0 {
		return fs
	}
	count := fmt.Sprintf("%d references are not read, and stand for themselves", len(refs))
	if len(refs) == 1 {
		count = "1 reference is not read, and stands for itself"
	}
	f := diag.Warnf("stand-ins", "%s%s", count, secret.Names(":", refs))
	if f.Fix = "what depends on their values is not checked: do without --stand-ins where they can be read"; len(refs) == 1 {
		f.Fix = "what depends on its value is not checked: do without --stand-ins where it can be read"
	}
	return append(fs, f)
}
