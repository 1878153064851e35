package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/driver"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/workspace"
)

// fake is an engine for scripts: FAKE names what it finds, FAKE_REQUEST a file for the request it was given.
type fake struct {
	what    string
	onEvent func(fleetplan.Event)
	signals chan os.Signal
}

var (
	_ Engine = (*fake)(nil)
	_ Engine = driver.Engine{}
)

var epoch = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// fakeApp is the product around the fake; FAKE_TTY=1 makes every stream a terminal.
func fakeApp() *App {
	signals := make(chan os.Signal, 4)
	tty := os.Getenv("FAKE_TTY") != ""
	return &App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Version: "1.2.3",
		Engine: func(on func(fleetplan.Event)) (Engine, error) {
			return &fake{what: os.Getenv("FAKE"), onEvent: on, signals: signals}, nil
		},
		Bundles: func(context.Context, engine.Request) ([]string, error) { return bundlesOf(), nil },
		ReadPlan: func(r io.Reader) (*fleetplan.FleetPlan, error) {
			var p fleetplan.FleetPlan
			if err := json.NewDecoder(r).Decode(&p); err != nil {
				return nil, fmt.Errorf("this is not a plan file: %w", err)
			}
			return &p, nil
		},
		Explain: func(_ context.Context, _ engine.Request, path string) ([]place.Line, error) {
			return []place.Line{{Cluster: "staging-eu", Path: path, Layer: "values", Value: `"eu"`, Pos: "shop.yaml:9"},
				{Cluster: "staging-eu", Path: path, Layer: "valuesFor.eu", Value: `"eu-1"`, Pos: "shop.yaml:14"}}, nil
		},
		Lock: func(_ context.Context, req engine.Request) (*fleetplan.LockReport, error) {
			(&fake{}).record(req)
			return &fleetplan.LockReport{V: diag.DocumentVersion, File: "hawser.lock", Sources: []fleetplan.LockedSource{{Source: "oci://registry/web 1.x", Version: "1.4.2", Digest: "sha256:1"}}}, nil
		},
		Outdated: func(context.Context, engine.Request) (*fleetplan.OutdatedReport, error) {
			old, now := &lockfile.Pin{Version: "1.4.2", Digest: "sha256:1"}, &lockfile.Pin{Version: "1.5.0", Digest: "sha256:2"}
			r := &fleetplan.OutdatedReport{V: diag.DocumentVersion, Sources: []fleetplan.OutdatedSource{{Source: "oci://registry/web", Want: "1.x", Locked: old, Newest: now, Overall: now, Verdict: source.Behind}}}
			if os.Getenv("FAKE") == "down" {
				r.Sources[0].Verdict, r.Sources[0].Newest, r.Sources[0].Overall, r.Sources[0].Problem = source.Unknown, nil, nil, "registry does not answer"
				return r, fleetplan.ErrPartial
			}
			return r, nil
		},
		FleetClusters: func(_ context.Context, req fleetplan.Paths) ([]fleet.Cluster, error) {
			if len(req.FleetFiles) == 0 || req.FleetFiles[0] != "fleet.yaml" {
				return nil, errors.New("no such fleet")
			}
			spec := v1alpha1.FleetSpec{Clusters: []v1alpha1.ClusterSpec{{Name: "staging-eu", Group: "staging"}, {Name: "production-eu", Group: "production"}}}
			return fleet.Clusters(&spec), nil
		},
		ImportKubeconfig: func(file, name string) (string, diag.Findings) {
			if file == "fleet.yaml" {
				return "", diag.Findings{diag.Errorf("no-context", "fleet.yaml has no contexts")}
			}
			return "# fleet " + name + " of " + file + "\n", diag.Findings{diag.Warnf("no-user", "the context other has no user")}
		},
		Tools: realTools, Registries: giveAccess, Isolate: func(string) error { return nil },
		Cache: func() *cache.Cache { return cache.Open(cache.Options{Dir: os.Getenv(cache.EnvDir)}) },
		CacheDir: func(dir string) {
			if err := os.Setenv(cache.EnvDir, dir); err != nil {
				panic(err)
			}
		},
		Sandbox: func(context.Context, io.Writer) (string, error) {
			if p := os.Getenv("FAKE_SANDBOX"); p != "" {
				return p, nil
			}
			return "", errors.New("hawser-sandbox not found")
		},
		IsTerminal:   func(any) bool { return tty },
		TerminalSize: func() (int, int) { return 120, 40 },
		Signals:      func() (<-chan os.Signal, func()) { return signals, func() {} },
		Now:          func() time.Time { return epoch },
	}
}

func (f *fake) record(req engine.Request) {
	file := os.Getenv("FAKE_REQUEST")
	if file == "" {
		return
	}
	if os.Getenv("HAWSER_AUTHOR") == "" {
		req.Author = ""
	}
	fields := map[string]any{}
	for _, part := range []any{req, *workspace.Of(&req.Documents)} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(part)) {
			if !f.Anonymous && f.IsExported() && !slices.Contains([]string{"Stop", "Stdin", "Env", "Documents"}, f.Name) {
				fields[f.Name] = reflect.ValueOf(part).FieldByIndex(f.Index).Interface()
			}
		}
	}
	data, err := json.MarshalIndent(fields, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		panic(err)
	}
}

func (f *fake) emit(e fleetplan.Event) {
	e.V, e.Time = diag.DocumentVersion, epoch
	f.onEvent(e)
}

func deployment(name string) object.Ref {
	return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

// bundlesOf are those of the files, none where they have but one: FAKE_BUNDLES. The last requires the first.
func bundlesOf() []string {
	if names := os.Getenv("FAKE_BUNDLES"); names != "" {
		return strings.Split(names, ",")
	}
	return nil
}

// of is the fake for one bundle: "WHAT BUNDLE" is what it finds of that one alone.
func (f *fake) of(bundle string) (*fake, error) {
	if bundle == "" && len(bundlesOf()) > 1 {
		return nil, diag.Findings{place.Which("", bundlesOf())}.Err()
	}
	what, name, one := strings.Cut(f.what, " ")
	if one && name != bundle {
		what = ""
	}
	return &fake{what: what, onEvent: f.onEvent, signals: f.signals}, nil
}

func (f *fake) Plan(ctx context.Context, req engine.Request) (*engine.Prepared, error) {
	switch req.Operation {
	case engine.Delete:
		return f.planDelete(ctx, req)
	case engine.Eject:
		return f.planEject(ctx, req)
	case engine.Rollback:
		return f.planRollback(ctx, req)
	case engine.Correct:
		return f.planDrift(ctx, req)
	}
	f, err := f.of(req.Bundle)
	if err != nil {
		return nil, err
	}
	f.record(req)
	f.emit(fleetplan.Event{Type: fleetplan.EventConnected, Cluster: "staging-eu", Status: "connected"})
	switch f.what {
	case "invalid":
		return nil, (&diag.FindingsError{Findings: invalid()})
	case "broken":
		return nil, errors.New("the disk is on fire\nand so is the rest")
	case "canceled":
		f.signals <- os.Interrupt
		<-ctx.Done() // what was asked meanwhile failed for that, whatever it says
		return nil, diag.Findings{diag.Errorf("unreachable", "the cluster does not answer: %v", ctx.Err())}.Err()
	}
	p := f.plan("apply")
	if names := bundlesOf(); len(names) > 1 {
		if p.Bundle = req.Bundle; p.Bundle != names[0] {
			p.Requires = names[:1]
		}
	}
	return &engine.Prepared{FleetPlan: p}, nil
}

func (f *fake) Renew(ctx context.Context, shown *engine.Prepared, req engine.Request) (*engine.Prepared, error) {
	if f.what == "stale "+req.Bundle { // somebody was quicker
		return nil, &fleetplan.RefusedError{Findings: diag.Findings{{Severity: diag.Error, Code: "stale-plan", What: "the plan is stale: Deployment shop/api was changed since"}}}
	}
	return shown, nil
}

func invalid() diag.Findings {
	return diag.Findings{{Severity: diag.Error, Code: "unknown-field", What: "unknown field replica", Fix: "did you mean replicas?",
		Pos: diag.Pos{File: "shop.yaml", Line: 2, Column: 3}}}
}

func (f *fake) plan(verb string) *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: verb, Bundle: "shop", SourceDigest: "sha256:77ab03d1", Created: epoch}
	image := plan.Change{Action: plan.Update, Ref: deployment("api"), Instance: "api", Code: plan.CodeChanged,
		Fields: []plan.FieldChange{{Path: "spec.replicas", Old: "3", New: "5"}}}
	gone := plan.Change{Action: plan.Delete, Ref: deployment("old"), Instance: "api", Code: plan.CodeDropped, Why: "no longer in the bundle"}
	changes := map[string][]plan.Change{"": {image}, "fails": {image}, "notready": {image}, "deletes": {image, gone}, "brake": {gone},
		"interrupt": {image}, "twice": {image}, "unreachable": {image}, "refused": {image},
		"conflict": {{Action: plan.Conflict, Ref: deployment("api"), Instance: "api", Code: plan.CodeForeign, Why: "managed by Helm release shop/api"}}}[f.what]
	if verb == "delete" {
		changes = []plan.Change{gone}
	}
	var members []group.Member
	for i, name := range []string{"staging-eu", "production-eu"} {
		cp := &fleetplan.ClusterPlan{Cluster: name, Wave: i + 1, Server: fmt.Sprintf("https://10.0.0.%d:6443", i+1),
			Plan: &plan.Plan{Cluster: name, Bundle: "shop", Changes: changes, Unchanged: 3}}
		if f.what == "unready" && i == 1 {
			cp.Left, cp.Waits = release.Failed, "the last run failed (api)"
		}
		if f.what == "unreachable" && i == 1 {
			cp.Plan, cp.Unreachable = nil, "i/o timeout"
		}
		if f.what == "brake" {
			cp.Plan.Brake = "deletes Namespace shop"
			p.Guard = []string{cp.Cluster + " " + cp.Plan.Brake}
		}
		p.Clusters = append(p.Clusters, cp)
		p.Schedule.Waves = append(p.Schedule.Waves, rollout.WaveSpec{Name: strings.TrimSuffix(name, "-eu")})
		p.Schedule.Members = append(p.Schedule.Members, rollout.Member{Cluster: name, Wave: i + 1})
		members = append(members, group.Member{Cluster: name, Wave: i + 1, Plan: cp.Plan})
	}
	p.Groups = group.Equal(members)
	p.Stats = fleetplan.Stats{Clusters: 2, Connected: 2, Instances: 2, Renders: 1, Objects: 8}
	switch f.what {
	case "brake":
		p.Findings = diag.Findings{{Severity: diag.Error, Code: "deletion-brake", What: "the plan deletes 2 objects, which needs a confirmation of its own",
			Fix: "if that is meant: --confirm-delete=2"}}
	case "locked":
		p.Findings = diag.Findings{{Severity: diag.Error, Code: "locked", What: "locked by ada"}}
	}
	return p
}

func (f *fake) planRollback(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	f.record(req)
	if req.To == "99" {
		return nil, (&diag.FindingsError{Findings: diag.Findings{{Severity: diag.Error, Code: "no-such-release", What: "no cluster keeps a release 99 of shop", Fix: "kept are: 42 (7K2M3XYZ), 41 (AAAA2222)"}}})
	}
	p := f.plan("rollback")
	p.RollbackTo = &release.Name{Release: 41, Rollout: "AAAA2222"}
	return &engine.Prepared{FleetPlan: p}, nil
}

func (f *fake) planDrift(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	f.record(req)
	p := f.plan("drift")
	for i, cp := range p.Clusters {
		if req.Bundle == "none" {
			continue
		}
		cp.Release, cp.Revision = &release.Name{Release: 42, Rollout: "7K2M3XYZ"}, 7
		if cp.Plan == nil {
			continue
		}
		switch {
		case f.what == "nodrift":
			cp.Plan.Changes = nil
			continue
		case f.what == "watch" && i == 0:
			f.signals <- os.Interrupt
		case f.what != "drift" && f.what != "watch":
			continue
		}
		cp.Plan.Changes = []plan.Change{{Action: plan.Update, Ref: deployment("api"), Instance: "api", Code: plan.CodeDrift, Why: "changed by somebody since it was written",
			Fields: []plan.FieldChange{{Path: "spec.replicas", Old: "5", New: "3", Manager: "kubectl-edit", Since: "2026-08-29T12:00:00Z"}}}}
		if i == 1 {
			cp.Plan.Changes = append(cp.Plan.Changes, plan.Change{Action: plan.Create, Ref: deployment("web"), Instance: "web", Code: plan.CodeGone, Why: "was deleted by somebody"},
				plan.Change{Action: plan.Conflict, Ref: deployment("db"), Instance: "web", Code: plan.CodeForeign, Why: "exists already, managed by Helm release shop/db", From: "Helm release shop/db"})
		}
	}
	if f.what == "drift" {
		p.Findings = diag.Findings{{Severity: diag.Error, Code: "foreign-owner", What: "the object is owned by somebody else", Why: "managed by Helm release shop/db",
			Cluster: "production-eu", Object: deployment("db").String()}}
	}
	return &engine.Prepared{FleetPlan: p}, nil
}

func (f *fake) planDelete(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	f, err := f.of(req.Bundle)
	if err != nil {
		return nil, err
	}
	f.record(req)
	if f.what == "invalid" {
		return nil, (&diag.FindingsError{Findings: invalid()})
	}
	p := f.plan("delete")
	p.Bundle = cmp.Or(req.Bundle, p.Bundle)
	return &engine.Prepared{FleetPlan: p}, nil
}

func (f *fake) planEject(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	f.record(req)
	return &engine.Prepared{FleetPlan: f.plan("eject")}, nil
}

func (f *fake) SavePlan(p *engine.Prepared, w io.Writer) (string, diag.Findings, error) {
	return "sha256:4be1c0ffee", nil, json.NewEncoder(w).Encode(p)
}

func (f *fake) LoadPlan(_ context.Context, r io.Reader, req engine.Request) (*engine.Prepared, error) {
	f.record(req)
	if f.what == "stale" {
		return nil, &fleetplan.RefusedError{Findings: diag.Findings{{Severity: diag.Error, Code: "stale-plan", What: "the cluster changed since the plan was made"}}}
	}
	var p fleetplan.FleetPlan
	return &engine.Prepared{FleetPlan: &p}, json.NewDecoder(r).Decode(&p)
}

func (f *fake) Apply(ctx context.Context, p *engine.Prepared, req engine.Request) (*fleetplan.Outcome, error) {
	f, err := f.of(p.Bundle)
	if err != nil {
		return nil, err
	}
	f.record(req)
	out := &fleetplan.Outcome{V: diag.DocumentVersion, Verb: p.Verb, Bundle: p.Bundle, Rollout: "7K2M", Result: fleetplan.Succeeded, Started: epoch, Seconds: 41}
	f.emit(fleetplan.Event{Type: fleetplan.EventRollout, Rollout: "7K2M", Bundle: "shop", Total: 2})
	for i, c := range p.Clusters {
		row := fleetplan.ClusterOutcome{Cluster: c.Cluster, Wave: i + 1, Result: fleetplan.Succeeded, Done: c.Plan.Count(), Seconds: 19}
		f.emit(fleetplan.Event{Type: fleetplan.EventWave, Wave: i + 1, Message: p.Schedule.Waves[i].Name})
		f.emit(fleetplan.Event{Type: fleetplan.EventClusterStart, Wave: i + 1, Cluster: c.Cluster, Total: 1})
		switch {
		case f.what == "interrupt" && i == 1:
			f.signals <- os.Interrupt
			<-req.Stop
			row.Result, out.Result, err = fleetplan.NotStarted, fleetplan.Interrupted, context.Canceled
		case f.what == "twice":
			f.signals <- os.Interrupt
			<-req.Stop
			f.signals <- os.Interrupt
			select {}
		case f.what == "fails" && i == 1, f.what == "notready":
			ref := deployment("api")
			row.Result, row.Reason, out.Result, out.StoppedWave = fleetplan.Failed, "api not ready", fleetplan.Failed, i+1
			row.Problems = []fleetplan.Problem{{Object: ref, Status: health.Status{State: health.Failed, Reason: "0 of 3 pods ready"}}}
			if err = fleetplan.ErrPartial; f.what == "notready" {
				row.TimedOut, err = true, fleetplan.ErrNotReady
			}
			f.emit(fleetplan.Event{Type: fleetplan.EventObjectFailed, Wave: i + 1, Cluster: c.Cluster, Object: &ref, Message: "0 of 3 pods ready"})
		}
		f.emit(fleetplan.Event{Type: fleetplan.EventClusterEnd, Wave: i + 1, Cluster: c.Cluster, Status: string(row.Result), Counts: &row.Done})
		out.Clusters = append(out.Clusters, row)
	}
	f.emit(fleetplan.Event{Type: fleetplan.EventSummary, Rollout: "7K2M", Summary: out})
	return out, err
}

func (f *fake) Vet(_ context.Context, req engine.Request) (*fleetplan.VetReport, error) {
	f, err := f.of(req.Bundle)
	if err != nil {
		return nil, err
	}
	f.record(req)
	r := &fleetplan.VetReport{Bundle: "shop", Declared: len(workspace.Of(&req.Documents).FleetFiles) > 0, Instances: []string{"api", "web"},
		Clusters: []fleetplan.ClusterValues{{Cluster: "staging-eu", Bundle: "bundle: {\n\tname: \"shop\"\n}\n"}}}
	if f.what == "invalid" {
		r.Findings = invalid()
		return r, r.Findings.Err()
	}
	return r, nil
}

func (f *fake) Build(_ context.Context, req engine.Request) (*fleetplan.BuildResult, error) {
	f, err := f.of(req.Bundle)
	if err != nil {
		return nil, err
	}
	f.record(req)
	if f.what == "invalid" {
		return nil, invalid().Err()
	}
	obj := func(api, kind, ns, name string) object.Object {
		meta := map[string]any{"name": name}
		if ns != "" {
			meta["namespace"] = ns
		}
		body := map[string]any{"apiVersion": api, "kind": kind, "metadata": meta}
		if kind == "Secret" {
			body["data"] = map[string]any{"token": "c2VjcmV0"}
		}
		return object.Object{Body: body}
	}
	objs := []object.Object{obj("apps/v1", "Deployment", "shop", "API"), obj("v1", "Secret", "shop", "token"),
		obj("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:shop"), obj("v1", "Namespace", "", "shop")}
	r := &fleetplan.BuildResult{Bundle: cmp.Or(req.Bundle, "shop"), Items: []fleetplan.BuildItem{{Instance: "api", Cluster: "staging-eu", Objects: objs}}}
	if f.what == "empty" {
		r.Items = nil
	}
	if f.what == "apart" {
		r.Items[0].Instance = "api-" + r.Bundle
	}
	if len(workspace.Of(&req.Documents).FleetFiles) > 0 {
		r.MultiCluster = true
		r.Items = append(r.Items, fleetplan.BuildItem{Instance: "api", Cluster: "production-eu", Objects: []object.Object{
			obj("v1", "ConfigMap", "a", "x"), obj("v1", "ConfigMap", "b", "x")}})
	}
	return r, nil
}

func (f *fake) Status(_ context.Context, req engine.Request) (*fleetplan.StatusReport, error) {
	if req.HasBundles() {
		if _, err := f.of(req.Bundle); err != nil {
			return nil, err
		}
	}
	f.record(req)
	r := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: req.Bundle, Clusters: []fleetplan.ClusterStatus{{Cluster: "staging-eu", Group: "staging", Bundle: cmp.Or(req.Bundle, "shop"), Revision: 4, Release: 4,
		Phase: "succeeded", Instances: []fleetplan.InstanceStatus{{Instance: "api", State: "ready", Source: "module api 1.0.0",
			Objects: []fleetplan.ObjectStatus{{Object: deployment("api"), Status: health.Status{State: health.Ready}}}}}}}}
	switch f.what {
	case "notready":
		in := &r.Clusters[0].Instances[0]
		in.State, in.Objects[0].Status = "progressing", health.Status{State: health.Progressing, Reason: "2 of 3 pods ready"}
		return r, fmt.Errorf("bundle shop: %w", fleetplan.ErrNotReady)
	case "unreachable":
		r.Clusters[0] = fleetplan.ClusterStatus{Cluster: "staging-eu", Unreachable: "i/o timeout"}
		return r, fleetplan.ErrPartial
	case "invalid":
		return nil, invalid().Err()
	}
	return r, nil
}

func (f *fake) List(_ context.Context, req engine.Request) (*release.Listing, error) {
	f.record(req)
	rec := release.Record{Bundle: "shop", Revision: 4, Release: 4, Phase: release.Succeeded, Finished: epoch, Author: "ada@laptop",
		Sources: map[string]string{"api": "module oci://registry/api 1.0.0"}, Inputs: map[string]string{"api": "sha256:77ab"},
		Inventory: []plan.InventoryEntry{{Ref: deployment("api"), Version: "v1", Instance: "api"}}}
	l := &release.Listing{V: diag.DocumentVersion, Clusters: []release.ClusterListing{{Cluster: "staging-eu", Bundles: []release.BundleListing{rec.List("")}},
		{Cluster: "staging-us", Bundles: []release.BundleListing{rec.List("")}}}}
	if f.what == "unreachable" {
		l.Clusters[1] = release.ClusterListing{Cluster: "staging-us", Unreachable: "i/o timeout"}
		return l, fleetplan.ErrPartial
	}
	return l, nil
}

// TendRecords is asked about a bundle that bob has locked on one of two clusters.
func (f *fake) TendRecords(_ context.Context, req engine.Request, about *recordkeeping.Report, from input.Source, confirm func() error) error {
	f.record(req)
	about.Clusters = []recordkeeping.Row{{Cluster: "staging-eu", From: "the directory /srv/releases", To: "the cluster's Secrets in hawser-system", Nothing: true},
		{Cluster: "production-eu", Nothing: f.what == "nothing"}}
	row := &about.Clusters[1]
	switch about.Verb {
	case recordkeeping.Unlock:
		row.Holder, row.Since, row.Expires = "bob@ci pid 7 (XYZ)", epoch, epoch.Add(30*time.Second)
	case recordkeeping.Moving:
		row.From, row.To = "the cluster's Secrets in hawser-system", "the directory /srv/releases"
		if from != nil {
			row.From = strings.Join(workspace.Of(&from).FleetFiles, ",")
		}
	}
	if err := confirm(); err != nil {
		return err
	}
	row.Done = !row.Nothing
	if about.Verb == recordkeeping.Moving && row.Done {
		row.Release, row.Rollout, row.Revisions = 42, "7K2M3XYZ", 10
	}
	return about.Verdict()
}
