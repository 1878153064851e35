// Package recordkeeping is what can be done with the records of a bundle besides delivering: moving them to another store, and taking a
// lock away.
//
// recordkeeping must not know which stores there are, nor how a cluster is reached.
package recordkeeping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
)

// What can be done with the records of a bundle.
const (
	Unlock = "unlock"
	Moving = "move"
)

// Report is what is done with the records of a bundle, cluster by cluster. Its JSON form is public.
type Report struct {
	V        int    `json:"v"` // diag.DocumentVersion
	Verb     string `json:"verb"`
	Bundle   string `json:"bundle"`
	Clusters []Row  `json:"clusters"`
}

// Row is one cluster.
type Row struct {
	Cluster     string `json:"cluster"`
	Unreachable string `json:"unreachable,omitempty"`
	// Holder holds the lock since Since, and until Expires unless it is renewed; "" where nobody does.
	Holder  string    `json:"holder,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	// From and To are where the records are, and where they are moved to; Release and Rollout are the newest, Revisions how many were moved.
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	Release   int    `json:"release,omitempty"`
	Rollout   string `json:"rollout,omitempty"`
	Revisions int    `json:"revisions,omitempty"`
	// Done: it was. Nothing: there is nothing to do. Else Problem says why not.
	Done    bool   `json:"done"`
	Nothing bool   `json:"nothing,omitempty"`
	Problem string `json:"problem,omitempty"`

	former, store release.Store
	target        Target
	unknown       bool          // nothing there knows of the bundle
	found         diag.Findings // what Problem says
}

// Look finds out what there is to do on a cluster that answers, and is the one that the records there are of. from gives where the
// records are moved from.
func (r Row) Look(ctx context.Context, verb, owner string, store release.Store, from func() release.Store, target Target) Row {
	if r.Unreachable != "" {
		return r
	}
	former := from()
	r.former, r.store, r.target = former, store, target
	watched, ok := store.(release.Watched)
	src, ok2 := former.(release.Mover)
	dst, ok3 := store.(release.Mover)
	if !ok || !ok2 || !ok3 {
		r.fail(errors.New("its store does not know that"))
		return r
	}
	if verb == Moving {
		from, err := src.Place(ctx, false)
		to, err2 := dst.Place(ctx, false)
		r.From, r.To = from.String(), to.String()
		if err = errors.Join(err, err2); err == nil && from.Is(to) {
			err = samePlace(to)
		}
		if err == nil {
			err = target.refused(ctx, owner, former, store)
		}
		r.fail(err)
		return r
	}
	held, err := watched.Holder(ctx, owner)
	if err == nil && held != nil {
		err = target.refused(ctx, owner, store)
	}
	if r.fail(err); err != nil {
		return r
	}
	if held == nil {
		r.Nothing, r.unknown, err = idle(ctx, owner, store)
		r.fail(err)
		return r
	}
	r.Holder, r.Since, r.Expires = held.Holder, held.Since, held.Expires
	return r
}

// idle says of a store in which nobody holds the lock of a bundle that there is nothing to take away; absent: it certainly has neither a
// record of it nor anything that keeps a release of it back. Where the cluster says that the records are elsewhere, the lock is there too:
// that is the error.
func idle(ctx context.Context, owner string, store release.Store) (nothing, absent bool, err error) {
	rec, _, err := store.Current(ctx, owner)
	if errors.Is(err, release.ErrElsewhere) {
		return false, false, err
	}
	if rec != nil || err != nil {
		return true, false, nil
	}
	h, _, err := release.HeldOn(ctx, store, owner)
	return true, h == nil && err == nil, nil
}

// samePlace refuses a move from a place to itself, before its one lock is taken twice.
func samePlace(at release.Place) error {
	f := diag.Errorf("same-place", "the records are to move from %s to the same place", at)
	f.Why = "they move to where releases.store of the fleet's file says, and --from says where they are"
	f.Fix = "name where they are: --from FLEETFILE, the fleet's file as it was; or let the fleet's file name where they are to move"
	if at.ID != "" {
		f.Fix = "name where they are: --from cluster, or --from FLEETFILE, the fleet's file as it was; or let the fleet's file name where they are to move"
	}
	return diag.Findings{f}.Err()
}

// fail notes why it cannot be done; the row says on which cluster.
func (r *Row) fail(err error) {
	if fs := diag.From(err, "record"); len(fs) > 0 {
		first := fs[0]
		first.Cluster = ""
		r.Problem, r.found = first.String(), fs
	}
}

// Do does it. who is at work; ttl is for how long its locks outlive it.
func (r *Row) Do(ctx context.Context, verb, owner, who string, ttl time.Duration) {
	if r.Unreachable+r.Problem != "" || r.Nothing {
		return
	}
	var err error
	if verb == Unlock {
		err = r.store.(release.Unlocker).ForceUnlock(ctx, owner, release.Held{Holder: r.Holder})
	} else {
		var m *Moved
		if m, err = Move(ctx, r.former, r.store, owner, who, ttl, r.target); err == nil {
			r.To, r.Release, r.Rollout, r.Revisions = m.To.String(), m.Release.Release, m.Release.Rollout, m.Revisions
		}
	}
	r.Done, r.Nothing = err == nil, errors.Is(err, ErrNothing)
	if !r.Nothing {
		r.fail(err)
	}
}

// Nothing reports whether there is nothing to do on any cluster.
func (r *Report) Nothing() bool {
	return !slices.ContainsFunc(r.Clusters, func(c Row) bool { return !c.Nothing })
}

// Idle reports whether nothing can be done on any cluster, so that nobody has to be asked.
func (r *Report) Idle() bool {
	return !slices.ContainsFunc(r.Clusters, func(c Row) bool { return !c.Nothing && c.Problem+c.Unreachable == "" })
}

// Verdict is ErrPartial where some cluster does not answer, an error where something was refused or is nowhere.
func (r *Report) Verdict() error {
	var fs diag.Findings
	unknown := 0
	for _, c := range r.Clusters {
		if c.Problem != "" && len(c.found) == 0 {
			c.found = diag.Findings{diag.Errorf("record", "%s", c.Problem)}
		}
		fs = append(fs, c.found.OnCluster(c.Cluster)...)
		if c.Unreachable != "" {
			unknown++
		}
	}
	if r.Verb == Moving && r.Nothing() {
		f := diag.Errorf("nothing-to-move", "there are no records of bundle %s to move", r.Bundle)
		f.Fix = "hawser list shows what there is; --from says where the records are now"
		if len(r.Clusters) > 0 {
			f.Why = fmt.Sprintf("none were found in %s", r.Clusters[0].From)
		}
		fs = append(fs, f)
	}
	if len(r.Clusters) > 0 && !slices.ContainsFunc(r.Clusters, func(c Row) bool { return !c.unknown }) { // one that does not answer may know it
		fs = append(fs, fleetplan.NotInstalled(r.Bundle, nil)...)
	}
	if err := fs.Alike().Err(); err != nil {
		return err
	}
	return fleetplan.Unknown(unknown)
}

// Lines tell of every cluster what there is to do, or with done what was done. What stands against it for one reason on several is told once.
func (r *Report) Lines(done bool) string {
	var out strings.Builder
	told := map[string]bool{}
	for _, c := range r.Clusters {
		names := c.Cluster
		if c.Problem != "" && told[c.Problem] {
			continue
		}
		for _, other := range r.Clusters {
			if c.Problem != "" && other.Problem == c.Problem && other.Cluster != c.Cluster {
				names += ", " + other.Cluster
			}
		}
		told[c.Problem] = true
		out.WriteString(names + ": " + c.says(r.Verb, done) + "\n")
	}
	return out.String()
}

func (r Row) says(verb string, done bool) string {
	switch {
	case r.Unreachable != "":
		return "does not answer: " + r.Unreachable
	case r.Problem != "":
		return "not done: " + r.Problem
	case r.Nothing && verb == Moving:
		return "nothing of it is in " + r.From
	case r.unknown:
		return "nothing of it is here"
	case r.Nothing:
		return "nobody holds the lock"
	case verb == Unlock && done && r.Done:
		return "taken from " + r.Holder
	case verb == Unlock:
		return fmt.Sprintf("locked by %s since %s, until %s unless renewed", r.Holder, r.Since.UTC().Format(time.RFC3339), r.Expires.UTC().Format(time.RFC3339))
	case !done:
		return "the records move from " + r.From + " to " + r.To
	}
	kept := "1 kept revision"
	if r.Revisions != 1 {
		kept = fmt.Sprintf("%d kept revisions", r.Revisions)
	}
	return fmt.Sprintf("release %s and %s moved from %s to %s", &release.Name{Release: r.Release, Rollout: r.Rollout}, kept, r.From, r.To)
}
