package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
)

func configMap(name, value string) object.Object {
	return object.Object{Instance: "web", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]any{"key": value}}}
}

// delivered is a record with the inventory of objects.
func delivered(r release.Record, objects ...object.Object) release.Record {
	for _, o := range objects {
		r.Inventory = append(r.Inventory, plan.InventoryEntry{Ref: o.Ref(), Version: "v1", Instance: o.Instance, Digest: o.Digest()})
	}
	return r
}

// lines are changes in short: mark, name, fields, why.
func lines(p *plan.Plan) []string {
	var out []string
	for _, c := range p.Changes {
		line := c.Action.Mark() + " " + c.Ref.Name
		for _, f := range c.Fields {
			line += fmt.Sprintf(" %s:%s->%s%v", f.Path, f.Old, f.New, map[bool]string{true: "(hidden)"}[f.Hidden])
		}
		out = append(out, strings.TrimSpace(line+" "+c.Why))
	}
	return out
}

func TestCompare(t *testing.T) {
	before := []object.Object{configMap("same", "1"), configMap("moves", "1"), configMap("goes", "1")}
	after := []object.Object{configMap("same", "1"), configMap("moves", "2"), configMap("comes", "s3cr3t-Value-9")}
	one, two := delivered(rec(1, 1, release.Succeeded), before...), delivered(rec(2, 2, release.Succeeded), after...)
	clusters := []Cluster{keeps("a", two, one), keeps("b", two, one), keeps("c", one), keeps("new", delivered(rec(1, 2, release.Succeeded), after...)),
		keeps("lost", rec(12, 12, release.Succeeded), rec(11, 11, release.Succeeded)), {Name: "down", Unreachable: "no route"}}
	m := redact.New("s3cr3t-Value-9")
	c, err := Compare(clusters, "", "1", "R2")
	if err != nil {
		t.Fatal(err)
	}
	sets := map[*release.Record][]object.Object{nil: nil}
	for i := range c.Clusters {
		row := &c.Clusters[i]
		if row.Unknown != "" {
			continue
		}
		a, b := row.Records()
		for _, r := range []*release.Record{a, b} {
			if r != nil && r.Release == 1 {
				sets[r] = before
			} else if r != nil {
				sets[r] = after
			}
		}
		row.Change(sets[a], sets[b], true, m.Redact)
	}
	c.Regroup(m, nil)
	want := map[string][]string{
		"a":   {"+ comes came", "- goes went", `~ moves data.key:"1"->"2"`},
		"c":   nil,
		"new": {"+ comes came", "+ moves came", "+ same came"},
	}
	want["b"] = want["a"]
	for _, row := range c.Clusters {
		if (row.Cluster == "lost") != (row.Unknown == notKept) || (row.Cluster == "down") != (row.Unknown == "no route") {
			t.Errorf("%s: %q", row.Cluster, row.Unknown)
		}
		if row.Plan != nil && !slices.Equal(lines(row.Plan), want[row.Cluster]) {
			t.Errorf("%s: %q, want %q", row.Cluster, lines(row.Plan), want[row.Cluster])
		}
	}
	if len(c.Groups) != 2 || !slices.Equal(c.Groups[0].Clusters, []string{"a", "b"}) || len(c.Unknown()) != 2 || c.Clusters[2].Plan.Unchanged != 3 {
		t.Errorf("%+v", c.Groups)
	}
	if content := fmt.Sprint(c.Clusters[0].Plan.Changes[0].Content); !strings.Contains(content, "***") || strings.Contains(content, "s3cr3t") {
		t.Errorf("%s", content)
	}
}

// Where the objects of a release are not kept the inventories say which differ.
func TestCompareInventories(t *testing.T) {
	one := delivered(rec(1, 1, release.Succeeded), configMap("moves", "1"), configMap("goes", "1"))
	two := delivered(rec(2, 2, release.Succeeded), configMap("moves", "2"), configMap("comes", "1"))
	c, err := Compare([]Cluster{keeps("a", two, one)}, "shop", "1", "2")
	if err != nil {
		t.Fatal(err)
	}
	c.Clusters[0].Change(nil, []object.Object{configMap("moves", "2"), configMap("comes", "1")}, false, redact.New().Redact)
	if got, want := lines(c.Clusters[0].Plan), []string{"+ comes came", "- goes went", "~ moves in which fields is not kept any more"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Nothing secret stands in a comparison: not the data of Secrets, not what was sensitive in either release.
func TestCompareHides(t *testing.T) {
	secret := func(value string) object.Object {
		return object.Object{Instance: "web", Body: map[string]any{"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "token", "namespace": "shop"}, "stringData": map[string]any{"token": value}}}
	}
	was, is := configMap("conf", "canary-before"), configMap("conf", "canary-after")
	was.Sensitive = []string{"data.key"}
	c, err := Compare([]Cluster{keeps("a", rec(2, 2, release.Succeeded), rec(1, 1, release.Succeeded))}, "shop", "1", "2")
	if err != nil {
		t.Fatal(err)
	}
	c.Clusters[0].Change([]object.Object{secret("canary-one"), was}, []object.Object{secret("canary-two"), is}, true, redact.New().Redact)
	c.Regroup(redact.New(), nil)
	got := lines(c.Clusters[0].Plan)
	if len(got) != 2 || strings.Contains(strings.Join(got, " "), "canary") || strings.Count(strings.Join(got, " "), "(hidden)") != 2 {
		t.Errorf("%q", got)
	}
}

// A release that has not ended on a cluster, or has not come to it, is said to be so: nothing of it went there.
func TestCompareOpen(t *testing.T) {
	one := delivered(rec(1, 1, release.Succeeded), configMap("stays", "1"))
	two, open := delivered(rec(2, 2, release.Succeeded), configMap("stays", "1")), delivered(rec(2, 2, release.Applying), configMap("stays", "1"))
	same := one
	same.SourceDigest = two.SourceDigest
	busy := keeps("busy", open, one)
	busy.Bundles[0].InProgress = "ada since noon"
	c, err := Compare([]Cluster{keeps("done", two, one), keeps("open", open, one), busy, keeps("waits", one), keeps("same", same), keeps("bare")}, "shop", "1", "2")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "has not ended here (it died", "ada since noon", "", "", ""} {
		if got := c.Clusters[i].Unknown; want == "" != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", c.Clusters[i].Cluster, got, want)
		}
	}
	var said []string
	for _, f := range c.Findings {
		said = append(said, f.Cluster+": "+f.What+"; "+f.Why)
	}
	if want := []string{"waits: release 2 (R2) has not come here; it is compared as it stood then, at release 1 (R1)",
		"same: release 2 (R2) changed nothing here; it is compared as it stood then, at release 1 (R1)", "bare: release 2 (R2) has not come here; the cluster has nothing yet"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}

// TestCompareHooks: hooks are told and counted apart, as in a plan; those that are the same are in no number.
func TestCompareHooks(t *testing.T) {
	hook := func(name, value string) object.Object {
		o := configMap(name, value)
		o.Hook = &object.Hook{Events: []object.HookPhase{object.PreUpgrade}, Weight: 3}
		return o
	}
	one, two := rec(1, 1, release.Succeeded), rec(2, 2, release.Succeeded)
	c := ClusterChange{before: &one, after: &two}
	c.Change([]object.Object{configMap("app", "1"), hook("same", "1"), hook("other", "1")}, []object.Object{configMap("app", "2"), hook("same", "1"), hook("other", "2"), hook("new", "1")},
		false, func(s string) string { return s })
	if n := c.Plan.Count(); n.Update != 1 || n.Create != 0 || n.Hooks != 2 || n.Unchanged != 0 {
		t.Errorf("%+v", n)
	}
	for _, ch := range c.Plan.Changes {
		if (ch.Hook != nil) != (ch.Ref.Name != "app") || ch.Hook != nil && (ch.Hook.Event != object.PreUpgrade || ch.Hook.Weight != 3) {
			t.Errorf("%+v", ch)
		}
	}
}

// shelf keeps objects by release, and says of others why it does not have them.
type shelf struct {
	release.Store
	objects map[int][]object.Object
}

func (s shelf) Objects(_ context.Context, r release.Record) ([]object.Object, error) {
	if o, ok := s.objects[r.Release]; ok {
		return o, nil
	}
	return nil, &release.MissingError{Secret: "hawser-system/lost"}
}

// Where the objects of a release are not kept the comparison of inventories says so, with the release and the reason.
func TestCompareSaysInventories(t *testing.T) {
	owned := func(value string) []plan.InventoryEntry {
		return []plan.InventoryEntry{{Ref: configMap("app", "").Ref(), Instance: "app", Digest: configMap("app", value).Digest()}}
	}
	compare := func(kept map[int][]object.Object) ClusterChange {
		c := ClusterChange{Cluster: "eu", before: &release.Record{Release: 1, Rollout: "A", Inventory: owned("1")}, after: &release.Record{Release: 2, Rollout: "B", Inventory: owned("2")}}
		c.Read(t.Context(), Reading{Store: func(string) release.Store { return shelf{objects: kept} }, Learn: func(...[]object.Object) {}, Redact: redact.New().Redact})
		return c
	}
	whole := map[int][]object.Object{1: {configMap("app", "1")}, 2: {configMap("app", "2")}}
	if c := compare(whole); c.Inventories || len(c.Plan.Findings) > 0 || len(c.Plan.Changes[0].Fields) == 0 {
		t.Errorf("%+v", c.Plan)
	}
	delete(whole, 2)
	c := compare(whole)
	if !c.Inventories || len(c.Plan.Findings) != 1 || len(c.Plan.Changes) != 1 {
		t.Fatalf("%+v", c.Plan)
	}
	if f := c.Plan.Findings[0]; f.Severity != diag.Warning || f.Cluster != "eu" || !strings.Contains(f.What, "2 (B)") || strings.Contains(f.What, "1 (A)") || !strings.Contains(f.Why, "hawser-system/lost is missing") {
		t.Errorf("%+v", f)
	}
}
