package helm

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/templatevalues"
)

// tplText is the function that looks at a text before tpl parses it. Every call of tpl is rendered as
// tpl (tpl__text TEXT) CONTEXT: the engine's tpl knows its templates, so that it cannot be replaced.
const tplText = "tpl__text"

// guarded finds such calls in texts of the library.
var guarded = lazyregexp.New(`\(` + tplText + ` ((?:[^()]|\([^()]*\))*)\)`)

// maxTplText is the size of a text that is parsed as a template while a chart is rendered.
const maxTplText = 4 << 20

// boundedText is a text that tpl is given, with its own calls of tpl guarded, or why it is not parsed: it was made while the
// chart is rendered, so nobody has looked at it yet. What is no text is left to tpl.
func boundedText(x any) (any, error) {
	text, ok := x.(string)
	if !ok {
		return x, nil
	}
	if len(text) > maxTplText {
		return nil, fmt.Errorf("tpl is given a text of more than %d MiB", maxTplText>>20)
	}
	if err := tooNested("the text that tpl is given", text); err != nil {
		return nil, err
	}
	return guardTpl(text), nil
}

// guardTpl puts tpl__text around the text of every call of tpl, and shown__value behind what an action prints. A template that does
// not parse is left as it is: the engine says what is wrong with it.
func guardTpl(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return text
	}
	var calls []int
	for _, t := range trees {
		walkNodes(t.Root, func(n *parse.IdentifierNode) {
			if n.Ident == "tpl" && strings.HasPrefix(text[n.Pos:], n.Ident) {
				calls = append(calls, int(n.Pos))
			}
		})
	}
	var edits []edit
	for _, at := range calls {
		if from, to := operand(text, at+len("tpl")); from < to {
			edits = append(edits, edit{from, "(" + tplText + " "}, edit{to, ")"})
		}
	}
	for _, at := range templatevalues.Printing(text, trees) {
		edits = append(edits, edit{at, templatevalues.Showing})
	}
	return edited(text, edits)
}

// edit is what is put into a text at a place.
type edit struct {
	at   int
	text string
}

// edited is a text with all edits; of those at one place the first comes first.
func edited(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(text[last:e.at])
		b.WriteString(e.text)
		last = e.at
	}
	return b.String() + text[last:]
}

// operand is where the next operand of an action begins and ends; it is empty where there is none.
func operand(text string, from int) (start, end int) {
	for from < len(text) && strings.IndexByte(" \t\r\n", text[from]) >= 0 {
		from++
	}
	depth := 0
	for at := from; at < len(text); at++ {
		switch c := text[at]; c {
		case '"', '`', '\'':
			for at++; at < len(text) && text[at] != c; at++ {
				if text[at] == '\\' && c != '`' {
					at++
				}
			}
		case '(':
			depth++
		case ')', '|', ' ', '\t', '\r', '\n', '}':
			if depth == 0 {
				return from, at
			}
			if c == ')' {
				depth--
			}
		}
	}
	return from, from
}
