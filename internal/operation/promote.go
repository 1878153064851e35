package operation

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/swap"
	"hawser.dev/hawser/internal/workspace"
)

// Promoter tells what runs, and what the files say: the engine.
type Promoter interface {
	// Open reads the documents that a request names, and hawser.lock.
	Open(ctx context.Context, req engine.Request, needBundle bool) (*input.Documents, error)
	// History tells the releases; they are there also beside an error.
	History(ctx context.Context, req engine.Request) (*history.History, error)
	// Plan is the plan to apply; its findings say what blocks it.
	Plan(ctx context.Context, req engine.Request) (*engine.Prepared, error)
}

// Promote says what is promoted.
type Promote struct {
	// From and To are groups and clusters; none are all of the fleet.
	From, To []string
	// ToFiles and ToFleet are the target's files of the bundle and of the fleet, where they are not those of the request.
	ToFiles, ToFleet []string
	// Release names the release, by number or rollout; "" is the newest.
	Release string
	// SourcesOnly leaves values that name images as they are.
	SourcesOnly bool
	Now         time.Time
	// Read reads a file.
	Read func(name string) ([]byte, error)
}

// Promotion is a promotion that is decided, and not yet written.
type Promotion struct {
	*promotion.Promotion
	lock     string
	was, new lockfile.Promotions
	changes  []swap.Change
}

// files are what a request's files say, for every cluster of their fleet.
type files struct {
	promotion.Declared
	documents *input.Documents
	side      promotion.Side
	chosen    []fleet.Cluster
	groups    []string
}

// Decide decides a promotion. An Error among its findings, which are the error, too, is that nothing may be written.
func (w Promote) Decide(ctx context.Context, p Promoter, req engine.Request) (*Promotion, error) {
	from, err := declared(ctx, p, req, w.From, "--from")
	if err != nil {
		return nil, err
	}
	target := req
	at := workspace.Of(&target.Documents)
	at.Files, at.FleetFiles = orFiles(w.ToFiles, at.Files), orFiles(w.ToFleet, at.FleetFiles)
	to, err := declared(ctx, p, target, w.To, "--to")
	if err != nil {
		return nil, err
	}
	if to.documents.Path == "" {
		return nil, diag.Findings{diag.Errorf(promotion.CodeWritten, "documents from standard input have no place for a %s", lockfile.Name)}.Err()
	}
	if err := apart(from.side, to.side); err != nil {
		return nil, err
	}
	req.Clusters = fleet.Selection{Clusters: from.side.Clusters}
	release, err := w.release(ctx, p, req, from)
	if err != nil {
		return nil, err
	}
	in := promotion.Input{Bundle: req.Bundle, Release: release, From: from.side, To: to.side, Groups: to.groups, Source: from.Declared, Target: to.Declared,
		Lock: to.documents.Lock, SourcesOnly: w.SourcesOnly}
	if err := unmoved(ctx, p, req, in, from.documents.Lock); err != nil {
		return nil, err
	}
	return w.written(in, to.documents.Path, slices.Concat(at.Files, at.FleetFiles, []string{to.documents.Path}))
}

func orFiles(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}

// apart refuses a promotion of clusters to themselves.
func apart(from, to promotion.Side) error {
	if from.Fleet != to.Fleet {
		return nil
	}
	for _, c := range to.Clusters {
		if slices.Contains(from.Clusters, c) {
			f := diag.Errorf(promotion.CodeRelease, "cluster %s is promoted from, and to", c)
			f.Why = "what runs on the clusters of --from is written into the files for those of --to"
			f.Fix = "name groups or clusters that have none in common: --from staging --to production"
			return diag.Findings{f}.Err()
		}
	}
	return nil
}

// declared reads files, and evaluates them for every cluster of their fleet.
func declared(ctx context.Context, p Promoter, req engine.Request, names []string, flag string) (*files, error) {
	w, err := p.Open(ctx, req, true)
	if err != nil {
		return nil, err
	}
	out := &files{documents: w, Declared: promotion.Declared{Clusters: fleet.Clusters(w.Fleet()), Specs: map[string][]v1alpha1.BundleSpec{}}}
	if len(out.Clusters) == 0 {
		f := diag.Errorf("no-fleet", "a promotion goes from clusters of a fleet to others, and there is none")
		f.Fix = "name it with --fleet"
		return nil, diag.Findings{f}.Err()
	}
	var findings diag.Findings
	if out.chosen, out.groups, findings = fleet.Named(out.Clusters, names); findings.HasErrors() {
		for i := range findings {
			findings[i].Why = flag + " names groups and clusters of the fleet " + w.Fleet().Name
		}
		return nil, findings.Err()
	}
	out.side = promotion.Side{Fleet: w.From.Fleet, Names: names}
	for _, c := range out.chosen {
		out.side.Clusters = append(out.side.Clusters, c.Name)
	}
	env := map[string]string{}
	if req.RuntimeFromEnv {
		env = req.Env
	}
	has := false
	for _, c := range out.Clusters {
		specs, fs := w.Evaluate(c.Facts(fleet.RuntimeValues(env, nil, c)))
		if fs = source.Needed(fs); fs.HasErrors() && slices.Contains(out.side.Clusters, c.Name) {
			return nil, fs.OnCluster(c.Name).Err()
		}
		out.Specs[c.Name] = specs
		has = has || slices.ContainsFunc(specs, func(s v1alpha1.BundleSpec) bool { return s.Name == req.Bundle })
	}
	if !has {
		f := diag.Errorf("unknown-bundle", "the files have no bundle %s", req.Bundle)
		f.Fix = "a promotion needs the files that are applied: -f"
		return nil, diag.Findings{f.Meant(req.Bundle, w.Program.Bundles())}.Err()
	}
	return out, nil
}

// release is the one to promote.
func (w Promote) release(ctx context.Context, p Promoter, req engine.Request, from *files) (*history.Release, error) {
	h, err := p.History(ctx, req)
	if h == nil {
		return nil, err
	}
	if fe := h.Findings; fe.HasErrors() {
		return nil, err
	}
	sch, _ := rollout.NewSchedule(from.documents.Fleet().Rollout, from.Clusters, nil)
	soaks := map[string]time.Duration{}
	for _, m := range sch.Members {
		soaks[m.Cluster] = sch.Waves[m.Wave-1].Soak
	}
	return promotion.Choose(h, w.Release, from.side, soaks, w.Now)
}

// unmoved refuses files that are not what the release was made of.
func unmoved(ctx context.Context, p Promoter, req engine.Request, in promotion.Input, lock lockfile.File) error {
	pins, findings := promotion.AsRun(in, lock)
	if findings.HasErrors() {
		return refused(findings)
	}
	req.Promoted, req.SkipWaves, req.SkipWindows, req.SkipApprovals, req.Locked, req.Reads = pins, true, true, true, false, true
	plan, err := p.Plan(ctx, req)
	if err != nil {
		return err
	}
	defer plan.Close()
	return refused(promotion.Moved(in.Release, plan.FleetPlan))
}

func refused(findings diag.Findings) error {
	if !findings.HasErrors() {
		return nil
	}
	return &fleetplan.RefusedError{Findings: findings}
}

// written is the promotion with the texts of the files; given are those that were named for the target.
func (w Promote) written(in promotion.Input, lock string, given []string) (*Promotion, error) {
	doc, pins, edits := promotion.Decide(in)
	out := &Promotion{Promotion: doc, lock: lock, was: in.Lock.Promoted, new: pins}
	byFile := map[string][]promotion.Edit{}
	for _, e := range edits {
		byFile[e.At.File] = append(byFile[e.At.File], e)
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		if err := swap.Within(name, given); err != nil {
			f := diag.Errorf(promotion.CodeWritten, "%v", err)
			f.Pos, f.Why = byFile[name][0].At, "a promotion edits files of the repository that it is for, and no others: a link could lead to any file of this machine"
			f.Fix = "write " + strconv.Quote(byFile[name][0].Now) + " there yourself, or keep a copy in the place of the link; nothing was written"
			doc.Findings = append(doc.Findings, f)
			continue
		}
		old, err := w.Read(name)
		if err != nil {
			return nil, err
		}
		text, failed := promotion.Apply(old, byFile[name])
		doc.Findings = append(doc.Findings, promotion.NotWritten(doc, failed)...)
		doc.Files = append(doc.Files, promotion.NewFile(name, string(old), string(text), 0))
		out.changes = append(out.changes, swap.Change{Name: name, Old: old, New: text})
	}
	if !reflect.DeepEqual(out.was, out.new) {
		now, then := in.Lock, in.Lock
		then.Promoted = pins
		doc.Files = append(doc.Files, promotion.NewFile(lock, string(now.Text()), string(then.Text()), 3))
	}
	if doc.Findings.HasErrors() {
		return out, refused(doc.Findings)
	}
	return out, nil
}

// Write writes the files, all or none.
func (p *Promotion) Write() error {
	var undo func() error
	var err error
	uerr := lockfile.Update(p.lock, func(f lockfile.File) bool {
		if !reflect.DeepEqual(f.Promoted, p.was) {
			err = fmt.Errorf("%s: somebody else has promoted since it was read", p.lock)
			return false
		}
		if undo, err = swap.All(p.changes); err != nil {
			return false
		}
		clear(f.Promoted)
		maps.Copy(f.Promoted, p.new)
		return !reflect.DeepEqual(p.was, p.new)
	})
	if err == nil && uerr != nil && undo != nil {
		return fmt.Errorf("%w%s", uerr, undone(undo()))
	}
	if err == nil {
		err = uerr
	}
	p.Written = err == nil
	return err
}

func undone(err error) string {
	if err == nil {
		return ""
	}
	return ", and what was written before could not be taken back: " + err.Error()
}
