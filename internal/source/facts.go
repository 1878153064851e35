package source

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// codeFact is the code of a finding about a fact that a cluster does not have.
const codeFact = "missing-fact"

// Needed are the findings of an evaluation without those about facts of a cluster that no source needs: facts that stand in
// values, their layers and the namespace, and what follows where they do.
func Needed(fs diag.Findings) diag.Findings {
	needless := map[string]bool{}
	for _, f := range fs {
		if f.Code == codeFact && besideSource(f.Path) {
			needless[bare(f.Path)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f diag.Finding) bool { return needless[bare(f.Path)] })
}

// besideSource reports whether a data path of a bundle leads to what decides on no source.
func besideSource(path string) bool {
	return strings.Contains(path, ".values.") || strings.Contains(path, ".valuesFor.") ||
		strings.HasSuffix(path, ".values") || strings.HasSuffix(path, ".namespace")
}

// bare is a data path without the quotes of its names.
func bare(path string) string { return strings.ReplaceAll(path, `"`, "") }
