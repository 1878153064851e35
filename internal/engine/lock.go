package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/lockfile"
)

// Lock pins what the bundle's sources are now in hawser.lock and returns the file and one line per source. It contacts
// no cluster.
func (e *Engine) Lock(ctx context.Context, req Request) (file string, lines []string, err error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return "", nil, err
	}
	if r.lockPath == "" {
		return "", nil, fmt.Errorf("documents from standard input have no place for a %s", lockfile.Name)
	}
	for _, t := range r.targets {
		if _, findings := r.specFor(r.offlineFacts(t.cluster)); findings.HasErrors() {
			return "", nil, findings.OnCluster(t.cluster.Name).Err()
		}
	}
	r.lock.Sources = r.sources()
	for _, name := range slices.Sorted(maps.Keys(r.lock.Sources)) {
		lines = append(lines, name+" "+r.lock.Sources[name])
	}
	return r.lockPath, lines, r.lock.Write(r.lockPath)
}

// learn keeps the UIDs of the fleet's clusters that an apply reached, so that swapped contexts and re-created clusters
// are noticed from then on. A file that cannot be written is only said.
func (r *run) learn(out *Outcome) {
	if r.lockPath == "" || out.Verb != "apply" || r.fleet == nil {
		return
	}
	uids := map[string]string{}
	for _, row := range out.Clusters {
		for _, t := range r.targets {
			if t.cluster.Name == row.Cluster && !t.cluster.Implicit && (row.Result == Succeeded || row.Result == UpToDate) {
				uids[row.Cluster] = t.facts.UID
			}
		}
	}
	if !r.lock.Learn(r.fleetName(), uids) {
		return
	}
	if err := r.lock.Write(r.lockPath); err != nil {
		r.emit(Event{Type: EventNotice, Message: "the clusters' identities are not kept: " + err.Error()})
	}
}
