package report

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/mask"
	"hawser.dev/hawser/internal/maskguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/testseed"
)

// ours are the parts of our output that nobody may hide: marks, kinds and names of objects, clusters, numbers, verbs.
var ours = regexp.MustCompile(`(?m)^(?: *[-+~±<!?=] [A-Z]\w+ \S+|[A-Z]  \d+ clusters?: .*|Plan: .*|\*\*Plan: .*|<details>.*|To be applied.*|Warning(?: \[hidden-by-others\])?: in 2 places.*| +as [A-Z], and)|(?:waiting|ready|failed|deleted|created) [A-Z]\w+/\S+(?: \d/\d)?|wave=\d+|cluster=\S+|(?:status|created|changed|deleted)=\S+`)

// colours are what a terminal paints with.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestNobodyHidesOurWords: whatever part of an honest output somebody keeps as a secret of his own, what is done to which object on which clusters
// stays to be read, and how much of it. What is laid out (over lines, in columns, shortened, in colours) equals no secret.
func TestNobodyHidesOurWords(t *testing.T) {
	p := shopPlan()
	hides := diag.Warnf("hidden-by-others", "in 2 places something is hidden that equals a secret which this instance does not take")
	hides.Because("whoever writes that secret could have chosen it so: Deployment shop/web spec.template.spec.containers[web].args[0]")
	p.Findings = append(p.Findings, hides)
	p.Guard = []string{"cluster production-ap-2: every ConfigMap of web goes"}
	events := []fleetplan.Event{
		{Type: fleetplan.EventWritten, Cluster: "staging-eu", Action: plan.Delete, Object: &object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web-legacy"}, Done: 3, Total: 4},
		{Type: fleetplan.EventWaiting, Cluster: "staging-eu", Object: &object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}, Message: "is being deleted"},
		{Type: fleetplan.EventReady, Cluster: "staging-eu", Object: &object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}},
		{Type: fleetplan.EventObjectFailed, Cluster: "staging-eu", Object: &object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}, Message: "ImagePullBackOff"},
		{Type: fleetplan.EventClusterEnd, Wave: 1, Cluster: "staging-eu", Status: "failed", Counts: &plan.Counts{Create: 1, Update: 35, Delete: 1}, Object: &object.Ref{Kind: "Pod", Name: "x"}},
	}
	for name, write := range map[string]func(w io.Writer) error{
		"text":     func(w io.Writer) error { return Plan(w, p, Style{}) },
		"narrow":   func(w io.Writer) error { return Plan(w, p, Style{Width: 80, Unicode: true}) },
		"verbose":  func(w io.Writer) error { return Plan(w, p, Style{Verbose: 1}) },
		"colours":  func(w io.Writer) error { return Plan(w, p, Style{Color: true, Unicode: true}) },
		"markdown": func(w io.Writer) error { return Markdown(w, p, false) },
		"events": func(w io.Writer) error {
			log := NewPlain(w)
			for i, e := range events {
				e.Time = noon.Add(time.Duration(i) * time.Second)
				log(e)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			shown := func(secret string) string {
				r := redact.New()
				r.Show("", shopClusters...)
				for _, c := range p.Clusters {
					maskguard.Show(c.Plan, r)
				}
				for _, e := range events {
					maskguard.Show(&plan.Plan{Changes: []plan.Change{{Ref: *e.Object}}}, r)
				}
				if secret != "" {
					r.AddFor("eve", secret)
				}
				var b bytes.Buffer
				if err := write(&mask.Writer{To: &b, Mask: r.Sweep}); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}
			honest := shown("")
			want := ours.FindAllString(colours.ReplaceAllString(honest, ""), -1)
			if len(want) < 4 {
				t.Fatalf("nothing of ours is in\n%s", honest)
			}
			for line := range strings.Lines(honest) { // no text of a plan goes over columns, an arrow or what is left out for its length
				secret := strings.TrimSpace(line)
				if layout := strings.Contains(secret, "  ") || strings.Contains(secret, " -> ") || strings.Contains(secret, "…"); layout && shown(secret) != honest {
					t.Errorf("%q hides of\n%s\nso much:\n%s", secret, honest, shown(secret))
				}
			}
			seed := testseed.From(t)
			rnd := rand.New(rand.NewPCG(seed, 8))
			for range 300 {
				from := rnd.IntN(len(honest) - 6)
				secret := honest[from : from+6+rnd.IntN(min(len(honest)-from-6, 500)+1)]
				got := shown(secret)
				if have := ours.FindAllString(colours.ReplaceAllString(got, ""), -1); fmt.Sprint(have) != fmt.Sprint(want) {
					t.Fatalf("%q hides of\n%s\nso much:\n%s\n%s", secret, honest, got, missing(want, have))
				}
			}
		})
	}
}

// missing are the texts that are wanted and not there.
func missing(want, have []string) string {
	there := strings.Join(have, "\n")
	var out []string
	for _, w := range want {
		if !strings.Contains(there, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, "\n")
}
