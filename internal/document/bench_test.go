package document

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// BenchmarkEvaluate is one evaluation of a bundle of 20 instances for a cluster not seen before.
func BenchmarkEvaluate(b *testing.B) {
	var text strings.Builder
	text.WriteString("bundle: {\n\t_c: string @timoni(runtime:string:TIMONI_CLUSTER_NAME)\n\tapiVersion: \"v1alpha1\"\n\tname: \"b\"\n\tinstances: {\n")
	for i := range 20 {
		fmt.Fprintf(&text, "\t\ti%d: {module: url: \"file:///m\", namespace: \"x\", values: {n: %d, c: _c, if _c == \"c1\" {one: true}, l: [1, {a: 2}]}}\n", i, i)
	}
	text.WriteString("\t}\n}\n")
	p, fs := loadText(b, "b.cue", text.String())
	if fs != nil {
		b.Fatal(fs)
	}
	i := 0
	for b.Loop() {
		i++
		c := fleet.Cluster{}
		c.Name = fmt.Sprint("c", i)
		if _, fs := p.Evaluate(c.Facts(fleet.RuntimeValues(nil, nil, c))); fs != nil {
			b.Fatal(fs)
		}
	}
}
