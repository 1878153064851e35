package document

import (
	"cuelang.org/go/cue"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

var (
	bundleFields   = []string{"apiVersion", "name", "requires", "health", "ignore", "revisionHistoryLimit", "instances"}
	instanceFields = []string{"module", "helm", "kustomize", "manifests", "namespace", "dependsOn", "values", "valuesFor",
		"placement", "wait", "timeout", "suspend", "health", "ignore"}
	instanceLater   = []string{"overrides", "replicas", "runOnce"}
	valuesForFields = []string{"clusters", "groups", "clusterSelector", "values"}
	placementFields = []string{"clusters", "groups", "clusterSelector", "tolerations"}
	placementLater  = []string{"max", "spread"}
	tolerationField = []string{"key", "operator", "value", "effect"}
)

// bundle reads one bundle; key is its name in `bundles`.
func (d *decoder) bundle(v cue.Value, key string) v1alpha1.BundleSpec {
	var out v1alpha1.BundleSpec
	seen := map[string]bool{}
	for _, f := range d.fields(v, bundleFields) {
		seen[f.name] = true
		switch f.name {
		case "apiVersion":
			out.APIVersion = d.apiVersion(f.value)
		case "name":
			var ok bool
			if out.Name, ok = d.str(f.value); ok {
				d.name(f.value, "the name of a bundle", out.Name)
				if key != "" && key != out.Name {
					d.errorf(f.value, "name-mismatch", "the bundle is listed as %q", d.mask(key))
				}
			}
		case "requires":
			out.Requires = d.requires(f.value)
		case "health":
			out.Health = d.healthRules(f.value)
		case "ignore":
			out.Ignore = d.ignoreRules(f.value)
		case "revisionHistoryLimit":
			out.RevisionHistoryLimit = d.revisions(f.value)
		case "instances":
			out.Instances = d.instances(f.value)
		}
	}
	if !d.is(v, cue.StructKind, "a struct") {
		return out
	}
	if out.Name == "" && key != "" && !seen["name"] {
		out.Name = key
		d.name(v, "the name of a bundle", key)
		seen["name"] = true
	}
	for _, name := range []string{"apiVersion", "name", "instances"} {
		if !seen[name] {
			d.require(v, name)
		}
	}
	d.checkOrder(v, out.Instances)
	return out
}

// revisions is how many revisions are kept.
func (d *decoder) revisions(v cue.Value) int {
	before := len(d.findings)
	n := d.count(v)
	if x, _ := v.Default(); len(d.findings) == before && x.IsConcrete() && (n < 1 || n > v1alpha1.MaxRevisions) {
		d.errorf(v, "out-of-range", "must be 1 to %d, is %d", v1alpha1.MaxRevisions, n)
	}
	return n
}

func (d *decoder) requires(v cue.Value) []v1alpha1.Requires {
	items, _ := d.list(v)
	var out []v1alpha1.Requires
	for _, item := range items {
		var r v1alpha1.Requires
		for _, f := range d.fields(item, []string{"bundle"}) {
			r.Bundle, _ = d.str(f.value)
		}
		if r.Bundle == "" && d.is(item, cue.StructKind, "a struct") {
			d.require(item, "bundle")
		}
		out = append(out, r)
	}
	return out
}

func (d *decoder) instances(v cue.Value) []v1alpha1.Instance {
	fields, ok := d.anyFields(v)
	if !ok {
		return nil
	}
	out := make([]v1alpha1.Instance, 0, len(fields))
	for _, f := range fields {
		d.name(f.value, "the name of an instance", f.name)
		if d.is(f.value, cue.StructKind, "a struct") {
			out = append(out, d.instance(f.value, f.name))
		}
	}
	return out
}

func (d *decoder) instance(v cue.Value, name string) v1alpha1.Instance {
	out := v1alpha1.Instance{Name: name, Pos: d.apiPos(v)}
	seen := map[string]cue.Value{}
	for _, f := range d.fields(v, instanceFields, instanceLater...) {
		seen[f.name] = f.value
		switch f.name {
		case "module":
			out.Module = d.module(f.value)
		case "helm":
			out.Helm = d.helm(f.value)
		case "kustomize":
			out.Kustomize = d.kustomize(f.value)
		case "manifests":
			out.Manifests = d.manifests(f.value)
		case "namespace":
			out.Namespace = d.namespace(f.value)
		case "dependsOn":
			out.DependsOn = d.strings(f.value)
		case "values":
			out.Values = d.valuesData(f.value)
		case "valuesFor":
			out.ValuesFor = d.valuesFor(f.value)
		case "placement":
			out.Placement = d.placement(f.value)
		default:
			d.running(f, &out)
		}
	}
	d.checkSource(v, seen)
	return out
}

func lookup(v cue.Value, name string) (cue.Value, bool) {
	out := v.LookupPath(cue.MakePath(cue.Str(name)))
	return out, out.Exists()
}

func (d *decoder) namespace(v cue.Value) string {
	s, ok := d.str(v)
	if ok && len(validation.IsDNS1123Label(s)) > 0 {
		n := diag.Errorf("invalid-name", "%q cannot be the name of a namespace", d.mask(s))
		n.Why = "Kubernetes wants 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends"
		d.add(n, v)
	}
	return s
}

func (d *decoder) valuesFor(v cue.Value) []v1alpha1.ValuesFor {
	fields, _ := d.anyFields(v)
	var out []v1alpha1.ValuesFor
	for _, layer := range fields {
		w := v1alpha1.ValuesFor{Name: layer.name, Pos: d.apiPos(layer.value)}
		given := false
		for _, f := range d.fields(layer.value, valuesForFields) {
			switch f.name {
			case "clusters":
				w.Clusters = d.globs(f.value)
			case "groups":
				w.Groups = d.globs(f.value)
			case "clusterSelector":
				w.ClusterSelector = d.labelSelector(f.value)
			case "values":
				w.Values, given = d.valuesData(f.value), true
			}
		}
		if d.is(layer.value, cue.StructKind, "a struct") {
			if !given {
				d.require(layer.value, "values")
			}
			out = append(out, w)
		}
	}
	return out
}

// globs is a list of names or globs.
func (d *decoder) globs(v cue.Value) []string {
	items, ok := d.list(v)
	if !ok {
		return nil
	}
	out := []string{}
	for _, item := range items {
		s, ok := d.str(item)
		if !ok {
			continue
		}
		if err := fleet.CheckGlob(s); err != nil {
			d.errorf(item, "invalid-glob", "%q: %v", d.mask(s), err)
		}
		out = append(out, s)
	}
	return out
}

func (d *decoder) placement(v cue.Value) *v1alpha1.Placement {
	if !d.is(v, cue.StructKind, "a struct") {
		return nil
	}
	out := &v1alpha1.Placement{}
	for _, f := range d.fields(v, placementFields, placementLater...) {
		switch f.name {
		case "clusters":
			out.Clusters, out.ClustersPos = d.globs(f.value), d.apiPos(f.value)
		case "groups":
			out.Groups, out.GroupsPos = d.globs(f.value), d.apiPos(f.value)
		case "clusterSelector":
			out.ClusterSelector = d.labelSelector(f.value)
		case "tolerations":
			items, _ := d.list(f.value)
			for _, item := range items {
				out.Tolerations = append(out.Tolerations, d.toleration(item))
			}
		}
	}
	return out
}

func (d *decoder) toleration(v cue.Value) v1alpha1.Toleration {
	var out v1alpha1.Toleration
	for _, f := range d.fields(v, tolerationField) {
		s, _ := d.str(f.value)
		switch f.name {
		case "key":
			out.Key = s
		case "operator":
			out.Operator = s
		case "value":
			out.Value = s
		case "effect":
			out.Effect = s
			d.effect(f.value, s)
		}
	}
	if !d.is(v, cue.StructKind, "a struct") {
		return out
	}
	switch {
	case out.Operator != "" && out.Operator != "Equal" && out.Operator != "Exists":
		d.errorf(v, "invalid-toleration", "operator must be Equal or Exists, is %q", d.mask(out.Operator))
	case out.Operator == "Exists" && out.Value != "":
		d.errorf(v, "invalid-toleration", "with operator Exists there is no value")
	case out.Operator != "Exists" && out.Key == "":
		d.errorf(v, "invalid-toleration", "without a key the operator must be Exists")
	}
	return out
}

func (d *decoder) effect(v cue.Value, s string) {
	switch s {
	case "NoSchedule", "NoExecute", "PreferNoSchedule":
		return
	}
	n := diag.Errorf("invalid-effect", "effect must be NoSchedule, PreferNoSchedule or NoExecute, is %q", d.mask(s))
	d.add(n, v)
}
