package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/release"
)

// whose refuses a release of another lineage, source or fleet, unless it is taken over; it may say something beside.
func (r *run) whose(t *target) (findings diag.Findings) {
	if t.Record != nil {
		t.relation, findings = lineage.Judge(t.Record.From(), r.input.Origin(t.Record.Bundle), r.req.TakeOver)
	}
	return findings
}

// sign writes into a record which cluster and which lineage it belongs to.
func (r *run) sign(t *target, record *release.Record) {
	now := t.Facts.Identity()
	var before *lineage.Record
	if t.Record != nil {
		from := t.Record.From()
		before, now = &from, t.Record.Identity().Learn(now)
	}
	record.ClusterUID, record.WeakUID, record.ClusterServer = now.UID, now.Weak, now.Server
	run := r.input.Origin(record.Bundle)
	record.Fleet, record.Cluster, record.Group = r.fleetName(), t.Cluster.Name, t.Cluster.Group
	record.Lineage, record.Source = lineage.Next(before, run, t.relation, r.newLineage())
	record.Files = lineage.FilesOf(before, run)
}

// signed reports whether a record says already what sign would write.
func (r *run) signed(t *target) bool {
	old := t.Record
	return old.Cluster == t.Cluster.Name && old.Fleet == r.fleetName() && old.Identity().Match(t.Facts.Identity()) == fleet.SameCluster &&
		!lineage.Learns(old.From(), r.input.Origin(old.Bundle), t.relation, r.newLineage())
}

// promise keeps the lineage of a first apply before any record has it.
func (r *run) promise(record *release.Record) {
	r.fresh.kept.Do(func() { r.input.Promise(record.Bundle, record.Lineage) })
}

// newLineage is the id that clusters without one get in this run: that of the others, or a new one.
func (r *run) newLineage() string {
	r.fresh.once.Do(func() {
		for _, t := range r.targets {
			if t.Record != nil && t.Record.Lineage != "" && !t.relation.Refused() {
				r.fresh.id = t.Record.Lineage
				return
			}
		}
		r.fresh.id = strings.ToLower(rand.Text())
	})
	return r.fresh.id
}

// learn keeps in hawser.lock what an apply found out: the bundle's lineage, and the identities of the fleet's clusters
// that it reached, so that swapped contexts and re-created clusters are noticed from then on. The file is changed as it
// is now; one that cannot be written is only said.
func (r *run) learn(out *fleetplan.Outcome) {
	if !r.req.Operation.Renders() {
		return
	}
	news := out.News(r.fleetName(), func(name string) (l fleetplan.Learned, ok bool) {
		t := r.target(name)
		if t == nil {
			return l, false
		}
		l.Identity, l.Known = t.Facts.Identity(), r.fleet != nil && !t.Cluster.Implicit
		if t.signed != nil {
			l.Signed = t.signed.Lineage
		} else if t.Record != nil && !t.relation.Refused() {
			l.Found = t.Record.Lineage
		}
		return l, true
	})
	news.TakenOver = r.req.TakeOver
	if err := r.input.Learn(news); err != nil {
		r.emit(fleetplan.Event{Type: fleetplan.EventNotice, Message: "what hawser.lock should know is not kept: " + err.Error()})
	}
}

// target is the selected cluster of that name, nil when there is none.
func (r *run) target(name string) *target {
	if i := slices.IndexFunc(r.targets, func(t *target) bool { return t.Cluster.Name == name }); i >= 0 {
		return r.targets[i]
	}
	return nil
}

// recognize refuses a cluster that is not the one the fleet or hawser.lock knows by its name.
func (r *run) recognize(t *target) {
	t.find(fleet.Recognize(t.Cluster, t.Facts, r.input.Known, r.all, r.input.Path, r.accepts(t.Cluster.Name))...)
}

// accepts reports whether the user said that a cluster may be another one than is known.
func (r *run) accepts(name string) bool {
	return slices.Contains(r.req.AcceptClusters, name)
}

// formerName goes on with the name that a bundle of plain manifests has in the clusters from when names were made of the
// directory alone: a release of that name that these files may go on with, and none of the new name.
func (r *run) formerName(ctx context.Context) {
	former := r.program.FormerName()
	if former == "" {
		return
	}
	was := make([]bool, len(r.targets))
	is := make([]bool, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		if t.session == nil {
			return
		}
		now, _, err := t.Store.Current(ctx, r.owner(r.program.Bundles()[0]))
		old, _, olderr := t.Store.Current(ctx, r.owner(former))
		is[i] = now != nil || err != nil || olderr != nil
		was[i] = old != nil && old.OnlyIn("manifests", r.input.Paths.Namespace) && !lineage.Compare(old.From(), r.input.Origin(former)).Refused()
	})
	if slices.Contains(was, true) && !slices.Contains(is, true) {
		r.program.Rename(former)
	}
}

// current reads a bundle's record. One that is damaged is an error, or, when the release is taken over, a record that
// knows its revision and nothing else: what is there is found by its marks. The third result says that it is damaged.
func (r *run) current(ctx context.Context, t *target, owner string) (*release.Record, release.RecordVersion, bool, error) {
	record, handle, err := t.Store.Current(ctx, owner)
	damaged, ok := errors.AsType[*release.DamagedError](err)
	switch {
	case !ok:
		return record, handle, false, err
	case !r.req.TakeOver || r.req.Operation.Ends():
		return nil, "", true, diag.Findings{release.Damaged(r.redact(err.Error()))}.Err()
	}
	return damaged.Record(owner), damaged.Handle, true, nil
}
