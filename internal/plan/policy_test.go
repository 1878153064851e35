package plan

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

// declared is an object with an annotation, "" for none.
func declared(key, value string) object.Scoped {
	meta := map[string]any{"name": "a", "namespace": "n"}
	if key != "" {
		meta["annotations"] = map[string]any{key: value}
	}
	return object.Scoped{Namespaced: true, Object: object.Object{Instance: "i", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}}}
}

func TestDeclared(t *testing.T) {
	no, yes := false, true
	for _, c := range []struct {
		name, key, value string
		in               v1alpha1.Instance
		noWait           bool
		timeout          time.Duration
		finding          string
	}{
		{"nothing said", "", "", v1alpha1.Instance{}, false, 0, ""},
		{"instance does not wait", "", "", v1alpha1.Instance{Wait: &no}, true, 0, ""},
		{"instance waits, object not", "hawser.dev/wait", "disabled", v1alpha1.Instance{Wait: &yes}, true, 0, ""},
		{"instance's timeout", "", "", v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Minute}}, false, time.Minute, ""},
		{"object's timeout wins", "hawser.dev/timeout", "90s", v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Minute}}, false, 90 * time.Second, ""},
		{"not a duration", "hawser.dev/timeout", "5 minutes", v1alpha1.Instance{}, false, 0, `it is "5 minutes"`},
		{"not above zero", "hawser.dev/timeout", "0s", v1alpha1.Instance{}, false, 0, `it is "0s"`},
	} {
		d, fs := Declared(declared(c.key, c.value), c.in)
		if d.NoWait != c.noWait || d.Timeout != c.timeout || len(fs) > 0 != (c.finding != "") || len(fs) > 0 && fs[0].Why != c.finding {
			t.Errorf("%s: %v %v %v", c.name, d.NoWait, d.Timeout, fs)
		}
		if back := DesiredFrom(OwnedAs(d, "")); back.NoWait != d.NoWait || back.Timeout != d.Timeout {
			t.Errorf("%s: the record forgets: %+v", c.name, back)
		}
	}
}

// What an instance says about waiting is part of its inputs; saying nothing leaves them as they were.
func TestPolicyKey(t *testing.T) {
	no, yes := false, true
	if PolicyKey(v1alpha1.Instance{}) != "" || PolicyKey(v1alpha1.Instance{Wait: &yes}) != "" {
		t.Error("saying nothing new is no input")
	}
	a, b := PolicyKey(v1alpha1.Instance{Wait: &no}), PolicyKey(v1alpha1.Instance{Timeout: v1alpha1.Duration{Duration: time.Second}})
	if a == "" || b == "" || a == b {
		t.Errorf("%q %q", a, b)
	}
}

func TestSuspendedNeeds(t *testing.T) {
	instances := []v1alpha1.Instance{{Name: "db"}, {Name: "api", DependsOn: []string{"db"}}, {Name: "web", DependsOn: []string{"api", "db"}}}
	for _, c := range []struct {
		suspended string
		ready     bool
		want      string
	}{
		{"", false, ""}, {"db", true, ""}, {"web", false, ""},
		{"db", false, "api depends on db, which is suspended and was never ready here; web depends on db, which is suspended and was never ready here"},
		{"db api", false, "web depends on api, db, which is suspended and was never ready here"},
	} {
		suspended := map[string]bool{}
		for _, n := range strings.Fields(c.suspended) {
			suspended[n] = true
		}
		var got []string
		for _, f := range SuspendedNeeds(instances, suspended, func(string) bool { return c.ready }) {
			got = append(got, f.What)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s suspended, ready %v: %q, want %q", c.suspended, c.ready, got, c.want)
		}
	}
}

// What the inventory has of a suspended instance stays in it, whatever is declared; the rest is pruned.
func TestSuspendedIsKept(t *testing.T) {
	a, b := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "b"}
	live := Live{Found: true, UID: "u", ResourceVersion: "9", Own: "moved", OwnerLabel: "o"}
	in := Input{Owner: "o", Suspended: map[string]bool{"left": true}, Live: map[object.Ref]Live{a: live, b: live},
		Owned: []Owned{{Ref: a, Instance: "left", UID: "u", ResourceVersion: "1", Own: "own"}, {Ref: b, Instance: "gone", UID: "u", Own: "own"}}}
	p := Compute(in)
	if len(p.Kept) != 1 || p.Kept[0] != in.Owned[0] || len(p.Changes) != 1 || p.Changes[0].Ref != b || p.Changes[0].Action != Delete || p.Refresh {
		t.Errorf("kept %+v, changes %+v", p.Kept, p.Changes)
	}
	if len(p.Suspended) != 1 || p.Suspended[0] != "left" {
		t.Errorf("%v", p.Suspended)
	}
}
