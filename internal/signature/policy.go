package signature

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
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
		f := diag.Errorf("signature-root", "the trusted root %s cannot be read", spec.TrustedRoot)
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
	var rules []Rule
	any := func(list []*regexp.Regexp) bool {
		return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return r.MatchString(place) })
	}
	for _, r := range p.Rules {
		if any(r.sources) && !any(r.except) {
			rules = append(rules, r)
		}
	}
	return rules
}

// Place is where a reference points as patterns see it: HOST/PATH without the scheme, the host in lower case and without
// a port that says nothing, so that one place has one spelling. elsewhere is false for local content.
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
	host = strings.TrimSuffix(strings.ToLower(host), map[string]string{"http": ":80"}[scheme])
	if scheme != "http" {
		host = strings.TrimSuffix(host, ":443")
	}
	host = strings.TrimSuffix(host, ".")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	below = path.Clean("/" + below)
	if ref.Chart != "" {
		below = path.Join(below, ref.Chart)
	}
	return host + strings.TrimSuffix(below, "/"), true
}

// compile makes a pattern a regular expression: * is anything within a part of the path, ** anything at all.
func compile(pattern string) *regexp.Regexp {
	host, rest, _ := strings.Cut(pattern, "/")
	host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ".")
	if rest != "" {
		host += "/" + rest
	}
	var b strings.Builder
	b.WriteString(`\A`)
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
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}
