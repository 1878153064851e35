package drift

import (
	"reflect"
	"slices"
)

// Since is what is otherwise than in an earlier report: objects that drifted since or otherwise, those that are as recorded again
// (Settled), and clusters that are known no more, or again. It is nil where nothing is, and the whole report where there is no
// earlier one.
func (r *Report) Since(before *Report) *Report {
	if before == nil {
		return r
	}
	out := &Report{V: r.V, Time: r.Time, Bundles: []Bundle{}}
	for _, f := range r.Findings {
		if !slices.Contains(before.Findings, f) {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, b := range r.Bundles {
		was := before.bundle(b.Bundle)
		now := Bundle{Bundle: b.Bundle, Clusters: []Cluster{}}
		for _, c := range b.Clusters {
			if c, news := c.since(was.cluster(c.Cluster)); news {
				now.Clusters = append(now.Clusters, c)
			}
		}
		if len(now.Clusters) > 0 {
			out.Bundles = append(out.Bundles, now)
		}
	}
	if len(out.Bundles)+len(out.Findings) == 0 {
		return nil
	}
	return out
}

// since is what is otherwise on a cluster, and whether anything is.
func (c Cluster) since(was Cluster) (Cluster, bool) {
	out := c
	out.Drifted = nil
	if c.Unknown != "" {
		return out, c.Unknown != was.Unknown
	}
	for _, o := range c.Drifted {
		if !slices.ContainsFunc(was.Drifted, func(x Object) bool { return reflect.DeepEqual(o, x) }) {
			out.Drifted = append(out.Drifted, o)
		}
	}
	for _, o := range was.Drifted {
		if !slices.ContainsFunc(c.Drifted, func(x Object) bool { return o.Object == x.Object }) {
			out.Drifted = append(out.Drifted, Object{Object: o.Object, Instance: o.Instance, State: Settled, Why: "is as recorded again"})
		}
	}
	return out, len(out.Drifted) > 0 || was.Unknown != "" || !slices.Equal(c.Moved, was.Moved)
}

func (r *Report) bundle(name string) Bundle {
	for _, b := range r.Bundles {
		if b.Bundle == name {
			return b
		}
	}
	return Bundle{}
}

func (b Bundle) cluster(name string) Cluster {
	for _, c := range b.Clusters {
		if c.Cluster == name {
			return c
		}
	}
	return Cluster{}
}
