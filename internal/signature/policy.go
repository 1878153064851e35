package signature

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/module"
)

// Rule is what must be signed, and by whom.
type Rule struct {
	sources, except []*regexp.Regexp
	// By are the signers, of whom one is enough. Where says who asks for it: a position, or a flag.
	By    []Signer
	Where string
}

// Policy is the rules of a fleet. A nil one wants nothing.
type Policy struct {
	Rules []Rule
	Root  Root
}

// New reads the policy of a fleet with its keys; nil has none. Errors are *diag.FindingsError.
func New(spec *v1alpha1.Signatures) (*Policy, error) {
	if spec == nil {
		return nil, nil
	}
	root, err := ReadRoot(spec.Dir, spec.TrustedRoot)
	if err != nil {
		f := diag.Errorf("signature-root", "the trusted root %s cannot be read", misplaced.Shown(spec.TrustedRoot))
		f.Why, f.Pos = err.Error(), diag.Pos(spec.Pos)
		return nil, diag.Findings{f}.Err()
	}
	p := &Policy{Root: root}
	for _, r := range spec.Required {
		rule := Rule{Where: diag.Pos(r.Pos).String()}
		for _, list := range []struct {
			patterns []string
			to       *[]*regexp.Regexp
		}{{r.Sources, &rule.sources}, {r.Except, &rule.except}} {
			for _, pattern := range list.patterns {
				*list.to = append(*list.to, compile(pattern))
			}
		}
		for _, by := range r.By {
			s, err := Read(by)
			if err != nil {
				return nil, err
			}
			s.Whole = true
			rule.By = append(rule.By, s)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// For are the rules for a reference. Local content has none: it is what it is.
func (p *Policy) For(ref module.Reference) []Rule {
	place, elsewhere := Place(ref)
	if p == nil || !elsewhere {
		return nil
	}
	names := spellings(place, strings.HasPrefix(strings.TrimPrefix(ref.URL, module.ChartScheme), "http://"))
	var rules []Rule
	any := func(list []*regexp.Regexp) bool {
		return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return slices.ContainsFunc(names, r.MatchString) })
	}
	for _, r := range p.Rules {
		if any(r.sources) && !any(r.except) {
			rules = append(rules, r)
		}
	}
	return rules
}

// Unsignable is why nothing may be taken from a reference: a rule asks for a signature where there can be none. nil where none does, and of
// artifacts, which are verified.
func (p *Policy) Unsignable(ref module.Reference) error {
	rules := p.For(ref)
	if len(rules) == 0 || strings.HasPrefix(ref.URL, module.SchemeOCI) {
		return nil
	}
	place, _ := Place(ref)
	f := diag.Errorf("signature-impossible", "%s must be signed, and what comes from there cannot be", place)
	f.Why = rules[0].Where + " asks for a signature; only artifacts in OCI registries have them"
	f.Fix = "take it from an OCI registry, or leave the place out of the rule with except"
	return diag.Findings{f}.Err()
}

// Place is where a reference points: HOST/PATH without the scheme, the host in lower case and without a port that says
// nothing, so that one place has one spelling. elsewhere is false for local content.
func Place(ref module.Reference) (place string, elsewhere bool) {
	text := strings.TrimPrefix(ref.URL, module.ChartScheme)
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "file" || strings.HasPrefix(scheme, "oci-") { // layouts are files
		return text, false
	}
	host, below, _ := strings.Cut(rest, "/")
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		host, below = u.Host, u.Path
	}
	host, port := hostOf(host)
	if port != usualPort(scheme == "http") {
		host += port
	}
	if slices.Contains(dockerHub, host) {
		host = dockerHub[0]
	}
	if scheme == "oci" {
		if end := strings.IndexAny(below, ":@"); end >= 0 { // all tags and digests of a repository are one place
			below = below[:end]
		}
	}
	below = path.Clean("/" + below)
	if ref.Chart != "" {
		below = path.Join(below, ref.Chart)
	}
	return host + strings.TrimSuffix(below, "/"), true
}

// dockerHub are the names of one registry.
var dockerHub = []string{"docker.io", "index.docker.io", "registry-1.docker.io"}

// spellings are all the ways to write a place, of which a pattern may have any: a wildcard in a pattern stands for what
// the user sees, so the pattern cannot be brought into one form. plain: it is spoken to without TLS.
func spellings(place string, plain bool) []string {
	host, below, _ := strings.Cut(place, "/")
	hosts, paths := []string{host}, []string{below}
	if host == dockerHub[0] {
		hosts = dockerHub
		if short, ok := strings.CutPrefix(below, "library/"); ok {
			paths = append(paths, short)
		} else if !strings.Contains(below, "/") {
			paths = append(paths, "library/"+below)
		}
	}
	var out []string
	for _, h := range hosts {
		for _, p := range paths {
			out = append(out, h+"/"+p)
			if _, port := hostOf(h); port == "" {
				out = append(out, h+usualPort(plain)+"/"+p)
			}
		}
	}
	return out
}

// usualPort is the port that says nothing.
func usualPort(plain bool) string {
	if plain {
		return ":80"
	}
	return ":443"
}

// hostOf is a host as it is compared, with the port (":5000") that stands behind it.
func hostOf(text string) (host, port string) {
	host = strings.ToLower(text)
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i:]
	}
	if port = strings.TrimLeft(port, ":0"); port != "" {
		port = ":" + port
	}
	return strings.TrimSuffix(host, "."), port
}

// compile makes a pattern a regular expression for spellings: * is anything within a part of the path, ** anything at all,
// and a host by itself everything it has.
func compile(pattern string) *regexp.Regexp {
	expr := expression(pattern)
	if !strings.Contains(pattern, "/") {
		expr += "|" + expression(strings.ReplaceAll(pattern, "**", "*")+"/**")
	}
	return regexp.MustCompile(`\A(?:` + expr + `)\z`)
}

func expression(pattern string) string {
	host, below, sub := strings.Cut(pattern, "/")
	if before, after, across := strings.Cut(host, "**"); across { // what follows may be of a path, where letter case counts
		host = strings.ToLower(before) + "**" + after
	} else {
		name, port := hostOf(host)
		host = name + port
	}
	if sub {
		host += "/" + below
	}
	var b strings.Builder
	for i, across := range strings.Split(host, "**") {
		if i > 0 {
			b.WriteString(".*")
		}
		for j, within := range strings.Split(across, "*") {
			if j > 0 {
				b.WriteString("[^/]*")
			}
			b.WriteString(regexp.QuoteMeta(within))
		}
	}
	return b.String()
}
