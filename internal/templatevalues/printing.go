package templatevalues

import (
	"strings"
	"text/template/parse"
)

// Printing are the places in a template's text at which what an action prints is to be handed on: where Showing is put into it.
func Printing(text string, trees map[string]*parse.Tree) []int {
	var out []int
	for _, t := range trees {
		walkActions(t.Root, func(n *parse.ActionNode) {
			if end := actionEnd(text, int(n.Pos)); end > 0 && len(n.Pipe.Decl) == 0 && mayPrintMap(n.Pipe) {
				out = append(out, end)
			}
		})
	}
	return out
}

// mayPrintMap reports whether the last command of a pipeline may give a map or a list.
func mayPrintMap(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) == 0 || len(pipe.Cmds[len(pipe.Cmds)-1].Args) == 0 {
		return false
	}
	switch n := pipe.Cmds[len(pipe.Cmds)-1].Args[0].(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return false
	case *parse.IdentifierNode:
		return !texts[n.Ident]
	}
	return true
}

// texts are functions that give a text, of those that templates end with most.
var texts = map[string]bool{
	"include": true, "tpl": true, "toYaml": true, "toJson": true, "nindent": true, "indent": true, "quote": true, "squote": true, "print": true,
	"printf": true, "trim": true, "trunc": true, "trimSuffix": true, "fail": true, "b64enc": true, "join": true, "lower": true, "upper": true, "replace": true,
}

// actionEnd is where what an action prints ends: at the braces that close it, or at the blank before the dash that trims.
func actionEnd(text string, from int) int {
	for at := from; at < len(text); at++ {
		switch c := text[at]; c {
		case '"', '`', '\'':
			for at++; at < len(text) && text[at] != c; at++ {
				if text[at] == '\\' && c != '`' {
					at++
				}
			}
		case '}':
			if !strings.HasPrefix(text[at:], "}}") {
				continue
			}
			if at > from+1 && text[at-1] == '-' && strings.IndexByte(" \t\r\n", text[at-2]) >= 0 {
				return at - 2
			}
			return at
		}
	}
	return 0
}

// walkActions calls see for every action below the node.
func walkActions(n parse.Node, see func(*parse.ActionNode)) {
	branch := func(b *parse.BranchNode) {
		walkActions(b.List, see)
		walkActions(b.ElseList, see)
	}
	switch n := n.(type) {
	case *parse.ActionNode:
		see(n)
	case *parse.ListNode:
		if n != nil {
			for _, x := range n.Nodes {
				walkActions(x, see)
			}
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	}
}
