package plain

import (
	"cmp"
	"path/filepath"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/defaults"
	"hawser.dev/hawser/internal/diag"
)

// resolved are files with their links resolved.
func resolved(files []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range files {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			out[real] = true
		}
	}
	return out
}

// ours reports whether a file of a directory is no manifest but one of ours: what the run reads as something else, or the
// defaults of a directory. real is where it lies, links resolved.
func (l *lister) ours(name, real string) bool {
	return l.except[real] || filepath.Base(name) == defaults.File && defaults.In(filepath.Dir(name))
}

// foreign tells of a bundle or a fleet among the manifests, which no cluster knows.
func foreign(body map[string]any) (diag.Finding, bool) {
	version, kind := body["apiVersion"], body["kind"]
	what := ""
	for _, root := range []string{"bundle", "bundles", "fleet", "runtime"} {
		if _, ok := body[root]; ok && version == nil && kind == nil {
			what = cmp.Or(what, root+":")
		}
	}
	if version == v1alpha1.APIVersion && (kind == "Bundle" || kind == "Fleet") {
		what = "kind: " + kind.(string)
	}
	if what == "" {
		return diag.Finding{}, false
	}
	f := diag.Errorf("not-a-manifest", "%s is a document of Hawser, not a Kubernetes object", what)
	f.Fix = "keep it out of the directories of manifests; a fleet is named with --fleet, a bundle with -f"
	return f, true
}
