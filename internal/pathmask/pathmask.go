// Package pathmask masks secrets in paths of fields, and says which parts of them somebody chose.
//
// pathmask must not know what is secret, nor whose object a path is in.
package pathmask

import "hawser.dev/hawser/internal/lazyregexp"

// Keys are fields whose entries are called as somebody likes: what their keys are is no schema's matter.
func Keys(field string) bool {
	switch field {
	case "data", "stringData", "binaryData", "annotations", "labels", "matchLabels", "nodeSelector", "selector", "parameters", "volumeAttributes":
		return true
	}
	return false
}

// steps are the parts of a path: keys of list items in brackets, names of entries in quotes, and names as they are.
var steps = lazyregexp.New(`\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|\[[^\]]*\]|"(?:[^"\\]|\\.)*"|[^."\[]+`)

// Mask masks secret values in a path of fields: what somebody chose (the keys of items, names in quotes, the entries of data,
// annotations and the like) passes through mask, and what may be a name of the kind's schema through name.
func Mask(path string, mask, name func(string) string) string {
	last, first := "", true
	return steps.ReplaceAllStringFunc(path, func(part string) string {
		in, top := last, first
		last, first = part, false
		switch n := len(part) - 1; {
		case part[0] == '[' && n > 0, part[0] == '"':
			return part[:1] + mask(part[1:n]) + part[n:]
		case Keys(in):
			return mask(part)
		case !top:
			return name(part)
		}
		return part
	})
}

// Key is what hides in a key below a field: redact where somebody chose it (Keys), name elsewhere.
func Key(redact, name func(string) string) func(field, key string) string {
	return func(field, key string) string {
		if Keys(field) {
			return redact(key)
		}
		return name(key)
	}
}
