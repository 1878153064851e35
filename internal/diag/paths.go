package diag

import (
	"errors"
	"io/fs"
	"strings"
)

// breaks are the characters that end a line, or hide what stands before them.
var breaks = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// Text is the text of an error in which what ends a line in the name of a file that it is about is escaped: a message is parted at its lines.
func Text(err error) string {
	text := err.Error()
	if at, ok := errors.AsType[*fs.PathError](err); ok && strings.ContainsAny(at.Path, "\n\r") {
		text = strings.ReplaceAll(text, at.Path, breaks.Replace(at.Path))
	}
	return text
}
