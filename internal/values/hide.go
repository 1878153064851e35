package values

import (
	"encoding/json"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/redact"
)

// Runtime makes the secret runtime values that went into the declaration of an instance secret for it: those that the
// documents use and that stand there, in whatever form.
func (r *Reader) Runtime(values map[string]fleet.Value, uses func(name string) bool, instances ...v1alpha1.Instance) {
	used, names := map[string]*redact.Redactor{}, map[string][]string{}
	for name, v := range values {
		if v.Secret && v.Value != "" && uses(name) {
			used[v.Value] = redact.New(v.Value)
			names[v.Value] = append(names[v.Value], name)
		}
	}
	if len(used) == 0 {
		return
	}
	for _, in := range instances {
		declared := declaration(in)
		for value, alone := range used {
			if alone.Value("", declared) != declared {
				r.options.Redactor.AddFor(in.Name, value)
				for _, name := range names[value] {
					r.options.Redactor.Called(in.Name, value, "the runtime value "+name)
				}
			}
		}
	}
}

// Explained are explanations with mask applied to the values in them.
func Explained(all []place.Explanation, mask func(instance, text string) string) []place.Explanation {
	for i := range all {
		x := &all[i]
		x.Value = Shown(x.Value, x.Instance, mask)
		for j := range x.Layers {
			x.Layers[j].Value = Shown(x.Layers[j].Value, x.Instance, mask)
		}
	}
	return all
}

// declaration is all of an instance as text.
func declaration(in v1alpha1.Instance) string {
	text := cuelang.Line(in.Values.Struct)
	in.Values, in.ValuesFor = v1alpha1.Values{}, nil
	if data, err := json.Marshal(in); err == nil {
		text += "\n" + string(data)
	}
	return text
}

// Shown is CUE text with mask applied to its values, texts and numbers, and to comments: fields keep their names and the
// text stays CUE. mask gets the instance that a value belongs to: the one given, or the field below "instances". What
// cannot be read is masked as a whole.
func Shown(text, instance string, mask func(instance, text string) string) string {
	f, err := parser.ParseFile("", text, parser.ParseComments)
	if err != nil {
		return mask(instance, text)
	}
	changed := false
	v := shower{mask: func(instance, text string) string {
		out := mask(instance, text)
		changed = changed || out != text
		return out
	}}
	for _, d := range f.Decls {
		v.node(d, instance, false)
	}
	if !changed {
		return text
	}
	data, err := format.Node(f)
	if err != nil {
		return mask(instance, text)
	}
	if !strings.HasSuffix(text, "\n") {
		return strings.TrimSuffix(string(data), "\n")
	}
	return string(data)
}

// shower masks in a syntax tree.
type shower struct {
	mask func(instance, text string) string
}

// node masks in a node of an instance; among reports that its fields are instances.
func (s shower) node(n ast.Node, instance string, among bool) {
	ast.Walk(n, func(n ast.Node) bool {
		for _, group := range ast.Comments(n) {
			for _, c := range group.List {
				c.Text = s.mask(instance, c.Text)
			}
		}
		switch n := n.(type) {
		case *ast.Field:
			name, _, err := ast.LabelName(n.Label)
			below := instance
			if among && err == nil {
				below = name
			}
			s.node(n.Value, below, err == nil && name == "instances" && instance == "")
			return false // its label is a name
		case *ast.BasicLit:
			s.literal(n, instance)
		}
		return true
	}, nil)
}

func (s shower) literal(n *ast.BasicLit, instance string) {
	switch n.Kind {
	case token.INT, token.FLOAT:
		if got := s.mask(instance, n.Value); got != n.Value {
			n.Kind, n.Value = token.STRING, strconv.Quote(got)
		}
	case token.STRING:
		text, err := literal.Unquote(n.Value)
		if err != nil { // a part of an interpolation
			n.Value = s.mask(instance, n.Value)
			return
		}
		if got := s.mask(instance, text); got != text {
			n.Value = literal.String.WithOptionalTabIndent(1).Quote(got)
		}
	}
}
