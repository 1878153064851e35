package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Codes of the findings about what would be lost with the object that holds it.
const (
	CodeDefinitionInUse = "crd-in-use"
	CodeNamespaceInUse  = "namespace-in-use"
)

// Content is one object inside a Namespace, or of the kind that a definition makes.
type Content struct {
	Ref object.Ref
	UID string
	// Owners are the uids of the objects with which it goes: its owner references, the account of a token.
	Owners []string
	// By is who manages it, for people ("Helm release shop/api"), "" when nobody is known. Marked: it carries our marks.
	By     string
	Marked bool
	// ByCluster: nobody but the controllers of Kubernetes, of its distribution or of a mesh ever wrote it.
	ByCluster bool
	// Keep: annotated to stay. Terminating: it is being deleted already.
	Keep, Terminating bool
}

// Contents is what was seen inside a Namespace or of a definition's kind.
type Contents struct {
	Items []Content
	// Unseen says what could not be looked at and why, one line each: it counts as something that is there.
	Unseen []string
	// Silent are the registrations of API servers that do not answer. One that the plan deletes hides nothing: what its
	// server keeps no Namespace takes with it.
	Silent []object.Ref
}

// holds reports whether an object takes others with it when it is deleted, and whether others may stand on it.
func holds(r object.Ref) bool { return r.IsCRD() || r.IsNamespace() }

// Holders are the Namespaces and definitions that a plan deletes or recreates, in the plan's order: what is in them has
// to be looked at.
func Holders(p *Plan) []object.Ref {
	var out []object.Ref
	for _, ch := range p.Changes {
		if (ch.Action == Delete || ch.Action == Recreate) && holds(ch.Ref) {
			out = append(out, ch.Ref)
		}
	}
	return out
}

// InUse refuses to delete a Namespace or a definition with anything in it that the plan does not delete itself: what is
// kept, let go, still declared, another bundle's or somebody's. What the cluster puts into every namespace, what goes
// with its owners, and the bundle's own roles do not count. Contents that were not looked at, wholly or in part, are in use.
func InUse(p *Plan, contents map[object.Ref]Contents) diag.Findings {
	holders := Holders(p)
	if len(holders) == 0 {
		return nil
	}
	going := goingWith(p, contents)
	var out diag.Findings
	for _, r := range holders {
		seen, looked := contents[r]
		if !looked {
			seen.Unseen = []string{"its contents were not looked at"}
		}
		for _, service := range seen.Silent {
			if !slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Action == Delete && ch.Ref == service }) {
				seen.Unseen = append(seen.Unseen, "the API server of "+service.Name+" does not answer")
			}
		}
		stay := slices.DeleteFunc(slices.Clone(seen.Items), func(c Content) bool { return going[c.UID] })
		if len(stay)+len(seen.Unseen) > 0 {
			out = append(out, inUse(p, r, stay, seen.Unseen))
		}
	}
	return out
}

// StillInUse is InUse for one Namespace or definition of the plan, right before it is deleted: what came since the plan was
// made would be lost with it. nil: nothing would, or it holds nothing.
func StillInUse(p *Plan, ch Change, look func([]object.Ref) map[object.Ref]Contents) *diag.Finding {
	if !holds(ch.Ref) || ch.Hook != nil {
		return nil
	}
	seen := look([]object.Ref{ch.Ref})
	alone := *p
	alone.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(other Change) bool {
		return other.Ref != ch.Ref && (other.Action == Delete || other.Action == Recreate) && holds(other.Ref)
	})
	if fs := InUse(&alone, seen); len(fs) > 0 {
		return &fs[0]
	}
	return nil
}

// goingWith are the uids of the contents that are gone, or nobody's loss, when the plan has been carried out.
func goingWith(p *Plan, contents map[object.Ref]Contents) map[string]bool {
	going, names := map[string]bool{}, map[object.Ref]bool{}
	for _, ch := range p.Changes {
		if ch.Action == Delete && ch.UID != "" {
			going[ch.UID], names[ch.Ref] = true, true
		}
	}
	goes := func(c Content) bool {
		own := !c.Keep && c.Ref.IsRoleOf(p.Bundle) && names[object.Ref{Kind: "Namespace", Name: c.Ref.Namespace}] // of no use without the Namespace
		owned := len(c.Owners) > 0 && !slices.ContainsFunc(c.Owners, func(uid string) bool { return !going[uid] })
		return c.Terminating || own || owned || c.Ref.OfEveryNamespace(c.ByCluster) || c.Ref.Group == "" && c.Ref.Kind == "Endpoints" && names[object.Ref{Kind: "Service", Namespace: c.Ref.Namespace, Name: c.Ref.Name}]
	}
	for grown := true; grown; {
		grown = false
		for _, seen := range contents {
			for _, c := range seen.Items {
				if c.UID != "" && !going[c.UID] && goes(c) {
					going[c.UID], names[c.Ref], grown = true, true, true
				}
			}
		}
	}
	return going
}

func inUse(p *Plan, r object.Ref, stay []Content, unseen []string) diag.Finding {
	code, what, kubectl := CodeNamespaceInUse, "the namespace", "namespace"
	if r.IsCRD() {
		code, what, kubectl = CodeDefinitionInUse, "the custom resource definition", "crd"
	}
	f := diag.Errorf(code, "%s still has %s that would be lost with it", what, diag.Counted(len(stay), "object"))
	f.Fix = fmt.Sprintf("delete or move them first, or keep it: kubectl annotate %s %s hawser.dev/prune=disabled", kubectl, r.Name)
	if len(stay) == 0 {
		f.What = what + " may still have objects that would be lost with it: not everything in it can be looked at"
		f.Fix = fmt.Sprintf("mend that, or keep it: kubectl annotate %s %s hawser.dev/prune=disabled", kubectl, r.Name)
	}
	for _, ch := range p.Changes {
		if ch.Ref == r {
			f.Instance, f.Pos = ch.Instance, ch.Pos
			if ch.Action == Recreate {
				f.Fix = "undo the change that makes it be recreated, or delete or move them first"
			}
		}
	}
	f.Object, f.Why = r.String(), strings.Join(append(p.named(r, stay), unseen...), "; ")
	return f
}

// named are contents by kind and by what they are: "3 ConfigMaps of Helm release x/y: a, b, c".
func (p *Plan) named(holder object.Ref, stay []Content) []string {
	fates := map[object.Ref]string{}
	for _, o := range p.Kept {
		fates[o.Ref] = "still in the bundle"
	}
	for _, ch := range p.Changes {
		if fates[ch.Ref] = "still in the bundle"; ch.Action == Release {
			fates[ch.Ref] = "let go (" + ch.Why + ")"
		}
	}
	type group struct{ kind, fate string }
	names := map[group][]string{}
	for _, c := range stay {
		fate := fates[c.Ref]
		switch {
		case fate != "":
		case c.Keep:
			fate = "annotated to be kept"
		case c.Marked:
			fate = "with our marks, which the record does not know"
		case c.By != "":
			fate = "of " + c.By
		}
		name := c.Ref.Name
		if c.Ref.Namespace != "" && c.Ref.Namespace != holder.Name {
			name = c.Ref.Namespace + "/" + name
		}
		g := group{c.Ref.Kind, fate}
		names[g] = append(names[g], name)
	}
	var out []string
	for _, g := range slices.SortedFunc(maps.Keys(names), func(a, b group) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.fate, b.fate)) }) {
		slices.Sort(names[g])
		text := diag.Counted(len(names[g]), g.kind)
		if g.fate != "" {
			text += " " + g.fate
		}
		out = append(out, text+": "+diag.Few(names[g]))
	}
	return out
}
