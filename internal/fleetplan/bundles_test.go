package fleetplan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/values"
)

func configMap(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// What others wrote before a bundle's turn, and what was said to be known only then, may be as shown or less; nothing else.
func TestRenews(t *testing.T) {
	create, update := plan.Change{Action: plan.Create, Ref: configMap("x"), Digest: "1"}, plan.Change{Action: plan.Update, Ref: configMap("x"), UID: "u", Digest: "1"}
	change := func(ch plan.Change, f func(*plan.Change)) plan.Change { f(&ch); return ch }
	wrote := []plan.Change{{Action: plan.Release, Ref: configMap("x")}}
	deferred := change(create, func(ch *plan.Change) { ch.Deferred = "the definition comes with bundle platform" })
	late := func(data map[string]any, after ...string) plan.Change {
		return change(create, func(ch *plan.Change) {
			ch.After, ch.Digest = after, data["v"].(string)
			ch.Late = &plan.Late{Object: object.Object{Body: map[string]any{"data": data}}, Values: map[string]any{"v": data["v"]}}
			if len(after) > 0 {
				ch.Late.Open = []string{"v"}
			}
		})
	}
	for name, c := range map[string]struct {
		shown, now, before []plan.Change
		unread             bool
		want               string
	}{
		"nothing changed":                  {shown: []plan.Change{create}, now: []plan.Change{create}},
		"other content":                    {shown: []plan.Change{create}, now: []plan.Change{change(create, func(ch *plan.Change) { ch.Digest = "2" })}, want: "renders differently"},
		"somebody made it":                 {shown: []plan.Change{create}, now: []plan.Change{update}, want: "has appeared since"},
		"somebody made it as declared":     {shown: []plan.Change{create}, want: "has appeared since, as declared"},
		"a bundle of the run made it":      {shown: []plan.Change{create}, before: wrote},
		"somebody changed it":              {now: []plan.Change{update}, want: "was as declared, and is not any more"},
		"a bundle of the run changed it":   {now: []plan.Change{update}, before: wrote, want: "now it would update"},
		"deferred, and checked":            {shown: []plan.Change{deferred}, now: []plan.Change{create}},
		"deferred, other content":          {shown: []plan.Change{deferred}, now: []plan.Change{change(create, func(ch *plan.Change) { ch.Digest = "2" })}, want: "renders differently"},
		"deferred, and somebody else's":    {shown: []plan.Change{deferred}, now: []plan.Change{change(create, func(ch *plan.Change) { ch.Action = plan.Adopt })}, want: "now it would adopt"},
		"a value that was not read":        {shown: []plan.Change{create}, now: []plan.Change{change(create, func(ch *plan.Change) { ch.Digest = "2" })}, unread: true, want: "renders differently"},
		"handed over, other content":       {shown: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), Digest: "1"}}, now: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), Digest: "2"}}, before: wrote, want: "renders differently"},
		"a value that came":                {shown: []plan.Change{late(map[string]any{"v": "known after m"}, "m")}, now: []plan.Change{late(map[string]any{"v": "x"})}},
		"a value that brought more along":  {shown: []plan.Change{late(map[string]any{"v": "known after m"}, "m")}, now: []plan.Change{late(map[string]any{"v": "x", "more": "y"})}, want: "change data.more of ConfigMap shop/x"},
		"handed over":                      {shown: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), FormerEntries: "1"}}, now: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), FormerEntries: "2", ResourceVersion: "2"}}, before: wrote},
		"handed over and made again":       {shown: []plan.Change{{Action: plan.Release, Ref: configMap("x"), UID: "u", Code: plan.CodeMoved}}, now: []plan.Change{{Action: plan.Release, Ref: configMap("x"), UID: "v", Code: plan.CodeForeign}}, before: wrote},
		"let go, and replaced by somebody": {shown: []plan.Change{{Action: plan.Release, Ref: configMap("x"), UID: "u"}}, now: []plan.Change{{Action: plan.Release, Ref: configMap("x"), UID: "v"}}, want: "is another object now"},
		"taken over from somebody, moving": {shown: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), FormerEntries: "1"}}, now: []plan.Change{{Action: plan.Adopt, Ref: configMap("x"), FormerEntries: "2", ResourceVersion: "2"}}, want: "was changed since"},
	} {
		with := func(changes []plan.Change) *FleetPlan {
			return planOf(1, func(cp *ClusterPlan) { cp.Plan.Changes = slices.Clone(changes) })
		}
		shown, now := with(c.shown), with(c.now)
		if c.unread {
			shown.Findings = diag.Findings{{Severity: diag.Warning, Code: values.CodeNotRead, Cluster: "a"}}
		}
		got := now.Renews(shown, now, []*FleetPlan{with(c.before)}, false)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].What, c.want) || got[0].Cluster != "a") {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// Another revision of the sources, another cluster, and what is wrong with the new plan are found too; a number of deletions
// that was confirmed counts for fewer.
func TestRenewsWhole(t *testing.T) {
	guard := diag.Errorf(deletionguard.Code, "the plan deletes 1 object")
	for name, c := range map[string]struct {
		change    func(*FleetPlan)
		confirmed bool
		want      string
	}{
		"the same":                       {func(*FleetPlan) {}, false, ""},
		"another revision":               {func(p *FleetPlan) { p.SourceDigest = "sha256:2" }, false, "its files or sources changed"},
		"another cluster":                {func(p *FleetPlan) { p.Clusters[0].UID = "other" }, false, "another cluster"},
		"one cluster more":               {func(p *FleetPlan) { p.Clusters = append(p.Clusters, &ClusterPlan{Cluster: "z"}) }, false, "not in it"},
		"a cluster that does not answer": {func(p *FleetPlan) { p.Clusters[0].Plan, p.Clusters[0].Unreachable = nil, "timeout" }, false, ""},
		"an error":                       {func(p *FleetPlan) { p.Findings = diag.Findings{diag.Errorf("invalid", "no such field")} }, false, "no such field"},
		"deletions":                      {func(p *FleetPlan) { p.Findings = diag.Findings{guard} }, false, "deletes 1"},
		"deletions that were confirmed":  {func(p *FleetPlan) { p.Findings = diag.Findings{guard} }, true, ""},
	} {
		shown, now := planOf(2, nil), planOf(2, nil)
		c.change(now)
		got := now.Renews(shown, now, nil, c.confirmed)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].What, c.want)) {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// The number that confirms deletions is that of all bundles of the run, and never that of one of them.
func TestConfirm(t *testing.T) {
	number := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		deletes   []int // of guarded bundles; negative ones are not guarded
		confirmed *int
		blocked   []bool
		what      string
	}{
		"nothing is deleted":         {[]int{0, 0}, nil, []bool{false, false}, ""},
		"few":                        {[]int{-2, -1}, nil, []bool{false, false}, ""},
		"not confirmed":              {[]int{2, 3}, nil, []bool{true, true}, "--confirm-delete=5"},
		"the number of all":          {[]int{2, 3}, number(5), []bool{false, false}, ""},
		"the number of one":          {[]int{3, 3}, number(3), []bool{true, true}, "--confirm-delete=6"},
		"what is not guarded counts": {[]int{3, -1}, number(3), []bool{true, false}, "--confirm-delete=4, which counts all bundles of the run (3 of b0, 1 of b1)"},
	} {
		var plans []*FleetPlan
		for i, n := range c.deletes {
			p := planOf(1, func(cp *ClusterPlan) {
				for range max(n, -n) {
					cp.Plan.Changes = append(cp.Plan.Changes, plan.Change{Action: plan.Delete, Ref: configMap("x")})
				}
			})
			if p.Bundle = "b" + string(rune('0'+i)); n > 0 {
				p.Findings = diag.Findings{diag.Errorf(deletionguard.Code, "the plan deletes %d objects", n)}
			}
			plans = append(plans, p)
		}
		each := Confirm(plans, c.confirmed)
		for i, p := range plans {
			if p.Findings.HasErrors() != c.blocked[i] || c.blocked[i] && !strings.Contains(p.Findings[0].Fix, c.what) {
				t.Errorf("%s, %s: %v", name, p.Bundle, p.Findings)
			}
			if want := max(c.deletes[i], -c.deletes[i]); each[i] != want {
				t.Errorf("%s: %v", name, each)
			}
		}
	}
}

// A number that is not that of the deletions is refused where none of the bundles needs one; where a plan has errors nobody knows it.
func TestMiscounted(t *testing.T) {
	number := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		confirmed *int
		wrong     bool
		want      string
	}{
		"none is given":      {nil, false, ""},
		"that of all":        {number(4), false, ""},
		"that of one":        {number(2), false, "--confirm-delete=2 does not match: the bundles of the run delete 4 objects"},
		"an error in a plan": {number(2), true, ""},
	} {
		del := func(cp *ClusterPlan) {
			cp.Plan.Changes = []plan.Change{{Action: plan.Delete, Ref: configMap("x")}, {Action: plan.Recreate, Ref: configMap("y")}}
		}
		plans := []*FleetPlan{planOf(1, del), planOf(1, del)}
		if c.wrong {
			plans[1].Findings = diag.Findings{diag.Errorf("invalid", "no such field")}
		}
		if got := Miscounted(plans, c.confirmed); (c.want == "") != (len(got) == 0) || len(got) > 0 && got[0].What != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	one := planOf(1, func(cp *ClusterPlan) { cp.Plan.Changes = []plan.Change{{Action: plan.Delete, Ref: configMap("x")}} })
	if got := one.Unmatched(number(12)); len(got) != 1 || !strings.Contains(got[0].Fix, "--confirm-delete=1") {
		t.Errorf("%v", got)
	}
	one.Findings = diag.Findings{diag.Errorf("not-installed", "nowhere")}
	if one.Unmatched(number(12)) != nil {
		t.Error("nobody knows how many there will be")
	}
}

// A bundle waits for those it requires that are in the run; what is not begun says why, with every cluster.
func TestReady(t *testing.T) {
	p := planOf(2, nil)
	p.Requires = []string{"db", "elsewhere"}
	for name, c := range map[string]struct {
		undone map[string]string
		want   string
	}{
		"nothing ended":   {nil, ""},
		"it was done":     {map[string]string{"web": "was not done"}, ""},
		"it was not done": {map[string]string{"db": "was not done"}, "it requires db, which was not done"},
	} {
		if got := p.Ready(c.undone); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	out := p.NotBegun("it requires db, which was not done")
	if out.Result != NotStarted || len(out.Clusters) != 2 || out.Clusters[1].Result != NotStarted || out.Clusters[1].Wave != 2 ||
		out.Findings[0].What != "bundle shop was not begun: it requires db, which was not done" {
		t.Errorf("%+v", out)
	}
}

// What waits for a window or an approval has not failed: it says for what, and how the open waves are done without it.
func TestOutcomeWaits(t *testing.T) {
	s := rollout.Schedule{Waves: []rollout.WaveSpec{{Name: "staging"}, {Name: "prod"}}}
	done := []ClusterOutcome{{Result: Succeeded}, {Result: NotStarted}}
	closed := func(wave string) *Outcome {
		f := diag.Errorf(rollout.CodeWindow, "%s may not change now", wave)
		f.Why = "its window opens tomorrow"
		return &Outcome{Clusters: done[1:], Findings: diag.Findings{f}}
	}
	const both = "; --until-wave 1 does both in the waves before it"
	for name, c := range map[string]struct {
		out  *Outcome
		want string
	}{
		"nothing came of it":       {nil, ""},
		"a window":                 {&Outcome{Clusters: done, Stopped: "the window of wave 2 (prod) opens Mon", StoppedWave: 2, Opens: new(time.Time)}, "waits: the window of wave 2 (prod) opens Mon" + both},
		"an approval":              {&Outcome{Clusters: done, Stopped: "wave 2 (prod) waits for an approval", StoppedWave: 2, Unapproved: true}, "waits: wave 2 (prod) waits for an approval" + both},
		"nothing could be done":    {closed("wave 2 (prod)"), "waits: wave 2 (prod) may not change now: its window opens tomorrow" + both},
		"no wave is before it":     {closed("wave 1 (staging)"), "waits: wave 1 (staging) may not change now: its window opens tomorrow"},
		"a cluster failed as well": {&Outcome{Clusters: []ClusterOutcome{{Result: Failed}}, Stopped: "the window of wave 2 (prod) opens Mon", StoppedWave: 2, Opens: new(time.Time)}, ""},
		"it stopped":               {&Outcome{Clusters: done, Stopped: "staging failed", StoppedWave: 2}, ""},
	} {
		if got := c.out.Waits(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What an earlier bundle of the run deletes is not in the way of a Namespace that a later one deletes, on the same cluster; and of
// its changes it is told whether they give rights.
func TestEmptiesAndGrants(t *testing.T) {
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Namespace: "shop", Name: "x"}
	with := func(changes ...plan.Change) *FleetPlan {
		return planOf(1, func(cp *ClusterPlan) { cp.Plan.Changes = changes })
	}
	p := with(plan.Change{Action: plan.Delete, Ref: configMap("x"), UID: "u"}, plan.Change{Action: plan.Release, Ref: configMap("kept"), UID: "k"}, plan.Change{Action: plan.Delete, Ref: configMap("unknown")})
	for cluster, want := range map[string]int{"a": 2, "other": 3} {
		ns := object.Ref{Kind: "Namespace", Name: "shop"}
		seen := map[object.Ref]plan.Contents{ns: {Items: []plan.Content{{UID: "u"}, {UID: "k"}, {}}, Unseen: []string{"secrets"}}}
		if p.Empties(cluster, seen); len(seen[ns].Items) != want || len(seen[ns].Unseen) != 1 {
			t.Errorf("%s: %+v", cluster, seen)
		}
	}
	for _, c := range []struct {
		ch   plan.Change
		want bool
	}{{plan.Change{Action: plan.Create, Ref: role}, true}, {plan.Change{Action: plan.Release, Ref: role}, false}, {plan.Change{Action: plan.Create, Ref: configMap("x")}, false},
		{plan.Change{Action: plan.Create, Ref: object.Ref{Kind: "Namespace", Name: "shop"}}, true}, {plan.Change{Action: plan.Delete, Ref: object.Ref{Kind: "Namespace", Name: "shop"}}, false}} {
		if got := with(c.ch).Grants(); got != c.want {
			t.Errorf("%+v: %v", c.ch, got)
		}
	}
}

// What a plan does to an object decides whether its value can be taken afterwards: what is released stays, and what is in a Namespace goes with that.
func TestFate(t *testing.T) {
	at, ns := object.Ref{Kind: "Secret", Namespace: "shop", Name: "db"}, object.Ref{Kind: "Namespace", Name: "shop"}
	for want, changes := range map[plan.Action][]plan.Change{
		plan.Update:   {{Action: plan.Update, Ref: at}, {Action: plan.Delete, Ref: object.Ref{Kind: "Secret", Namespace: "other", Name: "db"}}},
		plan.Delete:   {{Action: plan.Create, Ref: object.Ref{Kind: "Secret", Namespace: "shop", Name: "db2"}}, {Action: plan.Delete, Ref: ns}},
		plan.Create:   {{Action: plan.Delete, Ref: ns}, {Action: plan.Create, Ref: at}},
		"":            {{Action: plan.Release, Ref: at}, {Action: plan.Release, Ref: ns}, {Action: plan.Create, Ref: object.Ref{Kind: "Namespace", Name: "other"}}},
		plan.Recreate: {{Action: plan.Recreate, Ref: at}},
	} {
		if got := (&ClusterPlan{Plan: &plan.Plan{Changes: changes}}).Fate(at); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := new(ClusterPlan).Fate(at); got != "" {
		t.Errorf("without a plan: %q", got)
	}
}
