package history

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
)

// TestBetween: all clusters are compared with one of the first side that most are like; what is alike stands together, a side whose
// clusters differ is said, and what nobody knows is neither equal nor different.
func TestBetween(t *testing.T) {
	has := func(number int, set, version string) release.Record {
		r := rec(1, number, release.Succeeded)
		r.SetDigest, r.Sources, r.Digests = set, map[string]string{"web": "helm web " + version}, map[string]string{"web": "sha256:" + version}
		r.Images, r.Origins = map[string][]string{"web": {"web:" + version}}, map[string]string{"GROUP": set}
		return r
	}
	old, now, odd := has(1, "a", "1.0.0"), has(2, "b", "2.0.0"), has(2, "c", "2.0.0")
	open := rec(1, 3, release.Applying)
	sets := map[string][]object.Object{"a": {configMap("conf", "one")}, "b": {configMap("conf", "two"), configMap("more", "1")}, "c": {configMap("conf", "s3cr3t-Value-9"), configMap("more", "1")}}
	for name, c := range map[string]struct {
		clusters []Cluster
		want     []string // changes of the groups, with their clusters
		ref      string
		apart    []string
		unknown  []string
		differ   bool
		sources  int
	}{
		"equal":                    {[]Cluster{keeps("s1", now), keeps("s2", now), keeps("p1", now), keeps("p2", now)}, nil, "s1", nil, nil, false, 0},
		"production is behind":     {[]Cluster{keeps("s1", now), keeps("s2", now), keeps("p1", old), keeps("p2", old)}, []string{`p1,p2: ~ conf data.key:"two"->"one" - more went`}, "s1", nil, nil, true, 1},
		"staging differs":          {[]Cluster{keeps("s1", odd), keeps("s2", now), keeps("p1", now), keeps("p2", now)}, []string{`s2,p1,p2: ~ conf data.key:"***"->"two"`}, "s1", []string{"s"}, nil, true, 0},
		"production differs":       {[]Cluster{keeps("s1", now), keeps("s2", now), keeps("p1", old), keeps("p2", now)}, []string{`p1: ~ conf data.key:"two"->"one" - more went`}, "s1", []string{"p"}, nil, true, 1},
		"nothing is there yet":     {[]Cluster{keeps("s1", now), keeps("s2", now), keeps("p1"), keeps("p2")}, []string{"p1,p2: - conf went - more went"}, "s1", nil, nil, true, 1},
		"only production has it":   {[]Cluster{keeps("s1"), keeps("s2"), keeps("p1", old), keeps("p2", old)}, []string{"p1,p2: + conf came"}, "s1", nil, nil, true, 1},
		"one does not answer":      {[]Cluster{{Name: "s1", Unreachable: "no route"}, keeps("s2", now), keeps("p1", now), {Name: "p2", Unknown: "no rights"}}, nil, "s2", nil, []string{"s1", "p2"}, false, 0},
		"one is at work":           {[]Cluster{keeps("s1", now), keeps("s2", now), keeps("p1", open), keeps("p2", now)}, nil, "s1", nil, []string{"p1"}, false, 0},
		"the first side is silent": {[]Cluster{{Name: "s1", Unreachable: "no route"}, {Name: "s2", Unreachable: "no route"}, keeps("p1", now), keeps("p2", now)}, nil, "s1", nil, []string{"s1", "s2", "p1", "p2"}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Between{From: Side{"s", []string{"s1", "s2"}}, To: Side{"p", []string{"p1", "p2"}}}
			if err := b.Find(c.clusters, "shop"); err != nil {
				t.Fatal(err)
			}
			m := redact.New("s3cr3t-Value-9")
			for _, row := range b.Rows() {
				row.Read(t.Context(), Reading{Store: func(string) release.Store { return bySet{objects: sets} }, Learn: func(...[]object.Object) {}, Redact: m.Redact})
			}
			b.Regroup(m, nil)
			one := b.Bundles[0]
			var got []string
			for _, g := range one.Groups {
				row := one.Clusters[slices.IndexFunc(one.Clusters, func(x ClusterChange) bool { return x.Cluster == g.Clusters[0] })]
				got = append(got, strings.Join(g.Clusters, ",")+": "+strings.Join(lines(row.Plan), " "))
			}
			if !slices.Equal(got, c.want) || one.Reference != c.ref || !slices.Equal(one.Apart, c.apart) || b.Differ() != c.differ || len(one.Instances) != c.sources {
				t.Errorf("%q by %s, apart %v, differ %v, sources %v", got, one.Reference, one.Apart, b.Differ(), one.Instances)
			}
			var unknown []string
			for _, u := range b.Unknown() {
				unknown = append(unknown, u.Cluster)
			}
			if !slices.Equal(unknown, c.unknown) {
				t.Errorf("unknown %v, want %v", unknown, c.unknown)
			}
			if c.sources > 0 && one.Instances[0].To != nil && (len(one.Instances[0].Images()) != 1 || len(one.Origins) == 0) {
				t.Errorf("%+v %v", one.Instances[0], one.Origins)
			}
		})
	}
	if err := new(Between).Find([]Cluster{keeps("s1", old)}, "other"); err == nil {
		t.Error("a bundle that is nowhere was found")
	}
}

// A cluster on which the newest release failed is compared as that was declared, and is not one of which nobody knows: it is warned of.
func TestBetweenOfAFailedRelease(t *testing.T) {
	fine, failed := rec(1, 2, release.Succeeded), rec(1, 2, release.Failed)
	failed.Unfinished = []string{"web"}
	for name, c := range map[string]struct {
		at   release.Record
		want int
	}{"failed": {failed, 1}, "succeeded": {fine, 0}} {
		b := &Between{From: Side{"s", []string{"s1"}}, To: Side{"p", []string{"p1"}}}
		if err := b.Find([]Cluster{keeps("s1", fine), keeps("p1", c.at)}, ""); err != nil {
			t.Fatal(err)
		}
		if len(b.Findings) != c.want || len(b.Unknown()) > 0 || c.want == 1 && (b.Findings[0].Cluster != "p1" || !strings.Contains(b.Findings[0].Why, "web")) {
			t.Errorf("%s: %v, unknown %v", name, b.Findings, b.Unknown())
		}
	}
}

// bySet is a store of what records declare, by the digest of their sets.
type bySet struct {
	release.Store
	objects map[string][]object.Object
}

func (s bySet) Objects(_ context.Context, r release.Record) ([]object.Object, error) {
	return s.objects[r.SetDigest], nil
}

// TestBetweenOfHiddenImages: what is hidden of an image is as much as the run knew that wrote the record; one image is not told as two.
func TestBetweenOfHiddenImages(t *testing.T) {
	with := func(images ...string) *Instance {
		return &Instance{Instance: "web", Digest: "sha256:1", Images: images}
	}
	for _, c := range []struct {
		was, is *Instance
		alike   bool
		words   int
	}{
		{with("reg/***/web:1"), with("***"), true, 0},
		{with("reg/s3cr3t/web:1"), with("reg/***/web:1"), true, 0},
		{with("web:1"), with("web:1"), true, 0},
		{with("web:1"), with("web:2"), false, 1},
	} {
		if got := c.was.alike(c.is); got != c.alike {
			t.Errorf("%v and %v are alike: %v", c.was.Images, c.is.Images, got)
		}
		if got := (InstanceBetween{From: c.was, To: c.is}).Images(); len(got) != c.words {
			t.Errorf("%v and %v: %v", c.was.Images, c.is.Images, got)
		}
	}
}
