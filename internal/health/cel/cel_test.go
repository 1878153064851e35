package cel

import (
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/health"
)

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 3}\n"

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, object string
		rule         health.Expressions
		state        health.State
		reason       string
	}{
		{"ready", widget + "status: {phase: Up}", health.Expressions{Ready: `self.status.phase == "Up"`}, health.Ready, ""},
		{"not ready", widget + "status: {phase: Down}", health.Expressions{Ready: `self.status.phase == "Up"`}, health.Progressing, "not ready yet"},
		{"no status yet", widget, health.Expressions{Ready: `self.status.phase == "Up"`}, health.Progressing, "not known yet: no such key: status"},
		{"message", widget + "status: {phase: Down}", health.Expressions{Ready: `self.status.phase == "Up"`, Message: `"phase " + self.status.phase`}, health.Progressing, "phase Down"},
		{"message of what is not there", widget, health.Expressions{Ready: `self.status.phase == "Up"`, Message: `"phase " + self.status.phase`}, health.Progressing, "not known yet: no such key: status"},
		{"failed before ready", widget + "status: {phase: Up, broken: true}", health.Expressions{Ready: `true`, Failed: `self.status.broken`}, health.Failed, "failed"},
		{"failed not known", widget + "status: {phase: Up}", health.Expressions{Ready: `true`, Failed: `self.status.broken`}, health.Ready, ""},
		{"progressing before ready", widget, health.Expressions{Ready: `true`, Progressing: `self.metadata.generation == 3`}, health.Progressing, "progressing"},
		{"numbers of both kinds", widget + "status: {ratio: 0.5, count: 2}", health.Expressions{Ready: `self.status.ratio < 1 && self.status.count >= 1.5`}, health.Ready, ""},
		{"another type", widget + "status: {phase: Up}", health.Expressions{Ready: `self.status.phase`}, health.Progressing, "not known yet: the expression gives string, not a bool"},
		{"condition", widget + "status: {conditions: [{type: Ready, status: 'True'}]}", health.Expressions{Ready: `condition(self, "Ready").status == "True"`}, health.Ready, ""},
		{"condition of an older generation", widget + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			health.Expressions{Ready: `condition(self, "Ready").status == "True"`, Message: `condition(self, "Ready").message`}, health.Progressing, "its controller has not seen the change yet"},
		{"condition missing", widget, health.Expressions{Ready: `condition(self, "Ready").status == "True"`, Message: `condition(self, "Ready").message`}, health.Progressing, "not ready yet"},
		{"conditions that are none", widget + "status: {conditions: [1, {type: 2}, x]}", health.Expressions{Ready: `condition(self, "Ready").status == "Unknown"`}, health.Ready, ""},
		{"condition of no object", widget, health.Expressions{Ready: `condition("x", "Ready").status == "Unknown"`}, health.Ready, ""},
		{"nothing of a Secret is told", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {k: aHVzaA==}", health.Expressions{Ready: `int(self.data.k) == 1`, Message: `self.data.k`},
			health.Progressing, "not ready by its health rule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := health.Check{Group: "example.com", Kind: "Widget", CEL: &c.rule}
			checker := new(Checker)
			if err := checker.Vet(check); err != nil {
				t.Fatal(err)
			}
			st, ok, err := checker.Check(check, object(t, c.object))
			if err != nil || !ok || st.State != c.state || st.Reason != c.reason {
				t.Errorf("%+v %v %v, want %s %q", st, ok, err, c.state, c.reason)
			}
		})
	}
}

func TestVet(t *testing.T) {
	for _, c := range []struct {
		name string
		rule health.Expressions
		want string
	}{
		{"good", health.Expressions{Ready: `self.status.replicas == self.spec.replicas`}, ""},
		{"literal pattern", health.Expressions{Ready: `self.status.phase.matches("^U[a-z]+$")`}, ""},
		{"no ready", health.Expressions{Failed: `true`}, "ready: the expression is missing"},
		{"syntax", health.Expressions{Ready: `self.status.phase ==`}, "ready: ERROR"},
		{"unknown name", health.Expressions{Ready: `object.status`}, "undeclared reference to 'object'"},
		{"type", health.Expressions{Ready: `"yes"`}, "ready: the expression gives string, want bool"},
		{"message's type", health.Expressions{Ready: `true`, Message: `1`}, "message: the expression gives int, want string"},
		{"too long", health.Expressions{Ready: `"` + strings.Repeat("x", maxSize) + `" == ""`}, "want at most 4096"},
		{"too deep", health.Expressions{Ready: strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300)}, "ready: ERROR"},
		{"loops in loops", health.Expressions{Ready: `self.a.all(a, self.a.all(b, self.a.all(c, self.a.all(d, true))))`}, "nesting"},
		{"pattern from data", health.Expressions{Ready: `self.a.matches(self.b)`}, "has to be written out"},
		{"pattern that is none", health.Expressions{Ready: `self.a.matches("(")`}, "invalid matches argument"},
		{"large pattern", health.Expressions{Ready: `self.a.matches("a{500}b{500}c{500}")`}, "more than 1000 instructions"},
		{"pattern that explodes", health.Expressions{Ready: `self.a.matches("((a{1000}){1000}){1000}")`}, "ready"},
	} {
		err := new(Checker).Vet(health.Check{Kind: "Widget", CEL: &c.rule})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// An expression is compiled once, whoever asks.
func TestCompiledOnce(t *testing.T) {
	c := new(Checker)
	rule := health.Check{CEL: &health.Expressions{Ready: `self.a == 1`}}
	for range 3 {
		if st, _, err := c.Check(rule, map[string]any{"a": int64(1)}); err != nil || st.State != health.Ready {
			t.Fatalf("%+v %v", st, err)
		}
	}
	if len(c.programs) != 1 {
		t.Errorf("%d programs, want 1", len(c.programs))
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"self.status.phase == 'Up'", "condition(self, 'Ready').status == 'True'", "self.a.all(x, x.matches('a+'))", "[", "self.?a", "\"\\x\"", "1/0 == 1"} {
		f.Add(seed, `{"kind":"Widget","status":{"phase":"Up","conditions":[{"type":"Ready"}]},"a":["x",1,null]}`)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		var obj map[string]any
		if utiljson.Unmarshal([]byte(data), &obj) != nil {
			return
		}
		rule := health.Check{CEL: &health.Expressions{Ready: text, Message: text}}
		c := new(Checker)
		if c.Vet(rule) != nil {
			rule.CEL.Message = ""
		}
		st, _, err := c.Check(rule, obj)
		if err == nil && st.State == "" {
			t.Errorf("no state for %q", text)
		}
	})
}
