package engine

import (
	"context"
	"slices"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
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
	b := &run{Engine: r.Engine, req: req, program: r.program, fleet: r.fleet, snapshot: r.snapshot, all: r.all, lock: r.lock, lockPath: r.lockPath,
		from: r.from, reader: r.reader, reading: true, lenient: true,
		sources: &source.Resolver{Fetchers: r.sources.Fetchers, Digest: r.digest, Pins: r.lock.Sources, Locked: req.Locked}}
	r.beside.runs[bundle] = b
	return b
}

// lookBeside asks the other bundles of the same files what they declare on the cluster, where the plan depends on it.
func (r *run) lookBeside(ctx context.Context, w *work, in *plan.Input) diag.Findings {
	if w.beside == nil {
		specs, findings := r.others(w.target, w.set.spec.Name)
		asks := plan.AsksBeside(*in)
		if !asks && (len(r.req.Among) < 2 || !plan.Makes(*in)) {
			return nil
		}
		b := plan.Beside{Yields: map[string]string{}}
		var names []string
		for _, s := range specs {
			names = append(names, s.Name)
			untold := plan.Untold(s.Name, r.besideOf(s.Name).declare(ctx, w.target, &b))
			if asks { // else it is that bundle's matter
				findings = append(findings, untold...)
			}
		}
		r.abandoned(ctx, w, *in, names, b.Yields)
		if findings.HasErrors() {
			return findings
		}
		w.beside = &b
	}
	in.Beside = *w.beside
	return r.lookAtHooks(ctx, w, in) // what was moved is upgraded, and runs other hooks
}

// abandoned adds the bundles that were removed from the same files and have what is declared here. One whose record cannot
// be read keeps what it has.
func (r *run) abandoned(ctx context.Context, w *work, in plan.Input, names []string, yields map[string]string) {
	for _, owner := range plan.FormerBundles(in, yields) {
		record, _, err := w.target.store.Current(ctx, owner)
		if err != nil || record == nil || slices.Contains(names, record.Bundle) || r.req.Retire != "" {
			continue
		}
		if lineage.Abandoned(record.From(), r.originOf(record.Bundle)) {
			yields[owner] = record.Bundle
		}
	}
}

// originOf is where the run is from, with the lineage that hawser.lock knows for a bundle.
func (r *run) originOf(bundle string) lineage.Run {
	from := r.from
	from.ID = r.lock.Lineages[bundle]
	return from
}

// others are the other bundles of the same files, as the files say them for the cluster.
func (r *run) others(t *target, name string) ([]v1alpha1.BundleSpec, diag.Findings) {
	if len(r.req.Files) == 0 || r.req.Retire != "" || !r.several(name) {
		return nil, nil
	}
	specs, findings := r.program.Evaluate(t.facts)
	if findings.HasErrors() {
		return nil, plan.Untold("", findings)
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
	spec, findings := r.specFor(t.facts)
	if findings.HasErrors() {
		return findings
	}
	look := &target{cluster: t.cluster, access: t.access, session: t.session, facts: t.facts, store: t.store}
	owner := object.OwnerID("", "", spec.Name)
	r.readRecord(ctx, look, owner)
	r.judge(look)
	if look.unread == "" && !look.damaged && !look.findings.HasErrors() && !look.relation.Refused() {
		b.Yields[owner] = spec.Name // nobody else's bundle of that name
	}
	s, findings := r.prepare(ctx, look, spec)
	if findings.HasErrors() {
		return findings
	}
	if fs := r.fill(ctx, look, s); slices.ContainsFunc(fs.Errors(), func(f diag.Finding) bool { return f.Code != object.CodeUnknownKind }) {
		return fs
	} else if fs.HasErrors() {
		r.assemble(look, s) // of a kind that is not served there is nothing that could be deleted
	}
	var owned []plan.Owned
	if look.record != nil {
		owned = look.record.Inventory
	}
	b.Add(spec.Name, s.desired, owned, s.suspended)
	return nil
}
