package fleetplan

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/release"
)

func fileOf(t *testing.T, p *FleetPlan, key planfile.Key) *planfile.File {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := planfile.File{Request: json.RawMessage("{}"), Plan: data, Salt: planfile.NewSalt()}.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := planfile.Decode(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRead: a plan that is read is the same value as the one that was saved; what is not whole, or was changed, is none.
func TestRead(t *testing.T) {
	key := planfile.Key("0123456789abcdef0123456789abcdef")
	p := planOf(2, func(cp *ClusterPlan) { cp.Plan.Changes = []plan.Change{{Action: plan.Create, Ref: deployment("api")}} })
	p.Order()
	got, err := Read(fileOf(t, p, key), key)
	if err != nil || len(got.Findings) > 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	was, _ := json.Marshal(p)
	if is, _ := json.Marshal(got); string(is) != string(was) {
		t.Errorf("got  %s\nwant %s", is, was)
	}
	if got, err = Read(fileOf(t, p, nil), key); err != nil || len(got.Findings) != 1 || got.Findings[0].Code != "unsealed-plan" {
		t.Errorf("without a seal: %+v, %v", got, err)
	}
	edited := fileOf(t, p, key)
	edited.Plan = json.RawMessage(strings.Replace(string(edited.Plan), "shop", "shed", 1))
	var refused *RefusedError
	if _, err = Read(edited, key); !errors.As(err, &refused) || !errors.Is(err, ErrRefused) || refused.Findings[0].Code != "edited-plan" || !strings.Contains(err.Error(), "changed after") {
		t.Errorf("edited: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*FleetPlan)
		want   string
	}{
		"another version":       {func(p *FleetPlan) { p.V = 1 }, "it holds no plan"},
		"another verb":          {func(p *FleetPlan) { p.Verb = "rollback" }, "it holds no plan"},
		"without a bundle":      {func(p *FleetPlan) { p.Bundle = "" }, "it holds no plan"},
		"an empty cluster":      {func(p *FleetPlan) { p.Clusters[1] = nil }, "cluster 2 is empty"},
		"a cluster twice":       {func(p *FleetPlan) { p.Clusters[1].Cluster = "a" }, "cluster 2 is empty, or there twice"},
		"a cluster with nobody": {func(p *FleetPlan) { p.Clusters[0].Plan = nil }, "cluster a has no plan"},
		"a wave too many":       {func(p *FleetPlan) { p.Schedule.Members[0].Wave = 9 }, "its rollout does not fit"},
		"a wave before all":     {func(p *FleetPlan) { p.Schedule.Members[0].Wave = 0 }, "its rollout does not fit"},
		"orders in its name":    {func(p *FleetPlan) { p.Bundle = "md\n::error::x\x1b[2J" }, `"md\n::error::x\x1b[2J" is no name`},
		"an order in a change":  {func(p *FleetPlan) { p.Clusters[1].Plan.Changes = []plan.Change{{Instance: "web\nv: 1\n"}} }, `"web\nv: 1\n" is no name`},
		"a name turned around":  {func(p *FleetPlan) { p.Clusters[0].Group = "a\u202eb" }, `"a\u202eb" is no name`},
		"an order in a release": {func(p *FleetPlan) { p.Verb, p.RollbackTo = "rollback", &release.Name{Release: 1, Rollout: "\x1b[2J"} }, `"\x1b[2J" is no name`},
		"back to nothing":       {func(p *FleetPlan) { p.Verb = "rollback" }, "it holds no plan"},
		"somebody else's wave":  {func(p *FleetPlan) { p.Schedule.Members[0].Cluster = "x" }, "its rollout does not fit"},
	} {
		p := planOf(2, nil)
		c.change(p)
		if _, err := Read(fileOf(t, p, nil), nil); err == nil || !strings.Contains(err.Error(), "damaged: "+c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p = planOf(2, nil)
	p.Clusters[0].Plan, p.Clusters[0].Unreachable = nil, "no answer"
	p.Clusters[1].Plan, p.Clusters[1].Later = nil, true
	if _, err := Read(fileOf(t, p, nil), nil); err != nil {
		t.Errorf("without plans for who did not answer, or comes later: %v", err)
	}
	if _, err := Read(&planfile.File{Plan: json.RawMessage(`{"clusters": 1}`)}, nil); err == nil {
		t.Error("a plan of other types is read")
	}
}

// TestVerify: a saved plan is carried out as it was, or is stale, and says where.
func TestVerify(t *testing.T) {
	same := func(saved, digest string) bool { return saved == digest }
	change := func(ref object.Ref, digest string) []plan.Change {
		return []plan.Change{{Action: plan.Update, Ref: ref, Digest: digest}}
	}
	made := func(cp *ClusterPlan) { cp.Plan.Changes, cp.Revision = change(deployment("api"), "1"), 3 }
	for name, c := range map[string]struct {
		change func(old, now *FleetPlan)
		want   []string
	}{
		"as it was":         {func(_, _ *FleetPlan) {}, nil},
		"another bundle":    {func(_, now *FleetPlan) { now.Bundle = "other" }, []string{"it is another bundle's"}},
		"another fleet":     {func(_, now *FleetPlan) { now.Fleet = "other" }, []string{"it is another bundle's"}},
		"another head":      {func(_, now *FleetPlan) { now.SourceDigest = "2" }, []string{"or the rollout changed"}},
		"a new cluster":     {func(old, _ *FleetPlan) { old.Clusters = old.Clusters[:1] }, []string{"b: the plan is stale: the cluster is not in it"}},
		"a cluster less":    {func(_, now *FleetPlan) { now.Clusters = now.Clusters[1:] }, []string{"a: the plan is stale: the cluster is no longer in the fleet"}},
		"it was down":       {func(old, now *FleetPlan) { old.Clusters[0].Plan, now.Clusters[0].Revision = nil, 4 }, nil},
		"it is down":        {func(_, now *FleetPlan) { now.Clusters[0].Plan = nil }, nil},
		"another cluster":   {func(_, now *FleetPlan) { now.Clusters[0].UID = "x" }, []string{"this is not the cluster a"}},
		"another revision":  {func(_, now *FleetPlan) { now.Clusters[1].Revision = 4 }, []string{"b: the plan is stale: it is at revision 4 now, the plan was made at 3"}},
		"another object":    {func(_, now *FleetPlan) { now.Clusters[1].Plan.Changes = change(deployment("web"), "1") }, []string{"b: ", "b: "}},
		"another digest":    {func(_, now *FleetPlan) { now.Clusters[1].Plan.Changes = change(deployment("api"), "2") }, []string{"b: "}},
		"another wave":      {func(_, now *FleetPlan) { now.Schedule.Members[0].Wave = 2 }, []string{"the rollout is another one now"}},
		"its content alone": {func(_, now *FleetPlan) { now.Clusters[1].Plan.Changes[0].Content = plan.Body{"a": 1} }, nil},
	} {
		old, now := planOf(2, made), planOf(2, made)
		c.change(old, now)
		var got []string
		for _, f := range Verify(old, now, same, false) {
			if f.Cluster != "" {
				f.What = f.Cluster + ": " + f.What
			}
			got = append(got, f.What)
		}
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPromise: what is made up is promised by what stands there until then, and the plan that is carried out stays as it is.
func TestPromise(t *testing.T) {
	p := planOf(2, func(cp *ClusterPlan) {
		cp.Plan.Changes = []plan.Change{{Ref: deployment("api"), Digest: "real", Content: plan.Body{"a": 1}}, {Ref: deployment("web"), Digest: "web"}}
	})
	p.Clusters[1].Plan = nil
	saved := p.With(func(cp *ClusterPlan) { cp.Promise(map[object.Ref]string{deployment("api"): "stand-in"}) })
	got := saved.Clusters[0].Plan.Changes
	if got[0].Digest != "stand-in" || got[0].Content != nil || got[1].Digest != "web" || saved.Clusters[1].Plan != nil || saved.Bundle != p.Bundle {
		t.Errorf("%+v", got)
	}
	if was := p.Clusters[0].Plan.Changes[0]; was.Digest != "real" || was.Content == nil {
		t.Errorf("the plan was changed: %+v", was)
	}
}
