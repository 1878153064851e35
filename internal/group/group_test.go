package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func change(name, digest string) plan.Change {
	return plan.Change{Action: plan.Update, Code: plan.CodeChanged, Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, Digest: digest,
		UID: "uid-" + name + digest, ResourceVersion: "7"}
}

func fields(to string) plan.Change {
	c := change("a", "1")
	c.Fields = []plan.FieldChange{{Path: "data.k", New: to}}
	return c
}

// TestVariants: where the clusters of a group get different contents that are not shown, it is said how many and where.
func TestVariants(t *testing.T) {
	groups := Equal([]Member{{"eu", 1, &plan.Plan{Changes: []plan.Change{change("a", "1"), change("b", "1")}}},
		{"us", 1, &plan.Plan{Changes: []plan.Change{change("a", "2"), change("b", "1")}}}, {"ap", 1, &plan.Plan{Changes: []plan.Change{change("a", "1"), change("b", "1")}}}})
	if len(groups) != 1 || groups[0].Changes[0].Why != "2 variants" || groups[0].Changes[1].Why != "" {
		t.Errorf("variants are counted where they are: %+v", groups)
	}
	want := []Variants{{Ref: change("a", "").Ref, Clusters: [][]string{{"eu", "ap"}, {"us"}}}}
	if diff := cmp.Diff(want, groups[0].Variants); diff != "" {
		t.Errorf("where the variants are (-want +got):\n%s", diff)
	}
}

// TestVariantsOfAnotherGroup: a group is shown as another one "and" what it has more, and what it has otherwise.
func TestVariantsOfAnotherGroup(t *testing.T) {
	groups := Equal([]Member{{"eu", 1, &plan.Plan{Changes: []plan.Change{change("a", "1"), change("c", "1")}}},
		{"us", 2, &plan.Plan{Changes: []plan.Change{change("a", "2"), change("b", "1"), change("c", "1")}}}})
	if len(groups) != 2 || groups[1].As != "A" || len(groups[1].Extra) != 2 || groups[1].Extra[0].Ref.Name != "a" ||
		groups[1].Extra[0].Why != "not the same as in A" || groups[1].Extra[1].Ref.Name != "b" {
		t.Errorf("%+v", groups)
	}
}

// TestGroupsHaveNoContents: content does not part groups, and stands with the clusters' plans alone.
func TestGroupsHaveNoContents(t *testing.T) {
	with := func(text string) *plan.Plan {
		c := change("a", text)
		c.Content = plan.Body{"data": text}
		return &plan.Plan{Changes: []plan.Change{c}}
	}
	members := []Member{{"eu", 1, with("1")}, {"us", 1, with("2")}}
	groups := Equal(members)
	if len(groups) != 1 || groups[0].Changes[0].Content != nil || len(groups[0].Variants) != 1 || members[0].Plan.Changes[0].Content == nil {
		t.Errorf("%+v", groups)
	}
}

func TestEqual(t *testing.T) {
	pl := func(uid string, cs ...plan.Change) *plan.Plan {
		out := append([]plan.Change(nil), cs...)
		for i := range out {
			out[i].UID += uid
		}
		return &plan.Plan{Changes: out}
	}
	a, b, c := change("a", "1"), change("b", "1"), change("c", "1")
	cases := map[string]struct {
		reason  string
		members []Member
		want    []Group
	}{
		"uids do not count": {
			reason:  "two clusters with the same changes are one group though their objects have other uids",
			members: []Member{{"eu", 1, pl("x", a)}, {"us", 1, pl("y", a)}},
			want:    []Group{{Letter: "A", Clusters: []string{"eu", "us"}}},
		},
		"as": {
			reason:  "a group that contains another's changes entirely shows only the rest",
			members: []Member{{"stg", 1, pl("", a)}, {"p1", 2, pl("", a, b)}, {"p2", 2, pl("", a, b)}, {"p3", 2, pl("", a, b, c)}},
			want: []Group{{Letter: "A", Clusters: []string{"stg"}}, {Letter: "B", Clusters: []string{"p1", "p2"}, As: "A", Extra: []plan.Change{b}},
				{Letter: "C", Clusters: []string{"p3"}, As: "B", Extra: []plan.Change{c}}},
		},
		"wave before size": {
			reason:  "groups are ordered by wave, then by size",
			members: []Member{{"stg", 1, pl("", b)}, {"p1", 2, pl("", a)}, {"p2", 2, pl("", c)}, {"p3", 2, pl("", c)}},
			want: []Group{{Letter: "A", Clusters: []string{"stg"}}, {Letter: "B", Clusters: []string{"p2", "p3"}},
				{Letter: "C", Clusters: []string{"p1"}}},
		},
		"nothing to do": {
			reason:  "clusters without a change, or not planned at all, are in no group",
			members: []Member{{"eu", 1, pl("")}, {"us", 1, nil}},
			want:    []Group{},
		},
		"content that is not shown": {
			reason:  "changes whose fields are not shown are equal; the variants are counted instead",
			members: []Member{{"eu", 1, pl("", change("a", "1"))}, {"us", 1, pl("", change("a", "2"))}},
			want:    []Group{{Letter: "A", Clusters: []string{"eu", "us"}}},
		},
		"shown fields count": {
			reason:  "changes with different fields are not equal",
			members: []Member{{"eu", 1, pl("", fields("1"))}, {"us", 1, pl("", fields("2"))}},
			want:    []Group{{Letter: "A", Clusters: []string{"eu"}}, {Letter: "B", Clusters: []string{"us"}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Equal(tc.members)
			for i := range got {
				got[i].Changes, got[i].Variants, got[i].Digest = nil, nil, ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLetter(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA"} {
		if got := letter(i); got != want {
			t.Errorf("letter(%d) = %s, want %s", i, got, want)
		}
	}
}
