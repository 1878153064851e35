package plan

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestUnchecked: a plan that the API server was to check says of how many objects it could not be asked, and why.
func TestUnchecked(t *testing.T) {
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "shop", Name: name} }
	in := Input{Cluster: "c1", Bundle: "shop", Owner: "me", Options: Options{ServerCheck: true}, Previews: map[object.Ref]Preview{
		ref("ConfigMap", "a"): {Deferred: "namespace shop is new"}, ref("ConfigMap", "b"): {Deferred: "namespace shop is new"}, ref("Thing", "c"): {Deferred: "CRD things is new"}, ref("Secret", "d"): {Checked: true}}}
	for r := range in.Previews {
		in.Desired = append(in.Desired, Desired{Ref: r, Version: "v1", Instance: "web", Digest: r.Name})
	}
	in.Desired = append(in.Desired, Desired{Ref: ref("Job", "e"), Version: "v1", Instance: "web", Digest: "e", Hook: &object.Hook{Events: []object.HookPhase{object.PreInstall}}})
	found := func() (out diag.Findings) {
		for _, f := range Compute(in).Findings {
			if f.Code == CodeUnchecked {
				out = append(out, f)
			}
		}
		return out
	}
	fs := found()
	if len(fs) != 1 || fs[0].Severity != diag.Info || fs[0].What != "the API server could not check 4 of 5 objects" || fs[0].Cluster != "c1" || fs[0].Fix == "" ||
		fs[0].Why != "namespace shop is new (2), CRD things is new (1), hooks are checked when they run (1)" {
		t.Errorf("%+v", fs)
	}
	in.Options.RollingBack = true
	if fs := found(); fs != nil {
		t.Errorf("nobody asked: %+v", fs)
	}
	in.Options = Options{ServerCheck: true}
	in.Desired, in.Previews = in.Desired[:0], map[object.Ref]Preview{ref("Secret", "d"): {Checked: true}}
	if fs := found(); fs != nil {
		t.Errorf("all was checked: %+v", fs)
	}
}
