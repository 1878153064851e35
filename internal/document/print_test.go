package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// TestPrintedValues: values that only conditions fill are printed as what they are, also where no condition holds, and
// null as null: never as the alternatives that the schema has.
func TestPrintedValues(t *testing.T) {
	for values, want := range map[string]string{
		`{if _name == "x" {replicas: 1}}`: "values: {}",
		`{if _name == "a" {replicas: 1}}`: "replicas: 1",
		`null`:                            "values: null",
		`{}`:                              "values: {}",
	} {
		path := filepath.Join(t.TempDir(), "b.cue")
		text := `bundle: {
	_name: string @timoni(runtime:string:TIMONI_CLUSTER_NAME)
	apiVersion: "v1alpha1"
	name: "b"
	instances: app: {module: url: "file://./m", namespace: "x", values: ` + values + `}
}
`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, findings := Load(t.Context(), Options{Files: []string{path}})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		facts := fleet.Facts{Name: "a", Group: "g", Values: map[string]fleet.Value{"TIMONI_CLUSTER_NAME": {Value: "a"}}}
		if _, findings = p.Evaluate(facts); findings.HasErrors() {
			t.Errorf("%s: %v", values, findings)
		}
		got, findings := p.Value(facts)
		got = strings.Join(strings.Fields(got), " ")
		if findings.HasErrors() || !strings.Contains(got, want) || strings.Contains(got, "| null") {
			t.Errorf("%s: %v\n%s", values, findings, got)
		}
	}
}
