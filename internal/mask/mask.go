// Package mask is the last to see what is printed: it hides secret values in it, and keeps documents what they are.
//
// mask must not know which values are secret: it is given a function that hides them.
package mask

import (
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/redact"
)

// Writer is the last one to see what is printed. What it writes is what it was given, save for secret values: in
// text they are masked, in JSON and YAML documents inside of strings that are values or texts alone: keys, names and our own
// words stay, but for what authenticates in an address, and the documents what they are.
type Writer struct {
	To   io.Writer
	Mask func(string) string
	// Typed hides what was typed as a credential where none is wanted: in names and keys, too, which nothing else hides. Nil hides nothing.
	Typed func(string) string
	// document is set for what is printed as a document: a text does not tell, as others have a say in it.
	document bool
	// hide masks what is quoted in a text that is laid out of what is masked already; nil where that is not so.
	hide func(string) string
}

// AsDocument is the Writer for a YAML document of ours, which comes in one piece.
func (m *Writer) AsDocument() io.Writer {
	return &Writer{To: m.To, Mask: m.Mask, Typed: m.Typed, document: true}
}

// typed hides what was typed as a credential.
func (m *Writer) typed(text string) string {
	if m.Typed == nil {
		return text
	}
	return m.Typed(text)
}

// all hides what is to be hidden in a text that is no name.
func (m *Writer) all(text string) string { return m.Mask(m.typed(text)) }

// name hides what is to be hidden in a name.
func (m *Writer) name(text string) string { return redact.Addresses(m.typed(text)) }

// Write writes all of p or fails; the count is that of p's bytes.
func (m *Writer) Write(p []byte) (int, error) {
	text := string(p)
	out := p
	if hidden := m.all(text); hidden != text {
		out = m.hidden(p, hidden)
	}
	switch { // what a finding, a log or a name of others brought along
	case m.document:
	case json.Valid(out):
		out = []byte(diag.Escaped(string(out)))
	default:
		out = []byte(columns.Screen(string(out)))
	}
	if _, err := m.To.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// hidden masks inside the strings of a JSON or YAML document; anything else becomes the masked text.
func (m *Writer) hidden(data []byte, text string) []byte {
	if json.Valid(data) {
		return m.maskStrings(data)
	}
	if m.document {
		if asJSON, err := yaml.YAMLToJSONStrict(data); err == nil {
			if out, err := diag.YAML(m.maskStrings(asJSON)); err == nil {
				return out
			}
		}
	}
	return []byte(text)
}

// names are the fields of our documents that name or identify something, or say one of our own words. Nothing that somebody
// made secret changes them: what hides secrets there is whoever made the name (plan.RedactFindings). What authenticates in an
// address is masked in them, too, as that needs no value. All other strings are values, texts of others or made of them.
var names = map[string]bool{"action": true, "apart": true, "behindOf": true, "how": true, "names": true, "reference": true, "after": true, "apis": true, "apiVersion": true, "as": true, "bundle": true, "bundles": true, "applyHash": true, "cluster": true,
	"clusters": true, "code": true, "commit": true, "content": true, "created": true, "days": true, "delete": true, "digest": true, "elsewhere": true, "ended": true, "event": true, "events": true, "file": true,
	"fleet": true, "foreignDigest": true, "formerEntries": true, "fromManagers": true, "group": true, "hawser": true, "omitFields": true, "hook": true, "images": true, "inputs": true, "instance": true, "instances": true, "kind": true,
	"labels": true, "late": true, "layer": true, "letter": true, "managers": true, "movedTo": true, "name": true, "namespace": true, "namespaces": true, "next": true, "object": true, "others": true, "sourceDigest": true,
	"owner": true, "paths": true, "phase": true, "plan": true, "requires": true, "resourceVersion": true, "result": true, "rollout": true, "schemas": true, "serverID": true,
	"severity": true, "since": true, "started": true, "state": true, "status": true, "suspended": true, "time": true, "to": true, "type": true, "tree": true, "tz": true, "uid": true, "wave": true, "word": true,
	"until": true, "verb": true, "verdict": true, "version": true}

// byName are the fields whose own fields are called by somebody: what is there is judged by the field itself, and below
// vars, which may hold anything, everything is. The content of objects is masked by who made it (plan.Redact).
var byName = map[string]bool{"content": true, "events": true, "labels": true, "notPlaced": true, "origins": true, "others": true, "schemas": true, "values": true, "vars": true}

// level is an object or a list that is open while a document is masked.
type level struct {
	object bool
	// field is the field that the next value belongs to; in lists, and where names are somebody's, the one of all of it.
	field string
	fixed bool
	all   bool // whatever is below
	key   bool // a key comes next
}

// maskStrings masks the strings of valid JSON that are neither keys nor names; in names what authenticates in addresses, and in both what
// was typed.
func (m *Writer) maskStrings(data []byte) []byte {
	var out bytes.Buffer
	open := []level{{}}
	for i := 0; i < len(data); {
		top := &open[len(open)-1]
		c := data[i]
		if c != '"' {
			switch c {
			case '{', '[':
				all := top.all || top.field == "vars" || top.field == "content"
				open = append(open, level{object: c == '{', key: c == '{', field: top.field, all: all, fixed: all || c == '[' || byName[top.field] && !top.fixed})
			case '}', ']':
				open = open[:len(open)-1]
			case ',':
				top.key = top.object
			case ':':
				top.key = false
			}
			out.WriteByte(c)
			i++
			continue
		}
		end := i + 1
		for data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		literal := data[i : end+1]
		i = end + 1
		var s string
		err := json.Unmarshal(literal, &s)
		switch {
		case err != nil:
		case top.key:
			if literal = maskString(literal, s, m.typed); !top.fixed {
				top.field = s
			}
		case names[top.field]:
			literal = maskString(literal, s, m.name)
		default:
			literal = maskString(literal, s, m.all)
		}
		out.Write(literal)
	}
	return out.Bytes()
}

// maskString is the literal of a string that is masked, the same one where nothing is hidden.
func maskString(literal []byte, s string, mask func(string) string) []byte {
	hidden := mask(s)
	if hidden == s {
		return literal
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(hidden) != nil {
		return literal
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
