package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
)

// Declared reduces an instance's marked object to what deciding needs: what the object says of itself, and what its
// instance, and the rules shared by all instances, say of it. Findings are annotations that cannot be read.
func Declared(o object.Scoped, in v1alpha1.Instance, shared []v1alpha1.IgnoreRule) (Desired, diag.Findings) {
	d := DesiredOf(o)
	d.Declared = diag.Pos(in.Pos)
	d.Ignore = ignored(d.Ref, slices.Concat(in.Ignore, shared))
	d.NoWait = d.NoWait || in.Wait != nil && !*in.Wait
	if d.Timeout == 0 {
		d.Timeout = in.Timeout.Duration
	}
	bad := object.ActionsOf(o.Unstructured().GetAnnotations()).BadTimeout
	if bad == "" {
		return d, nil
	}
	f := diag.Errorf("bad-timeout", "the annotation hawser.dev/timeout is no duration above zero")
	f.Object, f.Instance, f.Pos, f.Why = d.Ref.String(), d.Instance, d.Pos, fmt.Sprintf("it is %q", bad)
	f.Fix = "write a duration such as 90s, 5m or 1h30m"
	return d, diag.Findings{f}
}

// PolicyKey is what an instance says about its objects besides their content, "" when it says nothing: part of its
// inputs, so that a recorded object is never taken for one under another policy.
func PolicyKey(in v1alpha1.Instance, shared []v1alpha1.IgnoreRule) string {
	policy := struct {
		NoWait  bool                  `json:"noWait,omitempty"`
		Timeout time.Duration         `json:"timeout,omitempty"`
		Ignore  []v1alpha1.IgnoreRule `json:"ignore,omitempty"`
	}{in.Wait != nil && !*in.Wait, in.Timeout.Duration, slices.Concat(in.Ignore, shared)}
	data, err := json.Marshal(policy)
	if err != nil || string(data) == "{}" {
		return ""
	}
	return " " + string(data)
}

// SuspendedNeeds finds instances that depend on a suspended one which was never ready: they would wait for nothing.
func SuspendedNeeds(instances []v1alpha1.Instance, suspended map[string]bool, ready func(instance string) bool) diag.Findings {
	var out diag.Findings
	for _, in := range instances {
		if suspended[in.Name] {
			continue
		}
		unready := slices.DeleteFunc(slices.Clone(in.DependsOn), func(n string) bool { return !suspended[n] || ready(n) })
		if len(unready) == 0 {
			continue
		}
		f := diag.Errorf("suspended-dependency", "%s depends on %s, which is suspended and was never ready here", in.Name, strings.Join(unready, ", "))
		f.Instance, f.Pos = in.Name, diag.Pos(in.Pos)
		f.Fix = "deliver it once before suspending it, or suspend " + in.Name + " too"
		out = append(out, f)
	}
	return out
}

// ignored are the fields of an object that rules leave to others, nil for none.
func ignored(r object.Ref, rules []v1alpha1.IgnoreRule) *object.Ignore {
	var out object.Ignore
	fits := func(pattern, name string) bool { return pattern == "" || fleet.Match(pattern, name) }
	for _, rule := range rules {
		if fits(rule.Group, r.Group) && fits(rule.Kind, r.Kind) && fits(rule.Name, r.Name) {
			out.Paths, out.Managers = append(out.Paths, rule.Paths...), append(out.Managers, rule.Managers...)
		}
	}
	if len(out.Paths)+len(out.Managers) == 0 {
		return nil
	}
	slices.Sort(out.Paths)
	slices.Sort(out.Managers)
	out.Paths, out.Managers = slices.Compact(out.Paths), slices.Compact(out.Managers)
	return &out
}
