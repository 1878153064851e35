package archive

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxName is the longest name of one file that common file systems take, in bytes.
const maxName = 255

// clean checks an entry's name and returns it in its shortest form, "." for the archive's root.
func (l Limits) clean(name string) (string, error) {
	if len(name) > l.PathBytes {
		return "", refuse(Limit, name, "the path is longer than %d bytes", l.PathBytes)
	}
	if why := odd(name); why != "" {
		return "", refuse(Escape, name, "%s", why)
	}
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if len(part) > maxName {
			return "", refuse(Limit, name, "a name is longer than %d bytes", maxName)
		}
		if part == ".." {
			return "", refuse(Escape, name, "the path has a .. in it")
		}
	}
	cleaned := path.Clean(name)
	if depth := strings.Count(cleaned, "/") + 1; depth > l.Depth {
		return "", refuse(Limit, name, "the path has more than %d parts", l.Depth)
	}
	return cleaned, nil
}

// odd says what makes a path unsafe on one system or another, "" when nothing does.
func odd(name string) string {
	switch {
	case name == "":
		return "the path is empty"
	case !utf8.ValidString(name):
		return "the path is not UTF-8"
	case name[0] == '/':
		return "the path is absolute"
	case strings.Contains(name, `\`):
		return "the path has a backslash"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "the path has a control character"
	case len(name) > 1 && name[1] == ':' && unicode.IsLetter(rune(name[0])):
		return "the path begins with a drive letter"
	}
	return ""
}

// names are the paths seen so far, in the form in which file systems that ignore case or Unicode form compare them.
type names struct {
	fold  cases.Caser
	known map[string]string // folded -> as first written
}

func newNames() *names { return &names{fold: cases.Fold(), known: map[string]string{}} }

// add remembers a path and its parents. It refuses one that is another path to some file systems.
func (n *names) add(name, cleaned string) error {
	for p := cleaned; p != "."; p = path.Dir(p) {
		folded := norm.NFC.String(n.fold.String(norm.NFC.String(p)))
		before, ok := n.known[folded]
		switch {
		case !ok:
			n.known[folded] = p
		case before != p:
			return refuse(Collision, name, "on some file systems %q and %q are the same", before, p)
		default:
			return nil // its parents are known with it
		}
	}
	return nil
}
