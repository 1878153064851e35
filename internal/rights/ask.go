package rights

import (
	"context"
	"slices"
	"sync"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/object"
)

// Asker is how a cluster is asked for rights: for all rules in a namespace, for one right, and for a role as it is there.
type Asker struct {
	Known   func(ctx context.Context, namespace string) Known
	Allowed func(context.Context, Right) bool
	Role    func(context.Context, object.Ref) (Role, error)
}

// Without returns those of the rights that somebody does not have, and what he may not give, with the rules that he lacks. The rules of each
// namespace are asked for once; what they do not tell, right by right.
func (a Asker) Without(ctx context.Context, all []Right, given []Grant) (missing []Right, lacking []Grant) {
	rights, grants := map[string][]Right{}, map[string][]Grant{}
	for _, r := range all {
		rights[r.Namespace] = append(rights[r.Namespace], r)
	}
	for _, g := range given {
		if grants[g.Namespace] = append(grants[g.Namespace], g); rights[g.Namespace] == nil {
			rights[g.Namespace] = []Right{}
		}
	}
	var mu sync.Mutex
	var wg broke.Group
	for ns, needed := range rights {
		wg.Go(func() {
			known := a.Known(ctx, ns)
			found, short := a.missing(ctx, known, needed), a.lacking(ctx, known, grants[ns])
			mu.Lock()
			defer mu.Unlock()
			missing, lacking = append(missing, found...), append(lacking, short...)
		})
	}
	wg.Wait()
	slices.SortFunc(lacking, func(a, b Grant) int { return a.Object.Compare(b.Object) })
	return missing, lacking
}

// missing returns those of the rights in one namespace that are not there.
func (a Asker) missing(ctx context.Context, known Known, needed []Right) []Right {
	var out []Right
	for _, r := range needed {
		if !known.allows(r) {
			out = append(out, r)
		}
	}
	if known.Whole || len(out) == 0 {
		return out
	}
	return a.askEach(ctx, out)
}

func (k Known) allows(r Right) bool {
	return slices.ContainsFunc(k.Rules, func(x Rule) bool { return x.Allows(r) })
}

// lacking are the grants in one namespace that would be refused. What the API server compares are the rules, and nothing else that
// somebody may do; a role that cannot be read is not judged.
func (a Asker) lacking(ctx context.Context, known Known, given []Grant) []Grant {
	var out []Grant
	for _, g := range given {
		if len(known.Rules) == 0 && !known.Whole || known.allows(g.Right) || !g.Full && !g.Unknown && len(known.short(g.Rules)) == 0 || !known.Whole && a.Allowed(ctx, g.Right) {
			continue
		}
		if g.Unknown {
			live, err := a.Role(ctx, g.Role)
			if err != nil || len(known.short(live.Rules)) == 0 {
				continue
			}
			g.Rules = live.Rules
		}
		g.Rules = known.short(g.Rules)
		out = append(out, g)
	}
	return out
}

// askEach asks for rights one by one: first for all names of the resource, so that a hundred objects of a kind cost
// one request.
func (a Asker) askEach(ctx context.Context, asked []Right) []Right {
	groups := map[Right][]Right{}
	for _, r := range asked {
		all := r
		all.Name = ""
		groups[all] = append(groups[all], r)
	}
	var mu sync.Mutex
	var wg broke.Group
	var out []Right
	for all, list := range groups {
		wg.Go(func() {
			if a.Allowed(ctx, all) {
				return
			}
			for _, r := range list {
				if r.Name != AnyName && !a.Allowed(ctx, r) { // which name is meant is not known, nor can all be asked for
					mu.Lock()
					out = append(out, r)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return out
}
