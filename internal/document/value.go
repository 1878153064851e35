package document

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Value is the computed value of the bundles for a cluster as CUE text, as `vet --print-value` shows it: `bundle: {...}`
// or `bundles: {...}`, hidden fields and definitions left out, the documents' schema applied (so that a version left
// open shows its default). The text holds runtime values, secret ones too: who prints it redacts it. Equal inputs are
// evaluated once.
func (p *Program) Value(f fleet.Facts) (string, diag.Findings) {
	if p.plain != nil {
		return "", nil
	}
	e := p.at(f)
	e.text.Do(func() {
		a := p.ask(Question{About: AboutValue, Facts: f})
		e.value, e.valueFinding = a.Text, a.Findings
	})
	return e.value, append(diag.Findings(nil), e.valueFinding...)
}

func (p *Program) valueText(f fleet.Facts) (string, diag.Findings) {
	found, fs := p.printable(f, "{...}")
	if fs.HasErrors() { // where values are null; otherwise the alternatives would be printed as such
		found, fs = p.printable(f, nullable)
	}
	if fs.HasErrors() {
		return "", fs
	}
	var out, bundles strings.Builder
	for _, b := range found {
		if b.Name == "" {
			fmt.Fprintf(&out, "%s: %v\n", rootBundle, b.Value)
			continue
		}
		fmt.Fprintf(&bundles, "%s: %v\n", literal.Label.Quote(b.Name), b.Value)
	}
	if bundles.Len() > 0 {
		fmt.Fprintf(&out, "%s: {\n%s}\n", rootBundles, bundles.String())
	}
	text, err := format.Source([]byte(out.String()))
	if err != nil {
		return "", diag.From(err, "print-value")
	}
	return string(text), nil
}

// nullable is what values may be, as the schema says it.
const nullable = "*{...} | null"

// printable evaluates the bundles with a schema in which values may be what is given.
func (p *Program) printable(f fleet.Facts, values string) ([]bundleValue, diag.Findings) {
	in := newInjection(f)
	schema, err := schemaFile(values)
	if err != nil {
		return nil, diag.From(err, "schema")
	}
	root, err := p.build(p.files, in, schema)
	if err == nil && !root.Exists() {
		err = root.Err()
	}
	if err != nil {
		return nil, append(in.findings, p.cueFindings(in, err)...).Sorted()
	}
	found := bundleValues(root)
	return found, append(in.findings, p.validate(in, root, found)...).Sorted()
}

// schemaFile is the documents' schema as one more file of the program's package.
func schemaFile(values string) (*ast.File, error) {
	text := strings.ReplaceAll(v1alpha1.BundleSchema, nullable, values)
	f, err := parser.ParseFile("hawser"+cuelang.SchemaSuffix, text+"\nbundle?: #Bundle\nbundles?: [hawserKey=string]: #Bundle & {name: *hawserKey | #Name}\n")
	if err != nil {
		return nil, err
	}
	return inPackage(f), nil
}
