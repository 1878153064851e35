package helm

import (
	"fmt"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/internal/nesting"
)

// maxNesting is how deep blocks and parentheses of a template may stand in each other. The parser of templates calls
// itself for each: a million of them overflow the stack, which ends the process and cannot be caught.
const maxNesting = 1000

// tooNested reports why a template is not parsed, nil when it may be.
func tooNested(name, text string) error {
	if strings.Count(text, "{{") <= maxNesting && strings.Count(text, "(") <= maxNesting {
		return nil
	}
	if blocks, parens := nesting.Of(text, maxNesting); blocks > maxNesting || parens > maxNesting {
		return fmt.Errorf("%s: blocks or parentheses stand more than %d deep in each other; an else if stands in the if before it", name, maxNesting)
	}
	return nil
}

// deepTemplate is the error of the first template of a chart, or of the charts it needs, that is nested too deep.
func deepTemplate(c *chart.Chart) error {
	for _, f := range c.Templates {
		if err := tooNested(f.Name, string(f.Data)); err != nil {
			return err
		}
	}
	for _, d := range c.Dependencies() {
		if err := deepTemplate(d); err != nil {
			return err
		}
	}
	return nil
}
