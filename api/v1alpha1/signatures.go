package v1alpha1

import (
	"fmt"
	"regexp"
	"strings"
)

// Signatures say which content from elsewhere must be signed, and by whom.
type Signatures struct {
	// TrustedRoot is a file with the authorities and logs that identities are checked with (trusted_root.json), relative to
	// Dir; "" = those of the public Sigstore.
	TrustedRoot string `json:"trustedRoot,omitempty" hawser:"dir,format=fleetPath"`
	// Required are the rules. Content that several match must be signed as each of them says.
	Required []SignatureRule `json:"required" hawser:"required,empty=invalid-rule"`
	// Dir is the directory of the file that holds TrustedRoot.
	Dir string   `json:"-"`
	Pos Position `json:"-"`
}

// SignatureRule is one rule: content whose place matches a pattern of Sources and none of Except must be signed by one of By.
type SignatureRule struct {
	// Sources and Except are patterns of REGISTRY/REPOSITORY: * matches within a part of the path, ** across parts. A REGISTRY
	// by itself is everything it has.
	Sources []string   `json:"sources" hawser:"required,format=place,empty=invalid-rule"`
	Except  []string   `json:"except,omitempty" hawser:"format=place"`
	By      []SignedBy `json:"by" hawser:"required,empty=invalid-rule"`
	Pos     Position   `json:"-"`
}

// SignedBy is a signer: a key, or the identity and the issuer of a certificate, each as a text or a regular expression.
type SignedBy struct {
	// Key is a file with a public key (PEM), relative to Dir.
	Key            string `json:"key,omitempty" hawser:"dir,format=fleetPath"`
	Identity       string `json:"identity,omitempty"`
	IdentityRegexp string `json:"identityRegexp,omitempty"`
	Issuer         string `json:"issuer,omitempty"`
	IssuerRegexp   string `json:"issuerRegexp,omitempty"`
	// TransparencyLog wants what the key signed to be in a log of the trusted root. With identities it always is.
	TransparencyLog bool     `json:"transparencyLog,omitempty"`
	Dir             string   `json:"-"`
	Pos             Position `json:"-"`
}

// maxExpression bounds a regular expression of a signer.
const maxExpression = 4096

// Problem says what is wrong with the description of a signer, "" when nothing is.
func (s SignedBy) Problem() string {
	identity, issuer := s.Identity+s.IdentityRegexp, s.Issuer+s.IssuerRegexp
	switch {
	case s.Key != "" && identity+issuer != "":
		return "there are a key and an identity: each is a signer of its own"
	case s.Key != "":
		return ""
	case identity == "" && issuer == "":
		return "there is neither a key nor an identity"
	case identity == "":
		return "there is an issuer without an identity: whoever the issuer knows would do"
	case issuer == "":
		return "there is an identity without an issuer: any issuer could claim it"
	case s.Identity != "" && s.IdentityRegexp != "" || s.Issuer != "" && s.IssuerRegexp != "":
		return "identity and issuer are each a text or a regular expression, not both"
	}
	for i, pattern := range []string{s.IdentityRegexp, s.IssuerRegexp} {
		if len(pattern) > maxExpression { // what it takes to read one grows with its square
			return fmt.Sprintf("%s has more than %d bytes: write several signers", []string{"identityRegexp", "issuerRegexp"}[i], maxExpression)
		}
		if _, err := regexp.Compile(pattern); err != nil { // by itself: one that closes our parenthesis is none
			return "a regular expression is wrong: " + err.Error()
		}
	}
	return ""
}

// CheckPlace says what is wrong with a pattern of places, "" when nothing is.
func CheckPlace(pattern string) string {
	host, _, _ := strings.Cut(pattern, "/")
	switch {
	case pattern == "":
		return "it is empty"
	case strings.Contains(pattern, "://"):
		return "it has a scheme; write REGISTRY/REPOSITORY"
	case strings.HasPrefix(pattern, "/") || strings.HasSuffix(pattern, "/") || strings.Contains(pattern, "//"):
		return "a part between slashes is empty"
	case strings.Contains("/"+pattern+"/", "/./") || strings.Contains("/"+pattern+"/", "/../"):
		return "a part between slashes is . or .."
	case strings.Contains(pattern, "@") || strings.ContainsAny(pattern[len(host):], ":"):
		return "it has a tag or a digest; all versions of a repository are meant"
	case strings.ContainsAny(pattern, "[]{}?\\ \t"):
		return "only * and ** are understood"
	}
	return ""
}
