package promotion

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"

	"hawser.dev/hawser/internal/fleetplan"
)

const d1, d2 = "sha256:1111111111111111111111111111111111111111111111111111111111111111", "sha256:2222222222222222222222222222222222222222222222222222222222222222"

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// declaredIn are the files of a test, for the clusters dev, stg-a, stg-b, prod-a and prod-b of the groups dev, staging and production.
func declaredIn(t *testing.T, name, text string) (Declared, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, fs := document.Load(t.Context(), document.Options{Files: []string{path}})
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	d := Declared{Specs: map[string][]v1alpha1.BundleSpec{}}
	for _, c := range [][2]string{{"dev", "dev"}, {"stg-a", "staging"}, {"stg-b", "staging"}, {"prod-a", "production"}, {"prod-b", "production"}} {
		spec := fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: c[0], Group: c[1], Vars: map[string]any{"web": map[string]string{"dev": "1.3.0", "staging": "1.5.0", "production": "1.4.0"}[c[1]]}}}
		d.Clusters = append(d.Clusters, spec)
		specs, fs := p.Evaluate(spec.Facts(nil))
		if fs.HasErrors() {
			t.Fatal(fs)
		}
		d.Specs[c[0]] = specs
	}
	return d, path
}

// ran is a release that came to both clusters of staging.
func ran(instances ...history.Instance) *history.Release {
	r := &history.Release{Release: 7, Rollout: "R7", State: history.Succeeded, Commit: "0123456789abcdef"}
	for _, name := range []string{"stg-a", "stg-b"} {
		r.Clusters = append(r.Clusters, history.Standing{Cluster: name, Group: "staging", In: true, Phase: release.Succeeded, Finished: now, Instances: slices.Clone(instances)})
	}
	return r
}

func is(name, title, digest string) history.Instance {
	return history.Instance{Instance: name, Source: source.Describe(title), Digest: digest, Inputs: "in-" + name}
}

const ranged = `
bundle:
  apiVersion: v1alpha1
  name: shop
  instances:
    web:
      module: {url: oci://r.example.com/web, version: 1.x}
      namespace: shop
`

// written has the version for production beside that for everything else.
const written = `
bundle: {
	_c: {name: string, group: string, ...} @hawser(cluster)
	apiVersion: "v1alpha1"
	name:       "shop"
	instances: web: {
		helm: {
			chart: "web"
			repo:  "https://charts.example.com"
			if _c.group == "production" {
				version: "1.4.0" // by the change board
				digest: "` + d1 + `"
			}
			if _c.group != "production" {
				version: "1.x"
			}
		}
		namespace: "shop"
	}
}
`

const layered = `
bundle:
  apiVersion: v1alpha1
  name: shop
  instances:
    web:
      helm: {chart: oci://r.example.com/web, version: 1.x}
      namespace: shop
      values:
        image: {repository: web, tag: '1.4.0', pullPolicy: Always}
      valuesFor:
        staging:
          groups: [staging]
          values: {image: {tag: "1.5.0"}, replicas: 1}
        production:
          groups: [production]
          values:
            image:
              tag: 1.4.0   # the tag that production has
            sidecarImage: "proxy:1"
`

// decideCase is one decision.
type decideCase struct {
	file, text string
	run        *history.Release
	to         []string
	lock       lockfile.File
	pins       string   // of the new hawser.lock
	lines      []string // that changed in the file
	refused    string
	row        string
}

// decideCases are those of TestDecide.
func decideCases() map[string]decideCase {
	web15 := is("web", "module oci://r.example.com/web 1.5.0", d2)
	chart15 := is("web", "helm web 1.5.0 (https://charts.example.com)", d2)
	oci15 := is("web", "helm oci://r.example.com/web 1.5.0", d2)
	sources := map[string]lockfile.Pin{"oci://r.example.com/web 1.x": {Version: "1.4.2", Digest: d1}}
	return map[string]decideCase{
		"a range is pinned for the group": {"a.yaml", ranged, ran(web15), nil, lockfile.File{Sources: sources},
			`{"f":{"shop":{"group production":{"oci://r.example.com/web 1.x":{"version":"1.5.0","digest":"` + d2 + `"}}}}}`, nil, "", "web prod-a,prod-b 1.4.2->1.5.0 pin"},
		"a cluster alone": {"a.yaml", ranged, ran(web15), []string{"prod-b"}, lockfile.File{},
			`{"f":{"shop":{"cluster prod-b":{"oci://r.example.com/web 1.x":{"version":"1.5.0","digest":"` + d2 + `"}}}}}`, nil, "", "web prod-b 1.x->1.5.0 pin"},
		"what a cluster alone had goes where its group has it": {"a.yaml", ranged, ran(web15), nil,
			lockfile.File{Promoted: lockfile.Promotions{"f": {"shop": {"cluster prod-a": {"oci://r.example.com/web 1.x": {Version: "1.3.0", Digest: d1}}}}, "other": {"shop": {"group production": {"x": {Digest: d1}}}}}},
			`{"f":{"shop":{"group production":{"oci://r.example.com/web 1.x":{"version":"1.5.0","digest":"` + d2 + `"}}}},"other":{"shop":{"group production":{"x":{"digest":"` + d1 + `"}}}}}`, nil, "", "web prod-a 1.3.0->1.5.0 pin; web prod-b 1.x->1.5.0 pin"},
		"the same content by another name of the range": {"a.yaml", strings.Replace(ranged, "1.x", "1.4.2", 1), ran(is("web", "module oci://r.example.com/web 1.4.2", d2)), nil, lockfile.File{},
			`{"f":{"shop":{"group production":{"oci://r.example.com/web 1.4.2":{"version":"1.4.2","digest":"` + d2 + `"}}}}}`, nil, "", "web prod-a,prod-b 1.4.2->1.4.2 pin"},
		"a tag": {"a.yaml", strings.Replace(ranged, "1.x", "stable", 1), ran(is("web", "module oci://r.example.com/web stable", d2)), nil, lockfile.File{},
			`{"f":{"shop":{"group production":{"oci://r.example.com/web stable":{"version":"stable","digest":"` + d2 + `"}}}}}`, nil, "", "web prod-a,prod-b stable->stable pin"},
		"a range that does not have it": {"a.yaml", strings.Replace(ranged, "1.x", "~1.4", 1), ran(web15), nil, lockfile.File{}, "{}", nil, "the files allow ~1.4 of web for prod-a, and staging has 1.5.0", ""},
		"version and digest are edited": {"a.cue", written, ran(chart15), nil, lockfile.File{}, "{}",
			[]string{`				version: "1.5.0" // by the change board`, `				digest: "` + d2 + `"`}, "", "web prod-a,prod-b 1.4.0->1.5.0 edit"},
		"a version alone is edited and pinned": {"a.cue", strings.Replace(written, "digest:", "// digest:", 1), ran(chart15), nil, lockfile.File{},
			`{"f":{"shop":{"group production":{"helm https://charts.example.com web 1.5.0":{"version":"1.5.0","digest":"` + d2 + `"}}}}}`,
			[]string{`				version: "1.5.0" // by the change board`}, "", "web prod-a,prod-b 1.4.0->1.5.0 edit"},
		"an edit for one cluster is one for its neighbour": {"a.cue", written, ran(chart15), []string{"prod-a"}, lockfile.File{}, "{}", nil, "what is written for prod-a is written for web of prod-b, too", ""},
		"a version from a fact":                            {"a.yaml", strings.Replace(ranged, "version: 1.x", "version: {$cluster: vars.web}", 1), ran(web15), nil, lockfile.File{}, "", nil, "", "web prod-a,prod-b 1.4.0->1.5.0 edit"},
		"another source":                                   {"a.yaml", ranged, ran(is("web", "module oci://elsewhere.example.com/web 1.5.0", d2)), nil, lockfile.File{}, "{}", nil, "web is another source for prod-a", ""},
		"a record without digests":                         {"a.yaml", ranged, ran(is("web", "module oci://r.example.com/web 1.5.0", "")), nil, lockfile.File{}, "{}", nil, "nobody knows the digest of web", ""},
		"an image in a layer": {"a.yaml", layered, ran(oci15), nil, lockfile.File{},
			`{"f":{"shop":{"group production":{"helm oci://r.example.com/web 1.x":{"version":"1.5.0","digest":"` + d2 + `"}}}}}`,
			[]string{`              tag: 1.5.0   # the tag that production has`}, "", "web prod-a,prod-b 1.x->1.5.0 pin image.tag:1.4.0->1.5.0"},
		"an image that others have": {"a.yaml", strings.Replace(layered, "tag: 1.4.0   #", "name: x   #", 1), ran(oci15), nil, lockfile.File{}, "{}", nil, "what is written for production is written for web of dev, too", ""},
		"an image that two clusters of staging differ in stays": {"a.yaml", strings.Replace(layered, "groups: [staging]", "clusters: [stg-a]", 1), ran(oci15), nil, lockfile.File{},
			`{"f":{"shop":{"group production":{"helm oci://r.example.com/web 1.x":{"version":"1.5.0","digest":"` + d2 + `"}}}}}`, nil, "", "web prod-a,prod-b 1.x->1.5.0 pin"},
		"nothing that runs is declared": {"a.yaml", ranged, ran(), nil, lockfile.File{}, "{}", nil, "", ""},
	}
}

// TestDecide: what is pinned, what is edited, comments and spelling kept, and what is refused.
func TestDecide(t *testing.T) {
	for name, c := range decideCases() {
		t.Run(name, func(t *testing.T) {
			d, path := declaredIn(t, c.file, c.text)
			for _, at := range d.Clusters { // as a workspace does it
				d.Specs[at.Name][0].Instances = slices.Clone(d.Specs[at.Name][0].Instances)
				for k, i := range d.Specs[at.Name][0].Instances {
					s, _ := source.Of(i)
					d.Specs[at.Name][0].Instances[k].Promoted = v1alpha1.Pin(c.lock.Promoted.At("f", "shop", at.Group, at.Name)[s.Key()])
				}
			}
			in := Input{Bundle: "shop", Release: c.run, From: Side{Fleet: "f", Names: []string{"staging"}, Clusters: []string{"stg-a", "stg-b"}},
				To: Side{Fleet: "f", Names: []string{"production"}, Clusters: []string{"prod-a", "prod-b"}}, Groups: []string{"production"}, Source: d, Target: d, Lock: c.lock}
			if c.to != nil {
				in.To.Names, in.To.Clusters, in.Groups = c.to, c.to, nil
			}
			p, promoted, edits := Decide(in)
			if errs := p.Findings.Errors(); (c.refused == "") != (len(errs) == 0) || c.refused != "" && errs[0].What != c.refused {
				t.Fatalf("%v, want %q", errs, c.refused)
			}
			if c.refused != "" {
				return
			}
			old, _ := os.ReadFile(path)
			text, failed := Apply(old, edits)
			if p.Findings = append(p.Findings, NotWritten(p, failed)...); name == "a version from a fact" {
				if len(failed) != 1 || !strings.Contains(p.Findings.Errors()[0].String(), "a fact of the cluster") || string(text) != string(old) {
					t.Errorf("%v %s", failed, p.Findings)
				}
				return
			}
			if len(failed) > 0 {
				t.Errorf("not written: %+v", failed)
			}
			if got, _ := json.Marshal(promoted); string(got) != c.pins {
				t.Errorf("pins\n%s, want\n%s", got, c.pins)
			}
			var lines []string
			was := strings.Split(string(old), "\n")
			for i, line := range strings.Split(string(text), "\n") {
				if line != was[i] {
					lines = append(lines, line)
				}
			}
			if !slices.Equal(lines, c.lines) {
				t.Errorf("%q, want %q", lines, c.lines)
			}
			var rows []string
			for _, r := range p.Instances {
				row := strings.Join([]string{r.Instance, strings.Join(r.Clusters, ","), r.From.Version + "->" + r.To.Version, string(r.How)}, " ")
				for _, v := range r.Values {
					row += " " + v.Path + ":" + v.From + "->" + v.To
				}
				rows = append(rows, row)
			}
			if got := strings.Join(rows, "; "); got != c.row {
				t.Errorf("%s, want %s", got, c.row)
			}
		})
	}
}

// TestChoose: only what succeeded everywhere it came to, and has soaked, is promoted; the reason is said of each cluster.
func TestChoose(t *testing.T) {
	standing := func(change func(*history.Standing)) *history.History {
		r := ran()
		change(&r.Clusters[1])
		older := ran()
		older.Release, older.Rollout = 6, "R6"
		return &history.History{Bundles: []history.Bundle{{Bundle: "shop", Releases: []history.Release{*r, *older}}}}
	}
	for name, c := range map[string]struct {
		change  func(*history.Standing)
		release string
		soak    time.Duration
		want    string
		number  int
	}{
		"succeeded":                  {func(*history.Standing) {}, "", 0, "", 7},
		"did not come to one":        {func(s *history.Standing) { s.In = false }, "", 0, "", 7},
		"failed on one":              {func(s *history.Standing) { s.Phase = release.Failed }, "", 0, "release 7 (R7) ended as failed there", 0},
		"another one":                {func(s *history.Standing) { s.Phase = release.Failed }, "6", 0, "", 6},
		"interrupted":                {func(s *history.Standing) { s.Phase = release.Interrupted }, "", 0, "ended as interrupted there", 0},
		"somebody is at work":        {func(s *history.Standing) { s.Phase, s.InProgress = release.Applying, "ada" }, "", 0, "has not ended there (ada)", 0},
		"nobody waited":              {func(s *history.Standing) { s.Phase = release.Written }, "", 0, "nobody waited until", 0},
		"soaks":                      {func(*history.Standing) {}, "", time.Hour, "soaks there until 2026-09-01T13:00:00Z", 0},
		"has soaked":                 {func(*history.Standing) {}, "", -time.Hour, "", 7},
		"what it had is not known":   {func(s *history.Standing) { s.In, s.Unknown = false, "not kept" }, "", 0, "not kept", 0},
		"a release that is not kept": {func(*history.Standing) {}, "99", 0, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Choose(standing(c.change), c.release, Side{Names: []string{"staging"}}, map[string]time.Duration{"stg-b": c.soak}, now)
			if c.number > 0 && (err != nil || r.Release != c.number) || c.number == 0 && err == nil {
				t.Fatalf("%v, %v", r, err)
			}
			if fs := diag.From(err, ""); c.want != "" && (len(fs) != 1 || !strings.Contains(fs[0].Why, c.want) || fs[0].Code != CodeRelease || fs[0].Fix == "") {
				t.Errorf("%+v", fs)
			}
		})
	}
	if _, err := Choose(&history.History{Unknown: []history.Unknown{{Cluster: "stg-a", Why: "no route", Unreachable: true}}}, "", Side{}, nil, now); err == nil || !strings.Contains(diag.From(err, "")[0].Why, "not reached: no route") {
		t.Errorf("%v", err)
	}
}

// TestMoved: an instance that the files make from something else now, or that came or went, is said; what others changed is not.
func TestMoved(t *testing.T) {
	r := ran(is("web", "module oci://r.example.com/web 1.5.0", d2))
	ref := plan.Change{Action: plan.Update, Instance: "web"}
	for name, c := range map[string]struct {
		instances []fleetplan.InstancePlan
		changes   []plan.Change
		want      string
	}{
		"as it was":             {[]fleetplan.InstancePlan{{Name: "web", Inputs: "in-web"}}, nil, ""},
		"drifted":               {[]fleetplan.InstancePlan{{Name: "web", Inputs: "in-web"}}, []plan.Change{ref}, ""},
		"renders the same":      {[]fleetplan.InstancePlan{{Name: "web", Inputs: "other"}}, nil, ""},
		"moved":                 {[]fleetplan.InstancePlan{{Name: "web", Inputs: "other"}}, []plan.Change{ref}, "web: its values"},
		"gone":                  {nil, []plan.Change{{Action: plan.Delete, Instance: "web"}}, "web: the files do not have it"},
		"new":                   {[]fleetplan.InstancePlan{{Name: "web", Inputs: "in-web"}, {Name: "api", Inputs: "x"}}, []plan.Change{{Action: plan.Create, Instance: "api"}}, "api: it is new"},
		"new and makes nothing": {[]fleetplan.InstancePlan{{Name: "web", Inputs: "in-web"}, {Name: "api", Inputs: "x"}}, nil, ""},
	} {
		p := &fleetplan.FleetPlan{Clusters: []*fleetplan.ClusterPlan{{Cluster: "stg-a", Instances: c.instances, Plan: &plan.Plan{Changes: c.changes}}, {Cluster: "elsewhere", Plan: &plan.Plan{}}}}
		fs := Moved(r, p)
		if (c.want == "") != (len(fs) == 0) || c.want != "" && !strings.HasPrefix(fs[0].Instance+": "+fs[0].Why, c.want) {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// TestAsRun: files that write another version, source or digest than the release has are not what it was made of.
func TestAsRun(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		run  history.Instance
		want string
	}{
		"a range":             {ranged, is("web", "module oci://r.example.com/web 1.5.0", d2), ""},
		"another version":     {strings.Replace(ranged, "1.x", "1.6.0", 1), is("web", "module oci://r.example.com/web 1.5.0", d2), "the files say module oci://r.example.com/web 1.6.0, and it has module oci://r.example.com/web 1.5.0"},
		"another source":      {ranged, is("web", "module oci://r.example.com/old 1.5.0", d2), "and it has module oci://r.example.com/old"},
		"another digest":      {strings.Replace(ranged, "1.x", "1.x, digest: \""+d1+"\"", 1), is("web", "module oci://r.example.com/web 1.5.0", d2), "and it has"},
		"one it did not have": {ranged, is("api", "module oci://r.example.com/api 1.5.0", d2), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := declaredIn(t, "a.yaml", c.text)
			pins, fs := AsRun(Input{Bundle: "shop", Release: ran(c.run), From: Side{Fleet: "f"}, Source: d}, lockfile.File{})
			if (c.want == "") != (len(fs) == 0) || c.want != "" && !strings.Contains(fs[0].Why, c.want) {
				t.Errorf("%v", fs)
			}
			if name == "a range" && pins.At("f", "shop", "staging", "stg-a")["oci://r.example.com/web 1.x"].Digest != d2 {
				t.Errorf("%v", pins)
			}
		})
	}
}

// TestTwoOfOne: clusters that run two of one instance cannot be promoted together.
func TestTwoOfOne(t *testing.T) {
	r := ran(is("web", "module oci://r.example.com/web 1.5.0", d2))
	r.Clusters[1].Instances[0].Digest = d1
	d, _ := declaredIn(t, "a.yaml", ranged)
	p, _, _ := Decide(Input{Bundle: "shop", Release: r, From: Side{Names: []string{"staging"}}, Source: d, Target: d, To: Side{Clusters: []string{"prod-a"}}})
	if errs := p.Findings.Errors(); len(errs) != 1 || errs[0].What != "staging runs two of web" {
		t.Errorf("%v", errs)
	}
}
