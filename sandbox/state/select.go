package state

import (
	"fmt"
	"strconv"
	"strings"
)

// Request is what `up` was asked for.
type Request struct {
	// Count is the number of clusters wanted; 0 when Names or Groups say it.
	Count int
	// Names are the clusters wanted, by name.
	Names []string
	// Groups give the groups in order, each with its number of clusters.
	Groups []GroupCount
}

// GroupCount is one "staging=1" of --groups.
type GroupCount struct {
	Group string
	Count int
}

// DefaultGroup is the group of clusters for which none was given.
const DefaultGroup = "default"

// ParseRequest reads the values of --clusters ("3" or "a,b,c") and --groups ("staging=1,production=2").
func ParseRequest(clusters, groups string) (Request, error) {
	var r Request
	if n, err := strconv.Atoi(clusters); err == nil {
		if n < 1 || n > 200 {
			return r, fmt.Errorf("--clusters %s: from 1 to 200 clusters", clusters)
		}
		r.Count = n
	} else if clusters != "" {
		r.Names = strings.Split(clusters, ",")
	}
	seen := map[string]bool{}
	for _, n := range r.Names {
		if err := CheckName("cluster", n); err != nil {
			return r, err
		}
		if seen[n] {
			return r, fmt.Errorf("--clusters: %q is named twice", n)
		}
		seen[n] = true
	}
	if groups == "" {
		return r, nil
	}
	total := 0
	for _, part := range strings.Split(groups, ",") {
		name, num, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(num)
		if !ok || err != nil || n < 1 {
			return r, fmt.Errorf("--groups: %q: write GROUP=NUMBER, as in staging=1,production=2", part)
		}
		if err := CheckName("group", name); err != nil {
			return r, err
		}
		r.Groups = append(r.Groups, GroupCount{name, n})
		total += n
	}
	if want := max(r.Count, len(r.Names)); want > 0 && want != total {
		return r, fmt.Errorf("--groups %s is %d clusters, --clusters %s is %d: make them agree, or leave --clusters out", groups, total, clusters, want)
	}
	return r, nil
}

// Missing returns the clusters a request wants and a sandbox does not have. A request never takes a cluster away.
func (r Request) Missing(have []Cluster) []Cluster {
	switch {
	case len(r.Names) > 0:
		return r.missingNames(have)
	case len(r.Groups) > 0:
		return r.missingInGroups(have)
	}
	var out []Cluster
	for len(have)+len(out) < r.Count {
		out = append(out, Cluster{Name: freeName("c", have, out), Group: DefaultGroup})
	}
	return out
}

func (r Request) missingNames(have []Cluster) []Cluster {
	var out []Cluster
	for i, name := range r.Names {
		if !named(name, have) {
			out = append(out, Cluster{Name: name, Group: r.groupAt(i)})
		}
	}
	return out
}

// groupAt is the group of the i-th cluster asked for.
func (r Request) groupAt(i int) string {
	for _, g := range r.Groups {
		if i < g.Count {
			return g.Group
		}
		i -= g.Count
	}
	return DefaultGroup
}

func (r Request) missingInGroups(have []Cluster) []Cluster {
	var out []Cluster
	for _, g := range r.Groups {
		n := 0
		for _, c := range have {
			if c.Group == g.Group {
				n++
			}
		}
		for ; n < g.Count; n++ {
			out = append(out, Cluster{Name: freeName(g.Group+"-", have, out), Group: g.Group})
		}
	}
	return out
}

// freeName is the first of prefix1, prefix2, ... that no cluster has.
func freeName(prefix string, lists ...[]Cluster) string {
	for i := 1; ; i++ {
		name := prefix + strconv.Itoa(i)
		taken := false
		for _, l := range lists {
			taken = taken || named(name, l)
		}
		if !taken {
			return name
		}
	}
}

func named(name string, clusters []Cluster) bool {
	for _, c := range clusters {
		if c.Name == name {
			return true
		}
	}
	return false
}
