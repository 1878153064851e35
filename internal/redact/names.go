package redact

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// keptAuth is where Docker's configuration and npm's keep a user and a password in base64: "auth": "B64", _auth=B64.
var keptAuth = lazyregexp.New(`(?i)(?:^|[^A-Za-z0-9])auth[\\"']*\s*[=:]\s*[\\"']*([A-Za-z0-9+/_-]+=*)`)

// otherPass are words that end as a name of a password does, and are none.
var otherPass = strings.NewReplacer("compass", "", "bypass", "")

// Names reports whether a text is a configuration that says of something in it that it is a password, as the Redactor reads one: by its
// name, in JSON, YAML, lines or lists of NAME=VALUE, or by its place (.netrc, .pgpass, curl -u, the auth of a registry).
// What is nothing (password: null), or goes on as a document of its own (secret: {name: x}), is none.
func Names(text string) bool {
	text = otherPass.Replace(text)
	for _, at := range named.FindAllStringIndex(text, maxForms) {
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
	for _, place := range placed[:3] {
		for _, m := range place.FindAllStringSubmatch(text, maxForms) {
			_, number := numberOf(bare(m[1]))
			if address := strings.Trim(m[0], "0123456789abcdefABCDEF:.") == ""; !number && !address && !harmless(bare(m[1])) {
				return true
			}
		}
	}
	for _, m := range keptAuth.FindAllStringSubmatch(text, maxForms) {
		if decoded, ok := decodedText(m[1]); ok && strings.Contains(decoded, ":") {
			return true
		}
	}
	return false
}

// Decoded is a text in base64 as the text it stands for; words that only look like base64 give none.
func Decoded(text string) (string, bool) { return decodedText(text) }
