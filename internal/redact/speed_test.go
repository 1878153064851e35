package redact

import (
	"fmt"
	"strings"
	"testing"
)

// speedText is what a plan looks like: names, paths, digests, images, quoted values, lines of YAML.
func speedText() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "~ Deployment shop/web-%d\n    spec.template.spec.containers[web].image: \"ghcr.io/example/application:1.%d\" -> \"ghcr.io/example/application:1.%d\"\n", i, i, i+1)
		fmt.Fprintf(&b, "    metadata.annotations.checksum/config: %064x\n  {\"kind\":\"ConfigMap\",\"data\":{\"text\":\"a line\\nanother \\\"line\\\"\"}}\n", i*7919)
	}
	return b.String()
}

// What is printed all goes through this.
func BenchmarkPlan(b *testing.B) {
	r := &Redactor{}
	for i := range 100 {
		r.Add(fmt.Sprintf("Pa55-word-number-%d two words", i))
		r.Add(fmt.Sprintf("%d", 1000000+i))
	}
	text := speedText()
	r.Redact(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}
