package staleplan

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestBeyondWhatAPlanShowed: a value that came may be where its stand-in was, as a whole or inside of a text, and what is computed of it
// may be another scalar; every other field is as it was shown.
func TestBeyondWhatAPlanShowed(t *testing.T) {
	const standIn = "known after m"
	for _, c := range []struct {
		name           string
		was, is        string
		standIn, value any
		unknown        []string
		want           []string
	}{
		{"a text", "{a: known after m, b: x}", "{a: v, b: x}", standIn, "v", []string{"a"}, nil},
		{"inside of a text", "{a: 'http://known after m/'}", "{a: http://v/}", standIn, "v", nil, nil},
		{"in base64", "{a: a25vd24gYWZ0ZXIgbQ==}", "{a: dg==}", standIn, "v", nil, nil},
		{"a number", "{a: known after m}", "{a: 5432}", standIn, int64(5432), []string{"a"}, nil},
		{"a preview", "{replicas: 2, other: 2}", "{replicas: 3, other: 2}", int64(2), int64(3), []string{"replicas"}, nil},
		{"a digest", "{sum: known after m}", "{sum: 0abc}", standIn, "v", []string{"sum"}, nil},
		{"nothing instead", "{a: known after m}", "{}", standIn, "", []string{"a"}, nil},
		{"another field", "{a: known after m, b: x}", "{a: v, b: y}", standIn, "v", []string{"a"}, []string{"b"}},
		{"a field more", "{a: known after m}", "{a: v, privileged: true}", standIn, "v", []string{"a"}, []string{"privileged"}},
		{"a field less", "{a: known after m, runAsNonRoot: true}", "{a: v}", standIn, "v", []string{"a"}, []string{"runAsNonRoot"}},
		{"an item more", "{rules: [{resources: [known after m]}]}", `{rules: [{resources: [v]}, {verbs: ["*"]}]}`, standIn, "v", []string{"rules[0].resources[0]"}, []string{"rules"}},
		{"an item more that a text made", "{resources: [known after m]}", `{resources: [pods, secrets]}`, standIn, "pods, secrets", []string{"resources[0]"}, []string{"resources"}},
		{"a map that a text made", "{a: known after m}", "{a: {b: c}}", standIn, "{b: c}", []string{"a"}, []string{"a"}},
		{"a map", "{a: known after m}", "{a: {b: c}}", standIn, map[string]any{"b": "c"}, []string{"a"}, nil},
		{"a map for a preview", "{a: {x: z}}", "{a: {b: [c]}}", map[string]any{"x": "z"}, map[string]any{"b": []any{"c"}}, []string{"a.x"}, nil},
		{"another map", "{a: known after m}", "{a: {b: c, d: e}}", standIn, map[string]any{"b": "c"}, []string{"a"}, []string{"a"}},
		{"a list for none", "{a: [], b: []}", "{a: [1], b: []}", []any{}, []any{int64(1)}, []string{"a"}, nil},
		{"a list for none that was not shown as such", "{a: [], b: []}", "{a: [1], b: [1]}", []any{}, []any{int64(1)}, []string{"a"}, []string{"b"}},
		{"a map for none that was not shown as such", "{a: {}, emptyDir: {}}", "{a: {b: c}, emptyDir: {b: c}}", map[string]any{}, map[string]any{"b": "c"}, []string{"a"}, []string{"emptyDir.b"}},
		{"a map for one of nothing", `{a: {x: "", k: {z: []}}}`, "{a: {b: c}}", map[string]any{"x": "", "k": map[string]any{"z": []any{}}}, map[string]any{"b": "c"}, []string{"a.x", "a.k.z"}, nil},
		{"a map for one of nothing that was not shown as such", `{a: {x: ""}, limits: {x: ""}}`, "{a: {b: c}, limits: {b: c}}", map[string]any{"x": ""}, map[string]any{"b": "c"}, []string{"a.x"}, []string{"limits.b", "limits.x"}},
		{"a map for one of nothing, half of it shown", `{a: {x: "", k: false}}`, "{a: {x: v, b: c}}", map[string]any{"x": "", "k": false}, map[string]any{"x": "v", "b": "c"}, []string{"a.x"}, []string{"a.b", "a.k"}},
		{"a null", "{a: null}", "{a: v}", nil, "v", []string{"a"}, nil},
		{"a field more for a null", "{a: null}", "{a: v, hostPID: v}", nil, "v", []string{"a"}, []string{"hostPID"}},
		{"a map more for a null", "{a: null}", "{a: {k: v}, b: {k: v}}", nil, map[string]any{"k": "v"}, []string{"a"}, []string{"b"}},
		{"a preview that could not be another", "{a: eu, b: x-eu}", "{a: us, b: x-us}", "eu", "us", nil, nil},
		{"a key", "{known after m: a}", "{v: a}", standIn, "v", nil, []string{`"known after m"`, "v"}},
	} {
		late := func(text string, open []string, value any) *plan.Late {
			out := &plan.Late{Values: map[string]any{"v": value}, Open: open}
			if err := yaml.Unmarshal([]byte(text), &out.Object.Body); err != nil {
				t.Fatal(c.name, err)
			}
			return out
		}
		was := late(c.was, []string{"v"}, c.standIn)
		was.Object.Unknown = map[string]bool{}
		for _, path := range c.unknown {
			was.Object.Unknown[path] = true
		}
		if got := beyond(was, late(c.is, nil, c.value)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if was.Open = nil; beyond(was, late(c.is, nil, c.value)) != nil {
			t.Errorf("%s: nothing was open", c.name)
		}
	}
}

// TestBeyondTwoReferences: each of two values stands where its own stand-in was, and not where that of the other one was.
func TestBeyondTwoReferences(t *testing.T) {
	const a, b = "known after bundle m (ref://v:db/a)", "known after bundle m (ref://v:db/ab)"
	was := &plan.Late{Values: map[string]any{"a": a, "b": b}, Open: []string{"a", "b"}, Object: object.Object{Body: map[string]any{"uri": a + ":" + b}}}
	for text, want := range map[string][]string{"x:y": nil, "y:x": {"uri"}, "x:x": {"uri"}} {
		now := &plan.Late{Values: map[string]any{"a": "x", "b": "y"}, Object: object.Object{Body: map[string]any{"uri": text}}}
		if got := beyond(was, now); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestAllowsNoMoreThanWasShown: the fields are named, with object and values, and an object that stays as it is may be anything.
func TestAllowsNoMoreThanWasShown(t *testing.T) {
	ref := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "x"}
	late := func(body map[string]any, open ...string) *plan.Late {
		return &plan.Late{Object: object.Object{Body: body}, Values: map[string]any{"r": "known after m"}, Open: open}
	}
	shown := plan.Change{Action: plan.Update, Ref: ref, Instance: "app", Late: late(map[string]any{"rules": []any{}}, "r")}
	now := shown
	now.Late = late(map[string]any{"rules": []any{"x"}})
	fs := Allows(&plan.Plan{Changes: []plan.Change{shown}}, &plan.Plan{Changes: []plan.Change{now}})
	if len(fs) != 1 || fs[0].Code != CodeStale || fs[0].Instance != "app" || fs[0].Object != ref.String() ||
		fs[0].What != "the plan is stale: the values that came change rules of "+ref.String()+", which it did not show" || fs[0].Why != "instance app takes values.r" {
		t.Errorf("%+v", fs)
	}
	now.Action = plan.Unchanged
	if fs := Allows(&plan.Plan{Changes: []plan.Change{shown}}, &plan.Plan{Changes: []plan.Change{now}}); len(fs) > 0 {
		t.Errorf("%+v", fs)
	}
}
