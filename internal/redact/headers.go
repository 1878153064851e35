package redact

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Headers of requests that were signed, as a server may give them back: who signed, and the signature, which lets others send the same
// request for a while.
var (
	signed    = lazyregexp.New(`(?i)\b(?:Credential=([^\s/,;&"'<>\\]+)|Signature=([^\s,;&"'<>\\]+))`)
	sharedKey = lazyregexp.New(`(?i)\bSharedKey(?:Lite)?[\s+]+[^\s:]+:([A-Za-z0-9+/]{43}=)`)
)

// headerSpans adds what authenticates in the signed requests of a text: of Amazon's and Google's form, and Azure's, in any case, and
// however they are escaped.
func headerSpans(text string, out []span) []span {
	amazon, azure := ofHeader(text, "4-", "AWS4-", "GOOG4-"), ofHeader(text, "hared", "SharedKey")
	if !amazon && !azure {
		return out
	}
	place := func(i int) int { return i }
	for range derivedDepth + 1 {
		if amazon {
			for _, m := range signed.FindAllStringSubmatchIndex(text, -1) {
				out = append(out, span{place(max(m[2], m[4])), place(m[1])})
			}
		}
		if azure {
			for _, m := range sharedKey.FindAllStringSubmatchIndex(text, -1) {
				out = append(out, span{place(m[2]), place(m[3])})
			}
		}
		plain, at := unescape(text)
		if at == nil {
			break
		}
		before := place
		text, place = plain, func(i int) int { return before(at[i]) }
	}
	return out
}

// ofHeader reports whether a text has one of the words, in any case; part is one of each of them.
func ofHeader(text, part string, words ...string) bool {
	if !strings.Contains(text, part) && !strings.Contains(text, strings.ToUpper(part)) {
		return false
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, strings.ToLower(word)) })
}
