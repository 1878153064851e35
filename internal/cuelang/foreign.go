package cuelang

import "cuelang.org/go/cue/ast"

// foreignMark stands beside a text that Foreign has marked.
const foreignMark = "//foreign"

// Foreign marks a text as one of a file that another program's rules are for, like a chart's file of values: what would be
// a mistake in our own documents may be meant there. The mark is no part of the data: copies and digests do not have it.
func Foreign(x ast.Expr) ast.Expr {
	ast.SetComments(x, []*ast.CommentGroup{{Line: true, List: []*ast.Comment{{Text: foreignMark}}}})
	return x
}

// IsForeign reports whether a text is one that Foreign has marked.
func IsForeign(x ast.Expr) bool {
	if x == nil {
		return false
	}
	for _, g := range ast.Comments(x) {
		if len(g.List) == 1 && g.List[0].Text == foreignMark {
			return true
		}
	}
	return false
}
