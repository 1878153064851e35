package deletionguard

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Within refuses a plan that deletes a Namespace or a definition and makes objects in it, or of its kind: they would be lost with it, or
// the deletion would fail when everything else is done. There is an Error for each such container, under the code of plan.InUse,
// which finds what is in it already. What a removal's hooks make goes with them, and is none of it. plural is the name of a kind
// in paths.
func Within(p *plan.Plan, plural func(schema.GroupKind) string) diag.Findings {
	going := map[object.Ref]plan.Change{}
	for _, ch := range p.Changes {
		if ch.Action == plan.Delete && (ch.Ref.IsNamespace() || ch.Ref.IsCRD()) {
			going[ch.Ref] = ch
		}
	}
	if len(going) == 0 {
		return nil
	}
	made, seen := map[object.Ref][]string{}, map[object.Ref]bool{}
	for _, ch := range p.Changes {
		if !makes(ch) || seen[ch.Ref] {
			continue
		}
		seen[ch.Ref] = true // one hook may run for several events
		for _, in := range ch.Ref.StandsOn(plural(ch.Ref.GroupKind())) {
			if _, goes := going[in]; goes {
				made[in] = append(made[in], ch.Ref.String())
			}
		}
	}
	var out diag.Findings
	for _, ch := range p.Changes { // in the plan's order
		if _, goes := going[ch.Ref]; goes && len(made[ch.Ref]) > 0 {
			out = append(out, within(ch, made[ch.Ref]))
		}
	}
	return out
}

// makes reports whether a change puts an object into the cluster that was not there, for longer than a removal takes.
func makes(ch plan.Change) bool {
	if ch.Hook != nil && (ch.Hook.Event == object.PreDelete || ch.Hook.Event == object.PostDelete) {
		return false
	}
	return ch.Action == plan.Create || ch.Action == plan.Unknown && ch.UID == ""
}

func within(ch plan.Change, made []string) diag.Finding {
	code, what, kubectl := plan.CodeNamespaceInUse, "the namespace goes, and the plan makes %s in it", "namespace"
	if ch.Ref.IsCRD() {
		code, what, kubectl = plan.CodeDefinitionInUse, "the custom resource definition goes, and the plan makes %s of its kind", "crd"
	}
	f := diag.Errorf(code, what, diag.Counted(len(made), "object"))
	f.Object, f.Instance, f.Pos = ch.Ref.String(), ch.Instance, ch.Pos
	f.Because("would be lost with it: " + diag.Few(made))
	f.Fix = "declare it again, or leave them out; to let go of it and keep it: kubectl annotate " + kubectl + " " + ch.Ref.Name + " hawser.dev/prune=disabled"
	return f
}
