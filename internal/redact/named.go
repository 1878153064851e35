package redact

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Where configurations say that what follows is a password: by its name (Password=PW;, password: "PW", AccountKey=PW;, Authorization:
// Bearer PW), or by its place (.netrc, .pgpass, curl -u, an address with a user).
var (
	named, smallNamed = lazyregexp.New(`(?i)` + nameForm), lazyregexp.New(nameForm)
	placed            = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\b(?:login|account)\s+\S+\s+password\s+(\S+)`),
		lazyregexp.New(`(?m)^[^:\s]+:(?:\d+|\*):[^:\n]+:[^:\n]+:(.+)$`),
		lazyregexp.New(`(?:^|\s)(?:-u|--user)[\s=]["']?[^\s:"']+:([^\s"']+)`),
		lazyregexp.New(`(?i)\b(?:bearer|basic)\s+([^\s"',;]+)`),
		lazyregexp.New(`(?:^|[\s,;="'/])[^\s:/@,;="']+:([^/\s]\S*)@`),
	}
)

// nameForm is the name of a password, in small letters, and what is between it and the password.
const nameForm = `(?:passw(?:or[dt]|d)|\bpw|[_-]pw|passphrase|pwd|pass|secret|token|credentials?|authorization|` +
	`(?:api|access|account|private|signing|encryption|auth|client|shared)[-_.]?key)[\\"']*\s*[=:]\s*`

// longestNamed bounds how much is looked at of what follows a name.
const longestNamed = 4 << 10

// passwords are what a text names as passwords, as far as they may reach: to the end of the quotes or the line, and to each of the
// characters that may end it. Words are among them: a password may be one.
func passwords(text string) []string {
	var out []string
	add := func(text string) {
		if text = bare(text); len(text) >= shortest && !harmless(text) {
			out = append(out, text)
		}
	}
	for _, at := range named.FindAllStringIndex(text, maxForms) {
		rest, _, _ := strings.Cut(text[at[1]:min(len(text), at[1]+longestNamed)], "\n")
		if quoted := strings.TrimLeft(rest, `\`); strings.HasPrefix(quoted, `"`) || strings.HasPrefix(quoted, "'") {
			inside, _, _ := strings.Cut(quoted[1:], quoted[:1])
			add(strings.TrimRight(inside, `\`))
			continue
		}
		if scheme, token, ok := strings.Cut(rest, " "); ok && isScheme(scheme) {
			rest = token
		}
		add(rest)
		for _, end := range []string{";", "&", ",", " ", "\t", "}", "\"", "'"} {
			if value, _, ends := strings.Cut(rest, end); ends {
				add(value)
			}
		}
	}
	for _, place := range placed {
		for _, m := range place.FindAllStringSubmatch(text, maxForms) {
			if len(m[1]) <= longestNamed {
				add(m[1])
			}
		}
	}
	return out
}

// isScheme reports whether a word says how a token authenticates, and is none.
func isScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey":
		return true
	}
	return false
}
