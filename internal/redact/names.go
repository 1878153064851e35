package redact

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// keptAuth is where Docker's configuration and npm's keep a user and a password in base64: "auth": "B64", _auth=B64.
var keptAuth = lazyregexp.New(`(?i)(?:^|[^A-Za-z0-9])auth[\\"']*\s*[=:]\s*[\\"']*([A-Za-z0-9+/_-]+=*)`)

// otherPass are words that end as a name of a password does, and are none.
var otherPass = strings.NewReplacer("compass", "", "bypass", "")

// partsOfNames are what one of is in each that named finds, and partsOfPlaces what is in the first of what placed finds, in small letters: they are
// found faster.
var partsOfNames, partsOfPlaces = []string{"pass", "pw", "secret", "token", "credential", "authorization", "key"}, []string{"password", ":", "-u"}

// Names reports whether a text is a configuration that says of something in it that it is a password, as the Redactor reads one: by its
// name, in JSON, YAML, lines or lists of NAME=VALUE, or by its place (.netrc, .pgpass, curl -u, the auth of a registry).
// What is nothing (password: null), or goes on as a document of its own (secret: {name: x}), is none.
func Names(text string) bool {
	text = otherPass.Replace(text)
	lower := Lower(text)
	has := func(part string) bool { return strings.Contains(lower, part) }
	var names [][]int
	if slices.ContainsFunc(partsOfNames, has) {
		names = smallNamed.FindAllStringIndex(lower, maxForms)
	}
	for _, at := range names {
		rest, _, _ := strings.Cut(text[at[1]:min(len(text), at[1]+longestNamed)], "\n")
		quoted := strings.TrimLeft(rest, `\`)
		if strings.HasPrefix(quoted, `"`) || strings.HasPrefix(quoted, "'") {
			inside, _, _ := strings.Cut(quoted[1:], quoted[:1])
			rest = strings.TrimRight(inside, `\`)
		} else if strings.Contains(text[at[0]:at[1]], "\n") {
			continue // a map of its own
		} else if end := strings.IndexAny(rest, ";&, \t\r}])\"'"); end >= 0 {
			rest = rest[:end]
		}
		if rest = bare(rest); !harmless(rest) && !strings.ContainsAny(rest[:1], "{[") {
			return true
		}
	}
	for i, place := range placed[:3] {
		if !has(partsOfPlaces[i]) {
			continue
		}
		for _, m := range place.FindAllStringSubmatch(text, maxForms) {
			_, number := numberOf(bare(m[1]))
			if address := strings.Trim(m[0], "0123456789abcdefABCDEF:.") == ""; !number && !address && !harmless(bare(m[1])) {
				return true
			}
		}
	}
	if !has("auth") {
		return false
	}
	for _, m := range keptAuth.FindAllStringSubmatch(text, maxForms) {
		if decoded, ok := decodedText(m[1]); ok && strings.Contains(decoded, ":") {
			return true
		}
	}
	return false
}

// Lower is a text with small letters of ASCII for its capitals: all else is as it is, and where it is.
func Lower(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// Decoded is a text in base64 as the text it stands for; words that only look like base64 give none.
func Decoded(text string) (string, bool) { return decodedText(text) }
