package render

import (
	"context"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Defaulter is a Renderer whose sources have values of their own.
type Defaulter interface {
	Renderer
	// Default is the value that the source itself has at a path of its values, and where it says so, whatever the instance
	// gives; nil when it has none, or when that depends on what is given.
	Default(ctx context.Context, req Request, path v1alpha1.Path) (ast.Expr, diag.Pos)
}
