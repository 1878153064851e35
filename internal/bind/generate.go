package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Generate is one {generate: {length: N, charset: NAME}} in the values: a text that is made up once.
type Generate struct {
	// Length is in characters, Alphabet what they are taken from.
	Length   int
	Alphabet string
	// At is the data path below the values, Pos the place in the user's file. Key is the path with the entries of lists by
	// what names them: it stays the same when others are inserted.
	At  string
	Key string
	Pos diag.Pos

	node *v1alpha1.Value
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	// maxLength of a text, and the fewest characters of an alphabet that is written out.
	maxLength   = 4096
	minAlphabet = 10
)

// generateFields are those of the body of generate.
var generateFields = []string{"length", "charset"}

// charsets are the alphabets by name; the first is the default.
var charsets = []struct{ name, alphabet string }{
	{"alphanumeric", lower + upper + digits}, {"letters", lower + upper}, {"lower", lower + digits}, {"digits", digits},
	{"hex", digits + "abcdef"}, {"symbols", lower + upper + digits + "!#%*+,-./:=?@^_~"},
}

// Value is a text as data, at the place of the value.
func (g Generate) Value(s string) *v1alpha1.Value { return text(s, g.node.Pos) }

// Placeholder stands in for the text while there is none: of its length and alphabet, the same every time.
func (g Generate) Placeholder() string {
	word := "generated"
	if strings.Trim(word, g.Alphabet) != "" {
		word = string([]rune(g.Alphabet)[:1])
	}
	return string([]rune(strings.Repeat(word, g.Length))[:g.Length])
}

// generateStruct is the struct {generate: {length: ...}} that a node is, sealed or not; nil for anything else.
func generateStruct(x *v1alpha1.Value) *v1alpha1.Value {
	if len(x.Fields) != 1 || x.Lookup("generate", "length") == nil {
		return nil
	}
	return x
}

func newGenerate(s *v1alpha1.Value, at, key v1alpha1.Path) (Generate, diag.Findings) {
	body := s.Lookup("generate") // generateStruct has seen it
	g := Generate{At: at.String(), Key: key.String(), Pos: diag.Pos(s.Pos), Alphabet: charsets[0].alphabet, node: s}
	if !g.Pos.IsValid() {
		g.Pos = diag.Pos(body.Pos)
	}
	var fs diag.Findings
	fail := func(x *v1alpha1.Value, name, fix, format string, args ...any) {
		n := diag.Errorf("value-generate", format, args...)
		n.Pos, n.Path, n.Fix = g.Pos, strings.TrimPrefix(g.At+".generate."+name, "."), fix
		if x != nil && diag.Pos(x.Pos).IsValid() {
			n.Pos = diag.Pos(x.Pos)
		}
		fs = append(fs, n)
	}
	held, err := body.Any()
	fields, isMap := held.(map[string]any)
	if err != nil || !isMap {
		fail(body, "", "write {generate: {length: 24}}", "generate is no struct of plain data")
		return g, fs
	}
	length, whole := fields["length"].(int64)
	if whole && length > 0 && length <= maxLength {
		g.Length = int(length)
	} else {
		fail(body.Lookup("length"), "length", "", "length must be a whole number from 1 to %d", maxLength)
	}
	if charset, given := fields["charset"]; given {
		var why string
		if g.Alphabet, why = alphabetOf(charset); why != "" {
			fail(body.Lookup("charset"), "charset", "", "%s", why)
		}
	}
	for _, f := range body.Fields {
		if !slices.Contains(generateFields, f.Name) {
			fail(f.Value, f.Name, diag.DidYouMean(f.Name, generateFields), "generate has no field %s", f.Name)
		}
	}
	if g.At == "" {
		fail(body, "", "make each field up by itself", "all the values cannot be made up")
	}
	return g, fs
}

// entryNames are the fields by which entries of lists are told apart, in the order in which they are looked for.
var entryNames = []string{"name", "key", "id", "username", "user", "host"}

// byKey is a path with the index of each list entry replaced by the field that names the entry, where one does and no other
// entry has that name.
func byKey(data *v1alpha1.Value, at v1alpha1.Path) v1alpha1.Path {
	out := slices.Clone(at)
	for i, step := range at {
		list := data
		if list.Kind != v1alpha1.KindList {
			if data = data.Lookup(step.Name); data == nil {
				return out
			}
			continue
		}
		n, err := strconv.Atoi(step.Name)
		if err != nil || n < 0 || n >= len(list.Items) {
			return out
		}
		if field, name := entryName(list, n); field != "" {
			out[i] = v1alpha1.Step{Key: field, Value: name}
		}
		data = list.Items[n]
	}
	return out
}

// entryName is the field that names the nth entry of a list, and the name.
func entryName(list *v1alpha1.Value, n int) (field, name string) {
	for _, field := range entryNames {
		held := 0
		name, _ := list.Items[n].Lookup(field).Str()
		for _, e := range list.Items {
			if other, _ := e.Lookup(field).Str(); name != "" && other == name {
				held++
			}
		}
		if held == 1 {
			return field, name
		}
	}
	return "", ""
}

// alphabetOf is a charset by its name, or one that is written out.
func alphabetOf(v any) (alphabet, why string) {
	name, _ := v.(string)
	var names []string
	for _, c := range charsets {
		if c.name == name {
			return c.alphabet, ""
		}
		names = append(names, c.name)
	}
	letters := []rune(name)
	slices.Sort(letters)
	if letters = slices.Compact(letters); len(letters) < minAlphabet {
		return "", fmt.Sprintf("charset must be one of %s, or at least %d characters written out", strings.Join(names, ", "), minAlphabet)
	}
	return string(letters), ""
}
