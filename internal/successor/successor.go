// Package successor tells from names alone which object was made anew under another name, because its name ends with what
// it holds: a version, or a digest of the content (Kustomize's generators, versioned ConfigMaps, Jobs of migrations).
//
// successor must not know kinds or plans: whether an object of a kind has successors is its user's rule.
package successor

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Names that end with what the object holds: a version, or a digest of the content.
var (
	versioned = lazyregexp.New(`^(.+?)[-.](v?[0-9]+(?:\.[0-9]+)*)$`)
	hashed    = lazyregexp.New(`^(.+)[-.]([0-9a-z]{5,64})$`)
	hexDigits = lazyregexp.New(`^[0-9a-f]+$`)
	// ofKustomize are the characters of the digests that Kustomize's generators put behind names: no vowels, so that they
	// never make a word.
	ofKustomize = lazyregexp.New(`^[2456789bcdfghkmt]{10}$`)
)

// kustomizeLength is the length of such a digest.
const kustomizeLength = 10

// Endings are what a name may share with that of its successor: the name without what the object holds, and what kind of
// ending that is. A word is no digest: a hexadecimal one has a digit, and one of Kustomize's length has a digit or no vowel.
func Endings(name string) []string {
	var out []string
	if m := versioned.FindStringSubmatch(name); m != nil {
		out = append(out, "version "+m[1])
	}
	if m := hashed.FindStringSubmatch(name); m != nil {
		digit := strings.ContainsAny(m[2], "0123456789")
		if digit && hexDigits.MatchString(m[2]) || len(m[2]) == kustomizeLength && (digit || ofKustomize.MatchString(m[2])) {
			out = append(out, fmt.Sprintf("digest %d %s", len(m[2]), m[1]))
		}
	}
	return out
}

// Of reports whether two names are the same before a version or a digest of what the objects hold.
func Of(old, next string) bool {
	return slices.ContainsFunc(Endings(old), func(e string) bool { return slices.Contains(Endings(next), e) })
}
