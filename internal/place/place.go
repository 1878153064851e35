// Package place decides on which clusters the instances of a bundle run, and with which values: pure functions of the
// bundle, the cluster's declaration and its facts.
//
// place must not know how a bundle was written, what an instance renders to, nor how a cluster is reached.
package place

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Placed is one instance on one cluster, or the reason why it is not there.
type Placed struct {
	// Instance has the layers of valuesFor that apply merged into its values.
	Instance v1alpha1.Instance
	// Cluster is the cluster's name.
	Cluster string
	// Why says why the instance is not placed on the cluster; "" = it is.
	Why string
	// Suspended: it is placed here, and left as it is.
	Suspended bool
}

// Select places every instance of a bundle on one cluster, in the bundle's order. Findings: layers that cannot be
// merged (errors), instances that depend on one that is not placed here (warnings).
func Select(spec v1alpha1.BundleSpec, c fleet.Cluster, f fleet.Facts) ([]Placed, diag.Findings) {
	var findings diag.Findings
	out := make([]Placed, 0, len(spec.Instances))
	why := map[string]string{}
	for _, in := range spec.Instances {
		p := Placed{Instance: in, Cluster: c.Name, Why: notHere(in.Placement, c, f)}
		why[in.Name] = p.Why
		if p.Why == "" {
			p.Suspended = in.Suspend
			values, fs := merged(in, c, f)
			findings = append(findings, fs...)
			p.Instance.Values = values
		}
		out = append(out, p)
	}
	for _, p := range out {
		if p.Why != "" {
			continue
		}
		for _, target := range p.Instance.DependsOn {
			reason, known := why[target]
			if !known || reason == "" {
				continue
			}
			n := diag.Warnf("dependency-not-placed", "%s depends on %s, which is not placed on this cluster", p.Instance.Name, target)
			n.Why, n.Cluster, n.Instance, n.Pos = reason, c.Name, p.Instance.Name, diag.Pos(p.Instance.Pos)
			findings = append(findings, n)
		}
	}
	return out, findings
}

// Nowhere reports whether no instance of a bundle is placed on a cluster.
func Nowhere(spec v1alpha1.BundleSpec, c fleet.Cluster, f fleet.Facts) bool {
	return !slices.ContainsFunc(spec.Instances, func(in v1alpha1.Instance) bool { return notHere(in.Placement, c, f) == "" })
}

// notHere is the reason why a placement leaves the cluster out, "" when it does not.
func notHere(p *v1alpha1.Placement, c fleet.Cluster, f fleet.Facts) string {
	var tolerations []v1alpha1.Toleration
	if p != nil {
		if why := outside(p.Clusters, p.Groups, p.ClusterSelector, f); why != "" {
			return "placement: " + why
		}
		tolerations = p.Tolerations
	}
	for _, t := range c.Taints {
		if !tolerated(t, tolerations) {
			return "the cluster's taint " + taintText(t) + " is not tolerated"
		}
	}
	return ""
}

// outside is the first of the ANDed fields that does not take the cluster: nil takes every cluster, an empty list none.
func outside(clusters, groups []string, selector *v1alpha1.LabelSelector, f fleet.Facts) string {
	switch {
	case clusters != nil && len(clusters) == 0:
		return "clusters is empty"
	case groups != nil && len(groups) == 0:
		return "groups is empty"
	case clusters != nil && !fleet.MatchAny(clusters, f.Name):
		return "clusters " + strings.Join(clusters, ", ") + " do not match " + f.Name
	case groups != nil && !fleet.MatchAny(groups, f.Group):
		return "groups " + strings.Join(groups, ", ") + " do not match " + quoteEmpty(f.Group)
	case selector != nil && !fleet.MatchLabels(selector, f.Labels):
		s, err := fleet.LabelSelector(selector)
		if err != nil {
			return "clusterSelector: " + err.Error()
		}
		return "clusterSelector " + s.String() + " does not match " + labelText(f.Labels)
	}
	return ""
}

func quoteEmpty(s string) string {
	if s == "" {
		return "no group"
	}
	return s
}

func labelText(labels map[string]string) string {
	if len(labels) == 0 {
		return "a cluster without labels"
	}
	parts := make([]string, 0, len(labels))
	for k, v := range labels {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// tolerated is Kubernetes' rule. Only NoSchedule and NoExecute keep an instance away; PreferNoSchedule is a wish.
func tolerated(t v1alpha1.Taint, tolerations []v1alpha1.Toleration) bool {
	if t.Effect != "NoSchedule" && t.Effect != "NoExecute" {
		return true
	}
	return slices.ContainsFunc(tolerations, func(o v1alpha1.Toleration) bool {
		if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
			return false
		}
		if o.Operator == "Exists" {
			return true
		}
		return o.Key != "" && o.Value == t.Value
	})
}

func taintText(t v1alpha1.Taint) string {
	out := t.Key
	if t.Value != "" {
		out += "=" + t.Value
	}
	return out + ":" + t.Effect
}

// Layer is one layer of an instance's values on a cluster.
type Layer struct {
	// Name is "values" or "valuesFor.NAME".
	Name string
	// Why says why the layer does not apply; "" = it does.
	Why    string
	Values v1alpha1.Values
	Pos    v1alpha1.Position
}

// Layers lists the layers of an instance's values, lowest first: the instance's values, then valuesFor in field order.
func Layers(in v1alpha1.Instance, f fleet.Facts) []Layer {
	out := []Layer{{Name: "values", Values: in.Values, Pos: in.Pos}}
	for _, w := range in.ValuesFor {
		out = append(out, Layer{
			Name: "valuesFor." + w.Name, Why: outside(w.Clusters, w.Groups, w.ClusterSelector, f), Values: w.Values, Pos: w.Pos,
		})
	}
	return out
}

// merged lays the layers that apply over each other: those of a chart as Helm does it, those of a module as Timoni does.
func merged(in v1alpha1.Instance, c fleet.Cluster, f fleet.Facts) (v1alpha1.Values, diag.Findings) {
	out, overlay := in.Values, cuelang.Overlay
	if in.Helm != nil {
		overlay = cuelang.OverlayChart
	}
	for _, l := range Layers(in, f)[1:] {
		if l.Why != "" || l.Values.Empty() {
			continue
		}
		if out.Empty() {
			out = l.Values
			continue
		}
		x, err := overlay(out.Struct, l.Values.Struct)
		if err == nil && x.Kind != v1alpha1.KindStruct {
			err = fmt.Errorf("%s of instance %s are not a struct", l.Name, in.Name)
		}
		if err != nil {
			fs := cuelang.FindingsFor(err, cuelang.Show{Code: "values-for"})
			for i := range fs {
				fs[i].Cluster, fs[i].Instance = c.Name, in.Name
				fs[i].Path = strings.TrimSuffix(l.Name+"."+fs[i].Path, ".")
			}
			return out, fs
		}
		out = v1alpha1.Values{Struct: x}
	}
	return out, nil
}
