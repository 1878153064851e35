package helm

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/templatevalues"
)

// site is one place in a template that calls a watched function. A template function is not told where it is called
// from, so every place gets a name of its own: randAlpha becomes randAlpha__h7 in the text that is rendered.
type site struct {
	fn, name string
	// template is the path Helm knows it by, CHART/templates/x.yaml; "" is a text that was handed to tpl.
	template string
	line     int
	// text is a digest of the line's text: it stays when the line moves.
	text string
}

// mangled finds the names of sites in texts of the library.
var mangled = lazyregexp.New(`__h\d+\b`)

func unmangle(s string) string {
	s = strings.ReplaceAll(s, templatevalues.Showing, "")
	s = strings.ReplaceAll(guarded.ReplaceAllString(s, "$1"), tplText+": ", "")
	return mangled.ReplaceAllString(s, "")
}

// mark renames the watched calls in all templates of the chart and returns them in order.
func mark(c *chart.Chart, sites []site) []site {
	templates := make([]*common.File, 0, len(c.Templates))
	for _, f := range c.Templates {
		var text string
		text, sites = markTemplate(path.Join(c.ChartFullPath(), f.Name), string(f.Data), sites)
		templates = append(templates, &common.File{Name: f.Name, ModTime: f.ModTime, Data: []byte(guardTpl(text))})
	}
	c.Templates, c.Raw = templates, nil // what was read is not needed twice
	for _, d := range c.Dependencies() {
		sites = mark(d, sites)
	}
	return sites
}

// markTemplate leaves a template that does not parse as it is: the engine says what is wrong with it.
func markTemplate(name, text string, sites []site) (string, []site) {
	if !slices.ContainsFunc(watchedNames, func(fn string) bool { return strings.Contains(text, fn) }) {
		return text, sites
	}
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return text, sites
	}
	var calls []*parse.IdentifierNode
	for _, t := range trees {
		walkNodes(t.Root, func(n *parse.IdentifierNode) {
			if slices.Contains(watchedNames, n.Ident) && strings.HasPrefix(text[n.Pos:], n.Ident) {
				calls = append(calls, n)
			}
		})
	}
	slices.SortFunc(calls, func(a, b *parse.IdentifierNode) int { return int(a.Pos) - int(b.Pos) })
	var b strings.Builder
	last := 0
	for _, n := range calls {
		s := site{fn: n.Ident, name: fmt.Sprintf("%s__h%d", n.Ident, len(sites)), template: name,
			line: 1 + strings.Count(text[:n.Pos], "\n"), text: chance.DigestOf(lineAt(text, int(n.Pos)))}
		sites = append(sites, s)
		b.WriteString(text[last:n.Pos])
		b.WriteString(s.name)
		last = int(n.Pos) + len(n.Ident)
	}
	b.WriteString(text[last:])
	return b.String(), sites
}

// lineAt is the line of the text at a place, without the space around it.
func lineAt(text string, pos int) string {
	start := strings.LastIndexByte(text[:pos], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line)
}

// walkNodes calls see for every function name below the node.
func walkNodes(n parse.Node, see func(*parse.IdentifierNode)) {
	switch n := n.(type) {
	case *parse.IdentifierNode:
		see(n)
	case *parse.ListNode:
		if n != nil {
			for _, x := range n.Nodes {
				walkNodes(x, see)
			}
		}
	case *parse.ActionNode:
		walkNodes(n.Pipe, see)
	case *parse.TemplateNode:
		walkNodes(n.Pipe, see)
	case *parse.IfNode:
		walkBranch(&n.BranchNode, see)
	case *parse.RangeNode:
		walkBranch(&n.BranchNode, see)
	case *parse.WithNode:
		walkBranch(&n.BranchNode, see)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				walkNodes(c, see)
			}
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			walkNodes(a, see)
		}
	case *parse.ChainNode:
		walkNodes(n.Node, see)
	}
}

func walkBranch(n *parse.BranchNode, see func(*parse.IdentifierNode)) {
	walkNodes(n.Pipe, see)
	walkNodes(n.List, see)
	walkNodes(n.ElseList, see)
}
