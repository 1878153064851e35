package cuegen

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"cuelang.org/go/cue/literal"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/diag"
)

// schema is a structural schema as custom resource definitions hold it (OpenAPI 3.0 as Kubernetes restricts it).
type schema struct {
	Type             string             `json:"type"`
	Format           string             `json:"format"`
	Description      string             `json:"description"`
	Default          json.RawMessage    `json:"default"`
	Nullable         bool               `json:"nullable"`
	Enum             []json.RawMessage  `json:"enum"`
	Pattern          string             `json:"pattern"`
	MinLength        *int64             `json:"minLength"`
	MaxLength        *int64             `json:"maxLength"`
	Minimum          *json.Number       `json:"minimum"`
	Maximum          *json.Number       `json:"maximum"`
	ExclusiveMinimum bool               `json:"exclusiveMinimum"`
	ExclusiveMaximum bool               `json:"exclusiveMaximum"`
	MultipleOf       *json.Number       `json:"multipleOf"`
	Items            *schema            `json:"items"`
	MinItems         *int64             `json:"minItems"`
	MaxItems         *int64             `json:"maxItems"`
	UniqueItems      bool               `json:"uniqueItems"`
	Properties       map[string]*schema `json:"properties"`
	Required         []string           `json:"required"`
	Additional       json.RawMessage    `json:"additionalProperties"`
	MinProperties    *int64             `json:"minProperties"`
	MaxProperties    *int64             `json:"maxProperties"`
	AllOf            []*schema          `json:"allOf"`
	AnyOf            []*schema          `json:"anyOf"`
	OneOf            []*schema          `json:"oneOf"`
	Not              *schema            `json:"not"`

	Preserve    bool   `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString bool   `json:"x-kubernetes-int-or-string"`
	Embedded    bool   `json:"x-kubernetes-embedded-resource"`
	ListType    string `json:"x-kubernetes-list-type"`
	Rules       []struct {
		Rule    string `json:"rule"`
		Message string `json:"message"`
	} `json:"x-kubernetes-validations"`
}

// writer turns schemas into the text of CUE expressions.
type writer struct {
	source, subject string
	imports         map[string]string // path -> name
	found           diag.Findings
	path            []string
	patterns        *boundedregexp.Set // of the whole source
}

// standard are the packages expressions may refer to: fields of these names are quoted.
var standard = map[string]bool{"strings": true, "list": true, "struct": true, "math": true, "time": true, "net": true}

func newWriter(source, subject string, patterns *boundedregexp.Set) *writer {
	return &writer{source: source, subject: subject, imports: map[string]string{}, patterns: patterns}
}

func (w *writer) use(pkg string) string {
	w.imports[pkg] = pkg
	return pkg
}

func (w *writer) warn(code, format string, args ...any) {
	f := at(diag.Warnf(code, format, args...), w.source)
	f.What = w.subject + ": " + f.What
	f.Path = strings.Join(w.path, ".")
	w.found = append(w.found, f)
}

// kind is the definition of one version of a kind, its spec and status as definitions of their own.
func (w *writer) kind(group, version, kind, scope string, s *schema) string {
	var head, rest strings.Builder
	head.WriteString(comment(s.Description))
	fmt.Fprintf(&head, "#%s: {\napiVersion: %q\nkind: %q\n%s", kind, group+"/"+version, kind, w.metadata(scope))
	for _, name := range sorted(s.Properties) {
		if name == "apiVersion" || name == "kind" || name == "metadata" || s.Properties[name] == nil {
			continue
		}
		p := s.Properties[name]
		w.path = []string{name}
		mark := mark(s, name)
		if (name == "spec" || name == "status") && p.Type == "object" && !p.Nullable {
			def := "#" + kind + strings.ToUpper(name[:1]) + name[1:]
			fmt.Fprintf(&head, "%s%s: %s\n", name, mark, def)
			fmt.Fprintf(&rest, "\n%s%s: %s\n", comment(p.Description), def, w.expr(p, 1, false))
			continue
		}
		head.WriteString(w.field(name, mark, p, 1, false))
	}
	w.path = nil
	head.WriteString(rules(s))
	if s.Preserve {
		head.WriteString("...\n")
	}
	head.WriteString("}\n")
	if extra := w.logic(s, 1); extra != "" {
		fmt.Fprintf(&head, "#%s: %s\n", kind, extra)
	}
	return head.String() + rest.String()
}

// metadata is what may be said of an object before it exists.
func (w *writer) metadata(scope string) string {
	name := fmt.Sprintf("string & %s.MinRunes(1) & %[1]s.MaxRunes(253)", w.use("strings"))
	space := ""
	if scope != "Cluster" {
		space = "namespace!: string & strings.MinRunes(1) & strings.MaxRunes(63)\n"
	}
	return "metadata!: {\nname!: " + name + "\n" + space + `labels?: [string]: string
annotations?: [string]: string
finalizers?: [...string]
ownerReferences?: [...{
apiVersion!: string
kind!: string
name!: string
uid!: string
controller?: bool
blockOwnerDeletion?: bool
}]
}
`
}

// mark is how a property is present: required, unless the server fills it in.
func mark(s *schema, name string) string {
	if slices.Contains(s.Required, name) && s.Properties[name] != nil && len(s.Properties[name].Default) == 0 {
		return "!"
	}
	return "?"
}

func (w *writer) field(name, mark string, s *schema, depth int, open bool) string {
	return comment(s.Description) + label(name, standard) + mark + ": " + w.expr(s, depth, open) + "\n"
}

// expr is the expression of a schema. Open ones say nothing about fields they do not name: those within anyOf and its
// like, which only add to what is said elsewhere.
func (w *writer) expr(s *schema, depth int, open bool) string {
	if s == nil || depth > maxDepth {
		if depth > maxDepth {
			w.warn("schema-too-deep", "more than %d levels: anything is accepted below", maxDepth)
		}
		return "_"
	}
	parts := append([]string{w.typed(s, depth, open)}, w.bounds(s)...)
	if extra := w.logic(s, depth); extra != "" {
		parts = append(parts, extra)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" || p == "_" })
	out := strings.Join(parts, " & ")
	if out == "" {
		return "_"
	}
	if len(parts) > 1 && strings.Contains(parts[0], " | ") {
		out = "(" + parts[0] + ") & " + strings.Join(parts[1:], " & ")
	}
	if s.Nullable && !strings.HasPrefix(out, "null |") {
		out = "null | " + grouped(out, parts)
	}
	return w.defaulted(s, out)
}

func grouped(out string, parts []string) string {
	if len(parts) > 1 {
		return "(" + out + ")"
	}
	return out
}

// defaulted adds a scalar default; others are the server's to fill in and are left out.
func (w *writer) defaulted(s *schema, out string) string {
	text := strings.TrimSpace(string(s.Default))
	if text == "" || text == "null" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return out
	}
	lit, ok := scalarLiteral(s.Default)
	if !ok {
		return out
	}
	if strings.Contains(out, " | ") && !strings.Contains(out, "(") && strings.Contains(" | "+out+" | ", " | "+lit+" | ") {
		return strings.TrimSuffix(strings.TrimPrefix(strings.Replace(" | "+out+" | ", " | "+lit+" | ", " | *"+lit+" | ", 1), " | "), " | ")
	}
	return "*" + lit + " | " + out
}

// scalarLiteral is a JSON scalar as CUE.
func scalarLiteral(raw json.RawMessage) (string, bool) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return literal.String.Quote(v), true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	case nil:
		return "null", true
	}
	return "", false
}

// typed is the type alone, with the enumeration where there is one.
func (w *writer) typed(s *schema, depth int, open bool) string {
	if len(s.Enum) > 0 {
		var all []string
		for _, raw := range s.Enum {
			if lit, ok := scalarLiteral(raw); ok {
				all = append(all, lit)
			}
		}
		if len(all) == len(s.Enum) {
			return strings.Join(all, " | ")
		}
	}
	switch {
	case s.IntOrString && s.Pattern != "" && w.pattern(s) != "":
		return "int | " + w.pattern(s)
	case s.IntOrString:
		return "int | string"
	case s.Type == "object" || s.Embedded || s.Type == "" && (len(s.Properties) > 0 || len(s.Required) > 0):
		return w.object(s, depth, open)
	case s.Type == "array":
		return "[..." + w.item(s, depth, open) + "]"
	case s.Type == "string":
		return stringType(w, s)
	case s.Type == "integer" && (s.Format == "int32" || s.Format == "int64"):
		return s.Format
	case s.Type == "integer":
		return "int"
	case s.Type == "number":
		return "number"
	case s.Type == "boolean":
		return "bool"
	}
	return ""
}

func (w *writer) item(s *schema, depth int, open bool) string {
	if s.Items == nil {
		return "_"
	}
	w.path = append(w.path, "[]")
	defer func() { w.path = w.path[:len(w.path)-1] }()
	return w.expr(s.Items, depth+1, open)
}

// stringType is a string, narrowed by the formats that CUE knows as well as the API server.
func stringType(w *writer, s *schema) string {
	switch s.Format {
	case "date-time":
		return w.use("time") + ".Time"
	case "date":
		return w.use("time") + `.Format("2006-01-02")`
	case "ipv4":
		return w.use("net") + ".IPv4"
	}
	return "string"
}

// object is a struct. It is closed by the definition around it, so what may hold more ends with an ellipsis.
func (w *writer) object(s *schema, depth int, open bool) string {
	var b strings.Builder
	b.WriteString("{\n")
	if s.Embedded {
		if s.Properties["apiVersion"] == nil {
			b.WriteString("apiVersion!: string\n")
		}
		if s.Properties["kind"] == nil {
			b.WriteString("kind!: string\n")
		}
		if s.Properties["metadata"] == nil {
			b.WriteString("metadata?: {...}\n")
		}
	}
	for _, name := range sorted(s.Properties) {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if s.Embedded && name == "metadata" && len(p.Properties) == 0 {
			p = &schema{Type: "object", Preserve: true, Description: p.Description}
		}
		w.path = append(w.path, name)
		b.WriteString(w.field(name, mark(s, name), p, depth+1, open))
		w.path = w.path[:len(w.path)-1]
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			b.WriteString(label(name, standard) + "!: _\n")
		}
	}
	extra, any := w.additional(s, depth, open)
	b.WriteString(extra)
	b.WriteString(rules(s))
	if any || s.Preserve || open {
		b.WriteString("...\n")
	}
	b.WriteString("}")
	return b.String()
}

// additional is what other fields must be, and whether they may be anything.
func (w *writer) additional(s *schema, depth int, open bool) (string, bool) {
	switch text := strings.TrimSpace(string(s.Additional)); text {
	case "", "false", "null":
		return "", false
	case "true", "{}":
		return "", true
	}
	var p schema
	if err := json.Unmarshal(s.Additional, &p); err != nil {
		w.warn("schema", "additionalProperties is not understood: anything is accepted")
		return "", true
	}
	if len(s.Properties) > 0 {
		return "", true // a pattern would be held against the named fields as well
	}
	return "[string]: " + w.expr(&p, depth+1, open) + "\n", false
}

// rules are the CEL rules, which only the server evaluates, as comments.
func rules(s *schema) string {
	var b strings.Builder
	for _, r := range s.Rules {
		text := r.Rule
		if r.Message != "" {
			text += "\n" + r.Message
		}
		b.WriteString(comment("Checked by the server: " + text))
		b.WriteString("\n")
	}
	return b.String()
}

// pattern is the constraint of a regular expression, "" when CUE's syntax (RE2) cannot hold it.
func (w *writer) pattern(s *schema) string {
	err := w.patterns.Check(s.Pattern)
	if _, wrong := errors.AsType[*syntax.Error](err); wrong {
		w.warn("schema-pattern", "the pattern is left out, CUE cannot express it: %s", clean(s.Pattern))
		return ""
	} else if err != nil { // a long one is not told
		w.warn("schema-pattern", "the pattern is left out, it would take too long: %v", err)
		return ""
	}
	return "=~" + literal.String.Quote(s.Pattern)
}

// bounds are the constraints of scalars, lists and structs.
func (w *writer) bounds(s *schema) []string {
	if s.IntOrString {
		return nil // a bound would hold for one of the two types
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Pattern != "" {
		if p := w.pattern(s); p != "" {
			add("%s", p)
		}
	}
	number := func(op string, n *json.Number) {
		if n != nil {
			add("%s%s", op, n.String())
		}
	}
	number(map[bool]string{false: ">=", true: ">"}[s.ExclusiveMinimum], s.Minimum)
	number(map[bool]string{false: "<=", true: "<"}[s.ExclusiveMaximum], s.Maximum)
	if s.MultipleOf != nil {
		add("%s.MultipleOf(%s)", w.use("math"), s.MultipleOf.String())
	}
	for _, c := range []struct {
		n        *int64
		pkg, fun string
	}{
		{s.MinLength, "strings", "MinRunes"}, {s.MaxLength, "strings", "MaxRunes"}, {s.MinItems, "list", "MinItems"},
		{s.MaxItems, "list", "MaxItems"}, {s.MinProperties, "struct", "MinFields"}, {s.MaxProperties, "struct", "MaxFields"},
	} {
		if c.n != nil && *c.n >= 0 {
			add("%s.%s(%d)", w.use(c.pkg), c.fun, *c.n)
		}
	}
	if s.UniqueItems || s.ListType == "set" {
		add("%s.UniqueItems()", w.use("list"))
	}
	return out
}

// logic is anyOf and its like. Kubernetes' schemas say types outside of them, so alternatives stay open.
func (w *writer) logic(s *schema, depth int) string {
	var out []string
	match := func(how string, all []*schema) {
		var exprs []string
		for _, x := range all {
			exprs = append(exprs, w.expr(x, depth+1, true))
		}
		if len(exprs) > 0 {
			out = append(out, fmt.Sprintf("matchN(%s, [%s])", how, strings.Join(exprs, ", ")))
		}
	}
	if !s.IntOrString { // its anyOf repeats the type
		match(">=1", s.AnyOf)
	}
	match("1", s.OneOf)
	for _, x := range s.AllOf {
		if s.IntOrString && x != nil && len(x.AnyOf) == 2 {
			continue
		}
		match("1", []*schema{x})
	}
	if s.Not != nil {
		match("0", []*schema{s.Not})
	}
	return strings.Join(out, " & ")
}
