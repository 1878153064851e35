package document

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/specdecode"
)

// formats are those that the types' tags name, and what is said about a text that has not its field's.
var formats = map[string]specdecode.Format{
	"apiVersion": {Check: isAPIVersion},

	"bundleName":   isName("the name of a bundle"),
	"instanceName": isName("the name of an instance"),
	"fleetName":    isName("the name of a fleet"),
	"clusterName":  isName("the name of a cluster"),
	"storeName":    isName("the name of a secret store"),
	"releaseName":  {Check: isReleaseName},
	"namespace":    {Check: isNamespace},
	"group":        matches(groupNameRule, "invalid-name", "%q cannot be the name of a group"),
	"variable":     {Check: isVariable},

	"glob":      {Check: isGlob},
	"place":     {Check: isPlace},
	"fieldPath": {Check: isFieldPath},
	"apiGroup":  {Check: isAPIGroup},
	"kind":      matches(kindRule, "invalid-rule", "%q cannot be a kind"),
	"effect":    {Check: isEffect},

	"moduleURL":    {Check: isModuleURL},
	"repository":   {Check: func(d *reporter, f field, s string) { isWebURL(d, f, s, "https://", "http://") }},
	"version":      {Check: isVersion},
	"chartVersion": {Check: isChartVersion},
	"digest":       {Check: isDigest},
	"directory":    {Check: isDirectory},
	"fleetPath":    {Check: func(d *reporter, f field, s string) { isPlaced(d, f.Value, s, f.Name, absoluteFleetFix) }},
	"timeout":      {Check: isTimeout},

	"kubeContext": {Check: isKubeContext},
	"proxyURL":    {Check: isProxyURL},
	"query":       {Check: isQuery},
	"expression":  {Check: isExpression},
	"onFailure":   {Check: func(d *reporter, f field, s string) { d.AddAny(fleet.WrongOnFailure(s), f.Value) }},
	"approval":    {Check: func(d *reporter, f field, s string) { d.AddAny(fleet.WrongApproval(s), f.Value) }},
	"clusterCount": {Kind: func(n *diag.Finding, have cue.Kind) { // a share of the clusters has a word of its own
		if have == cue.StringKind {
			n.What, n.Why, n.Fix = "must be a number of clusters, is a string", "a share of the clusters cannot be said", "write for example 1"
		}
	}},

	"bucket":          problem(v1alpha1.CheckBucket),
	"gcsBucket":       problem(v1alpha1.CheckGCSBucket),
	"account":         problem(v1alpha1.CheckAccount),
	"container":       problem(v1alpha1.CheckContainer),
	"endpoint":        problem(v1alpha1.CheckEndpoint),
	"azureEndpoint":   problem(v1alpha1.CheckAzureEndpoint),
	"textOrReference": isReference(""),
	"secret":          isReference(diag.Warning),
	"reference":       isReference(diag.Error),
}

var (
	digestRule    = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	schemeRule    = lazyregexp.New(`^[a-z][a-z0-9+.-]*://`)
	ociRule       = lazyregexp.New(`^oci://[A-Za-z0-9.\-\[\]:]+(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)
	ociPinRule    = lazyregexp.New(`^oci://[^@]+?(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:.*)?$`)
	tagRule       = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	releaseRule   = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	groupRule     = releaseRule
	groupNameRule = lazyregexp.New(`^[^*?\[\],\\ \t\r\n]+$`)
	kindRule      = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
)

const (
	absoluteFix      = "write an absolute path, or give the bundle as a file"
	absoluteFleetFix = "write an absolute path, or give the fleet as a file"
)

// matches is the format of texts that an expression matches; the sentence quotes one that it does not.
func matches(rule *lazyregexp.Regexp, code, sentence string) specdecode.Format {
	return specdecode.Format{Check: func(d *reporter, f field, s string) {
		if !rule.MatchString(s) {
			d.Errorf(f.Value, code, sentence, d.Mask(s))
		}
	}}
}

// isName is Timoni's rule for names of bundles, instances and clusters.
func isName(what string) specdecode.Format {
	return matches(nameRule, "invalid-name", "%q cannot be "+what+": 1 to 63 lower-case letters, digits, '-', '_' and '.', "+
		"with a letter or digit at both ends")
}

// problem is the format of a store's texts in which a function finds no problem.
func problem(with func(string) string) specdecode.Format {
	return specdecode.Format{Check: func(d *reporter, f field, s string) {
		if p := with(s); p != "" {
			d.Errorf(f.Value, "invalid-store", "%s: %s", f.Name, p)
		}
	}}
}

// isReference is the format of a text that is secret: one that is no ref:// reference is a finding of a severity.
func isReference(plain diag.Severity) specdecode.Format {
	return specdecode.Format{Check: func(d *reporter, f field, s string) {
		if _, err := secret.ParseRef(s); err != nil && secret.IsRef(s) {
			d.Errorf(f.Value, "invalid-ref", "%v", err)
		} else if err != nil && plain != "" {
			n := diag.Finding{Severity: plain, Code: "plain-secret", What: f.Name + " stands in the file for everybody who may read it"}
			n.Fix = "put it into one of the fleet's secretStores, and name it: " + f.Name + ": ref://NAME"
			d.Add(n, f.Value)
		}
	}}
}

func isAPIVersion(d *reporter, f field, s string) {
	if s != v1alpha1.ShortAPIVersion {
		d.Errorf(f.Value, "wrong-version", "apiVersion must be %q, is %q", v1alpha1.ShortAPIVersion, d.Mask(s))
	}
}

func isNamespace(d *reporter, f field, s string) {
	if len(validation.IsDNS1123Label(s)) > 0 {
		n := diag.Errorf("invalid-name", "%q cannot be the name of a namespace", d.Mask(s))
		n.Why = "Kubernetes wants 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends"
		d.Add(n, f.Value)
	}
}

func isReleaseName(d *reporter, f field, s string) {
	if len(s) > 53 || !releaseRule.MatchString(s) {
		d.Errorf(f.Value, "invalid-name", "%q cannot be the name of a Helm release: 1 to 53 lower-case letters, digits, "+
			"'-' and '.', with a letter or digit at both ends", d.Mask(s))
	}
}

func isVariable(d *reporter, f field, s string) {
	if !fleet.ValidVar(s) {
		d.Errorf(f.Value, "invalid-name", "%q cannot name a runtime value: letters, digits, '-' and '_' only", s)
	}
}

func isGlob(d *reporter, f field, s string) {
	if err := fleet.CheckGlob(s); err != nil {
		d.Errorf(f.Value, "invalid-glob", "%q: %v", d.Mask(s), err)
	}
}

func isPlace(d *reporter, f field, s string) {
	if p := v1alpha1.CheckPlace(s); p != "" {
		d.Fixf(f.Value, "for example registry.example.com/modules/**", "invalid-glob", "%q: %s", d.Mask(s), p)
	}
}

// isFieldPath: a path in the documents' grammar.
func isFieldPath(d *reporter, f field, s string) {
	if strings.HasPrefix(s, "/") {
		d.Fixf(f.Value, "write "+strings.ReplaceAll(strings.Trim(d.Mask(s), "/"), "/", "."), "invalid-path", "path %q is a JSON pointer", d.Mask(s))
	} else if _, err := v1alpha1.ParsePath(s); err != nil {
		d.Errorf(f.Value, "invalid-path", "%s", d.Mask(err.Error()))
	}
}

func isAPIGroup(d *reporter, f field, s string) {
	if group, version, ok := strings.Cut(s, "/"); ok {
		d.Fixf(f.Value, "write "+d.Mask(group)+" without /"+d.Mask(version), "invalid-rule", "a group has no version")
	} else if s != "" && !groupRule.MatchString(s) {
		d.Errorf(f.Value, "invalid-rule", "%q cannot be the group of a kind", d.Mask(s))
	}
}

func isEffect(d *reporter, f field, s string) {
	if s != "NoSchedule" && s != "NoExecute" && s != "PreferNoSchedule" {
		d.Errorf(f.Value, "invalid-effect", "effect must be NoSchedule, PreferNoSchedule or NoExecute, is %q", d.Mask(s))
	}
}

func isModuleURL(d *reporter, f field, url string) {
	scheme := schemeRule.FindString(url)
	rest := strings.TrimPrefix(url, scheme)
	switch {
	case scheme == "file://" && rest == "":
		d.Errorf(f.Value, "invalid-url", "url names no directory")
	case scheme == "file://":
		isPlaced(d, f.Value, rest, "url", "write an absolute file:// url, or give the bundle as a file")
	case scheme == "oci://":
		isOCI(d, f.Value, url)
	case scheme == "":
		d.Fixf(f.Value, "file://./"+d.Mask(strings.TrimPrefix(url, "./"))+" for a directory, oci://REGISTRY/REPOSITORY for a registry",
			"invalid-url", "url has no scheme")
	default:
		d.Errorf(f.Value, "invalid-url", "%s is not supported, url starts with file:// or oci://", d.Mask(scheme))
	}
}

// isPlaced refuses a relative path that was read from standard input: it is relative to nothing.
func isPlaced(d *reporter, v cue.Value, path, what, fix string) {
	pos := cue.Dereference(v).Pos()
	if filepath.IsAbs(path) || !pos.IsValid() || pos.Filename() != stdinName {
		return
	}
	n := diag.Errorf("relative-from-stdin", "a relative %s cannot be read from standard input", what)
	n.Why, n.Fix = "it is relative to the file that holds it", fix
	d.Add(n, v)
}

// isOCI: oci://REGISTRY/REPOSITORY; versions and digests have fields of their own.
func isOCI(d *reporter, v cue.Value, s string) {
	if ociRule.MatchString(s) {
		return
	}
	n := diag.Errorf("invalid-url", "%q names no repository", d.Mask(s))
	n.Fix = "oci://REGISTRY/REPOSITORY, the repository in lower-case letters, digits and . _ - /"
	if m := ociPinRule.FindStringSubmatch(s); m != nil && ociRule.MatchString(strings.TrimSuffix(s, m[1]+m[2])) {
		n.What = "a url of a registry holds no tag and no digest"
		n.Fix = "write them as version and digest"
	}
	d.Add(n, v)
}

// isWebURL: a url of one of the schemes (with "://"), without a user's name and password.
func isWebURL(d *reporter, f field, s string, schemes ...string) {
	u, err := url.Parse(s)
	switch must := fmt.Sprintf("%s must be %s and a host", f.Name, strings.Join(schemes, " or ")); {
	case f.Name == "repo" && strings.HasPrefix(s, "oci://"):
		d.Fixf(f.Value, "a chart of a registry is written without repo: chart: oci://REGISTRY/PATH/CHART", "invalid-url", "%s", must)
	case err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme+"://"):
		d.Errorf(f.Value, "invalid-url", "%s", must)
	case u.User != nil:
		d.Fixf(f.Value, "leave it out: Docker's configuration (registry login) keeps them by host, or --creds HOST=USER:PASSWORD gives them", "invalid-url", "%s holds a user's name or password", f.Name)
	case u.Fragment != "":
		d.Errorf(f.Value, "invalid-url", "%s holds a fragment", f.Name)
	}
}

// isVersion: an exact version, a range of semantic versions, or any tag.
func isVersion(d *reporter, f field, s string) {
	if !tagRule.MatchString(s) && !isSemver(d, f, s) {
		d.Fixf(f.Value, `write for example 1.4.2, "1.x", ">=1.2 <2" or a tag`, "invalid-version", "%q is no version, tag or range", d.Mask(s))
	}
}

// isChartVersion: an exact version or a range of semantic versions.
func isChartVersion(d *reporter, f field, s string) {
	if !isSemver(d, f, s) {
		d.Fixf(f.Value, `charts have semantic versions: 1.4.2, "1.x", ">=1.2 <2"`, "invalid-version", "%q is no version or range", d.Mask(s))
	}
}

// isSemver reports whether nothing more is to be said about a version.
func isSemver(d *reporter, f field, s string) bool {
	if s == "" {
		d.Errorf(f.Value, "invalid-version", "version is empty")
		return true
	}
	if _, err := semver.NewVersion(s); err == nil {
		return true
	}
	_, err := semver.NewConstraint(s)
	return err == nil
}

func isDigest(d *reporter, f field, s string) {
	if !digestRule.MatchString(s) {
		d.Errorf(f.Value, "invalid-digest", "digest must be sha256: and 64 hexadecimal digits")
	}
}

func isDirectory(d *reporter, f field, s string) {
	if schemeRule.MatchString(s) {
		n := diag.Errorf("invalid-path", "%s is a directory, not a url", f.Name)
		n.Why = "remote bases are not fetched"
		d.Add(n, f.Value)
		return
	}
	isPlaced(d, f.Value, s, "path", absoluteFix)
}

// isTimeout is asked about durations only.
func isTimeout(d *reporter, f field, s string) {
	if t, err := time.ParseDuration(s); err == nil && t == 0 {
		d.Fixf(f.Value, "write wait: false to wait for nothing, or leave timeout out for the run's",
			"invalid-duration", "timeout must be more than %s", d.Mask(s))
	}
}

func isKubeContext(d *reporter, f field, s string) {
	if s == "" {
		noAccess(d, f.Value)
	}
}

func isProxyURL(d *reporter, f field, s string) {
	scheme, host, ok := strings.Cut(s, "://")
	if !ok || host == "" || !slices.Contains([]string{"http", "https", "socks5"}, scheme) {
		d.Errorf(f.Value, "invalid-url", "proxyURL must be http://, https:// or socks5:// and a host")
	}
}

func isQuery(d *reporter, f field, s string) {
	if _, err := fleet.ParseQuery(s); err != nil {
		d.Fixf(f.Value, "k8s:v1:ConfigMap:NAMESPACE:NAME, or k8s:v1:Namespace:NAME", "invalid-query", "%v", err)
	}
}

func isExpression(d *reporter, f field, s string) {
	if err := fleet.CheckExpr(s); err != nil {
		n := diag.Errorf("invalid-query", "the expression for %s is no CUE over obj", f.Name)
		n.Why = err.Error()
		d.Add(n, f.Value)
	}
}
