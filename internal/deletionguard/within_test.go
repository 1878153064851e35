package deletionguard

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestWithin: a container does not go while the plan makes something in it, whatever that is, but for what the hooks of a removal make;
// one that stays, or is made again, stands in no way.
func TestWithin(t *testing.T) {
	space, crd := object.Ref{Kind: "Namespace", Name: "team"}, object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "things.x.dev"}
	thing, config := object.Ref{Group: "x.dev", Kind: "Thing", Namespace: "shop", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "a"}
	plural := func(gk schema.GroupKind) string { return strings.ToLower(gk.Kind) + "s" }
	ch := func(a plan.Action, r object.Ref) plan.Change { return plan.Change{Action: a, Ref: r} }
	hook := func(e object.HookPhase) plan.Change {
		return plan.Change{Action: plan.Create, Ref: config, Hook: &plan.HookTask{Event: e}}
	}
	unknown := ch(plan.Unknown, config)
	there := unknown
	there.UID = "u"
	for name, c := range map[string]struct {
		changes []plan.Change
		want    string
	}{
		"the first object in it":          {[]plan.Change{ch(plan.Create, config), ch(plan.Delete, space)}, "namespace-in-use Namespace team: ConfigMap team/a"},
		"the first one of its kind":       {[]plan.Change{ch(plan.Create, thing), ch(plan.Delete, crd)}, "crd-in-use CustomResourceDefinition things.x.dev: Thing shop/a"},
		"what is not known yet":           {[]plan.Change{unknown, ch(plan.Delete, space)}, "namespace-in-use Namespace team: ConfigMap team/a"},
		"a hook, for two events":          {[]plan.Change{hook(object.PreUpgrade), hook(object.PostUpgrade), ch(plan.Delete, space)}, "namespace-in-use Namespace team: ConfigMap team/a"},
		"what is there, which InUse says": {[]plan.Change{ch(plan.Update, config), there, ch(plan.Delete, space)}, ""},
		"a removal's hook":                {[]plan.Change{hook(object.PreDelete), hook(object.PostDelete), ch(plan.Delete, space)}, ""},
		"another namespace":               {[]plan.Change{ch(plan.Create, thing), ch(plan.Delete, space)}, ""},
		"another kind of the group":       {[]plan.Change{ch(plan.Create, object.Ref{Group: "x.dev", Kind: "Other", Name: "a"}), ch(plan.Delete, crd)}, ""},
		"it is let go":                    {[]plan.Change{ch(plan.Create, config), ch(plan.Release, space)}, ""},
		"it is made again":                {[]plan.Change{ch(plan.Create, thing), ch(plan.Recreate, crd)}, ""},
		"it moves from one to the other":  {[]plan.Change{ch(plan.Delete, config), ch(plan.Delete, space)}, ""},
	} {
		got := ""
		for _, f := range Within(&plan.Plan{Changes: c.changes}, plural) {
			got += fmt.Sprintf("%s %s: %s", f.Code, f.Object, strings.TrimPrefix(f.Why, "would be lost with it: "))
			if f.What == "" || f.Fix == "" || f.Severity != "error" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
