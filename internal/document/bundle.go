package document

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/specdecode"
)

// chartRule is the rule for names of charts in a repository.
var chartRule = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// checkInstance counts the sources: exactly one. What else an instance needs and takes depends on which one it is.
func checkInstance(d *reporter, s structure, _ *v1alpha1.Instance) {
	have := slices.DeleteFunc([]string{"module", "helm", "kustomize", "manifests"}, func(name string) bool { return !s.Has(name) })
	switch {
	case len(have) == 0:
		d.Fixf(s.Value, "give it module, helm, kustomize or manifests", "no-source", "an instance needs a source")
		return
	case len(have) > 1:
		d.Errorf(s.Value, "two-sources", "an instance has exactly one source, this one has %s", strings.Join(have, " and "))
	}
	if slices.Contains(have, "module") || slices.Contains(have, "helm") {
		if !s.Has("namespace") {
			d.Require(s.Value, "namespace")
		}
		return
	}
	for _, name := range []string{"values", "valuesFor"} {
		if s.Has(name) {
			d.Fixf(s.At(name), "values are for module and helm", "not-supported", "%s take no values", map[string]string{
				"kustomize": "kustomizations", "manifests": "plain manifests"}[have[0]])
		}
	}
}

func checkValues(d *reporter, s structure, _ *v1alpha1.Values) {
	if x, ok := lookup(s.Value, "valuesFor"); ok {
		d.Fixf(x, "put it beside values, on the instance", "misplaced-field", "valuesFor stands inside of values")
	}
}

// checkHelm checks where a chart comes from: the name in a repository, a registry, or a path.
func checkHelm(d *reporter, s structure, h *v1alpha1.HelmSource) {
	at := s.At("chart")
	if !at.Exists() || at.Kind() != cue.StringKind {
		return
	}
	local := false
	switch scheme := schemeRule.FindString(h.Chart); {
	case s.Has("repo"):
		if !chartRule.MatchString(h.Chart) {
			n := diag.Errorf("invalid-chart", "%q is not the name of a chart", d.Mask(h.Chart))
			n.Why = "with repo, chart is the chart's name there"
			d.Add(n, at)
		}
	case scheme == "oci://":
		isOCI(d, at, h.Chart)
	case scheme != "":
		fix := map[string]string{"file://": "write the path alone"}[scheme]
		d.Fixf(at, fix, "invalid-url", "%s is not supported, a chart is a path, oci://REGISTRY/REPOSITORY, or a name with repo", d.Mask(scheme))
	case filepath.IsAbs(h.Chart), h.Chart == ".", h.Chart == "..", strings.HasPrefix(h.Chart, "./"),
		strings.HasPrefix(h.Chart, "../"), strings.HasSuffix(h.Chart, ".tgz"):
		local = true
		isPlaced(d, at, h.Chart, "path", absoluteFix)
	default:
		d.Fixf(at, "write ./"+d.Mask(h.Chart)+" for a directory, or give repo for a chart of a repository",
			"invalid-chart", "%q names no chart", d.Mask(h.Chart))
	}
	if local && s.Has("version") {
		d.Fixf(s.At("version"), "leave version out, or pin the chart by digest", "not-supported", "a chart on disk has the version it has")
	}
}

// checkManifests: paths on disk, or what is fetched, and paths in it.
func checkManifests(d *reporter, s structure, m *v1alpha1.ManifestsSource) {
	checkPaths(d, s)
	if s.Has("url") {
		m.Pos = d.Position(s.At("url"))
		checkFetched(d, s, m)
		return
	}
	if !s.Has("paths") {
		d.Errorf(s.Value, "missing-field", "paths or url is required")
	}
	for _, name := range []string{"version", "digest"} {
		if s.Has(name) {
			d.Errorf(s.At(name), "not-supported", "%s is for manifests with a url", name)
		}
	}
}

// checkPaths checks the paths and globs; with a url they are below what is fetched.
func checkPaths(d *reporter, s structure) {
	fetched := s.Has("url")
	for _, item := range specdecode.Items(s.At("paths")) {
		text, err := item.String()
		if err != nil {
			continue
		}
		_, err = path.Match(text, "")
		switch {
		case text == "" || err != nil:
			d.Errorf(item, "invalid-path", "%q is no path or glob", d.Mask(text))
		case schemeRule.MatchString(text):
			d.Fixf(item, "write it as url", "invalid-path", "paths are files, directories and globs, not urls")
		case fetched && (filepath.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..")):
			d.Errorf(item, "invalid-path", "%q leads out of what url fetches", d.Mask(text))
		case !fetched:
			isPlaced(d, item, text, "path", absoluteFix)
		}
	}
}

// checkFetched checks what is fetched: from the web by digest only, from a registry by version or digest.
func checkFetched(d *reporter, s structure, m *v1alpha1.ManifestsSource) {
	at := s.At("url")
	if _, err := at.String(); err != nil {
		return
	}
	missing := func(what, why string) {
		n := diag.Errorf("missing-field", "%s is required", what)
		n.Why = why
		d.Add(n, s.Value)
	}
	switch scheme := schemeRule.FindString(m.URL); scheme {
	case "oci://":
		isOCI(d, at, m.URL)
		if !s.Has("version") && !s.Has("digest") {
			missing("version or digest", "latest is understood for modules only")
		}
	case "https://":
		isWebURL(d, field{Name: "url", Value: at}, m.URL, "https://")
		if !s.Has("digest") {
			missing("digest", "what a url answers can change")
		}
		if s.Has("version") {
			d.Errorf(s.At("version"), "not-supported", "version is for oci:// only")
		}
	case "http://":
		d.Errorf(at, "invalid-url", "http:// is not safe, url starts with https:// or oci://")
	case "", "file://":
		d.Fixf(at, "local files are paths: [...]", "invalid-url", "url starts with https:// or oci://")
	default:
		d.Errorf(at, "invalid-url", "%s is not supported, url starts with https:// or oci://", d.Mask(scheme))
	}
}

func checkIgnoreRule(d *reporter, s structure, r *v1alpha1.IgnoreRule) {
	if len(r.Paths) == 0 && len(r.Managers) == 0 {
		d.Fixf(s.Value, "give it paths or managers", "invalid-rule", "the rule does not say what is left to others")
	}
}

func checkLabelSelector(d *reporter, s structure, out *v1alpha1.LabelSelector) {
	if _, err := fleet.LabelSelector(out); err != nil {
		d.Errorf(s.Value, "invalid-selector", "%v", err)
	}
}

func checkToleration(d *reporter, s structure, t *v1alpha1.Toleration) {
	switch {
	case t.Operator != "" && t.Operator != "Equal" && t.Operator != "Exists":
		d.Errorf(s.Value, "invalid-toleration", "operator must be Equal or Exists, is %q", d.Mask(t.Operator))
	case t.Operator == "Exists" && t.Value != "":
		d.Errorf(s.Value, "invalid-toleration", "with operator Exists there is no value")
	case t.Operator != "Exists" && t.Key == "":
		d.Errorf(s.Value, "invalid-toleration", "without a key the operator must be Exists")
	}
}
