// Package misplaced recognises what was given in place of its name: the content of a file where its path is wanted, a key where the variable
// that holds it is named. Nobody may be shown such a "name".
//
// misplaced must not know which file or variable it is.
package misplaced

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// longestPath is how long a path may be: PATH_MAX of Linux without its end.
const longestPath = 4095

// longestName is how long the name of a variable may be that is shown.
const longestName = 128

// marks are what the content of keys, tokens and kubeconfigs has, and no path.
var marks = []string{"\n", "\r", "-----BEGIN", "AGE-SECRET-KEY-", "age-secret-key-", "AGE-PLUGIN-", "apiVersion:", "client-key-data:"}

// Content reports whether a text that should be a path is what the file should hold: text of several lines, PEM, a key of age, JSON, a
// kubeconfig, a JSON Web Token, any of them in base64; and whatever is too long for a path.
func Content(text string) bool {
	if plain(text) {
		return true
	}
	if len(text) < 40 {
		return false
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		decoded, err := e.DecodeString(strings.TrimSpace(text))
		if err == nil && utf8.Valid(decoded) && plain(string(decoded)) {
			return true
		}
	}
	return false
}

func plain(text string) bool {
	begin := strings.TrimLeft(text, " \t\"'")
	if len(text) > longestPath || strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "apiVersion") || strings.HasPrefix(begin, "clusters:") || strings.HasPrefix(begin, "eyJ") && strings.Count(begin, ".") >= 2 {
		return true
	}
	for _, mark := range marks {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// Value reports whether a text that should name a variable is what the variable should hold: Content, and whatever no variable can be called.
func Value(name string) bool {
	return name == "" || len(name) > longestName || Content(name) || strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z')
	}) >= 0
}
