package diag

import "testing"

func TestWithoutConsequences(t *testing.T) {
	unknown := Finding{Severity: Error, Code: "unknown-field", What: `unknown field "charts"`, Path: "b.instances.a.helm.charts", Fix: `did you mean "chart"?`}
	far := Finding{Severity: Error, Code: "unknown-field", What: `unknown field "zzz"`, Path: "b.instances.a.zzz", Fix: "known here: helm"}
	quoted := Finding{Severity: Error, Code: "unknown-field", What: `unknown field "char-t"`, Path: `b.instances.a.helm."char-t"`, Fix: `did you mean "chart"?`}
	for name, c := range map[string]struct {
		misspelt, other Finding
		kept            bool
	}{
		"what is missing beside it":                {unknown, Finding{Code: "missing-field", Path: "b.instances.a.helm.chart"}, false},
		"the struct itself":                        {unknown, Finding{Code: "invalid-rule", Path: "b.instances.a.helm"}, false},
		"a struct above":                           {unknown, Finding{Code: "no-source", Path: "b.instances.a"}, false},
		"a name that the path has in quotes":       {quoted, Finding{Code: "missing-field", Path: "b.instances.a.helm.chart"}, false},
		"a mistake of its own beside it":           {unknown, Finding{Code: "invalid-version", Path: "b.instances.a.helm.version"}, true},
		"what is missing elsewhere":                {unknown, Finding{Code: "missing-field", Path: "b.instances.c.namespace"}, true},
		"a path that begins alike":                 {unknown, Finding{Code: "no-source", Path: "b.inst"}, true},
		"an unknown field that resembles no other": {far, Finding{Code: "no-source", Path: "b.instances.a"}, true},
	} {
		got := Findings{c.misspelt, c.other}.WithoutConsequences()
		if kept := len(got) == 2; kept != c.kept || len(got) == 0 || got[0] != c.misspelt {
			t.Errorf("%s: %v, want kept %v", name, got, c.kept)
		}
	}
}
