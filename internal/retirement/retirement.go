// Package retirement is the end of a cluster that left its fleet: which clusters left with bundles on them, whether one may
// be retired, and how it is reached, as hawser.lock knows it.
//
// retirement must not contact a cluster nor write a file.
package retirement

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lineage"
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
	// Others are bundles of a fleet of that name that nothing tells to be this one's, with where each is from: they are left.
	Others map[string]string `json:"others,omitempty"`
	// Known is false where hawser.lock does not tell which bundles it delivered there.
	Known bool `json:"known"`
	// Lock is the file that knows the cluster.
	Lock string `json:"lock"`
}

// Takes reports whether a bundle of a fleet of this name, which runs there, is this fleet's; one that is not is among Others.
func (r *Retirement) Takes(rec lineage.Record, run lineage.Run, delivered []string) bool {
	if lineage.Own(rec, run, slices.Contains(delivered, rec.Bundle)) {
		return true
	}
	if r.Others == nil {
		r.Others = map[string]string{}
	}
	r.Others[rec.Bundle] = rec.Source.String()
	return false
}

// Left names what stays on the cluster, "" for nothing.
func (r *Retirement) Left() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Others)) {
		out = append(out, name+" ("+r.Others[name]+")")
	}
	return strings.Join(out, "; ")
}

// Question asks whether the cluster is to be forgotten with what runs there.
func (r *Retirement) Question() string {
	if len(r.Bundles) == 0 {
		return "Forget cluster " + r.Cluster + "?"
	}
	return "Forget cluster " + r.Cluster + ", and leave there " + strings.Join(r.Bundles, ", ") + "?"
}

// Ended says what became of the cluster: what it had was deleted, or kept.
func (r *Retirement) Ended(kept bool) string {
	what, bundles := "nothing of the fleet runs there", strings.Join(r.Bundles, ", ")
	switch {
	case bundles != "" && kept:
		what = "left there: " + bundles
	case bundles != "":
		what = "deleted there: " + bundles
	case kept && !r.Known:
		what = "left there: whatever was delivered"
	}
	if left := r.Left(); left != "" {
		what += "; left there, of others: " + left
	}
	return fmt.Sprintf("Cluster %s is retired from the fleet %s; %s. %s forgot it.", r.Cluster, r.Fleet, what, r.Lock)
}

// Nobodys refuses to forget a cluster of which nobody knows what was delivered there, while bundles run there that nothing tells
// to be this fleet's.
func (r *Retirement) Nobodys() diag.Findings {
	if r.Known || len(r.Bundles) > 0 || len(r.Others) == 0 {
		return nil
	}
	f := diag.Errorf("other-source", "what this fleet delivered to %s is not known, and these run there: %s", r.Cluster, r.Left())
	f.Why = r.Lock + " does not know them, and another fleet may have the name " + r.Fleet
	f.Fix = "name their files with -f, one after the other, or forget the cluster with --keep"
	return diag.Findings{f}
}

// Left names the clusters that hawser.lock knows and that the fleet no longer has. declared are the names of those it has,
// uids theirs where known: a cluster that was renamed has not left.
//
// files and fleetFiles are the run's, which the command that retires one needs again.
func Left(lock lockfile.File, path, fleetName string, declared, uids, files, fleetFiles []string) diag.Findings {
	flags := strings.Join(slices.Concat(commandline.Each("-f", files), commandline.Each("--fleet", fleetFiles)), " ")
	var out diag.Findings
	for _, l := range lock.LeftOf(fleetName, declared, uids) {
		f := diag.Finding{Severity: diag.Warning, Code: "cluster-left", Cluster: l.Name,
			What: "the cluster left the fleet, and " + strings.Join(l.Place.Bundles, ", ") + " runs there still"}
		if len(l.Place.Bundles) > 1 {
			f.What = strings.TrimSuffix(f.What, "runs there still") + "run there still"
		}
		if !l.Known {
			f.What = "the cluster left the fleet, and what was delivered there may run there still"
		}
		f.Why = path + " knows it"
		f.Fix = strings.TrimSpace("hawser fleet retire "+l.Name+" --delete "+flags) + "; with --keep in place of --delete it is left there, and forgotten"
		out = append(out, f)
	}
	return out
}

// Request is what the user wants retired.
type Request struct {
	Cluster string
	// Context is the context that the user names for it, "" for the one that hawser.lock knows.
	Context string
	// Keep leaves what runs there: nobody is contacted.
	Keep bool
}

// Find is the cluster to retire, reached as it was reached last or by the context given. One that the fleet still declares,
// by this name or another one, one that nobody knows, and one that cannot be reached are refused.
func Find(lock lockfile.File, path string, spec *v1alpha1.FleetSpec, req Request) (v1alpha1.ClusterSpec, diag.Findings) {
	none, name := v1alpha1.ClusterSpec{}, req.Cluster
	if spec == nil {
		f := diag.Errorf("no-fleet", "no fleet to retire %s from", name)
		f.Fix = "name the fleet's file: --fleet fleet.yaml"
		return none, diag.Findings{f}
	}
	if slices.ContainsFunc(spec.Clusters, func(c v1alpha1.ClusterSpec) bool { return c.Name == name }) {
		f := diag.Errorf("still-declared", "the fleet %s still declares the cluster %s", spec.Name, name)
		f.Fix = "remove it from the fleet's file first, so that no apply goes there meanwhile"
		return none, diag.Findings{f}
	}
	place, placed := lock.Places[spec.Name][name]
	uid := lock.UID(spec.Name, name)
	if !placed && uid == "" {
		return none, unknown(lock, path, spec, name)
	}
	if now := renamed(lock, path, spec, place, uid); now != "" && !req.Keep {
		f := diag.Errorf("still-declared", "the cluster %s is in the fleet %s as %s", name, spec.Name, now)
		f.Why = "both are one cluster: what was delivered to " + name + " runs on " + now
		f.Fix = "--keep forgets the former name and leaves everything there"
		return none, diag.Findings{f}
	}
	c := v1alpha1.ClusterSpec{Name: name, KubeContext: place.Context}
	if place.Kubeconfig != "" {
		c.Kubeconfig = &v1alpha1.KubeconfigAccess{Path: place.Kubeconfig, Context: place.Context, Dir: filepath.Dir(path)}
		c.KubeContext = ""
	}
	if req.Context != "" {
		c.KubeContext, c.Kubeconfig = req.Context, nil
	}
	if c.KubeContext == "" && c.Kubeconfig == nil && !req.Keep {
		f := diag.Errorf("no-access", "how the cluster %s was reached is not known", name)
		f.Why, f.Fix = path+" was written before that was kept there", "name a context of it: --kube-context CONTEXT"
		return none, diag.Findings{f}
	}
	return c, nil
}

// Unreachable says that the cluster to retire does not answer.
func Unreachable(name, reason string) diag.Findings {
	f := diag.Errorf("unreachable", "the cluster %s does not answer: %s", name, reason)
	f.Fix = "name another context of it with --kube-context, or, if it is gone for good, forget it with --keep"
	return diag.Findings{f}
}

func unknown(lock lockfile.File, path string, spec *v1alpha1.FleetSpec, name string) diag.Findings {
	f := diag.Errorf("unknown-cluster", "no cluster %s is known to have been in the fleet %s", name, spec.Name)
	var declared, left []string
	for _, c := range spec.Clusters {
		declared = append(declared, c.Name)
	}
	for _, l := range lock.LeftOf(spec.Name, declared, nil) {
		left = append(left, l.Name)
	}
	f.Why = "asked was " + path + "; a cluster that was retired with --keep is forgotten there"
	if path == "" {
		f.Why = "there is no " + lockfile.Name + ", which knows the clusters that left"
	}
	f.Fix = "put " + name + " into the fleet again to delete there (hawser delete BUNDLE --cluster " + name + "); where another hawser.lock knows it, name the bundle's files beside it with -f"
	if len(left) > 0 {
		f.Fix = cmp.Or(diag.DidYouMean(name, left), "clusters that left: "+strings.Join(left, ", "))
	}
	return diag.Findings{f}
}

// renamed is the name under which the fleet declares the cluster that it had by another name, "" where it does not.
func renamed(lock lockfile.File, path string, spec *v1alpha1.FleetSpec, was lockfile.Place, uid string) string {
	for _, c := range spec.Clusters {
		now := PlaceOf(fleet.Cluster{ClusterSpec: c}, "", path)
		sameAccess := was.Context != "" && now.Context == was.Context && now.Kubeconfig == was.Kubeconfig
		if sameAccess || uid != "" && (c.UID == uid || lock.UID(spec.Name, c.Name) == uid) {
			return c.Name
		}
	}
	return ""
}

// PlaceOf is how a cluster is reached, as hawser.lock keeps it: by a context, "" for the one that it declares, and a
// kubeconfig of its own relative to the file at path.
func PlaceOf(c fleet.Cluster, context, path string) lockfile.Place {
	p := lockfile.Place{Context: cmp.Or(context, c.KubeContext)}
	k := c.Kubeconfig
	if k == nil || k.Path == "" {
		return p
	}
	p.Context, p.Kubeconfig = cmp.Or(p.Context, k.Context), k.Path
	if !filepath.IsAbs(k.Path) {
		dir, err1 := filepath.Abs(filepath.Dir(path))
		at, err2 := filepath.Abs(filepath.Join(k.Dir, k.Path))
		if rel, err3 := filepath.Rel(dir, at); err1 == nil && err2 == nil && err3 == nil {
			p.Kubeconfig = rel
		}
	}
	return p
}
