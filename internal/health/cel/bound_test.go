package cel

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/health"
)

// often is a text so many times, with commas between.
func often(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+", ", n), ", ") }

// largest are expressions of less than 4096 characters that stand for memory or time without end.
func largest() map[string]string {
	const tenfold = `.replace("x", "xxxxxxxxxxxxxxxx")`
	all := `["` + strings.Repeat("x", 900) + `"].map(a, [` + often("a", 200) + `].join(""))`
	letters := `"` + strings.Repeat("ab", 400) + `".split("")`
	return map[string]string{
		"replaced":            `"x"` + strings.Repeat(tenfold, 40) + ` == ""`,
		"replaced nothing":    `"x"` + strings.Repeat(`.replace("", "xxxxxxxxxxxxxxxx")`, 40) + ` == ""`,
		"replaced often":      `"x"` + strings.Repeat(`.replace("x", "xxxxxxxxxxxxxxxx", 999999999)`, 40) + ` == ""`,
		"replaced in data":    `self.text` + strings.Repeat(`.replace("x", self.text)`, 20) + ` == ""`,
		"joined":              `"xx"` + strings.Repeat(`.split("").join("xxxxxxxxxxxxxxxx")`, 20) + ` == ""`,
		"joined lists":        all + `.map(a, [` + often("a", 200) + `].join("")).all(a, a == "")`,
		"joined by":           all + `.map(a, [` + often(`""`, 200) + `].join(a)).all(a, a == "")`,
		"added":               all + `.map(a, a` + strings.Repeat("+a", 60) + `).all(a, a == "")`,
		"bytes":               all + `.map(a, bytes(a)` + strings.Repeat("+bytes(a)", 60) + `).all(a, a == b"")`,
		"formatted":           all + `.all(a, "` + strings.Repeat("%s", 100) + `".format([` + often("a", 100) + `]) == "")`,
		"formatted lists":     `["x"].map(a, [` + often("a", 200) + `]).map(a, [` + often("a", 200) + `]).all(a, "%s%s%s%s%s%s%s".format([a, a, a, a, a, a, a]) == "")`,
		"precision":           `"%.999999999f".format([1.0]) == ""`,
		"precision of data":   `self.precision.format([1.0]) == ""`,
		"quoted":              strings.Repeat(`strings.quote(`, 40) + `"\""` + strings.Repeat(`)`, 40) + ` == ""`,
		"split":               all + `.all(a, a.split("").all(b, a.split("").size() == 0))`,
		"lists":               `["x"].map(a, [` + often("a", 900) + `]).map(a, a` + strings.Repeat("+a", 60) + `).all(a, (a + a).size() == 0)`,
		"lists compared":      `[1].map(a, [` + often("a", 700) + `]).map(a, [` + often("a", 400) + `]).all(a, [a, a] == [a, a])`,
		"lists that differ":   `[1].map(a, [` + often("a", 700) + `]).map(a, [` + often("a", 400) + `]).all(a, [a, a] != [a, a])`,
		"lists searched":      `[1].map(a, [` + often("a", 250) + `]).map(a, [` + often("a", 250) + `]).all(a, [` + often("a", 250) + `] in [[` + often("a", 250) + `]])`,
		"compared over again": `[1].map(a, [` + often("a", 300) + `]).all(a, ` + letters + `.all(b, ` + letters + `.all(c, a == a)))`,
		"letters":             letters + `.all(a, ` + letters + `.all(b, a != "c" && b != "c"))`,
		"searched":            all + `.all(a, a.indexOf(a.substring(90000) + "y") == 0)`,
		"searched back":       all + `.all(a, a.lastIndexOf("y" + a.substring(90000)) == 0)`,
		"swallowed":           `self.nothing || "x"` + strings.Repeat(tenfold, 40) + ` == "" || true`,
		"matched":             all + `.all(a, ` + letters + `.all(b, a.matches("(x?){200}y") || true))`,
		"conditions":          letters + `.all(a, ` + letters + `.all(b, condition(self, "x").status == "Unknown"))`,
	}
}

// A rule of any length that may be written takes bounded time and memory, and is told as an error of the rule.
func TestBounded(t *testing.T) {
	conditions := make([]any, 1000)
	for i := range conditions {
		conditions[i] = map[string]any{"type": "Ready"}
	}
	for name, text := range largest() {
		t.Run(name, func(t *testing.T) {
			rule := health.Check{Group: "example.com", Kind: "Widget", CEL: &health.Expressions{Ready: text}}
			obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "text": strings.Repeat("x", 1000), "precision": "%.999999999f", "status": map[string]any{"conditions": conditions}}
			checker := new(Checker)
			if err := checker.Vet(rule); err != nil {
				if !strings.HasPrefix(name, "precision") {
					t.Fatal(err)
				}
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			st, _, err := checker.Check(rule, obj)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 512 || took > 20*time.Second {
				t.Errorf("%d MiB in %s", made, took)
			}
			if strings.HasPrefix(name, "precision") {
				if err == nil && !strings.Contains(st.Reason, "precision") {
					t.Errorf("%+v", st)
				}
			} else if err == nil || !strings.Contains(err.Error(), "ready: the expression takes too much time or memory") {
				t.Errorf("%+v %v", st, err)
			}
			reason := health.Of(obj, health.Rules{Checker: checker, Checks: []health.Check{rule}}).Reason
			if err != nil && !strings.Contains(reason, rule.Title()) {
				t.Errorf("%q does not name the rule", reason)
			}
		})
	}
}

// What rules ordinarily do is far from every bound.
func TestOrdinaryRulesAreNotBounded(t *testing.T) {
	items := make([]any, 300)
	for i := range items {
		items[i] = map[string]any{"name": "item", "ready": true, "message": strings.Repeat("long ", 100)}
	}
	obj := map[string]any{"kind": "Widget", "items": items, "blob": strings.Repeat("x", 500_000)}
	for _, text := range []string{
		`self.items.all(i, i.ready && i.name.startsWith("it") && i.message.matches("^long.*long "))`,
		`self.items.map(i, i.message).join(", ").size() > 100`,
		`self.items.filter(i, i.name.replace("i", "o") == "otem").size() == 300`,
		`self.items == self.items`,
		`self.blob.replace("x", "y").contains("yyy")`,
		`self.items[0] in self.items`,
		`"%d of %s".format([self.items.size(), self.items[0].name]) == "300 of item"`,
		`self.items.all(i, self.items.exists(j, j.name == i.name))`,
	} {
		st, _, err := new(Checker).Check(health.Check{CEL: &health.Expressions{Ready: text}}, obj)
		if err != nil || st.State != health.Ready {
			t.Errorf("%s: %+v %v", text, st, err)
		}
	}
}

// TestKeptProgramsAreBounded: the programs of many rules, as records of many clusters may have, are not all kept.
func TestKeptProgramsAreBounded(t *testing.T) {
	checker, most := new(Checker), 0
	for i := range 200 {
		text := fmt.Sprintf(`self.a == "%d%s"`, i, strings.Repeat("x", 3900))
		rule := health.Check{CEL: &health.Expressions{Ready: text}}
		if err := checker.Vet(rule); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(checker.programs))
	}
	if most < 10 || most > 100 {
		t.Errorf("%d programs are kept", most)
	}
	huge := health.Check{CEL: &health.Expressions{Ready: strings.Repeat("x", 2*maxKept)}}
	if err := checker.Vet(huge); err == nil || len(checker.programs) > 1 {
		t.Errorf("%v, %d kept", err, len(checker.programs))
	}
}
