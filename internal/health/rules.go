package health

import (
	"cmp"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
)

// For reports whether the rule is for the object.
func (c Check) For(r object.Ref) bool {
	return (c.Group == r.Group || fleet.MatchAny([]string{c.Group}, r.Group)) && (c.Kind == "" || c.Kind == r.Kind) &&
		(c.Object == "" || fleet.MatchAny([]string{c.Object}, r.Name))
}

// Title names the rule for people: "the instance's health rule for Widget".
func (c Check) Title() string {
	switch {
	case c.CEL == nil:
		return "health check " + c.Name
	case c.Layer == BuiltIn:
		return "the built-in health rule for " + c.Kind
	}
	return "the " + string(c.Layer) + "'s health rule for " + c.Kind
}

// Ordered are an instance's rules in the order they are asked: those of the instance, its module (in CEL, then in CUE),
// the bundle and the fleet; in each layer those for some names before those for all, else as written.
func Ordered(instance, module []v1alpha1.HealthRule, own []Check, bundle, fleet []v1alpha1.HealthRule) []Check {
	return slices.Concat(fromRules(InInstance, instance), fromRules(InModule, module), own,
		fromRules(InBundle, bundle), fromRules(InFleet, fleet))
}

// ModuleOwn are those of an instance's ordered rules that its source brought along, as Ordered's own.
func ModuleOwn(checks []Check) []Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c.Layer != "" && c.Layer != InModule })
}

// fromRules are the rules of one layer; one without a group is for any, as one of ignore is.
func fromRules(layer Layer, rules []v1alpha1.HealthRule) []Check {
	out := make([]Check, 0, len(rules))
	for _, r := range rules {
		out = append(out, Check{Group: cmp.Or(r.Group, "*"), Kind: r.Kind, Object: r.Name, Layer: layer, Pos: diag.Pos(r.Pos),
			CEL: &Expressions{Ready: r.Ready, Failed: r.Failed, Progressing: r.Progressing, Message: r.Message}})
	}
	slices.SortStableFunc(out, func(a, b Check) int { return rank(a) - rank(b) })
	return out
}

// rank puts rules for some names first.
func rank(c Check) int {
	if c.Object != "" {
		return 0
	}
	return 1
}

// Same reports whether two lists hold the same rules, wherever they were read.
func Same(a, b []Check) bool {
	return slices.EqualFunc(a, b, func(x, y Check) bool {
		if (x.CEL == nil) != (y.CEL == nil) || x.CEL != nil && *x.CEL != *y.CEL {
			return false
		}
		x.CEL, y.CEL, x.Pos, y.Pos, x.Recorded, y.Recorded = nil, nil, diag.Pos{}, diag.Pos{}, false, false
		return x == y
	})
}

// Vet returns an error Finding for every rule of the layers that can never work; what is in CUE was compiled when it
// was rendered.
func Vet(checker Checker, checks []Check, layers ...Layer) diag.Findings {
	var out diag.Findings
	for _, c := range checks {
		if c.CEL == nil || checker == nil || !slices.Contains(layers, c.Layer) {
			continue
		}
		if err := checker.Vet(c); err != nil {
			f := diag.Errorf("health-rule", "%s cannot be used", c.Title())
			f.Why, f.Pos = err.Error(), c.Pos
			f.Fix = "correct the expression; self is the live object, and CEL is described at https://cel.dev"
			out = append(out, f)
		}
	}
	return out
}
