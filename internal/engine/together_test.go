package engine

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/plan"
)

// turns carries out two bundles as one run does: both are planned, then each has its turn.
func (r *rig) turns(a, b Request) (first, second *Prepared) {
	r.t.Helper()
	first, second, b = r.both(a, b)
	r.carried(first, a)
	renewed, err := r.Renew(r.t.Context(), second, b)
	if err != nil {
		r.t.Fatal(err)
	}
	r.carried(renewed, b)
	return first, second
}

// A Namespace and a definition that one bundle drops stay for the first object that the next bundle of the run has in it and of
// its kind; when that has none any more, they go.
func TestDroppedBeforeTheFirstObject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other, group := r.name+"-other", r.name+".example"
	holders := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + other + "}\n---\n" + strings.ReplaceAll(thingDefinition, "GROUP", group)
	thing := "---\napiVersion: " + group + "/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 1}\n"
	elsewhere := strings.Replace(r.configMap("there", "a: b"), "{name: there}", "{name: there, namespace: "+other+"}", 1)
	a, b := r.pair("", r.configMap("one", "k: v")+holders, r.configMap("two", "k: v"))
	r.requires(a, b)
	r.turns(a, b)

	a, b = r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v")+thing+elsewhere)
	r.requires(a, b)
	first, _ := r.turns(a, b)
	why := map[string]string{}
	for _, ch := range first.Clusters[0].Plan.Changes {
		why[ch.Ref.Kind] = string(ch.Action) + ": " + ch.Why
	}
	for kind, want := range map[string]string{"Namespace": "ConfigMap " + other + "/there", "CustomResourceDefinition": "Thing " + r.name + "/one"} {
		if want = "release: stays for " + want + " of bundle " + b.Bundle + " of the same files"; why[kind] != want {
			t.Errorf("%s: %q, want %q", kind, why[kind], want)
		}
	}
	if cm, err := r.admin.CoreV1().ConfigMaps(other).Get(t.Context(), "there", metav1.GetOptions{}); err != nil || cm.Data["a"] != "b" {
		t.Errorf("%v %v", cm, err)
	}
	if first, second, _ := r.both(a, b); !first.settled() || !second.settled() {
		t.Errorf("left to do: %+v %+v", first.Counts(), second.Counts())
	}

	a, b = r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v"))
	r.requires(a, b)
	r.applied(b)
	var gone []string
	for _, ch := range r.plan(a).Clusters[0].Plan.Changes {
		if ch.Action == plan.Delete {
			gone = append(gone, ch.Ref.Kind)
		}
	}
	if slices.Sort(gone); !slices.Equal(gone, []string{"CustomResourceDefinition", "Namespace"}) {
		t.Errorf("pruned: %v", gone)
	}
}

// An immutable object that moves with another content is made again by the bundle that gets it: that it is another one then is no
// surprise to the bundle that lets it go in its turn.
func TestMovedAndMadeAgainInOneRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	moves := func(value string) string { return r.configMap("moves", "k: "+value) + "immutable: true\n" }
	a, b := r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v")+moves("v"))
	r.turns(a, b)
	uid := r.uidOf("moves")
	a, b = r.pair("", r.configMap("one", "k: v")+moves("w"), r.configMap("two", "k: v"))
	a.Recreate, b.Recreate = true, true
	first, second := r.turns(a, b)
	if got := []string{fateOf(first, "moves"), fateOf(second, "moves")}; !slices.Equal(got, []string{"recreate immutable", "release moved"}) {
		t.Errorf("planned: %v", got)
	}
	if now := r.uidOf("moves"); now == uid {
		t.Error("it was not made again")
	} else {
		r.heldBy("moves", now, a.Bundle)
	}
	if first, second, _ := r.both(a, b); !first.settled() || !second.settled() {
		t.Errorf("left to do: %+v %+v", first.Counts(), second.Counts())
	}
}
