package fleet

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestWithoutFleet: where no fleet is given it is said which cluster is meant, by whose choice, and where a fleet may be.
func TestWithoutFleet(t *testing.T) {
	here := Facts{Name: "default", Implicit: true, Chosen: Access{Context: "kind", Server: "https://127.0.0.1:6443"}.Chosen(false)}
	missing := diag.Errorf(CodeMissingFact, "cluster default has no labels.region")
	missing.Fix = "labels has: nothing"
	secret, meant := missing, missing
	secret.Why, meant.Fix = "it is a secret, and facts files hold none", "did you mean \"name\"?"
	for name, c := range map[string]struct {
		f        diag.Finding
		facts    Facts
		hint     string
		why, fix string
	}{
		"a fleet beside": {missing, here, "fleet.yaml looks like a fleet: --fleet fleet.yaml",
			"no fleet is given, so the current context kind (https://127.0.0.1:6443) is the one cluster, default", "fleet.yaml looks like a fleet: --fleet fleet.yaml"},
		"none known":     {missing, here, "", "no fleet is given, so the current context kind (https://127.0.0.1:6443) is the one cluster, default", "name the fleet with --fleet, HAWSER_FLEET or hawser.yaml"},
		"offline":        {missing, Facts{Name: "default", Implicit: true}, "", "no fleet is given, so there is one cluster, default, which nothing says anything of", "name the fleet with --fleet, HAWSER_FLEET or hawser.yaml"},
		"misspelt":       {meant, here, "x", "no fleet is given, so the current context kind (https://127.0.0.1:6443) is the one cluster, default", "x; did you mean \"name\"?"},
		"its own reason": {secret, here, "x", secret.Why, secret.Fix},
		"of a fleet":     {missing, Facts{Name: "eu"}, "x", "", missing.Fix},
	} {
		if got := WithoutFleet(diag.Findings{c.f}, c.facts, c.hint)[0]; got.Why != c.why || got.Fix != c.fix {
			t.Errorf("%s: %+v", name, got)
		}
	}
	wrong, typed := diag.Errorf("incomplete", "incomplete value string"), diag.Errorf("wrong-type", "must be a string, is null")
	if got := WithoutFleet(diag.Findings{wrong}, here, "x"); len(got) != 2 || got[1].Code != "no-fleet" || len(WithoutFleet(diag.Findings{wrong}, here, "")) != 1 {
		t.Errorf("%+v", got)
	}
	missing.Path, typed.Path, wrong.Path = "bundle.namespace", "bundle.namespace", "bundle.name"
	if got := Unfollowed(diag.Findings{missing, typed, wrong}); len(got) != 2 || got[0] != missing || got[1] != wrong {
		t.Errorf("%+v", got)
	}
	if got := NoFleet(here, "x"); len(got) != 1 || got[0].Fix != "x" || NoFleet(here, "") != nil || NoFleet(Facts{}, "x") != nil {
		t.Errorf("%+v", got)
	}
	if got := (Access{Server: "https://h"}).Chosen(true); got != "the given server (https://h)" {
		t.Error(got)
	}
}

// What the environment has to do with a runtime value that is missing is said, whether it is read or not.
func TestFromEnvironment(t *testing.T) {
	facts := Facts{Name: "eu", Values: map[string]Value{"KEPT": {Secret: true, Absent: true}}}
	for name, c := range map[string]struct {
		value, fix string
		read       bool
		want       string
	}{
		"set and not read":       {"TAG", "values has: REGION", false, "TAG is set in the environment: --runtime-from-env reads it"},
		"read and not set":       {"GONE", "values has: REGION", true, "values has: REGION; or export GONE, which the environment does not have"},
		"read, and nothing else": {"GONE", "values has: nothing", true, "export GONE, which the environment does not have"},
		"neither":                {"GONE", "values has: REGION", false, "values has: REGION"},
		"of a file of facts":     {"KEPT", "run with a connection to the cluster", true, "run with a connection to the cluster"},
	} {
		n := MissingFact("eu", "values."+c.value)
		n.Fix = c.fix
		label := MissingFact("eu", "labels.x")
		got := FromEnvironment(diag.Findings{n, label}, facts, map[string]string{"TAG": "1"}, c.read, true)
		if got[0].Fix != c.want || got[1] != label {
			t.Errorf("%s: %q, want %q; %+v", name, got[0].Fix, c.want, got[1])
		}
	}
}

// A value that no query of the fleet can give is told with both ways of giving it; that a connection would do, only where queries are.
func TestValuesThatNoQueryGives(t *testing.T) {
	const declare, export = "have a query of the fleet give it (fleet.values: [{query: ..., for: {TAG: ...}}])", "set TAG in the environment and give --runtime-from-env"
	for name, c := range map[string]struct {
		facts         Facts
		queries, read bool
		env           map[string]string
		fix, why      string
		want          string
	}{
		"no queries, connected":          {facts: Facts{Name: "eu", UID: "u"}, fix: "values has: HAWSER_CLUSTER_NAME", want: declare + ", or " + export, why: "the fleet has no query for values"},
		"no queries, not asked yet":      {facts: Facts{Name: "eu"}, fix: "values has: HAWSER_CLUSTER_NAME", want: declare + ", or " + export, why: "the fleet has no query for values"},
		"no queries, a typo":             {facts: Facts{Name: "eu"}, fix: `did you mean "TAGS"?`, want: `did you mean "TAGS"?; else ` + declare + ", or " + export, why: "the fleet has no query for values"},
		"no queries, in the environment": {facts: Facts{Name: "eu"}, env: map[string]string{"TAG": "1"}, want: "TAG is set in the environment: --runtime-from-env reads it", why: "the fleet has no query for values"},
		"no queries, environment read":   {facts: Facts{Name: "eu"}, read: true, want: declare + ", or export TAG, which the environment does not have", why: "the fleet has no query for values"},
		"queries, not asked":             {facts: Facts{Name: "eu"}, queries: true, fix: "values has: A", want: "values has: A", why: "without a connection only values of the environment are known"},
		"queries, asked":                 {facts: Facts{Name: "eu", UID: "u"}, queries: true, fix: "values has: A", want: "values has: A; else " + declare + ", or " + export},
		"no fleet":                       {facts: Facts{Name: "default", Implicit: true}, fix: "values has: A", want: "values has: A"},
	} {
		n := MissingFact(c.facts.Name, "values.TAG")
		n.Fix = c.fix
		got := FromEnvironment(diag.Findings{n}, c.facts, c.env, c.read, c.queries)[0]
		if got.Fix != c.want || got.Why != c.why {
			t.Errorf("%s: %q because %q, want %q because %q", name, got.Fix, got.Why, c.want, c.why)
		}
	}
}
