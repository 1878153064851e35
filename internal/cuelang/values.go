package cuelang

import "fmt"

// CheckValues refuses a YAML text of more values than are read, for texts that may be larger than a file is: a list of ones takes a hundred times its
// bytes and more when it is understood. Values are counted from above, and not understood for it.
func CheckValues(src []byte, most int) error {
	if valuesOf(src) > most {
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
			last := i+1 == len(src) || src[i+1] == ' ' || src[i+1] == '\t' || src[i+1] == '\n' || src[i+1] == '\r'
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
