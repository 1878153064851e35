package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Merged is one finding and the clusters it was made on. Where they have it for different reasons, Why says which clusters
// have which.
type Merged struct {
	Finding
	// Clusters have it alike, in the order of their findings; empty for one that is about no cluster.
	Clusters []string
	reasons  []reason
	first    Finding
}

// reason is why some clusters have a finding: whole as the first of them says it, else without what is another one on each.
type reason struct {
	text, whole, first string
	clusters           []string
}

// maxReasons is how many reasons of one finding are told before the rest is a number.
const maxReasons = 5

// accepting is what is left of an advice that names one cluster with a flag for several.
const accepting = "--accept-cluster "

// Merge puts findings together that differ by cluster alone, in their sorted order: by its name, its addresses, ages, the
// place where the cluster is declared, and the reason.
func (fs Findings) Merge() []Merged {
	type of struct {
		group   Finding
		cluster string
	}
	var list []Merged
	index := map[Finding][]int{}
	had := map[of]int{} // how many of a group a cluster has: its next one is another mistake
	for _, f := range fs.Sorted() {
		key := f
		key.Cluster, key.Pos = "", Pos{}
		key.What, key.Why, key.Fix = Neutral(f.What, f.Cluster), Neutral(f.Why, f.Cluster), Neutral(f.Fix, f.Cluster)
		group := key
		if f.Cluster != "" {
			group.Why, group.Cluster = "", "any"
		} else {
			group.Pos = f.Pos
		}
		i := had[of{group, f.Cluster}]
		if f.Cluster != "" {
			had[of{group, f.Cluster}]++
		}
		if i < len(index[group]) {
			list[index[group][i]].take(f, key)
			continue
		}
		index[group] = append(index[group], len(list))
		m := Merged{Finding: f, first: f}
		if m.Cluster = ""; f.Cluster != "" {
			m.Clusters, m.reasons = []string{f.Cluster}, []reason{{key.Why, f.Why, f.Why, []string{f.Cluster}}}
		}
		list = append(list, m)
	}
	list = placed(list)
	for i := range list {
		if more := len(list[i].Clusters) - 1; more > 0 {
			list[i].Why = told(list[i].reasons)
			list[i].Fix = strings.ReplaceAll(list[i].Fix, accepting+"<cluster>", accepting+strings.Join(list[i].Clusters, ","))
			list[i].What, list[i].Fix = Likewise(list[i].What, list[i].first.What, more), Likewise(list[i].Fix, list[i].first.Fix, more)
		}
	}
	return list
}

// placed puts together what is one mistake in one place of a file, of objects that have other names or instances on each
// cluster: the object is told as far as it is the same.
func placed(list []Merged) []Merged {
	type of struct {
		mistake Finding
		cluster string
	}
	index, had := map[Finding][]int{}, map[of]int{}
	out := list[:0]
	for _, m := range list {
		mistake := m.Finding
		mistake.Object, mistake.Instance, mistake.Why = "", "", ""
		if m.Path == "" || !m.Pos.IsValid() || len(m.Clusters) == 0 {
			out = append(out, m)
			continue
		}
		n := 0 // the next of each cluster is another one
		for _, c := range m.Clusters {
			n = max(n, had[of{mistake, c}])
		}
		for _, c := range m.Clusters {
			had[of{mistake, c}] = n + 1
		}
		if n >= len(index[mistake]) {
			index[mistake] = append(index[mistake], len(out))
			out = append(out, m)
			continue
		}
		one := &out[index[mistake][n]]
		one.Clusters = append(one.Clusters, m.Clusters...)
		slices.Sort(one.Clusters)
		for _, why := range m.reasons {
			one.because(why)
		}
		one.Object, one.Instance = sameWords(one.Object, m.Object), sameWords(one.Instance, m.Instance)
	}
	return out
}

// sameWords are the words with which two texts begin.
func sameWords(a, b string) string {
	if a == b {
		return a
	}
	x, y := strings.Fields(a), strings.Fields(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return strings.Join(x[:n], " ")
}

// take adds a cluster; what is not the same there is told without the difference.
func (m *Merged) take(f, key Finding) {
	if f.Cluster == "" {
		return
	}
	m.Clusters = append(m.Clusters, f.Cluster)
	if m.Pos != f.Pos {
		m.Pos = Pos{}
	}
	if m.What != f.What {
		m.What = key.What
	}
	if m.Fix != f.Fix {
		m.Fix = key.Fix
	}
	m.because(reason{key.Why, f.Why, f.Why, []string{f.Cluster}})
}

// because adds why clusters have it.
func (m *Merged) because(why reason) {
	i := slices.IndexFunc(m.reasons, func(r reason) bool { return r.text == why.text })
	if i < 0 {
		m.reasons = append(m.reasons, why)
		return
	}
	r := &m.reasons[i]
	if r.clusters = append(r.clusters, why.clusters...); r.whole != why.whole {
		r.whole = why.text
	}
}

// told are reasons in words: what all share first, then a line for each with its clusters.
func told(reasons []reason) string {
	reasons = slices.Clone(reasons)
	for i, r := range reasons {
		reasons[i].whole = Likewise(r.whole, r.first, len(r.clusters)-1)
	}
	if len(reasons) == 1 {
		return reasons[0].whole
	}
	if reasons = slices.DeleteFunc(reasons, func(r reason) bool { return r.whole == "" }); len(reasons) == 1 { // others say nothing
		return Few(reasons[0].clusters) + ": " + reasons[0].whole
	}
	parts := make([][]string, len(reasons))
	for i, r := range reasons {
		parts[i] = strings.Split(r.whole, "; ")
	}
	var shared []string
	for all := parts[0]; len(all) > 0 && everyFirst(parts, all[0]); all = parts[0] {
		shared = append(shared, all[0])
		for i := range parts {
			parts[i] = parts[i][1:]
		}
	}
	var lines []string
	if len(shared) > 0 {
		lines = append(lines, strings.Join(shared, "; "))
	}
	for i, r := range reasons {
		if i == maxReasons {
			lines = append(lines, fmt.Sprintf("and %d more", len(reasons)-i))
			break
		}
		lines = append(lines, Few(r.clusters)+": "+strings.Join(parts[i], "; "))
	}
	return strings.Join(lines, "\n")
}

// everyFirst reports whether all lists begin with a text and go on after it.
func everyFirst(parts [][]string, text string) bool {
	return !slices.ContainsFunc(parts, func(p []string) bool { return len(p) < 2 || p[0] != text })
}

// Few are the first names of a list, and how many more there are.
func Few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Counted is "1 Pod", "3 Pods", "2 Ingresses", "2 NetworkPolicies".
func Counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		noun += "e"
	case strings.HasSuffix(noun, "y") && !strings.ContainsAny(noun[len(noun)-2:len(noun)-1], "aeiou"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
