package fleet

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
)

// openValue is what a field that is called like a secret may be shown with: a reference, a variable, a type, a definition.
var openValue = lazyregexp.New(`([:=]\s*)["']?(?:ref://[^\s"',}\]]*|\$\{[^}\n]*\}|\$\([^)\n]*\)|(?:string|int|bool|number|bytes|values\.[\w.]+)(?:[\s,}\])"']|$))|` +
	`([:=]\s*)(?:(?:[#_][\w.]*|\*[A-Za-z_][\w-]*)(?:[\s,}\])]|$)|[|>][-+0-9]*\s*$|\{)`)

// opened is a list, or what is in parentheses, behind the name of a field.
var opened = lazyregexp.New(`([:=]\s*)[\[(]\s*`)

// SecretLine reports whether a line of a file has a value that is a secret, by its form or by the name of its field: nobody is shown it.
func SecretLine(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"',{}[]()", r) })
	encoded := func(word string) bool { return misplaced.Key(word) || len(word) >= 40 && misplaced.Content(word) } // content in base64
	return slices.ContainsFunc(words, encoded) || secretForm(openValue.ReplaceAllString(opened.ReplaceAllString(line, "$1"), "${1}${2}null "))
}
