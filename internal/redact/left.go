package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// maxLeft bounds for how many instances one text is left shown.
const maxLeft = 16

// leftKind is what a text is that is left shown.
type leftKind byte

const (
	leftText  leftKind = iota // a text of a value
	leftValue                 // JSON
	leftPath                  // of a field
)

// shows: a word could be guessed, so that it parts nothing that is hidden.
func (k leftKind) shows() shows {
	if k == leftText {
		return narrowly
	}
	return widely
}

// left is a text that is left shown in what an instance has.
type left struct {
	instance string
	kind     leftKind
}

// ShowMasked shows what was masked already as values of an instance (Value): the path of a field, and values there, texts of JSON or what it is of. What Sweep would hide
// of them besides is what a secret has around it (quotes, brackets, an arrow between two of them), as somebody may choose one. What became
// secret since is hidden.
func (r *Redactor) ShowMasked(instance, path string, values ...any) {
	if r == nil {
		return
	}
	texts := map[string]leftKind{}
	for _, value := range values {
		v := value
		if text, is := value.(string); is {
			if json.Unmarshal([]byte(text), &v) != nil {
				continue
			}
			texts[text] = leftValue
		}
		leaves(v, func(text string) bool {
			texts[text] = leftText
			if strings.Contains(text, "\n") {
				for line := range strings.Lines(text) {
					texts[strings.TrimSpace(line)] = leftText
				}
			}
			return true
		})
	}
	if path != "" {
		texts[path] = leftPath
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == nil {
		r.left = map[string][]left{}
	}
	for text, kind := range texts {
		of, there := r.left[text]
		if l := (left{instance, kind}); text != "" && (there || len(r.left) < maxShown) && len(of) < maxLeft && !slices.Contains(of, l) {
			r.left[text] = append(of, l)
		}
	}
}

// leaves calls fn with every text, key and number as it is written in a value of JSON, until that is false.
func leaves(v any, fn func(text string) bool) bool {
	switch v := v.(type) {
	case string:
		return fn(v)
	case json.Number:
		return fn(v.String())
	case []any:
		for _, item := range v {
			if !leaves(item, fn) {
				return false
			}
		}
	case map[string]any:
		for key, item := range v {
			if !fn(key) || !leaves(item, fn) {
				return false
			}
		}
	}
	return true
}

// open reports whether nothing in a text that is left shown is secret now, also as another one has it that is asked.
func (r *Redactor) open(l left, text string, asked func(text string) bool) bool {
	plain := func(text string) bool { return r.Value(l.instance, text) == text && asked(text) }
	switch l.kind {
	case leftPath: // a token with dots is keys of maps in maps
		return len(r.sent.spans(text, nil)) == 0 && !slices.ContainsFunc(chosen(text), func(part string) bool { return !plain(part) })
	case leftValue:
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		return dec.Decode(&v) == nil && leaves(v, plain)
	}
	return plain(text)
}

// parted are the parts of a path: what is in brackets, or in quotes, and names between dots.
var parted = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|"(?:[^"\\]|\\.)*"|[^.\[\]"]+`)

// chosen are the texts of a path that somebody may have chosen: names, what is in quotes or brackets as a whole, and what is in that between
// the characters that part it.
func chosen(path string) []string {
	var out []string
	for _, part := range parted.FindAllString(path, -1) {
		out = append(out, strings.Trim(part, `[]"`))
	}
	return append(out, strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(`.[]"=,`, c) })...)
}
