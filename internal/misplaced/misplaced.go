// Package misplaced recognises what was given in place of its name: the content of a file where its path is wanted, a key where the variable
// that holds it is named. Nobody may be shown such a "name".
//
// misplaced must not know which file or variable it is.
package misplaced

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hawser.dev/hawser/internal/lazyregexp"
)

// longestPath is how long a path may be: PATH_MAX of Linux without its end.
const longestPath = 4095

// longestName is how long the name of a variable may be that is shown.
const longestName = 128

// marks are what the content of keys, tokens and kubeconfigs has, and no path.
var marks = []string{"\n", "\r", "-----BEGIN", "AGE-SECRET-KEY-", "age-secret-key-", "AGE-PLUGIN-", "apiVersion:", "client-key-data:", `":"`, `": "`, `{"`}

// beginnings are what such content begins with, and no path: JSON, YAML's fields of a kubeconfig.
var beginnings = []string{"{", "[", "apiVersion", "clusters:", "users:", "contexts:"}

// assigned is the value of a field or a variable, whatever it is called; an identity of a plug-in of age in small letters.
var (
	assigned = lazyregexp.New(`^(?:- +)?["']?[A-Za-z_][\w.-]*["']?:\s|(?i)^(?:export +)?\w*(?:passw(?:or)?d|passphrase|token|secret|api[_-]?key)\w*["']?\s*[:=]`)
	plugin   = lazyregexp.New(`(?i)\bage-plugin-[a-z0-9+._-]+-1[ac-hj-np-z02-9]{6}`)
)

// Path reports whether a path is Content, also where it was joined with the directory that it is relative to, and may have slashes itself.
func Path(path string) bool {
	if Content(path) {
		return true
	}
	for i, r := range path {
		if (r == '/' || r == '\\') && i+1 < len(path) && Content(path[i+1:]) {
			return true
		}
	}
	return false
}

// File is an error for a path that Content knows as what its file should hold; by says who gave it, of what the file is of.
func File(by, of, path string) error {
	if !Content(path) {
		return nil
	}
	return fmt.Errorf("%s holds the content of %s, not its path, and is not shown; write it to a file (mode 0600) and name that", by, of)
}

// Shown is a path as it is quoted: not where Content knows it.
func Shown(path string) string {
	if Content(path) {
		return "***"
	}
	return path
}

// Content reports whether a text that should be a path is what the file should hold: text of several lines, PEM, a key of age, JSON, a
// field of YAML, a JSON Web Token or another that says what it is, any of them in base64; DER and gzip in base64; and whatever is too long
// for a path.
func Content(text string) bool {
	if plain(text) || Key(text) || packed.MatchString(text) {
		return true
	}
	if len(text) < 40 {
		return false
	}
	for _, e := range encodings {
		decoded, err := e.DecodeString(strings.TrimSpace(text))
		if err == nil && (utf8.Valid(decoded) && plain(string(decoded)) || isDER(decoded)) {
			return true
		}
	}
	return false
}

var encodings = []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}

// keys are what private keys without PEM begin with in base64, of PKCS#1, PKCS#8 (RSA, elliptic curves, Edwards curves), SEC 1 and OpenSSH,
// each with what its next character is.
var keys = lazyregexp.New(`^["']?(?:MII[A-Za-z0-9+/]{1,2}[A-Za-z0-9+/]?IBA[A-Z]|MIIEv[A-Q]|MIGHAgEA|MIG2AgEA|MC4CAQ|MHcCAQ|MIGkAgEB|MIHcAgEB|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/_=-]*["']?$`)

// packed is what is packed with gzip, in base64.
var packed = lazyregexp.New(`^["']?H4sI[A-Za-z0-9+/_=-]*["']?$`)

// Key reports whether a text is a private key in base64, without PEM.
func Key(text string) bool { return keys.MatchString(text) }

// isDER reports whether bytes are one sequence of DER: certificates, keys, stores of both.
func isDER(data []byte) bool {
	if len(data) < 4 || data[0] != 0x30 {
		return false
	}
	length, more := int(data[1]), 0
	if length >= 0x80 {
		more, length = length&0x7f, 0
		if more == 0 || more > 3 || len(data) < 2+more {
			return false
		}
		for _, b := range data[2 : 2+more] {
			length = length<<8 | int(b)
		}
	}
	return length == len(data)-2-more
}

func plain(text string) bool {
	begin := strings.TrimLeft(text, " \t\"'")
	has := func(mark string) bool { return strings.Contains(text, mark) }
	begins := func(with string) bool { return strings.HasPrefix(begin, with) }
	return len(text) > longestPath || slices.ContainsFunc(marks, has) || slices.ContainsFunc(beginnings, begins) ||
		begins("eyJ") && strings.Count(begin, ".") >= 2 || assigned.MatchString(begin) || plugin.MatchString(text) || Token(text)
}

// Value reports whether a text that should name a variable is what the variable should hold: Content, and whatever no variable can be called.
func Value(name string) bool {
	return name == "" || len(name) > longestName || Content(name) || strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z')
	}) >= 0
}
