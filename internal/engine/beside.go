package engine

import (
	"context"
	"slices"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

// beside are the runs of the other bundles of the same files, by the bundles' names: they only find out what is declared.
type beside struct {
	mu   sync.Mutex
	runs map[string]*run
}

// besideOf is the run of another bundle of the same files. What it reads is no input of this run's bundle.
func (r *run) besideOf(bundle string) *run {
	r.beside.mu.Lock()
	defer r.beside.mu.Unlock()
	if r.beside.runs == nil {
		r.beside.runs = map[string]*run{}
	}
	if b := r.beside.runs[bundle]; b != nil {
		return b
	}
	req := r.req
	req.Bundle, req.Rotate, req.Tests = bundle, nil, false
	b := &run{Engine: r.Engine, Redactor: redact.New(), req: req, program: r.program, fleet: r.fleet, all: r.all, input: r.input,
		reader: r.reader, reading: true, lenient: true, names: true,
		sources: &source.Resolver{Fetchers: r.sources.Fetchers, Digest: r.digest, Pins: r.input.Lock.Sources, Locked: req.Locked}}
	r.beside.runs[bundle] = b
	return b
}

// lookBeside asks the other bundles of the same files what they declare on the cluster, where the plan depends on it.
func (r *run) lookBeside(ctx context.Context, w *work, in *plan.Input) diag.Findings {
	if w.beside == nil {
		specs, findings := r.others(w.target, w.set.Spec.Name)
		asks := plan.AsksBeside(*in)
		if !asks && !plan.AsksOfLent(*in) && (len(r.req.Among) < 2 || !plan.Makes(*in)) {
			return nil
		}
		b := plan.Beside{Told: w.target.Record != nil && r.absent(*w.target.Record) == lineage.Removed, Yields: map[string]string{}, Doubts: map[string]string{}, Former: map[string]plan.Former{}}
		var names []string
		for _, s := range specs {
			names = append(names, s.Name)
			untold := place.Untold(s.Name, r.besideOf(s.Name).declare(ctx, w.target, &b))
			if b.Told = b.Told && len(untold) == 0; asks { // else it is that bundle's matter
				findings = append(findings, untold...)
			}
		}
		r.abandoned(ctx, w, *in, names, &b)
		if findings.HasErrors() {
			return findings
		}
		w.beside = &b
	}
	in.Beside = *w.beside
	return r.lookAtHooks(ctx, w, in) // what was moved is upgraded, and runs other hooks
}

// abandoned adds the bundles that were removed from the same files, or deleted, and have what is declared here. One whose
// record cannot be read keeps what it has.
func (r *run) abandoned(ctx context.Context, w *work, in plan.Input, names []string, b *plan.Beside) {
	for _, owner := range plan.FormerBundles(in, b.Yields) {
		record, _, err := w.target.Store.Current(ctx, owner)
		if err != nil || r.req.Retire != "" {
			continue
		}
		if record == nil {
			if name := r.input.Lock.Former(r.fleetName(), w.Cluster, owner, r.owner); name != "" {
				b.Yields[owner] = name
			}
			continue
		}
		switch absence := r.absent(*record); {
		case in.Options.RollingBack:
			b.AddRecord(owner, record.Called().String(), record.Former(false))
		case slices.Contains(names, record.Bundle):
		case absence == lineage.Removed:
			b.Yields[owner], b.Former[owner] = record.Bundle, record.Former(true)
		case absence == lineage.PathAlone:
			b.Doubts[owner] = record.Bundle
		}
	}
}

// isBeside reports whether a record is of another bundle of the run's files (named: the files hold one of that name), or of one
// that was removed from them: another team's bundle may have the name.
func (r *run) isBeside(rec release.Record, named bool) bool {
	if named {
		return r.req.TakeOver || !lineage.Compare(rec.From(), r.input.Origin(rec.Bundle)).Refused()
	}
	return r.absent(rec) == lineage.Removed
}

// absent tells whether a bundle that the run does not find in its files was removed from them.
func (r *run) absent(rec release.Record) lineage.Absence {
	return lineage.Absent(rec.From(), r.input.Origin(rec.Bundle), r.req.TakeOver)
}

// others are the other bundles of the same files, as the files say them for the cluster.
func (r *run) others(t *target, name string) ([]v1alpha1.BundleSpec, diag.Findings) {
	if !r.req.HasBundles() || r.req.Retire != "" || !r.several(name) {
		return nil, nil
	}
	specs, findings := r.input.Evaluate(t.Facts)
	if findings.HasErrors() {
		return nil, place.Untold("", findings)
	}
	return slices.DeleteFunc(slices.Clone(specs), func(s v1alpha1.BundleSpec) bool { return s.Name == name }), nil
}

// several reports whether the files may hold other bundles than the named one.
func (r *run) several(name string) bool {
	names := r.program.Bundles()
	return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n != name })
}

// declare adds what the run's bundle declares on a cluster, with what it keeps of suspended instances.
func (r *run) declare(ctx context.Context, t *target, b *plan.Beside) diag.Findings {
	spec, findings := r.specFor(t.Facts)
	if findings.HasErrors() {
		return findings
	}
	look := t.anew()
	owner := r.owner(spec.Name)
	r.readRecord(ctx, look, owner)
	look.find(r.whose(look)...)
	taken := r.req.TakeOver && slices.Contains(r.req.Among, spec.Name) // by its own part of this run
	if look.unread == "" && !look.damaged && !look.findings.HasErrors() && (taken || !look.relation.Refused()) {
		b.Yields[owner] = spec.Name // nobody else's bundle of that name
	}
	s, findings := r.desired(look).Prepare(ctx, spec)
	if findings.HasErrors() {
		return findings
	}
	if fs := r.desired(look).Render(ctx, s); slices.ContainsFunc(fs.Errors(), func(f diag.Finding) bool { return f.Code != object.CodeUnknownKind }) {
		return fs
	} else if fs.HasErrors() {
		r.desired(look).Assemble(s) // of a kind that is not served there is nothing that could be deleted
	}
	former := look.Record.Former(false)
	if b.Add(spec.Name, slices.Concat(s.Desired, s.Maybe), former.Inventory, s.Suspended, t.session.Plural); b.Former != nil && b.Yields[owner] != "" {
		b.Former[owner] = former
	}
	if b.Ahead != nil {
		b.Ahead.Add(spec.Name, plan.Unrecorded(s.Desired, former.Inventory), s.Bodies, r.ahead(ctx, look, s))
	}
	return nil
}

// installed reports whether the run's bundle is on a cluster as the files say it.
func (r *run) installed(ctx context.Context, t *target) bool {
	spec, findings := r.specFor(t.Facts)
	look := t.anew()
	r.readRecord(ctx, look, r.owner(spec.Name))
	return !findings.HasErrors() && r.desired(look).Unchanged(ctx, spec)
}

// ahead is what comes with the bundles that a set's bundle requires and that are done before it in the same run.
func (r *run) ahead(ctx context.Context, t *target, s *desired.State) plan.Ahead {
	for _, need := range s.Spec.Requires {
		switch w := r.req.Before[need.Bundle].work(t.Cluster.Name); {
		case s.Asked, r.req.done:
		case w != nil:
			s.Ahead.Add(need.Bundle, plan.Unrecorded(w.set.Desired, w.target.inventory()), w.set.Bodies, w.set.Ahead)
		case t.Store != nil && slices.Contains(r.req.Among, need.Bundle): // what is wrong with it is its own matter
			_ = r.besideOf(need.Bundle).declare(ctx, t, &plan.Beside{Yields: map[string]string{}, Ahead: &s.Ahead})
		}
	}
	s.Asked = true
	return s.Ahead
}
