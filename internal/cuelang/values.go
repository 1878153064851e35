package cuelang

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// CheckValues refuses a YAML text of more values than are read, for texts that may be larger than a file is: a list of ones takes a hundred times its
// bytes and more when it is understood. Values are counted, and not understood for it: JSON's exactly, other YAML's from above, or within a factor
// of two. It is asked of text in UTF-8 alone: in another encoding nothing is counted.
func CheckValues(src []byte, most int) error {
	count := valuesOf
	if json.Valid(src) {
		count = jsonValues
	}
	if count(src) > most {
		return fmt.Errorf("it has more than %d values", most)
	}
	return nil
}

// valuesOf counts signs that may begin a value; what stands in texts counts as well.
func valuesOf(src []byte) (n int) {
	for i, c := range src {
		switch c {
		case '[', '{':
			n++
		case ',': // between keys without values there are two
			n += 2
		case '-', '?', ':':
			last := blank(src[i+1:])
			quoted := c == ':' && i > 0 && (src[i-1] == '"' || src[i-1] == '\'')
			switch {
			case c == '-' && last:
				n++
			case last || quoted, c != '-' && i+1 < len(src) && (src[i+1] == ',' || src[i+1] == ']' || src[i+1] == '}'):
				n += 2
			}
		}
	}
	return n
}

// jsonValues counts the values of a JSON text, keys included, exactly but for empty lists and maps, which count twice.
func jsonValues(src []byte) (n int) {
	quoted := false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '[' || c == '{' || c == ',' || c == ':'):
			n++
		}
	}
	return n + 1
}

// blank reports whether a text begins with what YAML takes for a space or the end of a line, or is over.
func blank(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch text[0] {
	case ' ', '\t', '\n', '\r':
		return true
	case 0xc2:
		return bytes.HasPrefix(text, []byte("\u0085"))
	case 0xe2:
		return bytes.HasPrefix(text, []byte("\u2028")) || bytes.HasPrefix(text, []byte("\u2029"))
	}
	return false
}
