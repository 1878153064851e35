package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Path is a way into data: `labels.region`, `ports.0.name`, `ports[name=http].port`, `data."ca.crt"`. It is the one
// grammar of every path in the documents.
//
//	path  = step { "." step | selector }
//	step  = name | quoted        a list takes a name of digits as an index, from 0
//	selector = "[" ( index | key "=" value ) "]"
//
// name is any run of characters but . [ ] = " and white space; quoted stands in double quotes with \" and \\ as
// escapes; the first list item whose key has the value (compared as text) is chosen.
type Path []Step

// Step is one step of a Path: a field (or index) by Name, or the list item whose Key is Value.
type Step struct {
	Name string
	// Index is true for [N]: Name is a list index and nothing else.
	Index bool
	// Key is set for [Key=Value].
	Key, Value string
}

// ParsePath reads a path. Errors name the column, from 1.
func ParsePath(s string) (Path, error) {
	p := pathParser{s: s}
	path, err := p.path()
	if err != nil {
		return nil, fmt.Errorf("path %q: column %d: %w", s, p.i+1, err)
	}
	return path, nil
}

type pathParser struct {
	s string
	i int
}

func (p *pathParser) path() (Path, error) {
	var out Path
	for {
		name, err := p.word()
		if err != nil {
			return nil, err
		}
		out = append(out, Step{Name: name})
		for p.i < len(p.s) && p.s[p.i] == '[' {
			step, err := p.selector()
			if err != nil {
				return nil, err
			}
			out = append(out, step)
		}
		if p.i == len(p.s) {
			return out, nil
		}
		if p.s[p.i] != '.' {
			return nil, fmt.Errorf("expected . or [, found %q", p.s[p.i])
		}
		p.i++
	}
}

func (p *pathParser) selector() (Step, error) {
	p.i++
	key, err := p.word()
	if err != nil {
		return Step{}, err
	}
	if key == "" {
		return Step{}, fmt.Errorf("expected a key")
	}
	step := Step{Name: key, Index: true}
	if p.i < len(p.s) && p.s[p.i] == '=' {
		p.i++
		value, err := p.word()
		if err != nil {
			return Step{}, err
		}
		step = Step{Key: key, Value: value}
	} else if _, err := index(key); err != nil {
		return Step{}, fmt.Errorf("expected an index or key=value in brackets")
	}
	if p.i == len(p.s) || p.s[p.i] != ']' {
		return Step{}, fmt.Errorf("expected ]")
	}
	p.i++
	return step, nil
}

func (p *pathParser) word() (string, error) {
	if p.i < len(p.s) && p.s[p.i] == '"' {
		return p.quoted()
	}
	start := p.i
	for p.i < len(p.s) && !strings.ContainsRune(".[]=\" \t\r\n", rune(p.s[p.i])) {
		p.i++
	}
	if start == p.i {
		return "", fmt.Errorf("expected a name")
	}
	return p.s[start:p.i], nil
}

func (p *pathParser) quoted() (string, error) {
	var b strings.Builder
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '"':
			p.i++
			return b.String(), nil
		case '\\':
			p.i++
			if p.i == len(p.s) || p.s[p.i] != '"' && p.s[p.i] != '\\' {
				return "", fmt.Errorf(`only \" and \\ are escapes`)
			}
			b.WriteByte(p.s[p.i])
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("quote is not closed")
}

// String is the path in its shortest spelling; ParsePath reads it back to the same path.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Index:
			b.WriteString("[" + s.Name + "]")
		case s.Key != "":
			b.WriteString("[" + pathWord(s.Key) + "=" + pathWord(s.Value) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(pathWord(s.Name))
		}
	}
	return b.String()
}

func pathWord(s string) string {
	if s != "" && !strings.ContainsAny(s, ".[]=\" \t\r\n") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// MissingError says where a path ends in nothing, and what there is instead.
type MissingError struct {
	// At is the part of the path that was found, Step the step that was not.
	At   Path
	Step string
	// Have are the names (of a struct) there are, sorted; nil where At is no struct.
	Have []string
}

// Error names the missing step and what there is.
func (e *MissingError) Error() string {
	out := "there is no " + e.Step
	if len(e.At) > 0 {
		out = e.At.String() + " has no " + e.Step
	}
	if len(e.Have) > 0 {
		out += "; there is: " + strings.Join(e.Have, ", ")
	}
	return out
}

// Lookup follows the path through JSON types (map[string]any, map[string]string, []any). A step that leads nowhere
// is a *MissingError.
func (p Path) Lookup(data any) (any, error) {
	for i, s := range p {
		next, have, ok := s.into(data)
		if !ok {
			return nil, &MissingError{At: p[:i], Step: p[i : i+1].String(), Have: have}
		}
		data = next
	}
	return data, nil
}

func (s Step) into(data any) (next any, have []string, ok bool) {
	switch d := data.(type) {
	case map[string]any:
		if s.Key == "" && !s.Index {
			next, ok = d[s.Name]
		}
		return next, slices.Sorted(maps.Keys(d)), ok
	case map[string]string:
		if s.Key == "" && !s.Index {
			next, ok = d[s.Name]
		}
		return next, slices.Sorted(maps.Keys(d)), ok
	case []any:
		if s.Key == "" {
			i, err := index(s.Name)
			if err != nil || i >= len(d) {
				return nil, nil, false
			}
			return d[i], nil, true
		}
		for _, item := range d {
			if m, isMap := item.(map[string]any); isMap && m[s.Key] != nil && fmt.Sprint(m[s.Key]) == s.Value {
				return item, nil, true
			}
		}
	}
	return nil, nil, false
}

func index(s string) (int, error) {
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || s[0] == '+' || len(s) > 1 && s[0] == '0' {
		return 0, fmt.Errorf("not an index")
	}
	return i, nil
}
