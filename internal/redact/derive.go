package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What templates commonly take out of a value: the password of an address without a scheme (root:PW@tcp(...)), the values
// of KEY=value lines, the items of a list with commas.
var (
	userPassword = regexp.MustCompile(`(?:^|[\s,;=/])[^\s:/@,;=]+:([^\s@/]+)@`)
	assignment   = regexp.MustCompile(`(?m)^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*=(.+)$`)
)

// derivedFrom are the texts that ordinary templates make of a value by taking it apart; depth bounds base64 in base64.
func derivedFrom(value string, depth int) []string {
	var out []string
	add := func(text string) {
		if text = strings.Trim(strings.TrimSpace(text), `"'`); telling(text) && text != value {
			out = append(out, text)
		}
	}
	for _, m := range userPassword.FindAllStringSubmatch(value, maxForms) {
		add(m[1])
	}
	for _, m := range assignment.FindAllStringSubmatch(value, maxForms) {
		add(m[1])
	}
	if items := strings.Split(value, ","); len(items) > 1 && len(items) <= maxForms && !strings.ContainsAny(value, "{}[]\n") {
		for _, item := range items {
			if item = strings.TrimSpace(item); len(item) >= shortestCased {
				add(item)
			}
		}
	}
	if text, ok := decodedText(value); ok && depth > 0 {
		out = append(out, text)
		if _, password, pair := strings.Cut(text, ":"); pair && !strings.ContainsAny(text, " \n/") {
			add(password) // the auth of a registry
		}
		out = append(out, leavesOf(text)...)
		out = append(out, derivedFrom(text, depth-1)...)
	}
	return out
}

// decodedText is a value in base64 as the text it stands for; words that only look like base64 give none.
func decodedText(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if len(value) < shortestCased || strings.ContainsAny(value, " \t") {
		return "", false
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		data, err := enc.DecodeString(value)
		if err != nil || len(data) < shortest || !utf8.Valid(data) {
			continue
		}
		odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) }
		if text := string(data); !strings.ContainsFunc(text, odd) {
			return text, true
		}
	}
	return "", false
}
