package redact

import (
	"net/url"
	"slices"
	"strings"
)

// What the names of parameters are that authenticate, in small letters and without what parts their words: whole, and the ends of longer ones
// (X-Amz-Security-Token, X-Goog-Signature, client_secret).
var (
	authNames = []string{"sig", "pwd", "pass", "key", "code", "auth", "authorization", "bearer", "jwt", "sas"}
	authEnds  = []string{"token", "signature", "password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey", "privatekey",
		"accountkey", "sharedkey", "authkey", "functionkey", "subscriptionkey"}
)

// doubtfulNames are those of them that are also given to what is no secret.
var doubtfulNames = []string{"key", "code", "auth"}

// urlEnds are the characters at which a URL in a text ends; a backslash begins an escape of the language around.
const urlEnds = " \t\r\n\v\f\"'`<>|\\"

// smallAnd is how JSON writes & for HTML.
const smallAnd = `\u0026`

// Authenticates reports whether an address in a text has a parameter in its query or fragment by which its bearer is known.
func Authenticates(text string) bool { return len(querySpans(text, nil)) > 0 }

// querySpans adds the values of such parameters, of all addresses with a path in a text.
func querySpans(text string, out []span) []span {
	if !strings.ContainsAny(text, "?#;") || !strings.Contains(text, "=") {
		return out
	}
	for from := 0; ; {
		i := strings.IndexAny(text[from:], "?#;")
		if i < 0 {
			return out
		}
		i += from
		start := from + strings.LastIndexAny(text[from:i], urlEnds) + 1
		if !strings.Contains(text[start:i], "/") {
			from = i + 1
			continue
		}
		end := urlEnd(text, i)
		out = paramSpans(text[:end], i, out)
		from = end
	}
}

// urlEnd is where a URL ends that goes on at a place.
func urlEnd(text string, at int) int {
	for at < len(text) {
		n := strings.IndexAny(text[at:], urlEnds)
		if n < 0 {
			return len(text)
		}
		if at += n; !hasSmallAnd(text[at:]) {
			return at
		}
		at += len(smallAnd)
	}
	return at
}

func hasSmallAnd(text string) bool {
	return len(text) >= len(smallAnd) && strings.EqualFold(text[:len(smallAnd)], smallAnd)
}

// paramSpans adds the values of a query that begins at a place and ends with the text. A value ends where another parameter begins; in one
// that does not authenticate another address may stand.
func paramSpans(text string, at int, out []span) []span {
	for at < len(text) {
		switch {
		case strings.IndexByte("?#&;", text[at]) >= 0:
			at++
		case hasSmallAnd(text[at:]):
			at += len(smallAnd)
		default:
			at++
			continue
		}
		n := strings.IndexAny(text[at:], "=?#&;\\")
		if n < 0 {
			return out
		}
		if at += n; text[at] != '=' || !authName(text[at-n:at]) {
			continue
		}
		at++
		end := at
		for end < len(text) && text[end] != '&' && text[end] != '#' && text[end] != '\\' {
			end++
		}
		if value := strings.TrimRight(text[at:end], ".,;:!)]}"); value != "" {
			out = append(out, span{at, at + len(value)})
		}
		at = end
	}
	return out
}

// chooses reports whether what was taken for the value of a parameter that authenticates may be none: by its name, and as words are.
func chooses(text string, value span) bool {
	if value.from == 0 || text[value.from-1] != '=' || strengthOf(text[value.from:value.to]) == unmistakable {
		return false
	}
	name := text[:value.from-1]
	name = name[strings.LastIndexAny(name, "?#&;")+1:]
	return slices.Contains(doubtfulNames, strings.ToLower(name))
}

// longestParam bounds what is taken for a parameter's name.
const longestParam = 100

func authName(name string) bool {
	if len(name) > longestParam {
		return false
	}
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
	return slices.Contains(authNames, name) || slices.ContainsFunc(authEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}
