package cuegen

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"

	"cuelang.org/go/cue/literal"
)

// converter writes one type.
type converter struct {
	gen        *generator
	pkg        *goPackage
	importPath string
	file       *ast.File
	taken      map[string]bool // names of imports
	defined
}

// define writes a type's definition.
func (c *converter) define(t *ast.TypeSpec) string {
	var b strings.Builder
	name := t.Name.Name
	if c.gen.opts.Docs {
		b.WriteString(comment(docs(t.Doc)))
	}
	if text, ok := special[c.importPath+"."+name]; ok {
		b.WriteString("#" + name + ": " + text + "\n")
		if strings.Contains(text, "#JSONSchemaProps") {
			c.refs = append(c.refs, typeName{c.importPath, "JSONSchemaProps"})
		}
		return b.String()
	}
	enum := c.pkg.enums[name]
	if len(enum) == 0 {
		b.WriteString("#" + name + ": " + c.expr(t.Type, 0) + "\n")
		return b.String()
	}
	c.enumeration(&b, t, enum)
	return b.String()
}

// enumeration writes a string type with its constants. Only what Kubernetes marks +enum is complete; of other types the
// constants are the well-known values.
func (c *converter) enumeration(b *strings.Builder, t *ast.TypeSpec, enum []constant) {
	name, all := t.Name.Name, make([]string, 0, len(enum))
	for _, k := range enum {
		all = append(all, "#"+k.name)
	}
	if marked(t.Doc, "+enum") {
		b.WriteString("#" + name + ": #enum" + name + "\n")
	} else {
		b.WriteString("#" + name + ": " + c.expr(t.Type, 0) + " // well-known: #enum" + name + "\n")
	}
	b.WriteString("\n#enum" + name + ":\n" + strings.Join(all, " |\n") + "\n")
	for _, k := range enum {
		value, err := strconv.Unquote(k.value)
		if err != nil {
			continue
		}
		b.WriteString("\n")
		if c.gen.opts.Docs {
			b.WriteString(comment(k.doc))
		}
		b.WriteString("#" + k.name + ": " + literal.String.Quote(value) + "\n")
	}
}

// expr is the CUE expression of a Go type's JSON.
func (c *converter) expr(t ast.Expr, depth int) string {
	if depth > maxDepth {
		return "_"
	}
	switch t := t.(type) {
	case *ast.Ident:
		return c.ident(t.Name)
	case *ast.SelectorExpr:
		return c.selector(t)
	case *ast.StarExpr:
		return c.expr(t.X, depth+1)
	case *ast.ParenExpr:
		return c.expr(t.X, depth+1)
	case *ast.ArrayType:
		if of, ok := t.Elt.(*ast.Ident); ok && of.Name == "byte" {
			return "bytes"
		}
		return "[..." + c.expr(t.Elt, depth+1) + "]"
	case *ast.MapType:
		return "{[string]: " + c.expr(t.Value, depth+1) + "}"
	case *ast.StructType:
		return c.structure(t, depth+1)
	}
	return "_" // interfaces, functions, channels
}

// basic are Go's own types; what is not here means anything.
var basic = map[string]string{
	"string": "string", "bool": "bool", "int": "int", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
	"uint": "uint", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "byte": "uint8",
	"rune": "int32", "float32": "number", "float64": "number",
}

func (c *converter) ident(name string) string {
	if t, ok := c.pkg.types[name]; ok {
		if t.TypeParams == nil && ast.IsExported(name) {
			c.refs = append(c.refs, typeName{c.importPath, name})
			return "#" + name
		}
		return "_"
	}
	if text, ok := basic[name]; ok {
		return text
	}
	return "_"
}

// selector is a type of another package.
func (c *converter) selector(t *ast.SelectorExpr) string {
	x, ok := t.X.(*ast.Ident)
	if !ok {
		return "_"
	}
	for _, spec := range c.file.Imports {
		local, importPath := c.importName(spec)
		if local != x.Name {
			continue
		}
		p := c.gen.pkg(importPath)
		if p == nil || !importable(importPath) {
			if strings.Contains(importPath, ".") { // the standard library has no types of its own in the API
				c.gen.missing(importPath, c.importPath)
			}
			return "_"
		}
		if def := p.types[t.Sel.Name]; def == nil || def.TypeParams != nil || !ast.IsExported(t.Sel.Name) {
			return "_"
		}
		c.imports[importPath] = local
		c.refs = append(c.refs, typeName{importPath, t.Sel.Name})
		return local + ".#" + t.Sel.Name
	}
	return "_"
}

// importName is what an import is called in the file, and its path.
func (c *converter) importName(spec *ast.ImportSpec) (local, importPath string) {
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", ""
	}
	if spec.Name != nil {
		return spec.Name.Name, importPath
	}
	if p := c.gen.pkg(importPath); p != nil {
		return p.name, importPath
	}
	return importPath[strings.LastIndexByte(importPath, '/')+1:], importPath
}

func (c *converter) structure(t *ast.StructType, depth int) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range t.Fields.List {
		c.member(&b, f, depth)
	}
	b.WriteString("}")
	return b.String()
}

// member writes the fields of one line of a struct.
func (c *converter) member(b *strings.Builder, f *ast.Field, depth int) {
	var tag reflect.StructTag
	if f.Tag != nil {
		if text, err := strconv.Unquote(f.Tag.Value); err == nil {
			tag = reflect.StructTag(text)
		}
	}
	jsonTag, _ := tag.Lookup("json")
	name, flags, _ := strings.Cut(jsonTag, ",")
	if name == "-" && flags == "" {
		return
	}
	if len(f.Names) == 0 && name == "" {
		if x := c.expr(f.Type, depth); x != "_" {
			b.WriteString(x + "\n")
		}
		return
	}
	names := []string{name}
	if name == "" {
		names = nil
		for _, n := range f.Names {
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
	} else if len(f.Names) > 0 && !f.Names[0].IsExported() {
		return
	}
	if len(names) == 0 {
		return
	}
	flags = "," + flags + ","
	optional := strings.Contains(flags, ",omitempty,") || strings.Contains(flags, ",omitzero,")
	if marked(f.Doc, "+optional") || marked(f.Doc, "+k8s:optional") {
		optional = true
	}
	if marked(f.Doc, "+required") || marked(f.Doc, "+k8s:required") {
		optional = false
	}
	x := c.expr(f.Type, depth)
	if strings.Contains(flags, ",string,") {
		x = "string"
	}
	mark := ""
	if optional {
		mark = "?"
	} else if _, pointer := f.Type.(*ast.StarExpr); pointer && !marked(f.Doc, "+required") && x != "_" {
		x = "null | " + x
	}
	for _, n := range names {
		if c.gen.opts.Docs {
			b.WriteString(comment(docs(f.Doc)))
		}
		b.WriteString(label(n, c.taken) + mark + ": " + x + "\n")
	}
}

// marked reports whether a comment holds a marker on a line of its own; markers stand for tools, not for people.
func marked(doc *ast.CommentGroup, marker string) bool {
	if doc == nil {
		return false
	}
	for _, line := range doc.List {
		if strings.TrimSpace(strings.TrimPrefix(line.Text, "//")) == marker {
			return true
		}
	}
	return false
}

// docs is a comment without its markers.
func docs(doc *ast.CommentGroup) string {
	var keep []string
	for line := range strings.Lines(doc.Text()) {
		if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(strings.TrimSpace(line), "+") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "\n")
}
