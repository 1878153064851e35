package engine

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/leftover"
)

// A field that stays though it is declared no longer is told by later plans, status and drift too, at no request more, until nobody has it.
func TestFieldThatStaysIsToldOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one", "gone: secret-no-more")))
	r.applied(r.request())
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"gone":"theirs"}}`)
	r.write("app.yaml", r.configMap("app", "key: one"))
	stays := func(fs diag.Findings) string {
		out := ""
		for _, f := range fs {
			if f.Code == leftover.Code {
				out += f.Object + " " + f.What + ";"
			}
		}
		return out
	}
	want := "ConfigMap " + r.name + "/app data.gone: declared no longer, and not removed;"
	if fp := r.plan(r.request()); stays(fp.Findings) != want {
		t.Errorf("the plan that drops it: %v", fp.Findings)
	}
	r.applied(r.request())
	everywhere := func() []string {
		fp := r.plan(r.request())
		req := r.back("")
		status, err := r.Status(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return []string{stays(fp.Findings), stays(status.Findings), stays(r.drifted().Findings)}
	}
	if got := everywhere(); !slices.Equal(got, []string{want, want, want}) {
		t.Errorf("plan, status and drift later: %q", got)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("it wants to write: %+v", fp.Counts())
	}
	r.write("app.yaml", r.configMap("app", "key: two")) // another change does not forget it
	r.applied(r.request())
	if got := everywhere(); !slices.Equal(got, []string{want, want, want}) {
		t.Errorf("after another release: %q", got)
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"gone":null}}`)
	if got := everywhere(); !slices.Equal(got, []string{"", "", ""}) {
		t.Errorf("somebody has removed it: %q", got)
	}
}
