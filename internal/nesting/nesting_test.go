package nesting

import (
	"fmt"
	"strings"
	"testing"
	"text/template/parse"
)

const most = 1000

// deepTemplates are templates so deep, in every spelling.
func deepTemplates(deep int) map[string]string {
	within := func(words ...string) string { // so many blocks, and after each something that only looks like its end
		return strings.Repeat(strings.Join(words, ""), deep)
	}
	return map[string]string{
		"blocks":            strings.Repeat("{{if true}}", deep) + strings.Repeat("{{end}}", deep),
		"open blocks":       within("{{- with . -}}"),
		"parentheses":       "{{ " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep) + " }}",
		"else if":           "{{if 1}}" + within("{{else if 1}}"),
		"else with":         "{{with 1}}" + within("{{- else\n\twith 1}}"),
		"range and else if": within("{{range .x}}{{else}}{{if 1}}{{else if 2}}{{end}}"),
		"definitions":       within(`{{block "a" .}}`),
		"not even a space":  within("{{if(1)}}"),
		"over lines":        within("{{-\r\n\tif\n1\n-}}"),
		"end in a string":   within(`{{if "}}{{end}}"}}`),
		"end in escapes":    within(`{{if "\"}}{{end}}\\"}}`),
		"end in a raw one":  within("{{if `\\}}{{end}}\n`}}"),
		"end in a char":     within(`{{if eq '}' '\'' '"'}}`, `{{"}}{{end}}"}}`),
		"end in a comment":  within("{{if 1}}", "{{/* }}{{end}} */}}", "{{- /*{{end}}*/ -}}"),
		"end in text":       within("{{if 1}}", " {end}} end }} "),
		"end as a name":     within("{{if 1}}", "{{ending}}", "{{.end}}", "{{$end}}", "{{1 | end}}"),
		"parens in a block": "{{if " + strings.Repeat("(", deep) + `"))))"`,
		"parens in text":    "{{ " + strings.Repeat(`(print ")}}" `, deep),
	}
}

// TestDeep: what would overflow the stack of the parser is counted in every spelling, and nothing else is.
func TestDeep(t *testing.T) {
	for name, text := range deepTemplates(200_000) {
		if blocks, parens := Of(text, most); max(blocks, parens) <= most {
			t.Errorf("%s: %d blocks, %d parentheses", name, blocks, parens)
		}
	}
	for name, text := range map[string]string{
		"what ends":         "{{if true}}{{(1)}}{{end}}{{/* if */}}{{range .x}}{{else}}{{end}}{{if 1}}{{else if 2}}{{else}}{{end}}",
		"in strings":        `{{ "{{if 1}}((((" }}{{ print "{{with" '(' }}`,
		"in raw ones":       "{{ `{{if 1}}((((\n{{if` }}",
		"in comments":       "{{/* {{if 1}} ((( */}}{{- /* {{range}} */ -}}",
		"names and fields":  "{{ iffy }}{{ .if }}{{ $with }}{{ rangeOver 1 }}{{- 3 }}",
		"in text":           "{if 1}} if ((( }} '\"`",
		"trimmed":           "{{- if 1 -}} a {{- end -}}",
		"with a definition": `{{define "a"}}{{end}}`,
	} {
		if blocks, parens := Of(strings.Repeat(text, 3000), most); blocks > 2 || parens > 1 {
			t.Errorf("%s: %d blocks, %d parentheses", name, blocks, parens)
		}
	}
}

// levels is how deep blocks and parentheses stand in each other below a node, as it was parsed.
func levels(n parse.Node, blocks, parens int, seen func(blocks, parens int)) {
	seen(blocks, parens)
	branch := func(b *parse.BranchNode) {
		levels(b.Pipe, blocks+1, -1, seen)
		levels(b.List, blocks+1, 0, seen)
		if b.ElseList != nil {
			levels(b.ElseList, blocks+1, 0, seen)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, x := range n.Nodes {
			levels(x, blocks, 0, seen)
		}
	case *parse.ActionNode:
		levels(n.Pipe, blocks, -1, seen)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			levels(n.Pipe, blocks, -1, seen)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.PipeNode:
		seen(blocks, parens+1)
		for _, c := range n.Cmds {
			for _, a := range c.Args {
				levels(a, blocks, parens+1, seen)
			}
		}
	case *parse.ChainNode:
		levels(n.Node, blocks, parens, seen)
	}
}

// FuzzNesting: what is counted is what the parser of templates makes of the text, wherever it parses.
func FuzzNesting(f *testing.F) {
	for _, text := range []string{
		"{{if 1}}a{{else if 2}}b{{else}}{{range .x}}{{end}}{{end}}", "{{with 1}}{{else with (2)}}{{end}}", "{{ ((1)) }}{{(print (1) (2)).x}}",
		`{{if "}}{{end}}"}}{{end}}`, "{{if `}}{{end}}\n`}}{{end}}", "{{if eq '}' '\\''}}{{end}}", "{{- /* {{if 1}} */ -}}{{/*}}*/}}", "{{ \"\\\"}}\\\\\" }}",
		`{{define "a"}}{{if 1}}{{end}}{{end}}{{template "a" (1)}}`, `{{block "a" .}}{{block "b" (.x)}}{{end}}{{end}}`, "{{-3}}{{- 3 -}}{{.end}}{{$x := 1}}{{$x = (2)}}",
		"{{range $i, $e := .x}}{{break}}{{else}}{{end}}", "{{if(1)}}{{end}}", "{{{", "{{if 1", "{{end}}", "{{else}}", "{{/*", "{{`", "}}{{1}}}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		blocks, parens := Of(text, most)
		if blocks > most || parens > most {
			return
		}
		tree, trees := parse.New("\x00main"), map[string]*parse.Tree{}
		tree.Mode = parse.SkipFuncCheck
		if _, err := tree.Parse(text, "", "", trees); err != nil {
			return
		}
		deepest, within := 0, 0
		for name, found := range trees {
			start := 1 // a definition is a block itself
			if name == tree.Name {
				start = 0
			}
			levels(found.Root, start, 0, func(b, p int) { deepest, within = max(deepest, b), max(within, p) })
		}
		said := fmt.Sprintf("%d blocks and %d parentheses are counted, the parser has %d and %d: %q", blocks, parens, deepest, within, text)
		if blocks < deepest || parens < within {
			t.Error(said)
		}
		// One block in another is a tree beside the other's.
		if !strings.Contains(text, "block") && (blocks != deepest || parens != within) {
			t.Error(said)
		}
	})
}
