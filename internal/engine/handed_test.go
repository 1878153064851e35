package engine

import (
	"fmt"
	"slices"
	"testing"

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
		req.Files, req.Bundle = []string{path}, r.name+"-"+name
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
	reqs = r.houses("1", map[string]string{"a": "other"}, "a", "b")
	carry("renamed: its label is another one", reqs[0], "both pre-upgrade")
	reqs = r.houses("2", map[string]string{"a": "third"}, "a", "b")
	carry("renamed and changed", reqs[0], "both pre-upgrade")

	reqs = r.houses("2", map[string]string{"c": "third"}, "c", "b")
	carry("its bundle renamed", reqs[0], "both pre-upgrade")
	left := r.request()
	left.Files, left.Bundle = nil, r.name+"-a"
	gone, err := r.PlanDelete(t.Context(), left)
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
