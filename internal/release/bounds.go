package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"unsafe"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// MaxStored bounds what a stored object may have in all its parts, and what it may unpack to: a damaged or hostile one cannot
// fill the memory.
const MaxStored = 64 << 20

// What decoding may come to, by the weights below: of one record, of a Set; and what is kept of all records of a listing.
const (
	maxRecord  = 128 << 20
	maxSet     = 160 << 20
	maxListing = 128 << 20
)

// What little packed data may come to: that much, and so many times its bytes. What people deliver is far below, however alike its
// objects are.
const (
	packedFree  = 24 << 20
	packedTimes = 2000
)

// Weights of JSON in memory, by the byte that tells a value: some three bytes of text become an inventory entry.
const (
	weightStruct = 512 // of an object, or a null in its place
	weightValue  = 96  // of an element or a field
	weightDepth  = 96  // of a value, for each level below the ordinary ones
)

// Levels of JSON: those of ordinary objects, and the most that anybody has.
const (
	ordinaryDepth = 40
	maxDepth      = 500
)

// weigh estimates from above what a JSON text takes when it is decoded; more than anything for what nobody nests as deep.
func weigh(text []byte) int {
	total, depth := 2*len(text), 0 // the parts of a text are copied once
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case quoted && c == '\\':
			i++
			continue
		case quoted:
			continue
		case c == '{' || c == 'n':
			total += weightStruct
		case c == '[' || c == ',':
			total += weightValue
		}
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return math.MaxInt
			}
			total += weightDepth * max(0, depth-ordinaryDepth)
		case ',':
			total += weightDepth * max(0, depth-ordinaryDepth)
		case '}', ']':
			depth--
		}
	}
	return total
}

// allowed is what packed data may come to.
func allowed(packed []byte, limit int) int { return min(limit, packedFree+packedTimes*len(packed)) }

// maxClaims are the places of a release's objects that may be secret: each value there is looked for in all that is printed.
const maxClaims = 10_000

func claims(objects []object.Object) int {
	n := 0
	for _, o := range objects {
		if o.Ref().IsSecret() { // its values are hidden by its kind
			n += len(o.SensitiveKeys())
		} else {
			n += len(o.Sensitive)
		}
	}
	return n
}

// Budget is what a caller may keep of the records of one cluster. The zero Budget is whole.
type Budget struct{ spent int }

// Keep counts what a listing of a record takes, and is an error where that is too much together with what was kept before.
func (b *Budget) Keep(l BundleListing) error {
	const ofInstance, ofObject = 256, 80
	n := ofInstance + len(l.Bundle) + len(l.Fleet) + len(l.Author) + len(l.Message) + len(l.InProgress)
	for name, origin := range l.Origins {
		n += len(name) + len(origin) + ofObject
	}
	for _, in := range l.Instances {
		n += ofInstance + len(in.Instance) + len(in.Source.Name) + len(in.Source.Version) + len(in.Source.Repository) + len(in.Inputs)
		for _, o := range in.Objects {
			n += ofObject + len(o.APIVersion) + len(o.Kind) + len(o.Namespace) + len(o.Name)
		}
	}
	if b.spent += n; b.spent > maxListing {
		return fmt.Errorf("the records of the cluster come to more than %d MiB: name a bundle", maxListing>>20)
	}
	return nil
}

// Each gives the current records of a cluster to use, one after the other, as far as what a listing keeps of them is not
// too much together. The error says which were not read; what is left of other bundles is told where there is none.
func Each(ctx context.Context, store Store, use func(Record)) (Left, error) {
	var budget Budget
	var known []string
	err := store.Bundles(ctx, func(rec Record) error {
		known = append(known, rec.Owner)
		if err := budget.Keep(rec.List("")); err != nil {
			return err
		}
		use(rec)
		return nil
	})
	s, ok := store.(Remnants)
	if err != nil || !ok { // which records there are is not known, or not what is left of others
		return Left{}, err
	}
	slices.Sort(known)
	return s.Remnants(ctx, "", known)
}

// KeepRecord counts what a record takes as a whole, and is an error where that is too much together with what was kept before.
func (b *Budget) KeepRecord(r Record) error {
	const ofValue = 24 // the head of a text in a list or a map
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	n := len(text) + ofValue*bytes.Count(text, []byte(",")) + int(unsafe.Sizeof(plan.InventoryEntry{}))*(len(r.Inventory)+len(r.Lent))
	for _, checks := range r.Checks {
		n += weightStruct * len(checks)
	}
	for _, life := range r.Hooks {
		n += weightStruct * (1 + len(life.Hooks))
	}
	if b.spent += n; b.spent > maxListing {
		return fmt.Errorf("the records of the cluster come to more than %d MiB: name a bundle, or keep fewer revisions of it", maxListing>>20)
	}
	return nil
}

// MaxKept is the most revisions that anybody keeps of a bundle: those that may be asked for, the last that succeeded, and
// one that is under way.
const MaxKept = 102

// MaxNumber is the greatest number of a revision or a release; after it numbers stay as they are.
const MaxNumber = 1 << 30

// Bounds of what a record says that is evaluated or asked for later: the text of a health check, and its kinds.
const (
	maxCheck = 64 << 10
	maxKinds = 1000
)

// bounded refuses a record of which a run would never end.
func (r *Record) bounded() error {
	kinds := map[[2]string]bool{}
	for _, checks := range r.Checks {
		if slices.ContainsFunc(checks, func(c health.Check) bool { return len(c.Source) > maxCheck }) {
			return fmt.Errorf("one of its health checks has more than %d KiB", maxCheck>>10)
		}
	}
	for _, o := range slices.Concat(r.Inventory, r.Lent) {
		kinds[[2]string{o.Ref.Group, o.Ref.Kind}] = true
	}
	if len(kinds) > maxKinds {
		return fmt.Errorf("it names objects of more than %d kinds", maxKinds)
	}
	return nil
}

// numbered refuses a record with a number that nobody counts to, or a phase that is none.
func (r *Record) numbered() error {
	d := r.Done
	if r.RollbackTo != nil && (r.RollbackTo.Release < 0 || r.RollbackTo.Release > MaxNumber) {
		return fmt.Errorf("%w: the number %d is none that anybody counts to", ErrDamaged, r.RollbackTo.Release)
	}
	numbers := []int{r.Revision, r.Release, r.Keep, d.Create, d.Update, d.Delete, d.Recreate, d.Adopt, d.Conflict, d.Unknown, d.Release, d.Unchanged, d.Hooks}
	for _, i := range r.Interrupted {
		numbers = append(numbers, i.numbers()...)
	}
	for _, n := range numbers {
		if n < 0 || n > MaxNumber {
			return fmt.Errorf("%w: the number %d is none that anybody counts to", ErrDamaged, n)
		}
	}
	for name, marks := range r.Marks {
		if slices.ContainsFunc(marks, func(m chance.Mark) bool { return m.Length < 1 || m.Length > MaxStored }) {
			return fmt.Errorf("%w: a made-up value of %q has a length that none has", ErrDamaged, name)
		}
	}
	if !r.Phase.Known() {
		return fmt.Errorf("%w: %q is no phase", ErrDamaged, r.Phase)
	}
	for _, c := range r.Corrections {
		if c.Phase != "" && !c.Phase.Known() {
			return fmt.Errorf("%w: %q is no phase", ErrDamaged, c.Phase)
		}
		if len(c.Objects) > MaxCorrected {
			return fmt.Errorf("%w: a correction of more than %d objects", ErrDamaged, MaxCorrected)
		}
	}
	return nil
}

// plain refuses a record in which a name is none: it is printed as it is, and orders to a terminal are no part of it.
func (r *Record) plain() error {
	names := []string{r.Bundle, r.Owner, r.Fleet, r.Cluster, r.Group, r.ClusterUID, r.Lineage, r.SourceDigest, r.Learned, r.Rollout, r.Commit, r.Tree, r.Plan, r.PlanFile, string(r.Phase), r.Undoes, r.Undone, r.ClusterServer, r.Version, r.SetDigest}
	names = slices.Concat(names, r.Suspended, r.Unseen, r.Requires, r.Unfinished)
	if r.RollbackTo != nil {
		names = append(names, r.RollbackTo.Rollout)
	}
	for _, i := range r.Interrupted {
		names = append(names, i.names()...)
	}
	for _, n := range r.NotBegun {
		names = append(append(names, n.Instance), n.After...)
	}
	for _, c := range r.Corrections {
		names = append(names, c.Rollout, c.Version)
		for _, o := range c.Objects {
			names = append(names, string(o.Action), o.Object.Group, o.Object.Kind, o.Object.Namespace, o.Object.Name)
		}
	}
	for _, m := range []map[string]string{r.Inputs, r.Digests, r.Made} {
		names = slices.AppendSeq(names, maps.Values(m))
	}
	for _, needs := range r.Depends {
		names = append(names, needs...)
	}
	for _, m := range []map[string]string{r.Inputs, r.Sources, r.Digests, r.Origins, r.Made} {
		names = slices.AppendSeq(names, maps.Keys(m))
	}
	names = slices.AppendSeq(names, maps.Keys(r.Marks))
	names = slices.AppendSeq(names, maps.Keys(r.Checks))
	names = slices.AppendSeq(names, maps.Keys(r.Images))
	names = slices.AppendSeq(names, maps.Keys(r.Hooks))
	names = slices.AppendSeq(names, maps.Keys(r.Depends))
	for _, o := range slices.Concat(r.Inventory, r.Lent) {
		names = append(names, o.Instance, o.Version, o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name, o.UID, o.Digest, o.ApplyHash)
	}
	for _, life := range r.Hooks {
		for _, h := range life.Hooks {
			names = append(names, h.Version, h.Digest, h.Ref.Group, h.Ref.Kind, h.Ref.Namespace, h.Ref.Name)
		}
	}
	for _, name := range names {
		if !columns.Plain(name) {
			return fmt.Errorf("%w: %q is no name", ErrDamaged, name)
		}
	}
	return nil
}
