package bind

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/secret"
)

var (
	variableRule = lazyregexp.New(`^[A-Z_][A-Z0-9_]{2,}$`)
	// placeRule is what a place in a store looks like, with or without the store: db.yaml/password, files:db.yaml/hosts.0.
	placeRule = lazyregexp.New(`^([A-Za-z0-9_-]+:)?[A-Za-z0-9_.%-]+(/[A-Za-z0-9_.%-]+)*$`)
	// vaultRule is a key of Vault as webhooks write it: vault:secret/data/wiki#token.
	vaultRule = lazyregexp.New(`^(>>)?vault:[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+#[^\s]+$`)
)

// schemes are those that ref:// is mistaken for, in any case.
var schemes = []string{"reff", "refs", "rref", "rfe", "erf", "rf", "reference", "references"}

// misspelt reports whether a text is a reference but for its scheme: ref:ADMIN_TOKEN, ref//db.yaml/password, refs://ADMIN_TOKEN. What may as well
// be an image (ref:tag) or a branch (ref:refs/heads/main) is not.
func misspelt(s string) bool {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		return slices.Contains(schemes, strings.ToLower(scheme)) && placeRule.MatchString(rest)
	}
	if len(s) < len("ref:") || !strings.EqualFold(s[:len("ref")], "ref") {
		return false
	}
	if rest, ok := strings.CutPrefix(s[len("ref"):], "//"); ok {
		return placeRule.MatchString(rest)
	}
	rest, ok := strings.CutPrefix(s[len("ref"):], ":")
	return ok && (variableRule.MatchString(rest) || strings.Contains(rest, "/") && !strings.HasPrefix(rest, "refs/") && placeRule.MatchString(rest))
}

// variable is the form in which a text is the name of a variable of the environment as shells write it, and nothing else: ${API_TOKEN} or
// $API_TOKEN; "" where it is none.
func variable(s string) string {
	if name, ok := strings.CutPrefix(s, "$"); ok && variableRule.MatchString(name) {
		return "$NAME"
	}
	name, open := strings.CutPrefix(s, "${")
	name, closed := strings.CutSuffix(name, "}")
	if open && closed && name != "" && (name[0] < '0' || name[0] > '9') && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" {
		return "${NAME}"
	}
	return ""
}

// ofOthers reports whether a text is a reference to a secret as vals, helm-secrets, webhooks for Vault, Argo CD's plug-in for it, 1Password and others
// write them. env:PROD may be a label, and is none.
func ofOthers(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	if ok && (scheme == "secrets" || scheme == "op" || strings.HasPrefix(scheme, "ref+") && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+") == "") {
		return true
	}
	if ok && (scheme == "env" || scheme == "secret" || scheme == "vault") {
		place, _, _ := strings.Cut(rest, "#")
		return placeRule.MatchString(place)
	}
	if name, ok := strings.CutPrefix(s, "env:"); ok && variableRule.MatchString(name) {
		return strings.Contains(name, "_") || fleet.SecretName(name)
	}
	return vaultRule.MatchString(s) || strings.HasPrefix(s, "<path:") && strings.Contains(s, "#") && strings.HasSuffix(s, ">")
}

// referenceIn is where ref:// begins in a text, spaces before it left out, in letters of any case and at the beginning also
// with one slash; below 0 where it does not, or is the end of a longer word (href://). Of one that is misspelt as a whole it is 0.
func referenceIn(s string) int {
	s = strings.TrimSpace(s)
	if !secret.IsRef(s) && misspelt(s) {
		return 0
	}
	for from := 0; ; {
		colon := strings.Index(s[from:], ":/")
		if colon < 0 {
			return -1
		}
		colon += from
		from = colon + 2
		begin := colon - len("ref")
		if begin < 0 || !strings.EqualFold(s[begin:colon], "ref") || begin > 0 && partOfName(s[begin-1]) {
			continue
		}
		if begin == 0 || strings.HasPrefix(s[from:], "/") {
			return begin
		}
	}
}

// partOfName reports whether a byte before a scheme is a part of it, or makes it a part of an address or an expression.
func partOfName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+-._/?&#$", c) >= 0
}
