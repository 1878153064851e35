package bind

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
	goyaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/yaml"
	helmyaml "sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/cuelang"
)

// chartData reads a YAML file of values for a chart with the library that Helm reads it with, so that numbers, booleans,
// dates and keys of every spelling are what Helm makes of them; several documents are merged as Helm merges them. Order
// and positions are the file's, as far as the newer library finds the same fields there. A key that is given twice is an
// error, at its second place.
func chartData(name string, src []byte) (ast.Expr, error) {
	p := newPlaces(name, src)
	x, err := p.read()
	if err == nil {
		err = cuelang.CheckEntries(x)
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
	file  *token.File
	lines []int
	// broken: there is a document that is no YAML.
	broken bool
}

func newPlaces(name string, src []byte) *places {
	f := token.NewFile(name, 0, len(src)+1)
	f.SetLinesForContent(src)
	return &places{name: name, src: src, file: f, lines: append(f.Lines(), len(src))}
}

// at is the place of a line and a column, both from 1.
func (p *places) at(line, column int) token.Pos {
	if line < 1 || line >= len(p.lines) {
		return p.file.Pos(0, token.NoRelPos)
	}
	return p.file.Pos(min(p.lines[line-1]+max(column, 1)-1, p.lines[line]), token.NoRelPos)
}

// read is the content of all documents.
func (p *places) read() (x ast.Expr, err error) {
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
		return nil, cuelang.Errorf(p.at(fs[0].Pos.Line, fs[0].Pos.Column), nil, "%s", fs[0].What)
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
		if x == nil || isNull(x) {
			x = next
			continue
		}
		if x, err = together(x, next); err != nil {
			return nil, p.errorf(1+bytes.Count(src[:start], []byte("\n")), "several documents are merged, as Helm does it: each has to be a map")
		}
	}
}

// together is one document over another: maps are merged, anything else replaces.
func together(x, over ast.Expr) (ast.Expr, error) {
	a, isMap := x.(*ast.StructLit)
	if over == nil || isNull(over) {
		return x, nil
	}
	b, overMap := over.(*ast.StructLit)
	if !isMap || !overMap {
		return nil, errors.New("not a map")
	}
	out := &ast.StructLit{Lbrace: a.Lbrace, Rbrace: a.Rbrace, Elts: slices.Clone(a.Elts)}
	index := map[string]int{}
	for i, d := range out.Elts {
		name, _, _ := ast.LabelName(d.(*ast.Field).Label)
		index[name] = i
	}
	for _, d := range b.Elts {
		f := d.(*ast.Field)
		name, _, _ := ast.LabelName(f.Label)
		at, there := index[name]
		if !there {
			index[name] = len(out.Elts)
			out.Elts = append(out.Elts, f)
			continue
		}
		value := f.Value
		if merged, err := together(out.Elts[at].(*ast.Field).Value, value); err == nil && !isNull(value) {
			value = merged
		}
		out.Elts[at] = &ast.Field{Label: f.Label, TokenPos: f.TokenPos, Value: value}
	}
	return out, nil
}

func isNull(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Kind == token.NULL
}

// document is the content of one document, which begins after so many lines.
func (p *places) document(text []byte, before int) (ast.Expr, error) {
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

func (d *document) pos(n *goyaml.Node) token.Pos {
	if n == nil {
		return d.at(d.before+1, 1)
	}
	return d.at(d.before+n.Line, n.Column)
}

// data is a value as CUE data, with the places of a node where there is one.
func (d *document) data(v any, n *goyaml.Node) ast.Expr {
	pos := d.pos(n)
	if n != nil && n.Kind == goyaml.AliasNode {
		n = n.Alias
	}
	switch v := v.(type) {
	case map[string]any:
		out := &ast.StructLit{Lbrace: pos}
		for _, k := range d.order(v, n) {
			label := ast.Label(ast.NewString(k.name))
			ast.SetPos(label, k.pos)
			value := d.data(v[k.name], k.value)
			if k.value == nil {
				stamp(value, k.pos)
			}
			out.Elts = append(out.Elts, &ast.Field{Label: label, TokenPos: k.pos, Value: value})
		}
		return out
	case []any:
		out := &ast.ListLit{Lbrack: pos}
		for i, x := range v {
			var item *goyaml.Node
			if n != nil && n.Kind == goyaml.SequenceNode && i < len(n.Content) {
				item = n.Content[i]
			}
			out.Elts = append(out.Elts, d.data(x, item))
		}
		return out
	case float64:
		return numberOf(v, pos)
	case string:
		return cuelang.Foreign(text(v, pos))
	case bool:
		x := ast.NewBool(v)
		ast.SetPos(x, pos)
		return x
	}
	x := ast.NewNull()
	ast.SetPos(x, pos)
	return x
}

// numberOf is a number; a whole one that a float holds exactly is written as one.
func numberOf(v float64, pos token.Pos) ast.Expr {
	abs := math.Abs(v)
	lit := &ast.BasicLit{Kind: token.FLOAT, ValuePos: pos, Value: strconv.FormatFloat(abs, 'g', -1, 64)}
	if !strings.ContainsAny(lit.Value, ".e") {
		lit.Value += ".0"
	}
	if abs == math.Trunc(abs) && abs < 1<<53 && (abs != 0 || !math.Signbit(v)) {
		lit.Kind, lit.Value = token.INT, strconv.FormatFloat(abs, 'f', -1, 64)
	}
	if math.Signbit(v) {
		return &ast.UnaryExpr{OpPos: pos, Op: token.SUB, X: lit}
	}
	return lit
}

// entry is one field of a map: its name as Helm has it, and its place.
type entry struct {
	name  string
	pos   token.Pos
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
		return cuelang.Errorf(d.pos(n), nil, "nested too deeply")
	}
	seen := map[string]int{}
	for i, item := range n.Content {
		if n.Kind == goyaml.MappingNode && i%2 == 0 {
			if name, ok := d.key(item); ok && !isMerge(item) {
				if first, twice := seen[name]; twice {
					return cuelang.Errorf(d.pos(item), nil, "%s is given twice, first in line %d", name, d.before+first)
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

var inLine = regexp.MustCompile(`line (\d+)`)

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
	return cuelang.Errorf(p.at(line, 1), nil, "%s", fmt.Sprintf(format, args...))
}
