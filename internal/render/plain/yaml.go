package plain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// maxNodes bounds what aliases may expand to, per document.
const maxNodes = 1_000_000

// document is one object as read; node is nil for JSON files.
type document struct {
	body map[string]any
	pos  diag.Pos
	node *yaml.Node
}

// parse reads all documents of a file. It stops at the first error of syntax and reports every other one.
func parse(f file, opts Options) ([]document, diag.Findings) {
	if fs := cuelang.CheckText(f.name, f.text); fs.HasErrors() {
		return nil, fs
	}
	if strings.EqualFold(filepath.Ext(f.name), ".json") {
		return parseJSON(f, opts)
	}
	var docs []document
	var found diag.Findings
	dec := yaml.NewDecoder(bytes.NewReader(f.text))
	for {
		var n yaml.Node
		err := decode(dec, &n)
		if errors.Is(err, io.EOF) {
			return docs, found
		}
		if err != nil {
			return docs, append(found, syntaxError(f.name, err, opts))
		}
		c := &converter{file: f.name, active: map[*yaml.Node]bool{}, depth: opts.Limits.Nesting}
		x, ok := c.value(&n)
		found = append(found, c.found...)
		if !ok || x == nil {
			continue
		}
		body, isMap := x.(map[string]any)
		root := content(&n)
		pos := diag.Pos{File: f.name, Line: root.Line}
		if !isMap {
			fd := diag.Errorf("not-an-object", "an object is expected, not %s", nodeKind(root))
			fd.Pos = pos
			found = append(found, fd)
			continue
		}
		docs = append(docs, document{body: body, pos: pos, node: root})
	}
}

// decode guards against panics of the YAML library on hostile input.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return dec.Decode(n)
}

var yamlLine = lazyregexp.New(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

func syntaxError(name string, err error, opts Options) diag.Finding {
	m := yamlLine.FindStringSubmatch(strings.TrimSpace(err.Error()))
	text, line := err.Error(), 1
	if m != nil {
		text = m[2]
		if n, e := strconv.Atoi(m[1]); e == nil {
			line = cuelang.YAMLLine(n, text)
		}
	}
	f := diag.Errorf("yaml", "not valid YAML: %s", opts.Redact(cuelang.YAMLFault(text)))
	if strings.Contains(text, "cannot start any token") {
		f.Fix = "YAML is indented with spaces, not with tabs"
	}
	f.Pos = diag.Pos{File: name, Line: line}
	return f
}

// content is the node a document holds.
func content(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		return n.Content[0]
	}
	return n
}

func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a map"
	}
	return "a plain value"
}

// converter turns nodes into JSON types and collects what is wrong.
type converter struct {
	file   string
	nodes  int
	depth  int
	active map[*yaml.Node]bool
	found  diag.Findings
}

func (c *converter) fail(n *yaml.Node, code, format string, args ...any) (any, bool) {
	f := diag.Errorf(code, format, args...)
	f.Pos = diag.Pos{File: c.file, Line: n.Line, Column: n.Column}
	c.found = append(c.found, f)
	return nil, false
}

func (c *converter) value(n *yaml.Node) (any, bool) {
	c.nodes++
	if c.nodes > maxNodes {
		if c.nodes == maxNodes+1 {
			return c.fail(n, "yaml", "aliases expand to more than %d nodes", maxNodes)
		}
		return nil, false
	}
	if c.depth--; c.depth < 0 {
		c.depth++
		return c.fail(n, "yaml", "nested too deeply")
	}
	defer func() { c.depth++ }()
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, true
		}
		return c.value(n.Content[0])
	case yaml.MappingNode:
		return c.mapping(n)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		all := true
		for _, e := range n.Content {
			x, ok := c.value(e)
			all = all && ok
			list = append(list, x)
		}
		return list, all
	case yaml.AliasNode:
		if c.active[n.Alias] {
			return c.fail(n, "yaml", "the value of an anchor contains itself")
		}
		c.active[n.Alias] = true
		defer delete(c.active, n.Alias)
		return c.value(n.Alias)
	case yaml.ScalarNode:
		return c.scalar(n)
	}
	return nil, true
}

func (c *converter) mapping(n *yaml.Node) (any, bool) {
	m := make(map[string]any, len(n.Content)/2)
	lines := make(map[string]int, len(n.Content)/2)
	all := true
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			c.fail(k, "yaml", "a key must be a plain value")
			all = false
			continue
		}
		if k.Value == "<<" && (k.Tag == "!!merge" || k.Tag == "") {
			merges = append(merges, v)
			continue
		}
		if first, dup := lines[k.Value]; dup {
			c.fail(k, "duplicate-key", "key %q is given twice, first in line %d", k.Value, first)
			all = false
			continue
		}
		lines[k.Value] = k.Line
		x, ok := c.value(v)
		all = all && ok
		m[k.Value] = x
	}
	for _, v := range merges {
		all = c.merge(m, v) && all
	}
	return m, all
}

// merge adds what a merge key (<<) brings; the map's own keys win, then those of earlier sources.
func (c *converter) merge(m map[string]any, v *yaml.Node) bool {
	x, ok := c.value(v)
	sources, isList := x.([]any)
	if !isList {
		sources = []any{x}
	}
	for _, s := range sources {
		from, isMap := s.(map[string]any)
		if !isMap {
			if ok {
				c.fail(v, "yaml", "a merge key needs a map")
			}
			return false
		}
		for k, x := range from {
			if _, have := m[k]; !have {
				m[k] = x
			}
		}
	}
	return ok
}

// oldBooleans are plain words that kubectl's YAML (1.1) reads as booleans.
var oldBooleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

func (c *converter) scalar(n *yaml.Node) (any, bool) {
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	if b, old := oldBooleans[n.Value]; old && plain {
		return b, true
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool":
		var b bool
		if n.Decode(&b) != nil {
			return c.fail(n, "yaml", "not a boolean")
		}
		return b, true
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, true
		}
		fallthrough
	case "!!float":
		var f float64
		if n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return c.fail(n, "yaml", "not a number that JSON can hold")
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), true
		}
		return f, true
	case "!!binary":
		return strings.Join(strings.Fields(n.Value), ""), true
	case "!!str", "!!timestamp":
		return n.Value, true
	}
	return c.fail(n, "yaml", "a tag that is not known")
}

// items are the objects of a List, each with its own line.
func (d document) items() ([]document, diag.Findings) {
	list, ok := d.body["items"].([]any)
	if !ok && d.body["items"] != nil {
		f := diag.Errorf("not-an-object", "items of a List must be a list")
		f.Pos = d.pos
		return nil, diag.Findings{f}
	}
	var out []document
	var found diag.Findings
	for i, x := range list {
		item := document{pos: d.pos, node: child(d.node, "items", strconv.Itoa(i))}
		if item.node != nil {
			item.pos.Line = item.node.Line
		}
		if item.body, ok = x.(map[string]any); !ok {
			f := diag.Errorf("not-an-object", "item %d of the List is not an object", i)
			f.Pos = item.pos
			found = append(found, f)
			continue
		}
		out = append(out, item)
	}
	return out, found
}

// locate is the position of a dotted path in the document; keys that contain dots end the search at their parent.
func (d document) locate(path string) diag.Pos {
	if d.node == nil || path == "" {
		return diag.Pos{}
	}
	n := d.node
	for _, name := range strings.Split(path, ".") {
		next := child(n, name)
		if next == nil {
			break
		}
		n = next
	}
	if n == d.node {
		return diag.Pos{}
	}
	return diag.Pos{File: d.pos.File, Line: n.Line, Column: n.Column}
}

// child follows names and list indexes; nil when there is none.
func child(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		if n != nil && n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n == nil {
			return nil
		}
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == name {
					next = n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
				next = n.Content[i]
			}
		}
		n = next
	}
	return n
}
