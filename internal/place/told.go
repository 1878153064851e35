package place

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Line is one layer that says something about a value; the last one of a cluster won.
type Line struct {
	Cluster string `json:"cluster"`
	Path    string `json:"path"`
	Layer   string `json:"layer"`
	Value   string `json:"value"`
	Pos     string `json:"pos,omitempty"`
	// From is the reference that the value came from, {$cluster: PATH}.
	From string `json:"from,omitempty"`
	// Hint is a name that was perhaps meant, where no layer has the value.
	Hint string `json:"hint,omitempty"`
}

// Document is the answer for machines.
type Document struct {
	V      int    `json:"v"`
	Layers []Line `json:"layers"`
}

// Lines are explanations as one line for each layer of a cluster that says something, lowest first.
func Lines(all []Explanation) []Line {
	out := []Line{}
	for _, x := range all {
		last := Line{Cluster: x.Cluster, Path: strings.TrimSuffix(x.Instance+"."+x.Path, "."), Layer: x.Layer, Value: x.Value,
			Pos: x.Pos.String(), Hint: x.Hint}
		if x.Unread && x.Value == "" {
			last.Hint = strings.TrimPrefix(x.Hint+"; what the package itself has could not be read", "; ")
		}
		for _, l := range x.Layers {
			switch {
			case !l.Applies || l.Value == "":
			case l.Layer == x.Layer:
				last.From = l.From
			default:
				out = append(out, Line{Cluster: x.Cluster, Path: last.Path, Layer: l.Layer, Value: l.Value, Pos: l.Pos.String(), From: l.From})
			}
		}
		out = append(out, last)
	}
	return out
}

// Text is lines for people: clusters with equal answers are told once, what won is marked.
func Text(lines []Line) string {
	var order []string
	answers := map[string]string{} // of each cluster
	for i, l := range lines {
		if _, seen := answers[l.Cluster]; !seen {
			order = append(order, l.Cluster)
		}
		mark, value := " ", l.Value
		if i == len(lines)-1 || lines[i+1].Cluster != l.Cluster {
			mark = ">"
		}
		if value == "" {
			value = strings.TrimSuffix("not set in the bundle; "+l.Hint, "; ")
		} else if l.From != "" {
			value += " from " + l.From
		}
		answers[l.Cluster] += strings.TrimRight(fmt.Sprintf(" %s %-24s %-24s %s", mark, l.Layer, value, l.Pos), " ") + "\n"
	}
	var out strings.Builder
	for i, c := range order {
		if slices.ContainsFunc(order[:i], func(before string) bool { return answers[before] == answers[c] }) {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(order[i:]), func(other string) bool { return answers[other] != answers[c] })
		fmt.Fprintf(&out, "%s  %s\n%s", strings.Join(same, ", "), lines[0].Path, answers[c])
	}
	return out.String()
}

// Missing is an error when nothing has the value that is explained: no layer, of whatever cluster, and not the package.
func Missing(all []Explanation, path string) error {
	n := diag.Errorf("no-value", "there is no value %s", path)
	if len(all) == 0 {
		n.Why = "the instance is not placed on any of the selected clusters"
		return diag.Findings{n}.Err()
	}
	for _, x := range all {
		has := func(l LayerValue) bool { return l.Value != "" }
		if x.Unread || x.Path == "" || x.Value != "" || slices.ContainsFunc(x.Layers, has) {
			return nil
		}
		if n.Fix == "" {
			n.Fix = x.Hint
		}
		if rest, ok := strings.CutPrefix(x.Path, "values."); ok {
			n.Fix = "paths start below values: " + x.Instance + "." + rest
		}
	}
	n.Why = "neither the bundle nor what the package itself has as values sets it"
	return diag.Findings{n}.Err()
}
