package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

var update = flag.Bool("update", false, "rewrite goldens and schemas")

// golden compares with testdata/name, or rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	t.Run(name, func(t *testing.T) {
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v (go test -update writes it)", err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	})
}

var (
	wideStyle   = Style{Width: 120, Unicode: true, ReadFile: shopFile}
	narrowStyle = Style{Width: 80, Unicode: true, ReadFile: shopFile}
)

func shopFile(name string) ([]byte, error) {
	if name != "shop.yaml" {
		return nil, os.ErrNotExist
	}
	return []byte("bundle:\n  name: shop\n\t  replica: 3\n"), nil
}

func lost() *fleetplan.FleetPlan {
	p := shopPlan()
	cp := p.Clusters[11]
	cp.Cluster, cp.Plan, cp.Version, cp.Unreachable = "edge-17", nil, "", "dial tcp 10.9.0.17:6443: i/o timeout (10 s)"
	p.Clusters[0].Resumes = true
	p.Clusters[0].RuntimeChanges = []string{"GROUP staging -> production (env)"}
	p.Clusters[1].NotPlaced = map[string]string{"jobs": "group staging is not production"}
	p.Groups = p.Groups[:2]
	p.Schedule.Members[11] = rollout.Member{Cluster: "edge-17", Wave: 2, Unreachable: true}
	p.Stats.Connected = 11
	return p
}

// TestCanaryIsReached: no cluster that does not answer is announced as canary.
func TestCanaryIsReached(t *testing.T) {
	p := shopPlan()
	wave := p.Schedule.Waves[1]
	wave.Canary, wave.MaxParallel = 1, 0
	p.Schedule.Waves[1] = wave
	p.Schedule.Members = []rollout.Member{{Cluster: "staging-eu", Wave: 1}, {Cluster: "prod-aa", Wave: 2, Canary: true, Unreachable: true}, {Cluster: "prod-eu", Wave: 2}, {Cluster: "prod-us", Wave: 2}}
	got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, Style{Width: 140, Unicode: true}) })
	if strings.Contains(got, "prod-aa") || !strings.Contains(got, "3 clusters: canary prod-eu") || !strings.Contains(got, "(1 not reached)") {
		t.Error(got)
	}
}

// TestApprovalOfWhatBringsSomething: a wave that waits for an approval is told so where the verb wants one.
func TestApprovalOfWhatBringsSomething(t *testing.T) {
	p := shopPlan()
	p.Schedule.Waves[1].Approval = true
	for verb, want := range map[string]bool{"apply": true, "delete": false, "rollback": false, "drift": false} {
		p.Verb = verb
		if got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, Style{Width: 140, Unicode: true}) }); strings.Contains(got, "by approval") != want {
			t.Errorf("%s: %s", verb, got)
		}
		one := *p // a selection of one cluster
		one.Schedule.Members = []rollout.Member{{Cluster: "prod-eu", Wave: 2}}
		if got := text(t, func(b *bytes.Buffer) error { return Plan(b, &one, Style{Width: 140, Unicode: true}) }); strings.Contains(got, "by approval") != want {
			t.Errorf("%s of one cluster: %s", verb, got)
		}
	}
}

// TestApprovedIsTold: of what only explains, a plan tells without -v which wave is approved, what was not checked though it was asked for,
// and which bundles of the files are nowhere.
func TestApprovedIsTold(t *testing.T) {
	p := shopPlan()
	p.Findings = diag.Findings{{Severity: diag.Info, Code: fleetplan.CodeApproved, What: "wave 2 is approved"}, {Severity: diag.Info, Code: "other", What: "explains"}, {Severity: diag.Info, Code: plan.CodeUnchecked, What: "2 of 3"},
		{Severity: diag.Info, Code: fleetplan.CodeNotInstalled, What: "bundle web is nowhere"}}
	if got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, Style{Width: 140}) }); !strings.Contains(got, "wave 2 is approved") || !strings.Contains(got, "Note: 2 of 3") || !strings.Contains(got, "Note: bundle web is nowhere") || strings.Contains(got, "explains") {
		t.Error(got)
	}
}

func refused() *fleetplan.FleetPlan {
	p := onePlan(plan.Change{Action: plan.Conflict, Ref: ref("Deployment", "api"), Instance: "api", Code: plan.CodeForeign,
		Why: "exists already, managed by Helm release shop/api"}, webScale())
	p.Findings = someFindings()[2:]
	return p
}

func braked() *fleetplan.FleetPlan {
	p := everyMark()
	p.Verb = "delete"
	p.Clusters[0].Plan.Brake = "deletes Namespace shop"
	p.Guard = []string{"on cluster default: deletes Namespace shop"}
	return p
}

// unconfirmedPlan is one of which nothing but the number of its deletions is missing.
func unconfirmedPlan() *fleetplan.FleetPlan {
	p := shopPlan()
	p.Guard = []string{"on 2 clusters (staging-eu, staging-us): everything instance web has there is replaced by other things: Deployment shop/web goes",
		"on cluster production-ap-2: deletes Namespace shop"}
	p.Findings = append(p.Findings, deletionguard.Check(p.Guard, 3, nil)...)
	return p
}

func sequential() *fleetplan.FleetPlan {
	p := shopPlan()
	p.Schedule.Sequential, p.Schedule.Waves = true, nil
	return p
}

func unchanged() *fleetplan.FleetPlan {
	p := shopPlan()
	p.Groups = nil
	for _, c := range p.Clusters {
		c.Plan.Changes, c.Plan.Unchanged = nil, 34
	}
	return p
}

// TestGoldens prints every view in every layout; the files are meant to be read.
func TestGoldens(t *testing.T) {
	plans := map[string]func() *fleetplan.FleetPlan{"shop": shopPlan, "marks": everyMark, "lost": lost, "refused": refused,
		"nothing": unchanged, "made": madePlan, "sequential": sequential, "brake": braked, "unconfirmed": unconfirmedPlan}
	styles := map[string]Style{"wide": wideStyle, "narrow": narrowStyle}
	color, full, stat, ascii, verbose := wideStyle, wideStyle, wideStyle, wideStyle, wideStyle
	color.Color, full.Full, stat.Stat, ascii.Unicode, verbose.Verbose = true, true, true, false, 1
	for name, st := range styles {
		for p, make := range plans {
			golden(t, fmt.Sprintf("plan/%s.%s.txt", p, name), text(t, func(b *bytes.Buffer) error { return Plan(b, make(), st) }))
		}
		golden(t, "firstwrite."+name+".txt", text(t, func(b *bytes.Buffer) error { return FirstWrite(b, shopPlan(), st) }))
		golden(t, "diff."+name+".txt", text(t, func(b *bytes.Buffer) error { return Diff(b, shopPlan(), st) }))
		golden(t, "findings."+name+".txt", text(t, func(b *bytes.Buffer) error { return Findings(b, someFindings(), st) }))
		golden(t, "outcome."+name+".txt", text(t, func(b *bytes.Buffer) error { return Outcome(b, failedOutcome(), shopHints, st) }))
		golden(t, "lock."+name+".txt", text(t, func(b *bytes.Buffer) error { return Locked(b, someLock(), st) }))
		golden(t, "outdated."+name+".txt", text(t, func(b *bytes.Buffer) error { return Outdated(b, someOutdated(), st) }))
		golden(t, "status."+name+".txt", text(t, func(b *bytes.Buffer) error { return Status(b, shopStatus(), st) }))
	}
	for name, st := range map[string]Style{"color": color, "full": full, "stat": stat, "ascii": ascii} {
		golden(t, "plan/shop."+name+".txt", text(t, func(b *bytes.Buffer) error { return Plan(b, shopPlan(), st) }))
	}
	golden(t, "plan/marks.full.txt", text(t, func(b *bytes.Buffer) error { return Plan(b, everyMark(), full) }))
	golden(t, "plan/made.full.txt", text(t, func(b *bytes.Buffer) error { return Plan(b, madePlan(), full) }))
	golden(t, "plan/made.stat.txt", text(t, func(b *bytes.Buffer) error { return Plan(b, madePlan(), stat) }))
	golden(t, "plan/lost.verbose.txt", text(t, func(b *bytes.Buffer) error { return Plan(b, lost(), verbose) }))
	golden(t, "status.verbose.txt", text(t, func(b *bytes.Buffer) error { return Status(b, shopStatus(), verbose) }))
	golden(t, "status.color.txt", text(t, func(b *bytes.Buffer) error { return Status(b, shopStatus(), color) }))
	golden(t, "findings.color.txt", text(t, func(b *bytes.Buffer) error { return Findings(b, someFindings(), color) }))
	golden(t, "findings.verbose.txt", text(t, func(b *bytes.Buffer) error { return Findings(b, someFindings(), verbose) }))
	golden(t, "outcome.color.txt", text(t, func(b *bytes.Buffer) error { return Outcome(b, failedOutcome(), shopHints, color) }))
	golden(t, "fleet/ls.txt", text(t, func(b *bytes.Buffer) error { return FleetList(b, shopFleet(), verbose) }))
	golden(t, "fleet/check.txt", text(t, func(b *bytes.Buffer) error { return FleetCheck(b, shopFleet(), wideStyle) }))
	golden(t, "fleet/values.txt", text(t, func(b *bytes.Buffer) error { return FleetValues(b, shopFleet(), wideStyle) }))
	golden(t, "markdown.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, shopPlan(), false) }))
	golden(t, "markdown-full.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, madePlan(), true) }))
	golden(t, "markdown-unconfirmed.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, unconfirmedPlan(), false) }))
	golden(t, "markdown-refused.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, refused(), false) }))
	golden(t, "markdown-nothing.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, unchanged(), false) }))
}

var shopHints = Hints{Resume: "hawser apply -f shop.yaml --fleet fleet.yaml", Access: "--fleet fleet.yaml", Back: "hawser rollback shop --fleet fleet.yaml"}

// bare is text without its colours.
func bare(s string) string { return regexp.MustCompile("\x1b\\[[^@-~]*[@-~]").ReplaceAllString(s, "") }

func text(t *testing.T, print func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNarrowFits holds every line of every narrow view, and colour must not change what is said.
func TestNarrowFits(t *testing.T) {
	for _, w := range []int{80, 60, 89} {
		st := narrowStyle
		st.Width = w
		for name, p := range map[string]*fleetplan.FleetPlan{"shop": shopPlan(), "marks": everyMark(), "refused": refused(), "lost": lost()} {
			got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, st) })
			for _, l := range strings.Split(got, "\n") {
				if width(l) > w && w >= 80 && !strings.Contains(l, "connected") {
					t.Errorf("%s at %d: %d columns: %q", name, w, width(l), l)
				}
			}
			st.Color = true
			colored := text(t, func(b *bytes.Buffer) error { return Plan(b, p, st) })
			st.Color = false
			if plain := bare(colored); plain != got {
				t.Errorf("%s at %d: colour changed the text:\n%s", name, w, cmp.Diff(got, plain))
			}
		}
	}
}

// TestTablesFit holds every line of the tables to the columns of the terminal.
func TestTablesFit(t *testing.T) {
	for name, print := range map[string]func(*bytes.Buffer, Style) error{
		"history":  func(b *bytes.Buffer, st Style) error { return History(b, history.Of(shopKept()), st) },
		"list":     func(b *bytes.Buffer, st Style) error { return Listing(b, shopListing(), st) },
		"fleet ls": func(b *bytes.Buffer, st Style) error { return FleetList(b, shopFleet(), st) },
		"check":    func(b *bytes.Buffer, st Style) error { return FleetCheck(b, shopFleet(), st) },
		"outdated": func(b *bytes.Buffer, st Style) error { return Outdated(b, someOutdated(), st) },
		"status":   func(b *bytes.Buffer, st Style) error { return Status(b, shopStatus(), st) },
	} {
		for _, w := range []int{80, 100, 120} {
			st := narrowStyle
			st.Width = w
			for _, l := range strings.Split(text(t, func(b *bytes.Buffer) error { return print(b, st) }), "\n") {
				if width(l) > w && !strings.HasPrefix(l, "?") {
					t.Errorf("%s: %d columns, not %d: %s", name, width(l), w, l)
				}
			}
		}
	}
}

// TestWithoutAFleet: every report about the one cluster of a run without a fleet says which it is, and how it was chosen.
func TestWithoutAFleet(t *testing.T) {
	const how = "the current context kind (https://127.0.0.1:6443)"
	kept := []history.Cluster{{Name: "default", Chosen: how, Bundles: shopKept()[1].Bundles}}
	one := history.Of(kept)
	if err := one.Only("", "42", nil); err != nil {
		t.Fatal(err)
	}
	compared, err := history.Compare(kept, "shop", "41", "42")
	if err != nil {
		t.Fatal(err)
	}
	listed := &release.Listing{Clusters: []release.ClusterListing{{Cluster: "default", Chosen: how, Bundles: shopListing().Clusters[0].Bundles}}}
	drifted := shopDrift()
	drifted.Bundles[0].Clusters = drifted.Bundles[0].Clusters[:1]
	drifted.Bundles[0].Clusters[0].Cluster, drifted.Bundles[0].Clusters[0].Chosen = "default", how
	for name, print := range map[string]func(b *bytes.Buffer) error{
		"history": func(b *bytes.Buffer) error { return History(b, history.Of(kept), wideStyle) },
		"nothing kept": func(b *bytes.Buffer) error {
			return History(b, history.Of([]history.Cluster{{Name: "default", Chosen: how}}), wideStyle)
		},
		"history show": func(b *bytes.Buffer) error { return Shown(b, one, wideStyle) },
		"history diff": func(b *bytes.Buffer) error { return Compared(b, compared, wideStyle) },
		"list":         func(b *bytes.Buffer) error { return Listing(b, listed, wideStyle) },
		"inspect":      func(b *bytes.Buffer) error { return Inspected(b, listed, "module", wideStyle) },
		"drift":        func(b *bytes.Buffer) error { return Drift(b, drifted, "", wideStyle) },
		"status": func(b *bytes.Buffer) error {
			return Status(b, &fleetplan.StatusReport{Clusters: []fleetplan.ClusterStatus{{Cluster: "default", Chosen: how}}}, wideStyle)
		},
	} {
		if got := text(t, print); strings.Count(got, "default, "+how) == 0 {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestNotReached: one wording for a cluster that does not answer, apart from one of which nobody knows for another reason.
func TestNotReached(t *testing.T) {
	kept := []history.Cluster{{Name: "a", Unreachable: "i/o timeout"}, {Name: "b", Unreachable: "i/o timeout"}, {Name: "c", Unknown: "may not read Secrets"}}
	listed := &release.Listing{Clusters: []release.ClusterListing{{Cluster: "a", Unreachable: "i/o timeout"}, {Cluster: "b", Unreachable: "i/o timeout"}, {Cluster: "c", Unknown: "may not read Secrets"}}}
	drifted := &drift.Report{Bundles: []drift.Bundle{{Bundle: "shop", Clusters: []drift.Cluster{{Cluster: "a", Unknown: "i/o timeout", Unreachable: true},
		{Cluster: "b", Unknown: "i/o timeout", Unreachable: true}, {Cluster: "c", Unknown: "may not read Secrets"}}}}}
	status := &fleetplan.StatusReport{Clusters: []fleetplan.ClusterStatus{{Cluster: "a", Unreachable: "i/o timeout"}, {Cluster: "b", Unreachable: "i/o timeout"}, {Cluster: "c", Unknown: "may not read Secrets"}}}
	for name, print := range map[string]func(b *bytes.Buffer) error{
		"history": func(b *bytes.Buffer) error { return History(b, history.Of(kept), wideStyle) },
		"list":    func(b *bytes.Buffer) error { return Listing(b, listed, wideStyle) },
		"drift":   func(b *bytes.Buffer) error { return Drift(b, drifted, "", wideStyle) },
		"status":  func(b *bytes.Buffer) error { return Status(b, status, wideStyle) },
	} {
		got := text(t, print)
		for _, want := range []string{"?  2 clusters: a, b  not reached: i/o timeout", "?  1 cluster: c  unknown: may not read Secrets"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s has not once %q:\n%s", name, want, got)
			}
		}
	}
	down := &fleetplan.Outcome{Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Unreachable, Reason: "i/o timeout"}}}
	if got := text(t, func(b *bytes.Buffer) error { return Outcome(b, down, Hints{}, wideStyle) }); strings.Contains(got, "unreachable") || !strings.Contains(got, "1 not reached") {
		t.Error(got)
	}
	row := fleetplan.FleetRow{Cluster: "a", Problem: "i/o timeout", Unreachable: true}
	if got := text(t, func(b *bytes.Buffer) error {
		return FleetCheck(b, &fleetplan.FleetReport{Clusters: []fleetplan.FleetRow{row}}, wideStyle)
	}); !strings.Contains(got, "?  1 cluster: a  not reached: i/o timeout") {
		t.Error(got)
	}
}

// TestManyObjects keeps a plan of 10,000 changed objects with texts fast.
func TestManyObjects(t *testing.T) {
	var changes []plan.Change
	for i := range 10000 {
		changes = append(changes, plan.Change{Action: plan.Update, Instance: "web", Code: plan.CodeChanged,
			Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("c", i)},
			Fields: []plan.FieldChange{{Path: "spec.template.spec.containers[web].resources.limits.cpu", Old: "1", New: "2"},
				{Path: "data.text", Old: `"a\nb\nc\nd\n"`, New: `"a\nB\nc\nd\n"`}}})
	}
	p := onePlan(changes...)
	start := time.Now()
	got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, wideStyle) })
	if d := time.Since(start); d > time.Minute {
		t.Errorf("10,000 objects took %v", d)
	}
	if n := strings.Count(got, "~ ConfigMap"); n != 10000 {
		t.Errorf("%d objects shown", n)
	}
}

// TestMarkdownLimit: a comment is never longer than it may be, says what was cut, and its fences hold.
func TestMarkdownLimit(t *testing.T) {
	p := shopPlan()
	var changes []plan.Change
	for i := range 3000 {
		changes = append(changes, plan.Change{Action: plan.Create, Ref: ref("ConfigMap", fmt.Sprint("c", i)), Instance: "web", Code: plan.CodeNew})
	}
	p.Clusters[2].Plan.Changes = changes
	var members []group.Member
	for _, c := range p.Clusters {
		members = append(members, group.Member{Cluster: c.Cluster, Wave: c.Wave, Plan: c.Plan})
	}
	p.Groups = group.Equal(members)
	got := text(t, func(b *bytes.Buffer) error { return Markdown(b, p, false) })
	if len(got) > MarkdownLimit {
		t.Errorf("%d bytes", len(got))
	}
	if !strings.Contains(got, "> Cut: ") || !strings.Contains(got, "+3000") {
		t.Errorf("does not say what was cut:\n%s", got[len(got)-900:])
	}
	if f := fenced("", "a\n````\nb\n"); !strings.HasPrefix(f, "`````\n") {
		t.Errorf("fence too short: %q", f)
	}
}

// TestTerminalSafety: foreign text cannot send escapes to the terminal.
func TestTerminalSafety(t *testing.T) {
	p := onePlan(plan.Change{Action: plan.Update, Ref: object.Ref{Kind: "ConfigMap", Name: "a\x1b[2Jb"}, Why: "x\x1b]0;y\x07\nz", Code: plan.CodeDrift,
		Fields: []plan.FieldChange{{Path: "data.\x1b[31m", Old: "1", New: "\x1b[2J", Manager: "m\x1b[1A"}}})
	p.Findings = someFindings()[3:4]
	p.Findings[0].Why = "server said \x1b[2J"
	got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, wideStyle) })
	if strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("escapes in %q", got)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken pipe")

// TestWriteErrors come back, so that a closed pipe can end a command quietly.
func TestWriteErrors(t *testing.T) {
	for name, err := range map[string]error{
		"plan": Plan(brokenPipe{}, shopPlan(), wideStyle), "diff": Diff(brokenPipe{}, shopPlan(), wideStyle),
		"outcome": Outcome(brokenPipe{}, failedOutcome(), Hints{}, wideStyle), "status": Status(brokenPipe{}, shopStatus(), wideStyle),
		"findings": Findings(brokenPipe{}, someFindings(), wideStyle), "json": JSON(brokenPipe{}, shopPlan()),
		"yaml": YAML(brokenPipe{}, shopPlan()), "markdown": Markdown(brokenPipe{}, shopPlan(), false),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Clusters of later waves, which nobody asked, are not among those that are as declared.
func TestClustersNotAsked(t *testing.T) {
	later := unchanged()
	later.Clusters[0].Later, later.Clusters[0].Plan = true, nil
	for name, got := range map[string]string{"text": text(t, func(b *bytes.Buffer) error { return Plan(b, later, wideStyle) }),
		"markdown": text(t, func(b *bytes.Buffer) error { return Markdown(b, later, false) })} {
		if !strings.Contains(got, "Not asked: 1 cluster in later waves.") || name == "text" && !strings.Contains(got, fmt.Sprintf("on %d cluster", len(later.Clusters)-1)) {
			t.Errorf("%s counts clusters that were not asked:\n%s", name, got)
		}
	}
}

// TestNarrowStatusNamesBundles: a block of a narrow report about several bundles says which bundle it is about, as a wide row does.
func TestNarrowStatusNamesBundles(t *testing.T) {
	s := &fleetplan.StatusReport{V: diag.DocumentVersion, Clusters: []fleetplan.ClusterStatus{{Cluster: "eu", Bundle: "shop", Revision: 1, Release: 4}, {Cluster: "eu", Bundle: "crm", Revision: 1, Release: 9}, {Cluster: "us"}}}
	for _, want := range [][]string{{"eu  shop  release 4  ready", "eu  crm  release 9  ready", "us  not installed"}, {"eu  release 4  ready"}} {
		if len(want) == 1 {
			s.Bundle, s.Clusters = "shop", s.Clusters[:1]
		}
		got := text(t, func(b *bytes.Buffer) error { return Status(b, s, Style{Width: 80}) })
		for _, line := range want {
			if !strings.Contains(got, line+"\n") {
				t.Errorf("no %q in\n%s", line, got)
			}
		}
	}
}
