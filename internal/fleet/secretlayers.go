package fleet

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/redact"
)

// longestEncoded is how often a text may be encoded, one around the other, that is looked into.
const longestEncoded = 4

// shortestEncoded is how long a word of a text is that is decoded by itself; most words are as many as are judged one by one.
const shortestEncoded, mostWords = 16, 16

// secretForm reports whether a text is a secret by its form, also in base64 or percent-encoded, of which a part may be.
func secretForm(text string) bool { return secretWithin(text, longestEncoded) }

func secretWithin(text string, deep int) bool {
	text = strings.TrimSpace(text)
	if secretPlain(text) {
		return true
	}
	if deep--; deep <= 0 {
		return false
	}
	if plain, ok := unescaped(text); ok && secretWithin(plain, deep) {
		return true
	}
	if decoded, ok := redact.Decoded(text); ok {
		return secretWithin(decoded, deep)
	}
	var inner []string
	for _, word := range encodedWords(text) {
		if len(word) >= shortestKey && misplaced.Key(word) {
			return true
		}
		if decoded, ok := redact.Decoded(word); ok {
			inner = append(inner, decoded)
		}
	}
	if len(inner) > mostWords {
		return secretWithin(strings.Join(inner, "\n"), deep)
	}
	for _, decoded := range inner {
		if secretWithin(decoded, deep) {
			return true
		}
	}
	return false
}

// shortestKey is how long a private key in base64 is at least, or the line of one.
const shortestKey = 40

// encodedWords are the words of a text that may be base64, with what fills them up.
func encodedWords(text string) (out []string) {
	from := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			switch c := text[i]; {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '-', c == '_':
				if from < 0 {
					from = i
				}
				continue
			case c == '=' && from >= 0 && i-from >= shortestEncoded:
				continue
			}
		}
		if from >= 0 && i-from >= shortestEncoded {
			out = append(out, text[from:i])
		}
		from = -1
	}
	return out
}

// unescaped is a text without its percent-encoding, where there is some.
func unescaped(text string) (string, bool) {
	if strings.IndexByte(text, '%') < 0 {
		return text, false
	}
	digit := func(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '%' && i+2 < len(text) && digit(text[i+1]) >= 0 && digit(text[i+2]) >= 0 {
			b.WriteByte(byte(digit(text[i+1])<<4 | digit(text[i+2])))
			i += 2
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), b.Len() < len(text)
}

// pair is a name and a value beside it, as environments of containers and settings of services have them; the value may come first.
var pair = lazyregexp.New(`["']?\b(?:name|key)["']?\s*:\s*["']?([\w.-]+)["']?\s*,?\s+["']?value["']?\s*:\s*` + given + `|["']?\b(?:name|key)["']?\s*:\s*["']([\w.-]+)["']\s*,\s*["']value["']\s*:\s*` + given + `|` +
	`["']value["']\s*:\s*` + given + `[^"']*["']\s*,\s*["'](?:name|key)["']\s*:\s*["']([\w.-]+)["']`)

// secretPair reports whether a text in small letters has a value beside the name of a secret.
func secretPair(lower string) bool {
	if !strings.Contains(lower, "value") {
		return false
	}
	for _, m := range pair.FindAllStringSubmatch(lower, -1) {
		if SecretName(m[1] + m[2] + m[3]) {
			return true
		}
	}
	return false
}

// private is the private part of a JSON Web Key, or the key of a symmetric one.
var private = lazyregexp.New(`["'](?:d|k)["']\s*:\s*["'][A-Za-z0-9_-]{16}`)

// jwk reports whether a text has a JSON Web Key that is no public one.
func jwk(text string) bool { return strings.Contains(text, `kty`) && private.MatchString(text) }
