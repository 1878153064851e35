package cue

import (
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/internal/cuelang"
)

// schemaFile is hidden from users by its suffix.
const schemaFile = "module" + cuelang.SchemaSuffix

// schemaText closes the root field `timoni` and describes health checks: `object` of a check is open, each rule a
// boolean. The names are hidden so that they cannot meet a module's own.
const schemaText = `
timoni: _#hawserModule

_#hawserModule: {
	apiVersion!: "v1alpha1"
	instance!: {...}
	apply!: [string]: [...]
	healthChecks?: [string]: _#hawserHealthCheck
	kubeMinorVersion?: int
}

_#hawserHealthCheck: {
	group!: string & !=""
	kind?:  string & !=""
	#object: {...}
	current!:    bool
	failed?:     bool
	inProgress?: bool
	...
}
`

// schema is a fresh syntax tree of the schema in the given package.
func schema(pkg string) (*ast.File, error) {
	return parser.ParseFile(schemaFile, "package "+pkg+"\n"+schemaText)
}
