package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lockfile"
)

// Retirement is a cluster that left the fleet, and what runs there. Its JSON form is public and versioned.
type Retirement struct {
	V       int    `json:"v"` // 1
	Fleet   string `json:"fleet"`
	Cluster string `json:"cluster"`
	UID     string `json:"uid,omitempty"`
	// Access is how the cluster is reached, for people.
	Access string `json:"access,omitempty"`
	// Bundles of this fleet run there, as its records say; when nobody was asked, as hawser.lock says.
	Bundles []string `json:"bundles"`
	// Known is false where hawser.lock does not tell which bundles it delivered there.
	Known bool `json:"known"`
	// Lock is the file that knows the cluster.
	Lock string `json:"lock"`
}

// left says which clusters are no longer in the fleet while bundles run there.
func (r *run) left() diag.Findings {
	if r.fleet == nil || r.req.Retire != "" {
		return nil
	}
	var names, uids []string
	for _, c := range r.all {
		names, uids = append(names, c.Name), append(uids, c.UID)
	}
	for _, t := range r.targets {
		uids = append(uids, t.facts.UID)
	}
	var out diag.Findings
	for _, l := range r.lock.LeftOf(r.fleetName(), names, uids) {
		f := diag.Finding{Severity: diag.Warning, Code: "cluster-left", Cluster: l.Name,
			What: "the cluster left the fleet, and " + join(l.Place.Bundles) + " runs there still"}
		if !l.Known {
			f.What = "the cluster left the fleet, and what was delivered there may run there still"
		}
		f.Why = r.lockPath + " knows it"
		f.Fix = fmt.Sprintf("hawser fleet retire %s --delete, or --keep to leave it there and forget it", l.Name)
		out = append(out, f)
	}
	return out
}

// retired makes the cluster to retire the only one of the run: as hawser.lock knows it, reached as it was reached last or by
// the context given. One that the fleet still declares is refused.
func (r *run) retired() diag.Findings {
	name, spec := r.req.Retire, r.fleet
	if spec == nil {
		f := diag.Errorf("no-fleet", "no fleet to retire %s from", name)
		f.Fix = "name the fleet's file: --fleet fleet.yaml"
		return diag.Findings{f}
	}
	if slices.ContainsFunc(spec.Clusters, func(c v1alpha1.ClusterSpec) bool { return c.Name == name }) {
		f := diag.Errorf("still-declared", "the fleet %s still declares the cluster %s", spec.Name, name)
		f.Fix = "remove it from the fleet's file first, so that no apply goes there meanwhile"
		return diag.Findings{f}
	}
	place, placed := r.lock.Places[spec.Name][name]
	uid := r.lock.UID(spec.Name, name)
	if !placed && uid == "" {
		f := diag.Errorf("unknown-cluster", "no cluster %s is known to have been in the fleet %s", name, spec.Name)
		var names []string
		for _, l := range r.lock.LeftOf(spec.Name, fleetNames(spec), nil) {
			names = append(names, l.Name)
		}
		f.Why, f.Fix = "asked was "+r.lockPath, "name the bundle's files with -f, beside which hawser.lock lies"
		if len(names) > 0 {
			f.Fix = "clusters that left: " + strings.Join(names, ", ")
		}
		return diag.Findings{f}
	}
	if now := r.renamed(spec, place, uid); now != "" && !r.req.Keep {
		f := diag.Errorf("still-declared", "the cluster %s is in the fleet %s as %s", name, spec.Name, now)
		f.Why = "both are one cluster: what was delivered to " + name + " runs on " + now
		f.Fix = "--keep forgets the former name and leaves everything there"
		return diag.Findings{f}
	}
	c := v1alpha1.ClusterSpec{Name: name, KubeContext: place.Context}
	if place.Kubeconfig != "" {
		c.Kubeconfig = &v1alpha1.KubeconfigAccess{Path: place.Kubeconfig, Context: place.Context, Dir: filepath.Dir(r.lockPath)}
		c.KubeContext = ""
	}
	if r.req.Access.Context != "" {
		c.KubeContext, c.Kubeconfig, r.req.Access.Context = r.req.Access.Context, nil, ""
	}
	alone := *spec
	alone.Rollout = nil // it is in no wave any more
	r.fleet, r.all = &alone, []fleet.Cluster{{ClusterSpec: c}}
	if c.KubeContext == "" && c.Kubeconfig == nil && !r.req.Keep {
		f := diag.Errorf("no-access", "how the cluster %s was reached is not known", name)
		f.Why, f.Fix = r.lockPath+" was written before that was kept there", "name a context of it: --kube-context CONTEXT"
		return diag.Findings{f}
	}
	return nil
}

// renamed is the name under which the fleet declares the cluster that it had by another name, "" where it does not.
func (r *run) renamed(spec *v1alpha1.FleetSpec, was lockfile.Place, uid string) string {
	for _, c := range spec.Clusters {
		now := r.pathOf(fleet.Cluster{ClusterSpec: c})
		sameAccess := was.Context != "" && now.Context == was.Context && now.Kubeconfig == was.Kubeconfig
		if sameAccess || uid != "" && (c.UID == uid || r.lock.UID(spec.Name, c.Name) == uid) {
			return c.Name
		}
	}
	return ""
}

func fleetNames(spec *v1alpha1.FleetSpec) []string {
	var out []string
	for _, c := range spec.Clusters {
		out = append(out, c.Name)
	}
	return out
}

// Retiring tells what runs on the cluster that Request.Retire names. It asks the cluster's records; with Request.Keep it
// contacts nobody, and tells what hawser.lock says.
func (e *Engine) Retiring(ctx context.Context, req Request) (*Retirement, error) {
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	place, known := r.lock.Places[r.fleetName()][req.Retire]
	out := &Retirement{V: 1, Fleet: r.fleetName(), Cluster: req.Retire, UID: r.lock.UID(r.fleetName(), req.Retire),
		Bundles: slices.Clone(place.Bundles), Known: known, Lock: r.lockPath}
	if req.Keep {
		return out, nil
	}
	if err := r.connect(ctx, false); err != nil {
		return nil, err
	}
	t := r.targets[0]
	if t.unreachable != "" {
		f := diag.Errorf("unreachable", "the cluster %s does not answer: %s", req.Retire, t.unreachable)
		f.Fix = "name another context of it with --kube-context, or, if it is gone for good, forget it with --keep"
		return nil, diag.Findings{f}.Err()
	}
	out.Access = t.access.Describe()
	records, err := t.store.Bundles(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", req.Retire, err)
	}
	out.Bundles = nil
	for _, record := range records {
		if record.Fleet == out.Fleet {
			out.Bundles = append(out.Bundles, record.Bundle)
		}
	}
	return out, nil
}

// Retire forgets the cluster that Request.Retire names in hawser.lock.
func (e *Engine) Retire(ctx context.Context, req Request) error {
	req.Keep = true
	r, err := e.load(ctx, req, false)
	if err != nil {
		return err
	}
	return lockfile.Update(r.lockPath, func(f lockfile.File) bool { return f.Forget(r.fleetName(), req.Retire) })
}

// delivered keeps in hawser.lock where the bundle runs after this run, so that a cluster that leaves the fleet with it is
// named. A file that cannot be written is only said.
func (r *run) delivered(out *Outcome) {
	path := lockBeside(r.req)
	if path == "" || r.fleet == nil {
		return
	}
	err := lockfile.Update(path, func(file lockfile.File) bool {
		changed := false
		for _, row := range out.Clusters {
			i := slices.IndexFunc(r.targets, func(t *target) bool { return t.cluster.Name == row.Cluster && !t.cluster.Implicit })
			if i < 0 {
				continue
			}
			switch {
			case out.Verb == "delete" && (row.Result == Succeeded || row.Result == UpToDate):
				changed = file.Withdraw(r.fleetName(), row.Cluster, out.Bundle) || changed
			case out.Verb == "apply" && row.Revision > 0:
				changed = file.Deliver(r.fleetName(), row.Cluster, out.Bundle, r.accessOf(r.targets[i])) || changed
			}
		}
		return changed
	})
	if err != nil {
		r.emit(Event{Type: EventNotice, Message: "where the bundle runs is not kept: " + err.Error()})
	}
}

// accessOf is how a cluster is reached, as hawser.lock keeps it: a kubeconfig of its own relative to the file.
func (r *run) accessOf(t *target) lockfile.Place {
	p := r.pathOf(t.cluster)
	p.Context = t.access.Context
	return p
}

// pathOf is the kubeconfig that a cluster has of its own, and its context.
func (r *run) pathOf(c fleet.Cluster) lockfile.Place {
	p := lockfile.Place{Context: c.KubeContext}
	if k := c.Kubeconfig; k != nil && k.Path != "" {
		p.Context = cmp.Or(p.Context, k.Context)
		p.Kubeconfig = k.Path
		if !filepath.IsAbs(k.Path) {
			dir, err1 := filepath.Abs(filepath.Dir(r.lockPath))
			at, err2 := filepath.Abs(filepath.Join(k.Dir, k.Path))
			if rel, err3 := filepath.Rel(dir, at); err1 == nil && err2 == nil && err3 == nil {
				p.Kubeconfig = rel
			}
		}
	}
	return p
}

// lockBeside is the hawser.lock of the bundle's files, else one that lies beside the fleet's.
func lockBeside(req Request) string {
	if path := lockfile.PathFor(req.Files); path != "" {
		return path
	}
	if path := lockfile.PathFor(req.FleetFiles); path != "" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}
