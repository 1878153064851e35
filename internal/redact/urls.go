package redact

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// userInfo finds the user and password of a URL; over HTTP a user alone is a token. It goes to the last @ of the authority, as a password that nobody
// escaped may have some, and past a slash where what stands before it is no host with a port.
var userInfo = lazyregexp.New(`\b((?:https?|oci|chart\+https?)://)(?:` + untilAt + `|[^/:@\s"'<>]*:` + pastSlash + `)|` +
	`\b([a-zA-Z][a-zA-Z0-9+.-]*://[^/:@\s"'<>]*:)(?:` + untilAt + `|` + pastSlash + `)`)

const (
	untilAt   = `[^/@\s"'<>]+(?:@[^/@\s"'<>\\]*)*@`
	pastSlash = `[^/@\s"'<>]*[^0-9/@\s"'<>][^/@\s"'<>]*/[^@\s"'<>]*@`
)

// Addresses masks in a text, without knowing any value, what authenticates in the addresses that stand in it: a user's password (over HTTP the
// user, too), and the values of parameters that say so.
func Addresses(text string) string { return hide(text, userSpans(text, nil)) }

// Credentials masks what Addresses does, but for a value that may as well choose what an address gives: a plain word after a parameter whose name
// says little (key=stable, code=eu). Addresses that are told apart by it stay so.
func Credentials(text string) string {
	return hide(text, slices.DeleteFunc(userSpans(text, nil), func(s span) bool { return chooses(text, s) }))
}

// Carried are the credentials in the addresses of a text, as Credentials masks them.
func Carried(text string) (out []string) {
	for _, s := range userSpans(text, nil) {
		if !chooses(text, s) {
			out = append(out, text[s.from:s.to])
		}
	}
	return out
}

// userSpans adds what authenticates in the URLs of a text: all of the user part over HTTP, else the password, and in queries; and in headers.
func userSpans(text string, out []span) []span {
	out = headerSpans(text, querySpans(text, out))
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return out
	}
	for _, m := range userInfo.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, span{max(m[3], m[5]), m[1] - 1})
	}
	return out
}
