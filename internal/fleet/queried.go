package fleet

import (
	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Queried are the runtime values that queries read from a cluster: get reads an object, absent tells of its error that there is none,
// evaluate takes the values out of it, and redact is applied to what is said of errors. Findings have no cluster.
func Queried(queries []v1alpha1.RuntimeQuery, get func(Query) (map[string]any, error), absent func(error) bool, redact func(string) string,
	evaluate func(v1alpha1.RuntimeQuery, map[string]any) (map[string]Value, diag.Findings)) (map[string]Value, diag.Findings) {
	out, findings := map[string]Value{}, diag.Findings{}
	for _, q := range queries {
		parsed, err := ParseQuery(q.Query)
		if err != nil {
			findings = append(findings, diag.From(err, "query")...)
			continue
		}
		obj, err := get(parsed)
		if err != nil {
			if q.Optional && absent(err) {
				continue
			}
			f := diag.Errorf("query", "the query %s cannot be answered", q.Query)
			f.Why, f.Pos = redact(err.Error()), diag.Pos(q.Pos)
			findings = append(findings, f)
			continue
		}
		values, fs := evaluate(q, obj)
		findings = append(findings, fs...)
		for name, v := range values {
			out[name] = v
		}
	}
	return out, findings
}

// NoneLetsIn are findings where none of n clusters that are needed lets us in. Where others do, each one that does not is its own matter,
// like one that does not answer. of tells of a cluster why it does not let us in, nil where it does, and whether it is needed.
func NoneLetsIn(n int, of func(i int) (denied *diag.Finding, needed bool)) diag.Findings {
	var findings diag.Findings
	for i := range n {
		switch denied, needed := of(i); {
		case !needed:
		case denied == nil:
			return nil
		default:
			findings = append(findings, *denied)
		}
	}
	return findings.Alike()
}
