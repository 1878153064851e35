package redact

import (
	"regexp"
	"strings"
)

// Headers of requests that were signed, as a server may give them back: who signed, and the signature, which lets others send the same
// request for a while.
var (
	signed    = regexp.MustCompile(`\b(?:Credential=([^\s/,;&"'<>\\]+)|Signature=([^\s,;&"'<>\\]+))`)
	sharedKey = regexp.MustCompile(`\bSharedKey(?:Lite)?\s+[^\s:]+:([A-Za-z0-9+/]{43}=)`)
)

// headerSpans adds what authenticates in the signed requests of a text: of Amazon's and Google's form, and Azure's.
func headerSpans(text string, out []span) []span {
	if strings.Contains(text, "AWS4-") || strings.Contains(text, "GOOG4-") {
		for _, m := range signed.FindAllStringSubmatchIndex(text, -1) {
			out = append(out, span{max(m[2], m[4]), m[1]})
		}
	}
	if strings.Contains(text, "SharedKey") {
		for _, m := range sharedKey.FindAllStringSubmatchIndex(text, -1) {
			out = append(out, span{m[2], m[3]})
		}
	}
	return out
}
