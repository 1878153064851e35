package fleet

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// Clusters are the places of a fleet in its order; none when there is no fleet or it names none, and then the run has
// the Implicit one.
func Clusters(spec *v1alpha1.FleetSpec) []Cluster {
	if spec == nil {
		return nil
	}
	out := make([]Cluster, 0, len(spec.Clusters))
	for i, c := range spec.Clusters {
		out = append(out, Cluster{ClusterSpec: c, Index: i})
	}
	return out
}

// Implicit is the one target of a run without a fleet: the current context, or the one named.
func Implicit(context string) Cluster {
	return Cluster{
		ClusterSpec: v1alpha1.ClusterSpec{Name: ImplicitName, Group: ImplicitName, KubeContext: context},
		Implicit:    true,
	}
}

// Facts is what is known of a cluster without a connection: what the fleet file says and the runtime values given.
func (c Cluster) Facts(values map[string]Value) Facts {
	return Facts{
		Name: c.Name, Group: c.Group, Labels: c.Labels, Vars: c.Vars, Implicit: c.Implicit, Values: values,
	}
}

// IsZero reports whether nothing is selected by name, group or label.
func (s Selection) IsZero() bool { return len(s.Clusters) == 0 && len(s.Groups) == 0 && s.Labels == "" }

// Select narrows clusters, keeping their order. Entries are exact names or globs, each also a comma separated list. A
// single name without glob characters may differ in letter case, as in Timoni, when nothing has it exactly. A name,
// group or glob that matches nothing is an error, and so is a selection that leaves nothing: both list what there is.
func Select(clusters []Cluster, s Selection) ([]Cluster, diag.Findings) {
	specs := make([]v1alpha1.ClusterSpec, 0, len(clusters))
	for _, c := range clusters {
		specs = append(specs, c.ClusterSpec)
	}
	names, fs := resolvePatterns("cluster", s.Clusters, Names(specs))
	groups, more := resolvePatterns("group", s.Groups, Groups(specs))
	fs = append(fs, more...)
	selector, err := labels.Parse(s.Labels)
	if err != nil {
		f := diag.Errorf("invalid-selector", "label selector %q: %v", s.Labels, err)
		f.Fix = "write KEY=VALUE, KEY!=VALUE, or \"KEY in (A, B)\", several parted by commas"
		if key, value, ok := strings.Cut(s.Labels, ":"); ok && !strings.ContainsAny(s.Labels, "=!,( ") {
			f.What, f.Fix = fmt.Sprintf("%q is no label selector", s.Labels), "write "+key+"="+value
		}
		fs = append(fs, f)
	}
	if fs.HasErrors() {
		return nil, fs
	}
	var out []Cluster
	for _, c := range clusters {
		if (names == nil || slices.Contains(names, c.Name)) && (groups == nil || slices.Contains(groups, c.Group)) &&
			selector.Matches(labels.Set(c.Labels)) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		n := diag.Errorf("no-cluster", "no cluster found that matches %s", s)
		n.Fix = "there is: " + listing(specs, s.Labels != "")
		return nil, append(fs, n)
	}
	return out, fs
}

// String is the selection as flags.
func (s Selection) String() string {
	var parts []string
	if len(s.Clusters) > 0 {
		parts = append(parts, "--cluster "+strings.Join(s.Clusters, ","))
	}
	if len(s.Groups) > 0 {
		parts = append(parts, "--group "+strings.Join(s.Groups, ","))
	}
	if s.Labels != "" {
		parts = append(parts, "-l "+s.Labels)
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, " ")
}

// resolvePatterns turns patterns into the names they match; nil for no restriction.
func resolvePatterns(what string, patterns, have []string) ([]string, diag.Findings) {
	var flat []string
	for _, p := range patterns {
		for _, one := range strings.Split(p, ",") {
			if one = strings.TrimSpace(one); one != "" {
				flat = append(flat, one)
			}
		}
	}
	if len(flat) == 0 {
		if len(patterns) > 0 {
			return nil, diag.Findings{diag.Errorf("no-cluster", "no cluster found: the %s given is empty", what)}
		}
		return nil, nil
	}
	if slices.Contains(flat, "*") {
		return nil, nil
	}
	out := []string{}
	var fs diag.Findings
	for _, p := range flat {
		if err := CheckGlob(p); err != nil {
			fs = append(fs, diag.Errorf("invalid-glob", "%s %q: %v", what, p, err))
			continue
		}
		matched := matching(p, have)
		if len(matched) == 0 && len(flat) == 1 && !isGlob(p) {
			for _, name := range have {
				if strings.EqualFold(name, p) {
					matched = append(matched, name)
				}
			}
		}
		if len(matched) == 0 {
			n := diag.Errorf("unknown-"+what, "no cluster found: there is no %s %q", what, p)
			n.Fix = "there is: " + orNothing(have)
			if s := cmp.Or(diag.DidYouMean(p, have), beginning(p, have)); s != "" {
				n.Fix = s + " There is: " + orNothing(have)
			}
			fs = append(fs, n)
		}
		out = append(out, matched...)
	}
	return out, fs
}

// beginning is the Fix for a name that is the beginning of one alone, "" for any other.
func beginning(p string, have []string) string {
	longer := slices.DeleteFunc(slices.Clone(have), func(name string) bool { return !strings.HasPrefix(name, p) })
	if len(longer) != 1 {
		return ""
	}
	return diag.DidYouMean(longer[0], longer)
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// listing names clusters with their groups, and with their labels where labelled.
func listing(specs []v1alpha1.ClusterSpec, labelled bool) string {
	var out []string
	for _, c := range specs {
		text := c.Name
		if c.Group != "" {
			text += " (" + c.Group + ")"
		}
		if labelled && len(c.Labels) > 0 {
			text += " " + labels.Set(c.Labels).String()
		}
		out = append(out, text)
	}
	return orNothing(out)
}

// Names are the clusters' names in order; Groups their groups, each once, in order.
func Names(clusters []v1alpha1.ClusterSpec) []string {
	out := make([]string, 0, len(clusters))
	for _, c := range clusters {
		out = append(out, c.Name)
	}
	return out
}

// Groups are the clusters' groups, each once, in order; clusters without a group add none.
func Groups(clusters []v1alpha1.ClusterSpec) []string {
	var out []string
	for _, c := range clusters {
		if c.Group != "" && !slices.Contains(out, c.Group) {
			out = append(out, c.Group)
		}
	}
	return out
}

// CheckGlob checks a name or glob: `*`, `?` and `[a-z]`, as in path.Match.
func CheckGlob(pattern string) error {
	if pattern == "" {
		return fmt.Errorf("empty name")
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("malformed glob")
	}
	return nil
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// Match reports whether a name is the pattern or matches it as a glob, letter case counted.
func Match(pattern, name string) bool {
	if pattern == name {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// AnyMatch reports whether the pattern matches one of the names.
func AnyMatch(pattern string, names []string) bool { return len(matching(pattern, names)) > 0 }

func matching(pattern string, names []string) []string {
	var out []string
	for _, name := range names {
		if Match(pattern, name) {
			out = append(out, name)
		}
	}
	return out
}

// MatchAny reports whether one of the patterns matches the name.
func MatchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}

// LabelSelector makes Kubernetes' selector; nil selects everything, as does an empty one.
func LabelSelector(s *v1alpha1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	out := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return metav1.LabelSelectorAsSelector(out)
}

// MatchLabels reports whether labels fit a selector; one that is malformed fits nothing.
func MatchLabels(s *v1alpha1.LabelSelector, set map[string]string) bool {
	selector, err := LabelSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}

// WavesOf lists the waves a cluster is in, from 0; a valid rollout has exactly one for each cluster of the fleet.
// The fields of a wave are ANDed; one without any takes nothing. nil has no waves.
func WavesOf(r *v1alpha1.Rollout, c v1alpha1.ClusterSpec) []int {
	if r == nil {
		return nil
	}
	var out []int
	for i, w := range r.Waves {
		if InWave(w, c) {
			out = append(out, i)
		}
	}
	return out
}

// InWave reports whether a cluster is in a wave.
func InWave(w v1alpha1.Wave, c v1alpha1.ClusterSpec) bool {
	if w.Groups == nil && w.Clusters == nil && w.ClusterSelector == nil {
		return false
	}
	return (w.Groups == nil || MatchAny(w.Groups, c.Group)) && (w.Clusters == nil || MatchAny(w.Clusters, c.Name)) &&
		(w.ClusterSelector == nil || MatchLabels(w.ClusterSelector, c.Labels))
}

// Named are the clusters that names stand for, in the fleet's order: each name is that of a group or of a cluster, or a glob over
// clusters. groups are the names that are groups. No names are all clusters; one that means nothing is an Error, and so is one that is
// a group and a cluster outside of it.
func Named(clusters []Cluster, names []string) (named []Cluster, groups []string, findings diag.Findings) {
	specs := make([]v1alpha1.ClusterSpec, 0, len(clusters))
	for _, c := range clusters {
		specs = append(specs, c.ClusterSpec)
	}
	var globs []string
	for _, name := range names {
		if slices.Contains(Groups(specs), name) && name != "" {
			groups = append(groups, name)
			if i := slices.Index(Names(specs), name); i >= 0 && specs[i].Group != name {
				findings = append(findings, diag.Errorf("unknown-cluster", "%q is a group, and a cluster of another one", name))
			}
			continue
		}
		globs = append(globs, name)
	}
	matched, fs := resolvePatterns("cluster", globs, Names(specs))
	for i := range fs {
		fs[i].What = strings.ReplaceAll(fs[i].What, "there is no cluster", "there is no group and no cluster")
		fs[i].Fix += "; groups: " + orNothing(Groups(specs))
	}
	for _, c := range clusters {
		if len(names) == 0 || slices.Contains(groups, c.Group) || len(globs) > 0 && (matched == nil || slices.Contains(matched, c.Name)) {
			named = append(named, c)
		}
	}
	return named, groups, append(findings, fs...)
}
