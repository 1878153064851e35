package document

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

var (
	sourceFields    = []string{"module", "helm", "kustomize", "manifests"}
	moduleFields    = []string{"url", "version", "digest"}
	helmFields      = []string{"chart", "repo", "version", "digest", "releaseName", "skipCRDs", "skipHooks", "skipSchema"}
	kustomizeFields = []string{"path", "root", "digest"}
	manifestsFields = []string{"paths", "url", "version", "digest"}
)

var (
	digestRule  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	schemeRule  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)
	ociRule     = regexp.MustCompile(`^oci://[A-Za-z0-9.\-\[\]:]+(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)
	ociPinRule  = regexp.MustCompile(`^oci://[^@]+?(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:.*)?$`)
	tagRule     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	chartRule   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	releaseRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// checkSource counts the sources: exactly one. What else an instance needs and takes depends on which one it is.
func (d *decoder) checkSource(v cue.Value, seen map[string]cue.Value) {
	have := slices.DeleteFunc(slices.Clone(sourceFields), func(name string) bool { return !seen[name].Exists() })
	switch {
	case len(have) == 0:
		n := diag.Errorf("no-source", "an instance needs a source")
		n.Fix = "give it module, helm, kustomize or manifests"
		d.add(n, v)
		return
	case len(have) > 1:
		d.errorf(v, "two-sources", "an instance has exactly one source, this one has %s", strings.Join(have, " and "))
	}
	if slices.Contains(have, "module") || slices.Contains(have, "helm") {
		if !seen["namespace"].Exists() {
			d.require(v, "namespace")
		}
		return
	}
	for _, name := range []string{"values", "valuesFor"} {
		if at := seen[name]; at.Exists() {
			n := diag.Errorf("not-supported", "%s take no values", map[string]string{
				"kustomize": "kustomizations", "manifests": "plain manifests"}[have[0]])
			n.Fix = "values are for module and helm"
			d.add(n, at)
		}
	}
}

func (d *decoder) module(v cue.Value) *v1alpha1.ModuleSource {
	out := &v1alpha1.ModuleSource{Pos: d.apiPos(v), Dir: d.p.cwd}
	hasURL := false
	for _, f := range d.fields(v, moduleFields) {
		s, ok := d.str(f.value)
		switch f.name {
		case "url":
			hasURL = true
			out.URL, out.Pos, out.Dir = s, d.apiPos(f.value), d.dir(f.value)
			if ok {
				d.moduleURL(f.value, s)
			}
		case "version":
			if out.Version, out.VersionPos = s, d.apiPos(f.value); ok {
				d.version(f.value, s, true)
			}
		case "digest":
			out.Digest, out.DigestPos = d.digest(f.value, s, ok), d.apiPos(f.value)
		}
	}
	if !hasURL && d.is(v, cue.StructKind, "a struct") {
		d.require(v, "url")
	}
	return out
}

func (d *decoder) moduleURL(v cue.Value, url string) {
	scheme := schemeRule.FindString(url)
	rest := strings.TrimPrefix(url, scheme)
	switch {
	case scheme == "file://":
		if rest == "" {
			d.errorf(v, "invalid-url", "url names no directory")
		} else {
			d.place(v, rest, "url", "write an absolute file:// url, or give the bundle as a file")
		}
	case scheme == "oci://":
		d.ociURL(v, url)
	case scheme == "":
		n := diag.Errorf("invalid-url", "url has no scheme")
		n.Fix = "file://./" + d.mask(strings.TrimPrefix(url, "./")) + " for a directory, oci://REGISTRY/REPOSITORY for a registry"
		d.add(n, v)
	default:
		d.errorf(v, "invalid-url", "%s is not supported, url starts with file:// or oci://", d.mask(scheme))
	}
}

// place refuses a relative path that was read from standard input: it is relative to nothing.
func (d *decoder) place(v cue.Value, path, what, fix string) {
	if filepath.IsAbs(path) || !d.fromStdin(v) {
		return
	}
	n := diag.Errorf("relative-from-stdin", "a relative %s cannot be read from standard input", what)
	n.Why, n.Fix = "it is relative to the file that holds it", fix
	d.add(n, v)
}

const absoluteFix = "write an absolute path, or give the bundle as a file"

// ociURL checks oci://REGISTRY/REPOSITORY; versions and digests have fields of their own.
func (d *decoder) ociURL(v cue.Value, s string) {
	if ociRule.MatchString(s) {
		return
	}
	n := diag.Errorf("invalid-url", "%q names no repository", d.mask(s))
	n.Fix = "oci://REGISTRY/REPOSITORY, the repository in lower-case letters, digits and . _ - /"
	if m := ociPinRule.FindStringSubmatch(s); m != nil && ociRule.MatchString(strings.TrimSuffix(s, m[1]+m[2])) {
		n.What = "a url of a registry holds no tag and no digest"
		n.Fix = "write them as version and digest"
	}
	d.add(n, v)
}

// webURL checks a url of one of the schemes (with "://"), without a user's name and password.
func (d *decoder) webURL(v cue.Value, name, s string, schemes ...string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme+"://"):
		d.errorf(v, "invalid-url", "%s must be %s and a host", name, strings.Join(schemes, " or "))
	case u.User != nil:
		n := diag.Errorf("invalid-url", "%s holds a user's name or password", name)
		n.Fix = "leave it out: credentials are kept by registry login"
		d.add(n, v)
	case u.Fragment != "":
		d.errorf(v, "invalid-url", "%s holds a fragment", name)
	}
}

// version checks an exact version or a range of semantic versions, or with tags any tag.
func (d *decoder) version(v cue.Value, s string, tags bool) {
	if s == "" {
		d.errorf(v, "invalid-version", "version is empty")
		return
	}
	if tags && tagRule.MatchString(s) {
		return
	}
	if _, err := semver.NewVersion(s); err == nil {
		return
	}
	if _, err := semver.NewConstraint(s); err == nil {
		return
	}
	n := diag.Errorf("invalid-version", "%q is no version, tag or range", d.mask(s))
	n.Fix = `write for example 1.4.2, "1.x", ">=1.2 <2" or a tag`
	if !tags {
		n.What, n.Fix = "\""+d.mask(s)+"\" is no version or range", `charts have semantic versions: 1.4.2, "1.x", ">=1.2 <2"`
	}
	d.add(n, v)
}

func (d *decoder) digest(v cue.Value, s string, ok bool) string {
	if ok && !digestRule.MatchString(s) {
		d.errorf(v, "invalid-digest", "digest must be sha256: and 64 hexadecimal digits")
	}
	return s
}

func (d *decoder) helm(v cue.Value) *v1alpha1.HelmSource {
	out := &v1alpha1.HelmSource{Pos: d.apiPos(v), Dir: d.p.cwd}
	seen := map[string]cue.Value{}
	for _, f := range d.fields(v, helmFields) {
		seen[f.name] = f.value
		switch f.name {
		case "skipCRDs":
			out.SkipCRDs = d.boolean(f.value)
			continue
		case "skipHooks":
			out.SkipHooks = d.boolean(f.value)
			continue
		case "skipSchema":
			out.SkipSchema = d.boolean(f.value)
			continue
		}
		s, ok := d.str(f.value)
		switch f.name {
		case "chart":
			out.Chart, out.Pos, out.Dir = s, d.apiPos(f.value), d.dir(f.value)
		case "repo":
			if out.Repo = s; ok {
				d.webURL(f.value, "repo", s, "https://", "http://")
			}
		case "version":
			if out.Version, out.VersionPos = s, d.apiPos(f.value); ok {
				d.version(f.value, s, false)
			}
		case "digest":
			out.Digest, out.DigestPos = d.digest(f.value, s, ok), d.apiPos(f.value)
		case "releaseName":
			if out.ReleaseName = s; ok && (len(s) > 53 || !releaseRule.MatchString(s)) {
				d.errorf(f.value, "invalid-name", "%q cannot be the name of a Helm release: 1 to 53 lower-case letters, digits, "+
					"'-' and '.', with a letter or digit at both ends", d.mask(s))
			}
		}
	}
	if chart, ok := seen["chart"]; ok {
		d.chart(chart, out, seen)
	} else if d.is(v, cue.StructKind, "a struct") {
		d.require(v, "chart")
	}
	return out
}

// chart checks where a chart comes from: the name in a repository, a registry, or a path.
func (d *decoder) chart(v cue.Value, h *v1alpha1.HelmSource, seen map[string]cue.Value) {
	if _, ok := d.str(v); !ok {
		return
	}
	local := false
	switch scheme := schemeRule.FindString(h.Chart); {
	case seen["repo"].Exists():
		if !chartRule.MatchString(h.Chart) {
			n := diag.Errorf("invalid-chart", "%q is not the name of a chart", d.mask(h.Chart))
			n.Why = "with repo, chart is the chart's name there"
			d.add(n, v)
		}
	case scheme == "oci://":
		d.ociURL(v, h.Chart)
	case scheme != "":
		n := diag.Errorf("invalid-url", "%s is not supported, a chart is a path, oci://REGISTRY/REPOSITORY, or a name with repo", d.mask(scheme))
		if scheme == "file://" {
			n.Fix = "write the path alone"
		}
		d.add(n, v)
	case filepath.IsAbs(h.Chart), h.Chart == ".", h.Chart == "..", strings.HasPrefix(h.Chart, "./"),
		strings.HasPrefix(h.Chart, "../"), strings.HasSuffix(h.Chart, ".tgz"):
		local = true
		d.place(v, h.Chart, "path", absoluteFix)
	default:
		n := diag.Errorf("invalid-chart", "%q names no chart", d.mask(h.Chart))
		n.Fix = "write ./" + d.mask(h.Chart) + " for a directory, or give repo for a chart of a repository"
		d.add(n, v)
	}
	if version, ok := seen["version"]; ok && local {
		n := diag.Errorf("not-supported", "a chart on disk has the version it has")
		n.Fix = "leave version out, or pin the chart by digest"
		d.add(n, version)
	}
}

func (d *decoder) kustomize(v cue.Value) *v1alpha1.KustomizeSource {
	out := &v1alpha1.KustomizeSource{Pos: d.apiPos(v), Dir: d.p.cwd}
	hasPath := false
	for _, f := range d.fields(v, kustomizeFields) {
		s, ok := d.str(f.value)
		switch f.name {
		case "path":
			hasPath = true
			out.Path, out.Pos, out.Dir = s, d.apiPos(f.value), d.dir(f.value)
		case "root":
			out.Root = s
		case "digest":
			out.Digest = d.digest(f.value, s, ok)
			continue
		}
		switch {
		case !ok:
		case s == "":
			d.errorf(f.value, "invalid-path", "%s is empty", f.name)
		case schemeRule.MatchString(s):
			n := diag.Errorf("invalid-path", "%s is a directory, not a url", f.name)
			n.Why = "remote bases are not fetched"
			d.add(n, f.value)
		default:
			d.place(f.value, s, "path", absoluteFix)
		}
	}
	if !hasPath && d.is(v, cue.StructKind, "a struct") {
		d.require(v, "path")
	}
	return out
}

func (d *decoder) manifests(v cue.Value) *v1alpha1.ManifestsSource {
	out := &v1alpha1.ManifestsSource{Pos: d.apiPos(v), Dir: d.p.cwd}
	seen := map[string]cue.Value{}
	for _, f := range d.fields(v, manifestsFields) {
		seen[f.name] = f.value
		if f.name == "paths" {
			out.Paths, out.Pos, out.Dir = d.strings(f.value), d.apiPos(f.value), d.dir(f.value)
			continue
		}
		s, ok := d.str(f.value)
		switch f.name {
		case "url":
			out.URL = s
		case "version":
			if out.Version, out.VersionPos = s, d.apiPos(f.value); ok {
				d.version(f.value, s, true)
			}
		case "digest":
			out.Digest, out.DigestPos = d.digest(f.value, s, ok), d.apiPos(f.value)
		}
	}
	fetched := seen["url"].Exists()
	if paths, ok := seen["paths"]; ok {
		d.manifestPaths(paths, fetched)
	}
	switch {
	case fetched:
		out.Pos = d.apiPos(seen["url"])
		d.manifestsURL(v, out, seen)
	case !d.is(v, cue.StructKind, "a struct"):
	case !seen["paths"].Exists():
		n := diag.Errorf("missing-field", "paths or url is required")
		d.add(n, v)
	}
	for _, name := range []string{"version", "digest"} {
		if at, ok := seen[name]; ok && !fetched {
			d.errorf(at, "not-supported", "%s is for manifests with a url", name)
		}
	}
	return out
}

// manifestPaths checks the paths and globs; with a url they are below what is fetched.
func (d *decoder) manifestPaths(v cue.Value, fetched bool) {
	items, _ := d.list(v)
	if items != nil && len(items) == 0 {
		d.errorf(v, "invalid-path", "paths is empty")
	}
	for _, item := range items {
		s, ok := d.str(item)
		if !ok {
			continue
		}
		_, err := path.Match(s, "")
		switch {
		case s == "" || err != nil:
			d.errorf(item, "invalid-path", "%q is no path or glob", d.mask(s))
		case schemeRule.MatchString(s):
			n := diag.Errorf("invalid-path", "paths are files, directories and globs, not urls")
			n.Fix = "write it as url"
			d.add(n, item)
		case fetched && (filepath.IsAbs(s) || slices.Contains(strings.Split(s, "/"), "..")):
			d.errorf(item, "invalid-path", "%q leads out of what url fetches", d.mask(s))
		case !fetched:
			d.place(item, s, "path", absoluteFix)
		}
	}
}

// manifestsURL checks what is fetched: from the web by digest only, from a registry by version or digest.
func (d *decoder) manifestsURL(v cue.Value, m *v1alpha1.ManifestsSource, seen map[string]cue.Value) {
	at := seen["url"]
	if _, ok := d.str(at); !ok {
		return
	}
	switch scheme := schemeRule.FindString(m.URL); scheme {
	case "oci://":
		d.ociURL(at, m.URL)
		if !seen["version"].Exists() && !seen["digest"].Exists() {
			n := diag.Errorf("missing-field", "version or digest is required")
			n.Why = "latest is understood for modules only"
			d.add(n, v)
		}
	case "https://":
		d.webURL(at, "url", m.URL, "https://")
		if !seen["digest"].Exists() {
			n := diag.Errorf("missing-field", "digest is required")
			n.Why = "what a url answers can change"
			d.add(n, v)
		}
		if version, ok := seen["version"]; ok {
			d.errorf(version, "not-supported", "version is for oci:// only")
		}
	case "http://":
		d.errorf(at, "invalid-url", "http:// is not safe, url starts with https:// or oci://")
	case "", "file://":
		n := diag.Errorf("invalid-url", "url starts with https:// or oci://")
		n.Fix = "local files are paths: [...]"
		d.add(n, at)
	default:
		d.errorf(at, "invalid-url", "%s is not supported, url starts with https:// or oci://", d.mask(scheme))
	}
}
