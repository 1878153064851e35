package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestContentOfNewObjects: what a plan makes is told whole, without secrets, also by a saved one; what is made under a
// new name for what it holds is one change with what goes, and its fields; both are counted, and done.
func TestContentOfNewObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: hush-hush}\n"
	user := func(config string) string {
		return strings.Replace(r.deployment("web"), "image: example.com/web:1", "image: example.com/web:1, envFrom: [{configMapRef: {name: "+config+"}}]", 1)
	}
	r.write("bundle.yaml", r.bundle(r.configMap("app-v1", "level: info", "same: one")+user("app-v1")))
	req := r.request()
	req.Wait = false
	r.applied(req)
	r.write("bundle.yaml", r.bundle(r.configMap("app-v2", "level: debug", "same: one")+token+user("app-v2")))
	if fp := r.plan(req); content(fp, "app-v2") != nil || len(change(fp, "app-v2").Fields) > 0 {
		t.Errorf("told without the wish for it: %+v", fp.Clusters[0].Plan.Changes)
	}
	req.ShowFields, req.ShowContent = true, true
	fp := r.plan(req)
	made, gone := change(fp, "app-v2"), change(fp, "app-v1")
	if made.Replaces == nil || made.Replaces.Name != "app-v1" || gone.ReplacedBy == nil || gone.ReplacedBy.Name != "app-v2" {
		t.Errorf("not paired: %+v %+v", made, gone)
	}
	if diff := cmp.Diff([]plan.FieldChange{{Path: "data.level", Old: `"info"`, New: `"debug"`}}, made.Fields); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if f := change(fp, "web").Fields; len(f) != 1 || !strings.Contains(f[0].Old+f[0].New, "app-v1") || !strings.Contains(f[0].New, "app-v2") {
		t.Errorf("the reference is not shown: %+v", f)
	}
	want := map[string]any{"level": "debug", "same": "one"}
	if diff := cmp.Diff(want, content(fp, "app-v2")["data"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"token": "***"}, content(fp, "token")["data"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	text := r.save(fp)
	if strings.Contains(text, "hush") || strings.Contains(text, "aHVzaC1odXNo") {
		t.Error("the plan file holds the secret")
	}
	shown, err := r.ReadPlan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(fp.Clusters[0].Plan.Changes)
	b, _ := json.Marshal(shown.Clusters[0].Plan.Changes)
	strip := func(data []byte) (out []map[string]any) {
		_ = json.Unmarshal(data, &out)
		for _, c := range out {
			delete(c, "digest")    // keyed in the file
			delete(c, "applyHash") // in the file alone
		}
		return out
	}
	if diff := cmp.Diff(strip(a), strip(b)); diff != "" {
		t.Errorf("the saved plan shows something else (-made +saved)\n%s", diff)
	}
	now, err := r.loadSaved(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Apply(t.Context(), now, Request{})
	if err != nil {
		t.Fatal(err)
	}
	if c, did := fp.Counts(), out.Clusters[0].Done; c.Create != 2 || c.Delete != 1 || c.Update != 1 || did.Create != 2 || did.Delete != 1 {
		t.Errorf("counted %+v, did %+v", c, did)
	}
}

func change(fp *Prepared, name string) plan.Change {
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if ch.Ref.Name == name {
			return ch
		}
	}
	return plan.Change{Ref: object.Ref{Name: "none"}}
}

func content(fp *Prepared, name string) plan.Body { return change(fp, name).Content }
