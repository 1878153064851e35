package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/fleetplan"
)

// TestSavedPlanHeedsNoOtherDecision: with a saved plan every flag of apply is heeded or refused by name, before the
// engine is asked; one that was silently ignored wrote to clusters the user had excluded.
func TestSavedPlanHeedsNoOtherDecision(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.plan")
	run := func(args ...string) (code int, stderr string, asked bool) {
		var out, errs bytes.Buffer
		a := fakeApp()
		a.Out, a.Err = &out, &errs
		inner := a.Engine
		a.Engine = func(on func(fleetplan.Event)) (Engine, error) {
			asked = true
			return inner(on)
		}
		code = a.Run(t.Context(), args)
		return code, errs.String(), asked
	}
	if code, stderr, _ := run("plan", "-f", "shop.yaml", "--out", file); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	values := map[string]string{"bool": "true", "int": "1", "count": "1", "duration": "1m0s", "output": "text", "color": "never", "progress": "plain", "creds": "h.test:5000=ada:pw"}
	apply, _, err := tree().Find([]string{"apply"})
	if err != nil {
		t.Fatal(err)
	}
	var heeded []string
	check := func(f *pflag.Flag) {
		value := "x"
		for _, by := range []string{f.Value.Type(), f.Name} {
			if v, ok := values[by]; ok {
				value = v
			}
		}
		name := "--" + f.Name
		code, stderr, asked := run("apply", file, "-y", name+"="+value)
		switch {
		case f.Name == "help":
		case f.Name == "dry-run":
			if code != 1 || asked || !strings.Contains(stderr, "hawser plan show") {
				t.Errorf("%s: exit %d, engine asked: %v\n%s", name, code, asked, stderr)
			}
			heeded = append(heeded, f.Name)
		case code == 0 && asked && fleetplan.Lifts(f.Name): // the engine compares it with the plan's (fleetplan.TestRepeated)
		case code == 0 && asked:
			heeded = append(heeded, f.Name)
		default:
			want := strings.ReplaceAll("leave "+name+" out", "--file", "-f")
			if code != 1 || asked || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit %d, engine asked: %v, want %q\n%s", name, code, asked, want, stderr)
			}
		}
	}
	apply.LocalFlags().VisitAll(check)
	apply.InheritedFlags().VisitAll(check)
	for _, past := range []string{"skip-unreachable", "skip-windows", "skip-approvals"} { // what a run goes past belongs to the run
		if !slices.Contains(heeded, past) {
			t.Errorf("a saved plan cannot go past what --%s goes past", past)
		}
	}
	for _, reaches := range []string{"creds", "registry-insecure", "kubeconfig", "kube-token", "kube-server", "kube-client-key", "as"} { // where it is applied, others may be at hand
		if !slices.Contains(heeded, reaches) {
			t.Errorf("a saved plan cannot be applied with --%s", reaches)
		}
	}
	slices.Sort(heeded)
	if want := slices.Sorted(slices.Values(commandline.Carrying)); !slices.Equal(heeded, slices.Compact(want)) {
		t.Errorf("with a saved plan these are heeded:\n%v\nwant:\n%v", heeded, want)
	}
}
