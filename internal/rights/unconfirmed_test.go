package rights

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func named(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "ns", Name: name} }

// forbidden is the answer to a dry run that nobody could make.
func forbidden() plan.Preview {
	f := diag.Errorf("forbidden", "the change is forbidden")
	f.Why = "the server's own text"
	return plan.Preview{Lacks: true, Finding: &f, Fields: []plan.FieldChange{{Path: "data.key"}}}
}

// A dry run that is refused though we have the right was refused by admission.
func TestLacking(t *testing.T) {
	a, b, c := named("ConfigMap", "a"), named("ConfigMap", "b"), named("ConfigMap", "c")
	previews := map[object.Ref]plan.Preview{a: forbidden(), b: forbidden(), c: {Checked: true}}
	var changes []plan.Change
	for _, ref := range []object.Ref{a, b, c} {
		changes = append(changes, plan.Change{Action: plan.Update, Ref: ref})
	}
	Lacking("eu", changes, previews, func(object.Ref) string { return "configmaps" }, func(all []Right) []Right {
		if len(all) != 2 {
			t.Errorf("asked for %+v", all)
		}
		return slices.DeleteFunc(all, func(r Right) bool { return r.Name != "a" })
	})
	if p := previews[a]; !p.Lacks || len(p.Fields) != 1 || p.Finding.Code != Code || p.Finding.What != "you may not patch ConfigMap in namespace ns" || p.Finding.Why == "" {
		t.Errorf("without the right: %+v, %+v", p, p.Finding)
	}
	if p := previews[b]; p.Lacks || p.Fields != nil || p.Finding.Code != "forbidden" {
		t.Errorf("with the right: %+v", p)
	}
	Lacking("eu", changes[2:], previews, nil, nil) // nobody is asked
}

// One warning for all that is not confirmed; everything else stays as it was answered.
func TestUnconfirmed(t *testing.T) {
	previews := map[object.Ref]plan.Preview{named("ConfigMap", "ok"): {Checked: true}}
	refused := forbidden()
	refused.Lacks = false
	previews[named("ConfigMap", "refused")] = refused
	if fs := Unconfirmed(previews); fs != nil || previews[named("ConfigMap", "refused")].Finding == nil {
		t.Errorf("%+v", fs)
	}
	for i := range 7 {
		p := forbidden()
		p.Finding.What = fmt.Sprintf("you may not patch Kind%d in namespace ns", i)
		previews[named("Kind", fmt.Sprint(i))] = p
	}
	fs := Unconfirmed(previews)
	if len(fs) != 1 || fs[0].Severity != diag.Warning || !strings.Contains(fs[0].Why, "Kind0") || strings.Contains(fs[0].Why, "Kind5") || !strings.HasSuffix(fs[0].Why, "and 2 more") {
		t.Errorf("%+v", fs)
	}
	if p := previews[named("Kind", "3")]; p.Finding != nil || len(p.Fields) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestTold(t *testing.T) {
	live := []plan.FieldChange{{Path: "a", Old: "1", New: "2"}}
	changed := []plan.FieldChange{{Path: "a", Old: "0", New: "2"}, {Path: "dropped", Old: "1"}, {Path: "there already", Old: "1", New: "2"}}
	changed = append(changed, plan.FieldChange{Path: "hidden, there already", Hidden: true}, plan.FieldChange{Path: "hidden", Hidden: true, Removed: true})
	if got := Told(live, changed); len(got) != 3 || got[0].Old != "1" || got[1].Path != "dropped" || got[2].Path != "hidden" {
		t.Errorf("%+v", got)
	}
}
