package bind

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/yaml"
	helmyaml "sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/lazyregexp"
)

// chartData reads a YAML file of values for a chart with the library that Helm reads it with, so that numbers, booleans,
// dates and keys of every spelling are what Helm makes of them; several documents are merged as Helm merges them. Order
// and positions are the file's, as far as the newer library finds the same fields there. A key that is given twice is an
// error, at its second place.
func chartData(name string, src []byte) (*v1alpha1.Value, error) {
	p := newPlaces(name, src)
	x, err := p.read()
	if err == nil {
		err = cuelang.CheckPlain(x)
	}
	if err != nil && p.broken { // the reader of our own documents says more about what is wrong
		if _, better := cuelang.FromYAML(name, src); better != nil {
			return nil, better
		}
	}
	return x, err
}

// places are the positions in one file.
type places struct {
	name  string
	src   []byte
	lines int
	// broken: there is a document that is no YAML.
	broken bool
}

func newPlaces(name string, src []byte) *places {
	return &places{name: name, src: src, lines: 1 + bytes.Count(src, []byte("\n"))}
}

// at is the place of a line and a column, both from 1; the file's beginning for a line that it has not.
func (p *places) at(line, column int) v1alpha1.Position {
	if line < 1 || line > p.lines {
		line, column = 1, 1
	}
	return v1alpha1.Position{File: p.name, Line: line, Column: max(column, 1)}
}

// read is the content of all documents.
func (p *places) read() (x *v1alpha1.Value, err error) {
	defer func() {
		if recover() != nil {
			x, err = nil, p.errorf(1, "not valid YAML")
		}
	}()
	fs := cuelang.CheckText(p.name, p.src)
	if fs == nil {
		fs = cuelang.CheckAliases(p.name, p.src)
	}
	if fs != nil {
		return nil, cuelang.Errorf(cuelang.TokenPos(p.at(fs[0].Pos.Line, fs[0].Pos.Column)), nil, "%s", fs[0].What)
	}
	src := p.src
	if len(src) > 0 && src[len(src)-1] != '\n' {
		src = append(bytes.Clone(src), '\n')
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(src)))
	from := 0
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return x, nil
		}
		if err != nil {
			return nil, p.errorf(1, "not valid YAML")
		}
		start := max(bytes.Index(src[from:], text), 0) + from
		from = start + len(text)
		next, err := p.document(text, bytes.Count(src[:start], []byte("\n")))
		if err != nil {
			return nil, err
		}
		if x.Null() {
			x = next
			continue
		}
		if x, err = together(x, next); err != nil {
			return nil, p.errorf(1+bytes.Count(src[:start], []byte("\n")), "several documents are merged, as Helm does it: each has to be a map")
		}
	}
}

// together is one document over another: maps are merged, anything else replaces.
func together(x, over *v1alpha1.Value) (*v1alpha1.Value, error) {
	if over.Null() {
		return x, nil
	}
	if x.Kind != v1alpha1.KindStruct || over.Kind != v1alpha1.KindStruct {
		return nil, errors.New("not a map")
	}
	out := &v1alpha1.Value{Kind: x.Kind, Pos: x.Pos, Fields: slices.Clone(x.Fields)}
	index := map[string]int{}
	for i, f := range out.Fields {
		index[f.Name] = i
	}
	for _, f := range over.Fields {
		at, there := index[f.Name]
		if !there {
			index[f.Name] = len(out.Fields)
			out.Fields = append(out.Fields, f)
			continue
		}
		if merged, err := together(out.Fields[at].Value, f.Value); err == nil && !f.Value.Null() {
			f.Value = merged
		}
		out.Fields[at] = f
	}
	return out, nil
}

// document is the content of one document, which begins after so many lines.
func (p *places) document(text []byte, before int) (*v1alpha1.Value, error) {
	var doc goyaml.Node
	err := goyaml.Unmarshal(text, &doc)
	p.broken = p.broken || err != nil
	if err != nil || len(doc.Content) == 0 {
		doc = goyaml.Node{Content: []*goyaml.Node{nil}}
	}
	d := &document{places: p, before: before}
	if err := d.once(doc.Content[0], 0); err != nil {
		return nil, err
	}
	var v any
	if err := helmyaml.Unmarshal(text, &v); err != nil {
		return nil, p.lineError(before, err)
	}
	return d.data(v, doc.Content[0]), nil
}

// document knows where in a file the fields of one document are.
type document struct {
	*places
	before int
	keys   map[string]string
}

func (d *document) pos(n *goyaml.Node) v1alpha1.Position {
	if n == nil {
		return d.at(d.before+1, 1)
	}
	return d.at(d.before+n.Line, n.Column)
}

// data is a value as data, with the places of a node where there is one.
func (d *document) data(v any, n *goyaml.Node) *v1alpha1.Value {
	pos := d.pos(n)
	if n != nil && n.Kind == goyaml.AliasNode {
		n = n.Alias
	}
	switch v := v.(type) {
	case map[string]any:
		out := &v1alpha1.Value{Kind: v1alpha1.KindStruct, Pos: pos}
		for _, k := range d.order(v, n) {
			value := d.data(v[k.name], k.value)
			if k.value == nil {
				stamp(value, k.pos)
			}
			out.Fields = append(out.Fields, v1alpha1.Field{Name: k.name, Value: value, Pos: k.pos})
		}
		return out
	case []any:
		out := &v1alpha1.Value{Kind: v1alpha1.KindList, Pos: pos}
		for i, x := range v {
			var item *goyaml.Node
			if n != nil && n.Kind == goyaml.SequenceNode && i < len(n.Content) {
				item = n.Content[i]
			}
			out.Items = append(out.Items, d.data(x, item))
		}
		return out
	case float64:
		return numberOf(v, pos)
	case string:
		return &v1alpha1.Value{Kind: v1alpha1.KindString, Text: v, Foreign: true, Pos: pos}
	case bool:
		return &v1alpha1.Value{Kind: v1alpha1.KindBool, Text: strconv.FormatBool(v), Pos: pos}
	}
	return &v1alpha1.Value{Pos: pos}
}

// numberOf is a number; a whole one that a float holds exactly is written as one.
func numberOf(v float64, pos v1alpha1.Position) *v1alpha1.Value {
	out := &v1alpha1.Value{Kind: v1alpha1.KindFloat, Text: strconv.FormatFloat(v, 'g', -1, 64), Pos: pos}
	if !strings.ContainsAny(out.Text, ".e") {
		out.Text += ".0"
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 && (v != 0 || !math.Signbit(v)) {
		out.Kind, out.Text = v1alpha1.KindInt, strconv.FormatFloat(v, 'f', -1, 64)
	}
	return out
}

// entry is one field of a map: its name as Helm has it, and its place.
type entry struct {
	name  string
	pos   v1alpha1.Position
	value *goyaml.Node
}

// order is a map's fields as the file has them, then those that it has elsewhere, by name.
func (d *document) order(m map[string]any, n *goyaml.Node) []entry {
	out := make([]entry, 0, len(m))
	left := maps.Clone(m)
	var from func(n *goyaml.Node, levels int)
	from = func(n *goyaml.Node, levels int) {
		if n != nil && n.Kind == goyaml.AliasNode {
			n = n.Alias
		}
		if n == nil || levels == 0 {
			return
		}
		if n.Kind == goyaml.SequenceNode { // of what is merged
			for _, item := range n.Content {
				from(item, levels-1)
			}
			return
		}
		for i := 0; n.Kind == goyaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if isMerge(n.Content[i]) {
				continue
			}
			name, ok := d.key(n.Content[i])
			if _, open := left[name]; ok && open {
				delete(left, name)
				out = append(out, entry{name, d.pos(n.Content[i]), n.Content[i+1]})
			}
		}
		for i := 0; n.Kind == goyaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if isMerge(n.Content[i]) {
				from(n.Content[i+1], levels-1)
			}
		}
	}
	from(n, maxFileChain)
	for _, name := range slices.Sorted(maps.Keys(left)) {
		out = append(out, entry{name, d.pos(n), nil})
	}
	return out
}

func isMerge(key *goyaml.Node) bool { return key.Tag == "!!merge" }

// key is what Helm makes of a key.
func (d *document) key(n *goyaml.Node) (string, bool) {
	if n.Kind == goyaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != goyaml.ScalarNode {
		return "", false
	}
	const tagged = goyaml.TaggedStyle
	if n.Style&^tagged != 0 || n.Style&tagged != 0 && n.ShortTag() == "!!str" {
		return n.Value, true
	}
	text := n.Value
	if n.Style&tagged != 0 {
		text = n.Tag + " " + text
	}
	if name, known := d.keys[text]; known {
		return name, true
	}
	var m map[string]any
	if err := helmyaml.Unmarshal([]byte("? "+text+"\n: 0\n"), &m); err != nil || len(m) != 1 {
		return "", false
	}
	name := slices.Collect(maps.Keys(m))[0]
	if d.keys == nil {
		d.keys = map[string]string{}
	}
	d.keys[text] = name
	return name, true
}

// once checks that no map has a key twice, and that nothing is nested too deeply.
func (d *document) once(n *goyaml.Node, levels int) error {
	if n == nil {
		return nil
	}
	if levels > cuelang.DefaultLimits().Nesting {
		return cuelang.Errorf(cuelang.TokenPos(d.pos(n)), nil, "nested too deeply")
	}
	seen := map[string]int{}
	for i, item := range n.Content {
		if n.Kind == goyaml.MappingNode && i%2 == 0 {
			if name, ok := d.key(item); ok && !isMerge(item) {
				if first, twice := seen[name]; twice {
					return cuelang.Errorf(cuelang.TokenPos(d.pos(item)), nil, "%s is given twice, first in line %d", name, d.before+first)
				}
				seen[name] = item.Line
			}
		}
		if err := d.once(item, levels+1); err != nil {
			return err
		}
	}
	return nil
}

var inLine = lazyregexp.New(`line (\d+)`)

// lineError is what Helm's library says about a document. Its words may quote values: only the place is kept, and the
// kinds of mistake that hold none.
func (p *places) lineError(before int, err error) error {
	line := 1
	if m := inLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	for _, kind := range []string{"unsupported value: NaN", "unsupported value: +Inf", "unsupported value: -Inf", "unsupported map key",
		"excessive aliasing", "unknown anchor", "map merge requires map"} {
		if strings.Contains(err.Error(), kind) {
			return p.errorf(before+line, "not valid YAML for Helm: %s", kind)
		}
	}
	return p.errorf(before+line, "not valid YAML for Helm")
}

func (p *places) errorf(line int, format string, args ...any) error {
	if !utf8.Valid(p.src) {
		line = 1
	}
	return cuelang.Errorf(cuelang.TokenPos(p.at(line, 1)), nil, "%s", fmt.Sprintf(format, args...))
}
