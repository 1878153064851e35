package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// hooked is a chart with one lasting ConfigMap and hooks that are ConfigMaps too, done when they are written.
func hooked() string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: {{ .Values.v | quote }}}\n"
	for name, on := range map[string]string{"both": "pre-install,pre-upgrade", "begun": "post-install", "farewell": "pre-delete,post-delete"} {
		text += fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {helm.sh/hook: '%s'}}\n", name, on)
	}
	return text
}

// houses writes bundle.yaml with the given bundles, each with its instance of the chart and one of its own, and returns a
// request for each.
func (r *rig) houses(v string, instances map[string]string, names ...string) []Request {
	text, out := "bundles:\n", []Request{}
	for _, name := range names {
		r.write("own-"+name+".yaml", r.configMap("own-"+name, "k: v"))
		text += fmt.Sprintf("  %[1]s:\n    apiVersion: v1alpha1\n    name: %[1]s\n    instances:\n      own-%[2]s: {namespace: %[3]s, manifests: {paths: [own-%[2]s.yaml]}}\n",
			r.name+"-"+name, name, r.name)
		if web := instances[name]; web != "" {
			text += fmt.Sprintf("      %s: {namespace: %s, helm: {chart: ./chart, releaseName: web}, values: {v: %q}}\n", web, r.name, v)
		}
	}
	path := r.write("bundle.yaml", text)
	for _, name := range names {
		req := r.request()
		docs(&req).Files, req.Bundle = []string{path}, r.name+"-"+name
		out = append(out, req)
	}
	return out
}

// ran are the hooks that a plan runs, with their events.
func ran(fp *Prepared) []string {
	var out []string
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if ch.Hook != nil && (ch.Action == plan.Create || ch.Action == plan.Recreate) {
			out = append(out, ch.Ref.Name+" "+string(ch.Hook.Event))
		}
	}
	return out
}

// An instance that moves to another bundle of the same files is neither removed nor installed, whichever of them is done
// first, and neither is one that is renamed, in a bundle or with it.
func TestHooksOfWhatIsHandedOver(t *testing.T) {
	t.Parallel()
	r := chartRig(t, hooked())
	carry := func(what string, req Request, want ...string) {
		t.Helper()
		fp := r.plan(req)
		if got := ran(fp); !slices.Equal(got, want) {
			t.Errorf("%s: ran %v, want %v", what, got, want)
		}
		r.carried(fp, req)
	}
	reqs := r.houses("1", map[string]string{"a": "web"}, "a", "b")
	carry("installed", reqs[0], "both pre-install", "begun post-install")
	carry("the neighbour", reqs[1])
	uid := r.uidOf("web")

	reqs = r.houses("1", map[string]string{"b": "web"}, "a", "b")
	carry("moved, the former bundle first", reqs[0])
	carry("moved, then the new one", reqs[1], "both pre-upgrade")
	if !r.has("begun") {
		t.Error("what an installation hook left and the instance may use is gone")
	}
	reqs = r.houses("1", map[string]string{"a": "web"}, "a", "b")
	carry("back, the new bundle first", reqs[0], "both pre-upgrade")
	carry("back, then the former one", reqs[1])
	reqs = r.houses("1", map[string]string{"b": "web"}, "a", "b")
	carry("moved, and only the former bundle is done", reqs[0])
	reqs = r.houses("1", map[string]string{"a": "web"}, "a", "b")
	carry("taken back: it was not installed anew", reqs[0])
	reqs = r.houses("1", map[string]string{"a": "other"}, "a", "b")
	carry("renamed: its label is another one", reqs[0], "both pre-upgrade")
	reqs = r.houses("2", map[string]string{"a": "third"}, "a", "b")
	carry("renamed and changed", reqs[0], "both pre-upgrade")

	reqs = r.houses("2", map[string]string{"c": "third"}, "c", "b")
	carry("its bundle renamed", reqs[0], "both pre-upgrade")
	left := r.request()
	docs(&left).Files, left.Bundle = nil, r.name+"-a"
	gone, err := r.Plan(t.Context(), left.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.run.close)
	if got := ran(gone); len(got) > 0 {
		t.Errorf("the old record runs %v", got)
	}
	r.carried(gone, left)
	r.heldBy("web", uid, r.name+"-c")
	if fp := r.plan(reqs[0]); !fp.Clusters[0].Plan.Empty() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}

	reqs = r.houses("2", nil, "c", "b")
	carry("removed in the end", reqs[0], "farewell pre-delete", "farewell post-delete")
}

// A bundle that was renamed in its file: the plan says what becomes of the former name's record, and its status and list say
// where everything is.
func TestRenamedBundleIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	req := r.request()
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(req)
	r.write("bundle.yaml", strings.Replace(r.bundle(r.configMap("app", "key: one")), "name: "+r.name, "name: "+r.name+"-new", 1))
	fp := r.plan(req)
	if got := codes(fp); !slices.Equal(got, []string{leftover.CodeBundle}) || fp.Findings.HasErrors() {
		t.Errorf("the plan says %v", fp.Findings)
	}
	r.carried(fp, req)
	if again := r.plan(req); len(again.Findings) > 0 || !again.Clusters[0].Plan.Empty() {
		t.Errorf("said again: %v", again.Findings)
	}

	old := req
	docs(&old).Files, old.Bundle = nil, r.name
	report, err := r.Status(t.Context(), old)
	if err != nil || len(report.Clusters[0].Instances) != 1 {
		t.Fatalf("%v %+v", err, report)
	}
	in := report.Clusters[0].Instances[0]
	if in.State != fleetplan.StateMoved || !slices.Equal(in.Moved(), []string{r.name + "-new"}) || len(report.Findings) != 1 ||
		!strings.Contains(report.Findings[0].String(), "hawser delete "+r.name) {
		t.Errorf("%+v %v", in, report.Findings)
	}
	old.Bundle = ""
	list, err := r.List(t.Context(), old)
	if err != nil && !errors.Is(err, fleetplan.ErrPartial) { // other tests on this cluster lose records
		t.Fatal(err)
	}
	for _, b := range list.Clusters[0].Bundles {
		want := map[string][]string{r.name: {r.name + "-new"}, r.name + "-new": nil}
		if to, ours := want[b.Bundle]; ours && !slices.Equal(b.MovedTo, to) {
			t.Errorf("%s moved to %v", b.Bundle, b.MovedTo)
		}
	}
}

// An installation that never ended stays one where its instance moves to another bundle, whichever of them is done first, and
// where its bundle is renamed.
func TestInstallationThatMoves(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"former first", "new first", "renamed"} {
		r := chartRig(t, hooked())
		carry := func(what string, req Request, want ...string) *Prepared {
			t.Helper()
			fp := r.plan(req)
			if got := ran(fp); !slices.Equal(got, want) {
				t.Errorf("%s, %s: ran %v, want %v", order, what, got, want)
			}
			r.carried(fp, req)
			return fp
		}
		reqs := r.houses("1", map[string]string{"a": "web"}, "a", "b")
		carry("installed", reqs[0], "both pre-install", "begun post-install")
		carry("the neighbour", reqs[1])
		target := r.plan(reqs[0]).run.targets[0]
		rec := *target.Record // as a run leaves it that is killed before the last hook
		life := rec.Hooks["web"]
		life.Step, life.Inputs, life.Done = plan.Install, rec.Inputs["web"], []object.HookPhase{object.PreInstall}
		rec.Hooks = map[string]plan.HookState{"web": life}
		if _, err := target.Store.Put(t.Context(), rec, nil, target.handle); err != nil {
			t.Fatal(err)
		}
		switch order {
		case "renamed":
			reqs = r.houses("1", map[string]string{"c": "web"}, "b", "c")
		case "former first":
			reqs = r.houses("1", map[string]string{"b": "web"}, "a", "b")
			if fp := carry("it waits", reqs[0]); !slices.Contains(codes(fp), "hooks-handed-over") {
				t.Errorf("nobody is told: %v", fp.Findings)
			}
			carry("and waits", reqs[0])
		default:
			reqs = r.houses("1", map[string]string{"b": "web"}, "a", "b")
		}
		carry("it goes on", reqs[1], "both pre-install", "begun post-install")
		if order != "renamed" {
			carry("let go", reqs[0])
			reqs = r.houses("2", map[string]string{"a": "web"}, "a", "b")
			carry("and back, installed", reqs[0], "both pre-upgrade")
		}
	}
}
