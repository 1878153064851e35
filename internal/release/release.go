// Package release is what was done: records with their inventory, the lock, and the Store socket that keeps them.
//
// A record is opened with the intended identities before the first write and closed after the last; a record left
// open tells the next run what may have been written. release must not know how changes are decided or executed.
package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/renewal"
)

// Phase of a record.
type Phase string

const (
	// Applying is open: the run that wrote it is at work, or died.
	Applying Phase = "applying"
	// Deleting is open like Applying; everything in the inventory is to go.
	Deleting Phase = "deleting"
	// Ejecting is how Deleting is shown where the run was to leave the objects as they are; no record has it.
	Ejecting Phase = "ejecting"
	// Succeeded is closed: everything was written and got ready.
	Succeeded Phase = "succeeded"
	// Written is closed: everything was written, and nobody waited until it was ready, or could see that it stayed so (Unjudged).
	Written Phase = "written"
	// Failed is closed: something was not written, or did not get ready.
	Failed Phase = "failed"
)

// Open reports whether the record's run has not ended: the cluster may hold anything the inventory names.
func (p Phase) Open() bool { return p == Applying || p == Deleting || p == Ejecting }

// Complete reports whether everything that the run was to write is there.
func (p Phase) Complete() bool { return p == Succeeded || p == Written }

// Known reports whether the phase is one of those above that records have.
func (p Phase) Known() bool { return p.Open() && p != Ejecting || p.Complete() || p == Failed }

// How what a run read is to the commit that is checked out.
const (
	// Clean: it is what the commit has.
	Clean = "clean"
	// Dirty: some of it was changed since, or is not in the commit.
	Dirty = "dirty"
)

// Record is one revision of a bundle on one cluster.
type Record struct {
	V          int    `json:"v"`
	Bundle     string `json:"bundle"`
	Owner      string `json:"owner"`
	Fleet      string `json:"fleet,omitempty"`
	Cluster    string `json:"cluster"`
	Group      string `json:"group,omitempty"`
	ClusterUID string `json:"clusterUID"`
	// WeakUID tells that the UID is that of the record namespace, or unknown, because kube-system might not be read.
	WeakUID bool `json:"weakUID,omitempty"`
	// ClusterServer is the digest of the API server's address and authority as the last run reached it.
	ClusterServer string `json:"clusterServer,omitempty"`
	// Lineage is the id that the first apply made, Source where the bundle was applied from. "" and zero in records of before there were any.
	Lineage string         `json:"lineage,omitempty"`
	Source  lineage.Source `json:"source,omitzero"`
	// Files are what the bundle was read from, files and directories, relative to the Source's directory; nil when unknown.
	Files    []string `json:"files,omitempty"`
	Revision int      `json:"revision"`
	// Release is the number of the release over the fleet; 0 in records of before there were any, see Number.
	Release int `json:"release,omitempty"`
	// FirstTry is the number of the first of the releases in a row that brought the same files and failed, up to this one; 0 in records of
	// before there was this.
	FirstTry int `json:"firstTry,omitempty"`
	// Head is the digest of the bundle's files, its locked sources and the rollout; Rollout the id of the run.
	SourceDigest string `json:"head"`
	// Learned is the digest of the newest files that changed nothing here, "" where that is Head; earlier versions wrote it in its place.
	Learned string `json:"learned,omitempty"`
	Rollout string `json:"rollout"`
	Phase   Phase  `json:"phase"`
	// Ejecting: the run was to leave the objects to themselves, without our marks.
	Ejecting bool      `json:"ejecting,omitempty"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	// Soaked: the canaries of the cluster's wave had soaked before it was its turn, so that no soak follows it. False in
	// records of before there was this.
	Soaked bool `json:"soaked,omitempty"`
	// Unjudged: at the end of the release's soak nobody could look at the cluster, which is why nobody knows whether it is ready still; it is
	// Written. A correction has an Unjudged of its own.
	Unjudged bool   `json:"unjudged,omitempty"`
	Author   string `json:"author,omitempty"`
	Message  string `json:"message,omitempty"`
	Version  string `json:"hawser,omitempty"` // version of Hawser that wrote it
	// Commit is what was checked out of the Source's repository, "" where that is not known.
	Commit string `json:"commit,omitempty"`
	// Tree says how what the run read was to that commit: Clean or Dirty, "" where that is not known, as in records of before there was this.
	Tree string `json:"tree,omitempty"`
	// Plan is the digest of the fleet's plan that was carried out, Done what was done here.
	Plan string      `json:"plan,omitempty"`
	Done plan.Counts `json:"done,omitzero"`
	// PlanFile names the saved plan that the run carried out (planfile.File.ID), "" for none: the same file goes on with it.
	PlanFile string `json:"planFile,omitempty"`
	// Inputs are the inputs digests by instance: equal digest = the recorded Set is taken and nothing is rendered.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Sources are what was resolved, by instance, for people: "module web 0.0.0-devel sha256:…".
	Sources map[string]string `json:"sources,omitempty"`
	// Digests are those of the sources' content, Images what the containers run, by instance.
	Digests map[string]string   `json:"digests,omitempty"`
	Images  map[string][]string `json:"images,omitempty"`
	// SetDigest is the digest of the rendered Set kept beside the record ("" if none).
	SetDigest string `json:"set,omitempty"`
	// Inventory is what is (or, in an open record, may be) in the cluster from us.
	Inventory []plan.InventoryEntry `json:"inventory"`
	// Lent is what was let go for other bundles of the same files, and nobody had when the record was written.
	Lent []plan.InventoryEntry `json:"lent,omitempty"`
	// Unseen are the kinds that could not be listed when the record was made again: the inventory may lack objects of them.
	Unseen []string `json:"unseen,omitempty"`
	// Checks are the modules' own health checks by instance, so that status needs no rendering (CUE source).
	Checks map[string][]health.Check `json:"checks,omitempty"`
	// Origins of runtime values by name ("TIMONI_CLUSTER_GROUP": "staging (env)"), never secret values.
	Origins map[string]string `json:"origins,omitempty"`
	// Suspended are the instances that the run left as they were; what the record says of them is from before.
	Suspended []string `json:"suspended,omitempty"`
	// Hooks are the instances that declare hooks, and where they stand.
	Hooks map[string]plan.HookState `json:"hooks,omitempty"`
	// Made are digests of what was made up for the instances when the record was written, by instance: see Keeper.
	Made map[string]string `json:"made,omitempty"`
	// Marks tell each of those apart, by instance; nil in records of before there were any.
	Marks map[string][]chance.Mark `json:"marks,omitempty"`
	// Unfinished are the instances of which a failed run left something undone or not ready, where it is known which.
	Unfinished []string `json:"unfinished,omitempty"`
	// NotBegun are those of which the run did not begin something, and because of what.
	NotBegun []plan.NotBegun `json:"notBegun,omitempty"`
	// Preceded: a release before this one succeeded here, so that there is one to go back to. False in records of before there was this.
	Preceded bool `json:"preceded,omitempty"`
	// Keep is the number of revisions that are kept of the bundle, 0 for Retention.
	Keep int `json:"keep,omitempty"`
	// Requires are the bundles that this one requires.
	Requires []string `json:"requires,omitempty"`
	// Depends are the instances' dependsOn, for the order of deletes.
	Depends map[string][]string `json:"depends,omitempty"`
	// RollbackTo is the release that was gone back to, nil for what was rendered from files.
	RollbackTo *Name `json:"rollbackTo,omitempty"`
	// Undoes is the rollout that failed in the cluster's wave, where that was gone back from by itself; "" else.
	Undoes string `json:"undoes,omitempty"`
	// Undone is the source digest of that rollout.
	Undone string `json:"undone,omitempty"`
	// Rebuilt: the record before this one was lost, so that nobody knows which releases came to the cluster before.
	Rebuilt bool `json:"rebuilt,omitempty"`
	// Interrupted are the runs before this one that died and that others went over, the last one last; at most Retention.
	Interrupted []Interruption `json:"interrupted,omitempty"`
	// Corrections tell when what others had changed of the release was put right, the last one last; at most Retention.
	Corrections []Correction `json:"corrections,omitempty"`
	// Approvals are those of the waves up to this cluster's that were wanted.
	Approvals []Approval `json:"approvals,omitempty"`
}

// Name names a release over the fleet.
type Name struct {
	// Release is its number, 0 for one of before releases had any; Rollout the id of its run.
	Release int    `json:"release,omitempty"`
	Rollout string `json:"rollout"`
}

// String is the name for people: "42 (7K2M3XYZ)"; "" for nil.
func (n *Name) String() string {
	switch {
	case n == nil:
		return ""
	case n.Release == 0:
		return n.Rollout
	}
	return fmt.Sprintf("%d (%s)", n.Release, n.Rollout)
}

// Reached reports whether a cluster with this record stands where a rollback to the release brings it: in the release, in a rollback
// to it, or at an older one, which is what it had then: a release of before there were numbers is older than one with a number. Nothing
// is reached of nil.
func (n *Name) Reached(rec Record) bool {
	return n != nil && (rec.Rollout == n.Rollout || rec.RollbackTo != nil && rec.RollbackTo.Rollout == n.Rollout || rec.Release < n.Release)
}

// Shown is the record's phase for people: of a run that was to end with an eject, that it is ejecting.
func (r *Record) Shown() Phase {
	if r.Phase == Deleting && r.Ejecting {
		return Ejecting
	}
	return r.Standing()
}

// ReadyBefore reports whether an instance that is suspended now was ready when it was last delivered. A nil record knows
// no instance.
func (r *Record) ReadyBefore(instance string) bool {
	if r == nil {
		return false
	}
	_, delivered := r.Inputs[instance]
	return delivered && (r.Standing() == Succeeded || slices.Contains(r.Suspended, instance))
}

// Delivered reports whether the release has the instance. A nil record has none.
func (r *Record) Delivered(instance string) bool {
	if r == nil {
		return false
	}
	_, ok := r.Inputs[instance]
	return ok
}

// Stands reports whether a record as it is now is the one that a run left: no other run has delivered something since, another
// revision of the files, or deleted it. Both may be nil, for none.
func (r *Record) Stands(now *Record) bool {
	if r == nil || now == nil {
		return r == now
	}
	return r.Revision == now.Revision && r.Rollout == now.Rollout && r.Has() == now.Has() && r.Standing() == now.Standing()
}

// Has is the digest of the newest files that the cluster has, whether they changed something here or not.
func (r *Record) Has() string { return cmp.Or(r.Learned, r.SourceDigest) }

// Refs are the objects that a record names: its inventory, and what its hooks are made of. A nil record names none.
func (r *Record) Refs() []object.Ref {
	if r == nil {
		return nil
	}
	named := map[object.Ref]bool{}
	for _, o := range r.Inventory {
		named[o.Ref] = true
	}
	for _, life := range r.Hooks {
		for _, h := range life.Hooks {
			named[h.Ref] = true
		}
	}
	return slices.SortedFunc(maps.Keys(named), object.Ref.Compare)
}

// Number is that of the release over the fleet. Records of before there were any have their revision, which is never more. A
// nil record has 0.
func (r *Record) Number() int {
	if r == nil {
		return 0
	}
	return cmp.Or(r.Release, r.Revision)
}

// Saved is the saved plan whose run left the cluster as it is, "" for none: a correction since that has not ended well is another
// run's. A nil record has none.
func (r *Record) Saved() string {
	if r == nil || r.correcting() != nil {
		return ""
	}
	return r.PlanFile
}

// Intends are the digests of what the run was to write, or left as it was.
func (r *Record) Intends() map[object.Ref]string {
	out := map[object.Ref]string{}
	for _, o := range r.Inventory {
		out[o.Ref] = o.Digest
	}
	return out
}

// Called is how people name the record's release.
func (r *Record) Called() *Name { return &Name{Release: r.Number(), Rollout: r.Rollout} }

// Unended are the inputs digests of a run that has not done everything, nil of one that has.
func (r *Record) Unended() map[string]string {
	if r.Standing().Complete() {
		return nil
	}
	return r.Inputs
}

// At is the record's revision, 0 for a nil one.
func (r *Record) At() int {
	if r == nil {
		return 0
	}
	return r.Revision
}

// Identity is the cluster's, as the record knows it.
func (r *Record) Identity() fleet.Identity {
	return fleet.Identity{UID: r.ClusterUID, Weak: r.WeakUID, Server: r.ClusterServer}
}

// Contradicts refuses a record that was not made in the cluster in which it lies, or under another name of the fleet (nil for
// none). A nil record contradicts nothing.
func (r *Record) Contradicts(name string, now fleet.Identity, f *v1alpha1.FleetSpec) diag.Findings {
	if r == nil {
		return nil
	}
	var out diag.Findings
	if known := r.Identity(); known.Match(now) == fleet.OtherCluster {
		out = append(out, fleet.WrongCluster(name, "the record kept in it names the cluster with", known, now))
	}
	if r.Cluster != name && f != nil && r.Fleet == f.Name &&
		slices.ContainsFunc(f.Clusters, func(c v1alpha1.ClusterSpec) bool { return c.Name == r.Cluster }) {
		out = append(out, fleet.Swapped(name, r.Cluster))
	}
	return out
}

// Desired are the declarations that the record has of instances that are as they were, their hooks included; without the
// Namespaces that they merely use. A nil record has none.
func (r *Record) Desired(instances map[string]bool) []plan.Desired {
	if r == nil {
		return nil
	}
	var out []plan.Desired
	for _, o := range r.Inventory {
		if instances[o.Instance] && !o.OwnNamespace && o.Hook == nil {
			out = append(out, plan.DesiredFrom(o))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		out = append(out, plan.DesiredHooks(name, r.Hooks[name])...)
	}
	return out
}

// Former is what the record says to the plan of another bundle; removed: the files do not hold this one any more. A nil record
// has nothing.
func (r *Record) Former(removed bool) plan.Former {
	if r == nil {
		return plan.Former{}
	}
	return plan.Former{Bundle: r.Bundle, Inventory: r.Inventory, HookStates: r.Hooks, Removed: removed}
}

// From is what the record says of where the release is from.
func (r *Record) From() lineage.Record {
	return lineage.Record{Bundle: r.Bundle, ID: r.Lineage, Source: r.Source, Files: r.Files, Fleet: r.Fleet, Revision: r.Revision, Author: r.Author, At: r.Started, Lent: len(r.Lent) > 0}
}

// OnlyIn reports whether everything in the inventory is of one instance, and something of it in the namespace ("": any).
func (r *Record) OnlyIn(instance, namespace string) bool {
	inside := namespace == ""
	for _, o := range r.Inventory {
		if o.Instance != instance {
			return false
		}
		inside = inside || o.Ref.Namespace == namespace || o.Ref.IsNamespace() && o.Ref.Name == namespace
	}
	return inside
}

// Carry takes over what an earlier record says of the suspended instances, of runs that died, its own among them, and whether a release
// has succeeded here.
func (r *Record) Carry(before Record) {
	r.Interrupted, r.Preceded = before.interruptedBy(*r), before.Preceded || before.Phase == Succeeded
	for _, name := range r.Suspended {
		if key, known := before.Inputs[name]; known {
			r.Inputs[name], r.Sources[name] = key, before.Sources[name]
		}
		if d := before.Digests[name]; d != "" {
			r.Digests[name] = d
		}
		if checks := before.Checks[name]; len(checks) > 0 {
			r.Checks[name] = checks
		}
	}
}

// RecordVersion names a stored record version for compare-and-swap; "" means "must not exist yet".
type RecordVersion string

// Held says who holds a lock.
type Held struct {
	Holder  string
	Since   time.Time
	Expires time.Time
}

// ErrLocked is returned (wrapped, with a *LockedError) when another writer holds the lock.
var ErrLocked = errors.New("locked by another writer")

// LockedError names the holder.
type LockedError struct{ Held }

// Error names holder, age and what to do.
func (e *LockedError) Error() string {
	return "locked by " + e.Holder + " since " + e.Since.Format(time.RFC3339) + ", until " + e.Expires.Format(time.RFC3339) +
		" unless renewed; wait until that run has ended (if it died, the next run after that time takes the lock over; there is nothing to unlock)"
}

// Unwrap returns ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// AtWork is what a plan says while somebody is at work on the bundle.
func AtWork(who string) diag.Finding {
	f := diag.Warnf("in-progress", "%s is at work on this bundle", who)
	f.Because("what is planned may be something else when that run has ended")
	f.Fix = "wait until it has: an apply or a delete is refused until then; hawser status shows when"
	return f
}

// ErrConflict is returned (wrapped) when the record changed, or went away, since it was read.
var ErrConflict = errors.New("the record changed since it was read")

// ErrLost is the cause of a lock's Context that ended because the lock was lost, or might be.
var ErrLost = renewal.ErrLost

// Retention is the number of revisions of which a store keeps record and Set, where the record says no other one (Keep).
const Retention = 10

// Retain adds a revision to those that a store keeps, in place of one of the same number, and returns which are kept,
// newest first, and which are let go: keep of them stay (0 is Retention), and always the last one that succeeded. of tells
// number and phase of one.
func Retain[T any](list []T, added T, keep int, of func(T) (int, Phase)) (kept, dropped []T) {
	number, _ := of(added)
	all := []T{added}
	for _, old := range list {
		if n, _ := of(old); n == number {
			dropped = append(dropped, old)
			continue
		}
		all = append(all, old)
	}
	slices.SortStableFunc(all, func(a, b T) int {
		x, _ := of(a)
		y, _ := of(b)
		return y - x
	})
	good := slices.IndexFunc(all, func(v T) bool { _, phase := of(v); return phase == Succeeded })
	for i, v := range all {
		if i < cmp.Or(keep, Retention) || i == good {
			kept = append(kept, v)
		} else {
			dropped = append(dropped, v)
		}
	}
	return kept, dropped
}

// Store is the socket for keeping records of one cluster. All methods return errors that name cluster and object.
type Store interface {
	// Current returns the latest record of a bundle (by owner id) and its handle; nil, "", nil when there is none.
	Current(ctx context.Context, owner string) (*Record, RecordVersion, error)
	// Bundles gives the current records of every bundle to each, one after the other, inventory included: nothing is kept
	// of one when the next is read. Records that cannot be read, and errors of each, are in the error.
	Bundles(ctx context.Context, each func(Record) error) error
	// Put writes the record, replacing the version named by the handle, else ErrConflict. Objects, when not nil, are
	// kept as the record's Set (zstd, chunked), and its SetDigest is set; without them a kept revision of the same number
	// has the record's phase from then on. Put makes the system namespace when it is missing. Interrupted at any point, it
	// leaves the old record or the new one.
	Put(ctx context.Context, r Record, objects []object.Object, h RecordVersion) (RecordVersion, error)
	// Objects returns the Set kept with a record; nil when none is kept.
	Objects(ctx context.Context, r Record) ([]object.Object, error)
	// Delete removes every record of a bundle after its delete succeeded. The current one goes last.
	Delete(ctx context.Context, owner string, h RecordVersion) error
	// Lock takes the lock of a bundle or fails at once with ErrLocked. When ctx ends the lock is no longer renewed, as
	// if its holder had died; only Unlock gives it back.
	Lock(ctx context.Context, owner, holder string, ttl time.Duration) (Lock, error)
}

// History is what a Store that keeps earlier revisions can do besides.
type History interface {
	// Revisions gives the records of the kept revisions to each, newest first, as their releases ended; the current one only once its
	// release has, whether or not it is being corrected. Where the current record is damaged that is an error, which may come after some.
	// Nothing is kept of one when the next is read. An error of each ends it.
	Revisions(ctx context.Context, owner string, each func(Record) error) error
}

// Watched is what a Store can do besides whose locks can be looked at without being taken.
type Watched interface {
	// Holder says who holds the lock of a bundle now; nil when nobody does, or when the holder is gone.
	Holder(ctx context.Context, owner string) (*Held, error)
}

// Unlocker is what a Store can do besides whose locks can be taken from their holders.
type Unlocker interface {
	// ForceUnlock takes the lock of a bundle from the holder that was seen, else ErrConflict. That run notices at its next renewal.
	ForceUnlock(ctx context.Context, owner string, seen Held) error
}

// Lock is a held lock, renewed in the background until Unlock.
type Lock interface {
	// Context ends early enough before expiry that requests sent under it end before the lock does (see
	// docs/reliability.md), also when the lock was lost; its cause says why.
	Context() context.Context
	// Recovered tells that an expired lock of somebody else, or that of a dead process, was taken over.
	Recovered() *Held
	// Unlock gives the lock back. The error wraps ErrLost when it was somebody else's already.
	Unlock(ctx context.Context) error
}
