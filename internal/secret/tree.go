package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/lazyregexp"
)

// MaxDocument is how many bytes one entry of a store may have.
const MaxDocument = 1 << 20

// Limits of one parsed document: aliases are written out, so that a small file may name many nodes.
const (
	maxNodes = 100_000
	maxDepth = 100
)

// Kind says what a Node is.
type Kind int

const (
	// Null is a value that is not there.
	Null Kind = iota
	// Scalar is a text, a number or a boolean.
	Scalar
	// List holds other nodes in Items.
	List
	// Map holds them in Fields.
	Map
)

// Node is a part of a document that holds secrets, in the order of the file.
type Node struct {
	Kind Kind
	// Text is a scalar as it is written, quotes and escapes resolved: 007 stays 007, 1.10 stays 1.10.
	Text string
	// Value is what the scalar means: string, bool, int, float64, another type of YAML's, nil.
	Value any
	// Fields are those of a Map, Items those of a List.
	Fields []Field
	Items  []*Node
}

// Field is one entry of a Map. Merge marks YAML's <<.
type Field struct {
	Key   string
	Value *Node
	Merge bool
}

// ParseYAML reads the one YAML document in data. Errors name lines and never what is written there.
func ParseYAML(data []byte) (*Node, error) {
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return &Node{}, nil
	} else if err != nil {
		return nil, notYAML(err)
	}
	if err := dec.Decode(&next); err == nil {
		return nil, fmt.Errorf("it has several YAML documents, the second in line %d", next.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, notYAML(err)
	}
	left := maxNodes
	return fromYAML(&doc, 0, &left)
}

var lineNumber = lazyregexp.New(`line (\d+)`)

// notYAML keeps the line of an error of the parser; the rest may quote values.
func notYAML(err error) error {
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("it is not valid YAML, near line %s", m[1])
	}
	return errors.New("it is not valid YAML")
}

func fromYAML(n *yaml.Node, depth int, left *int) (*Node, error) {
	if *left--; *left < 0 || depth > maxDepth {
		return nil, fmt.Errorf("it has more than %d values, or more than %d levels", maxNodes, maxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return fromYAML(n.Content[0], depth, left)
	case yaml.AliasNode:
		return fromYAML(n.Alias, depth+1, left)
	case yaml.SequenceNode:
		out := &Node{Kind: List}
		for _, c := range n.Content {
			item, err := fromYAML(c, depth+1, left)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out := &Node{Kind: Map}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := fromYAML(n.Content[i+1], depth+1, left)
			if err != nil {
				return nil, err
			}
			key := n.Content[i]
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key is no text", key.Line)
			}
			out.Fields = append(out.Fields, Field{Key: key.Value, Value: value, Merge: key.Tag == "!!merge"})
		}
		return out, nil
	}
	if n.ShortTag() == "!!null" {
		return &Node{}, nil
	}
	out := &Node{Kind: Scalar, Text: n.Value}
	if err := n.Decode(&out.Value); err != nil {
		return nil, fmt.Errorf("line %d: the value does not fit its tag", n.Line)
	}
	if text, ok := out.Value.(string); ok {
		out.Text = text // !!binary is decoded
	}
	return out, nil
}

// ParseJSON reads the one JSON value in data. Errors name lines and never what is written there.
func ParseJSON(data []byte) (*Node, error) {
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	bad := func(err error) error {
		if errors.Is(err, errTooDeep) {
			return err
		}
		at := min(max(dec.InputOffset(), 0), int64(len(data)))
		return fmt.Errorf("it is not valid JSON, near line %d", 1+bytes.Count(data[:at], []byte("\n")))
	}
	out, err := fromJSON(dec, 0)
	if err != nil {
		return nil, bad(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(err)
	}
	return out, nil
}

var errTooDeep = fmt.Errorf("it has more than %d levels", maxDepth)

func fromJSON(dec *json.Decoder, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case string:
		return &Node{Kind: Scalar, Text: t, Value: t}, nil
	case bool:
		return &Node{Kind: Scalar, Text: strconv.FormatBool(t), Value: t}, nil
	case json.Number:
		return &Node{Kind: Scalar, Text: t.String(), Value: number(t)}, nil
	case json.Delim:
		return containerJSON(dec, t, depth)
	}
	return &Node{}, nil
}

// number is an int where it fits, else a float64.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil && i >= math.MinInt && i <= math.MaxInt {
		return int(i)
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return f
}

func containerJSON(dec *json.Decoder, open json.Delim, depth int) (*Node, error) {
	out := &Node{Kind: List}
	if open == '{' {
		out.Kind = Map
	}
	for dec.More() {
		var key string
		if out.Kind == Map {
			t, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ = t.(string) // the decoder takes nothing else as a key
		}
		value, err := fromJSON(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if out.Kind == Map {
			out.Fields = append(out.Fields, Field{Key: key, Value: value})
		} else {
			out.Items = append(out.Items, value)
		}
	}
	_, err := dec.Token()
	return out, err
}

// Lookup returns the text at a property: a key, or keys joined by dots, list items by their index (from 0). A key that
// holds dots itself is found as well; of several readings the one with the longest first key counts. Errors name keys and
// never values.
func (n *Node) Lookup(property string) (string, error) {
	text, err := n.lookup(property, func(n *Node) string { return n.Keys("; it has the keys") })
	if missing, ok := errors.AsType[*MissingError](err); ok {
		n.explain(missing)
	}
	return text, err
}

// LookupIn is Lookup in what may be a document, or a text that merely reads like one (user: PASSWORD, a token): what stands
// there as a key may be a part of the secret, and errors say its kind alone.
func (n *Node) LookupIn(property string) (string, error) {
	return n.lookup(property, func(n *Node) string { return ": it is " + n.kind() })
}

func (n *Node) lookup(property string, has func(*Node) string) (string, error) {
	found, err := n.find(property)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", &MissingError{Name: property, Text: fmt.Sprintf("there is no %q%s", property, has(n))}
	}
	switch found.Kind {
	case Scalar:
		if found.Text == "" {
			return "", fmt.Errorf("%q is empty", property)
		}
		return found.Text, nil
	case Null:
		return "", fmt.Errorf("%q has no value (null)", property)
	case List:
		return "", fmt.Errorf("%q is a list of %d: name one, as in %s.0", property, len(found.Items), property)
	}
	return "", fmt.Errorf("%q is no single value%s", property, has(found))
}

// kind says what a node is, and nothing of what it holds.
func (n *Node) kind() string {
	switch n.Kind {
	case Scalar:
		return "a text, and no document with keys"
	case List:
		return fmt.Sprintf("a list of %d", len(n.Items))
	case Map:
		return fmt.Sprintf("a map of %d", len(n.Fields))
	}
	return "empty"
}

// find is nil when there is nothing at the path.
func (n *Node) find(path string) (*Node, error) {
	if n.Kind == List {
		head, rest, more := strings.Cut(path, ".")
		i, err := strconv.Atoi(head)
		if err != nil || i < 0 || i >= len(n.Items) || strconv.Itoa(i) != head {
			return nil, nil
		}
		if !more {
			return n.Items[i], nil
		}
		return n.Items[i].find(rest)
	}
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		child, err := n.Field(path[:end])
		if err != nil || child != nil && end == len(path) {
			return child, err
		}
		if child == nil {
			continue
		}
		if found, err := child.find(path[end+1:]); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// Field is the value of a key of a map, from merged maps where the map itself lacks it; nil when there is none. A key that
// is given twice is an error.
func (n *Node) Field(key string) (*Node, error) { return n.field(key, maxDepth) }

func (n *Node) field(key string, depth int) (*Node, error) {
	var found *Node
	for _, f := range n.Fields {
		if f.Key != key || f.Merge {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("the key %q is given twice", key)
		}
		found = f.Value
	}
	if found != nil || depth == 0 {
		return found, nil
	}
	for _, f := range n.Fields {
		if !f.Merge {
			continue
		}
		from := []*Node{f.Value}
		if f.Value.Kind == List {
			from = f.Value.Items
		}
		for _, m := range from {
			if child, err := m.field(key, depth-1); child != nil || err != nil {
				return child, err
			}
		}
	}
	return nil, nil
}

// keyRule is what a key looks like that somebody chose as a name; a line of a text (admin pw: x) does not.
var keyRule = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,62}$`)

// Keys lists the keys of a map behind an introduction, "" when there are none, or when one of them is no name.
func (n *Node) Keys(introduction string) string { return Names(introduction, n.names()) }

// names are the keys of a map, none when one of them is no name.
func (n *Node) names() []string {
	keys := map[string]bool{}
	for _, f := range n.Fields {
		switch {
		case f.Merge:
		case !keyRule.MatchString(f.Key):
			return nil
		default:
			keys[f.Key] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// Names lists the first names behind an introduction, "" when there are none: for errors that say what there is.
func Names(introduction string, names []string) string {
	const most = 12
	if len(names) == 0 {
		return ""
	}
	names = slices.Sorted(slices.Values(names))
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return introduction + " " + strings.Join(names, ", ") + more
}
