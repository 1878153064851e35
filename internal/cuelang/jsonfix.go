package cuelang

import "strings"

// jsonFaults are what the JSON reader says, with what there is to do, in the order in which they are looked for.
var jsonFaults = []struct{ said, fix string }{
	{"invalid character '}' looking for beginning of object key string", "take away the comma before }"},
	{"invalid character ']' looking for beginning of value", "take away the comma before ]"},
	{"looking for beginning of object key string", "write the name of the field in double quotes"},
	{"after object key:value pair", "write a comma before it"},
	{"after array element", "write a comma before it"},
	{"after object key", "write a colon between the name and the value"},
	{"unexpected end of JSON input", "close what is open: a bracket or a quote"},
}

// jsonFix is what to do about an error of the JSON reader, "" for another.
func jsonFix(text string) string {
	if !strings.Contains(text, "invalid JSON") {
		return ""
	}
	for _, f := range jsonFaults {
		if strings.Contains(text, f.said) {
			return f.fix
		}
	}
	return ""
}
