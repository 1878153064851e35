package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/builtin"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Compute decides what one cluster needs. It never fails: what blocks the plan is an Error among its Findings.
//
// The test for "unchanged" follows the evidence in this order: identity, uid, terminating, digest of the
// declaration, schema of the kind, resourceVersion, hash of our managed fields entry. Generation is never consulted:
// half the kinds have none, and labels never move it.
func Compute(in Input) *Plan {
	c := newComputation(in)
	c.unscale()
	for _, d := range in.Desired {
		if !c.duplicate(d) && d.Hook == nil {
			c.desired(d)
		}
	}
	for _, o := range in.Inventory {
		if !c.declared[o.Ref] && o.Hook == nil {
			c.dropped(o)
		}
	}
	for _, o := range in.Lent {
		c.lent(o)
	}
	c.abandoned()
	c.hooks() // after the others: whether an instance is upgraded depends on what is written
	c.plan.Findings = append(c.plan.Findings, slices.Concat(InUse(c.plan, in.Contents), c.unchecked())...)
	c.rebuilt()
	c.givenBack()
	c.plan.Suspended = slices.Sorted(maps.Keys(in.Suspended))
	c.plan.Findings = c.plan.Findings.OnCluster(in.Cluster)
	c.order()
	pair(c.plan.Changes)
	for i, ch := range c.plan.Changes {
		if live := c.Live[ch.Ref]; ch.Action == Delete || ch.Action == Recreate {
			c.plan.Changes[i].Seen = &live
		}
	}
	return c.plan
}

// order puts changes into the order of the bundle's instances, and within one into that of their identities.
func (c *computation) order() {
	rank := map[string]int{}
	for _, d := range c.Desired {
		if _, ok := rank[d.Instance]; !ok {
			rank[d.Instance] = len(rank)
		}
	}
	of := func(ch Change) int {
		if r, ok := rank[ch.Instance]; ok {
			return r
		}
		return len(rank)
	}
	slices.SortStableFunc(c.plan.Changes, func(a, b Change) int {
		if by := cmp.Or(of(a)-of(b), strings.Compare(a.Instance, b.Instance), phaseOf(a)-phaseOf(b)); by != 0 || a.Hook != nil {
			return by // hooks are in the order of their running
		}
		return a.Ref.Compare(b.Ref)
	})
}

type computation struct {
	Input
	plan     *Plan
	owned    map[object.Ref]InventoryEntry
	declared map[object.Ref]bool
	first    map[object.Ref]Desired
	// uids of live objects that are declared: an object reached under two groups is never pruned.
	liveUIDs map[string]bool
	// settled are the objects of hooks that need no further decision.
	settled map[object.Ref]bool
	// recorded are the owners before ours of what the inventory has, by uid.
	recorded map[string]string
	// away are instances that are no longer declared and that another bundle delivers now.
	away map[string]bool
}

func newComputation(in Input) *computation {
	c := &computation{
		Input:    in,
		plan:     &Plan{Cluster: in.Cluster, Bundle: in.Bundle, Owner: in.Owner, Changes: []Change{}},
		owned:    make(map[object.Ref]InventoryEntry, len(in.Inventory)),
		declared: make(map[object.Ref]bool, len(in.Desired)),
		first:    make(map[object.Ref]Desired, len(in.Desired)),
		liveUIDs: map[string]bool{},
		settled:  map[object.Ref]bool{},
		away:     map[string]bool{},
		recorded: make(map[string]string, len(in.Inventory)),
	}
	for _, o := range in.Inventory {
		if !c.freed(o) {
			c.owned[o.Ref], c.recorded[o.UID] = o, o.Taken
		}
	}
	for _, d := range in.Desired {
		c.declared[d.Ref] = true
		if l := in.Live[d.Ref]; l.Found && d.Hook == nil {
			c.liveUIDs[l.UID] = true
		}
	}
	return c
}

func (c *computation) find(f diag.Finding) { c.plan.Findings = append(c.plan.Findings, f) }

// Duplicates finds objects that are declared more than once, as Compute does.
func Duplicates(desired []Desired) diag.Findings {
	c := newComputation(Input{})
	for _, d := range desired {
		c.duplicate(d)
	}
	return c.plan.Findings
}

// duplicate reports (and finds) a second declaration of one object. An instance's own namespace yields to a
// declared one.
func (c *computation) duplicate(d Desired) bool {
	before, seen := c.first[d.Ref]
	if !seen {
		c.first[d.Ref] = d
		return false
	}
	if d.OwnNamespace {
		return true
	}
	f := diag.Errorf("duplicate-object", "two instances render the same object")
	f.Object, f.Instance, f.Pos = d.Ref.String(), d.Instance, d.Pos
	f.Why = fmt.Sprintf("instances %s and %s", before.Instance, d.Instance)
	if before.Instance == d.Instance {
		f.What, f.Why = "instance "+d.Instance+" renders the same object twice", ""
	}
	if p := before.Pos.String(); p != "" {
		f.Why = strings.TrimPrefix(f.Why+"; the first is at "+p, "; ")
	}
	if d.Declared.IsValid() && d.Declared != d.Pos {
		f.Pos = d.Declared
		if p := d.Pos.String(); p != "" {
			f.Why = strings.TrimPrefix(f.Why+"; this one is at "+p, "; ")
		}
	}
	f.Because(f.Why)
	if f.Fix = "rename one of them or leave it to one instance"; d.Ref.IsCRD() {
		f.Fix = "leave it to one instance" + skipCRDs
	}
	c.find(f)
	return true
}

// desired decides about one declared object.
func (c *computation) desired(d Desired) {
	live := c.Live[d.Ref]
	own, isOwned := c.owned[d.Ref]
	if d.OwnNamespace && !isOwned && (live.Found && !c.ours(live) || !live.Found && c.NamespaceExists[d.Ref.Name]) {
		return // somebody else's namespace is used as it is; it may not have been looked at when its objects were seen
	}
	if d.OwnNamespace && own.Instance != d.Instance && c.Suspended[own.Instance] && live.Found {
		c.plan.Kept = append(c.plan.Kept, own) // it stays with the instance that made or declares it, as that one's other objects do
		return
	}
	ch := Change{Ref: d.Ref, Version: d.Version, Instance: d.Instance, Stage: d.Stage, Digest: d.Digest, Open: d.Open, Pos: d.Pos,
		NoWait: d.NoWait, Timeout: d.Timeout, Ignore: d.Ignore, OwnNamespace: d.OwnNamespace, UID: live.UID, ResourceVersion: live.ResourceVersion, ApplyHash: live.ApplyHash, Stays: live.Stays}
	if why := c.yields(d, live); d.OwnNamespace && isOwned && why != "" {
		ch.Action, ch.Code, ch.Why = Release, CodeMoved, why
		c.add(ch)
		return
	}
	switch {
	case !live.Found && c.expired(d, own):
		c.unchanged(d, own, Live{UID: own.UID, ResourceVersion: own.ResourceVersion, ApplyHash: own.ApplyHash})
	case !live.Found:
		c.create(d, own, isOwned, ch)
	case live.Terminating:
		ch.Action, ch.Code = Create, CodeTerminating
		ch.Why = "is being deleted; created again once it is gone" + finalizers(live)
		c.add(ch)
	case live.Remnant && d.Ref.Kind == "ClusterRole": // it is nobody's, and was made of what was deleted
		c.existing(d, own, isOwned, live, ch)
	case c.isOurs(own, isOwned, live) && !c.retakenBy(live) && (own.UID != "" || !c.adopts(d.Ref, live) || len(live.ForeignManagers) == 0):
		c.existing(d, own, isOwned, live, ch)
	default:
		c.foreign(d, live, own, isOwned, ch)
	}
}

// adopts reports whether an object of somebody else may be taken over: everything with --adopt, and what was moved here.
func (c *computation) adopts(r object.Ref, live Live) bool {
	return c.Options.Adopt || c.movedFrom(r, live) != ""
}

// ours reports whether the live object itself says that this bundle applied it: our label and our Apply entry.
func (c *computation) ours(l Live) bool { return l.OwnerLabel == c.Owner && !Unmarked(l) }

// isOurs decides ownership of an existing object: by uid when the inventory has one, else by both our marks.
func (c *computation) isOurs(own InventoryEntry, isOwned bool, live Live) bool {
	if isOwned && own.UID != "" && own.UID == live.UID && !c.freed(own) {
		return !live.ForeignBundle
	}
	return c.ours(live)
}

func (c *computation) create(d Desired, own InventoryEntry, isOwned bool, ch Change) {
	ch.Action, ch.Code = Create, CodeNew
	ch.UID, ch.ResourceVersion, ch.ApplyHash = "", "", ""
	switch {
	case d.OwnNamespace:
		ch.Code, ch.Why = CodeNamespace, "namespace of instance "+d.Instance
	case isOwned && own.UID != "":
		ch.Code, ch.Why = CodeGone, c.missed(d, own)
	}
	c.needsNamespace(d)
	c.twice(d)
	if p, ok := c.Previews[d.Ref]; ok {
		ch.Checked, ch.Deferred = p.Checked, p.Deferred
		if p.Finding != nil {
			c.find(*p.Finding)
		}
	}
	c.add(ch)
}

func (c *computation) needsNamespace(d Desired) {
	if !d.Namespaced || c.namespaceWillExist(d.Ref.Namespace) {
		return
	}
	f := diag.Errorf(answer.CodeMissingNamespace, "namespace %s does not exist", d.Ref.Namespace)
	f.Object, f.Instance, f.Pos = d.Ref.String(), d.Instance, d.Pos
	f.Fix = "declare it in the bundle, or make it the instance's own namespace"
	c.find(f)
}

func (c *computation) namespaceWillExist(ns string) bool {
	exists, known := c.NamespaceExists[ns]
	if !known || exists {
		return true
	}
	ref := object.Ref{Kind: "Namespace", Name: ns}
	return c.declared[ref] || c.Ahead.bundles[ref] != ""
}

// existing decides about an object that is ours and is there.
func (c *computation) existing(d Desired, own InventoryEntry, isOwned bool, live Live, ch Change) {
	ch.Action = Update
	if !isOwned {
		ch.From = c.before(live)
		own.Taken = ch.From
	}
	taken := c.replicas(d, own, live, &ch)
	if own.Ignore != nil && !own.Ignore.Equal(d.Ignore) {
		ch.Was = own.Ignore
	}
	schema := c.Schema[SchemaKey(d.Ref)]
	switch {
	case live.Remnant && Unmarked(live):
		ch.Code, ch.Why = CodeAgain, "was deleted, and made again with nothing but rules by the controller that aggregates them"
	case d.Once:
		c.unchanged(d, own, live)
		return
	case !isOwned && !c.Open:
		ch.Code, ch.Why = CodeAgain, "was let go, and is declared again"
	case !isOwned || own.UID == "":
		ch.Code, ch.Why = CodeInterrupted, "written by a run that ended before it was recorded"
	case c.Rebuilt && (!c.Recorded || own.Digest == ""):
		ch.Code, ch.Why = CodeInterrupted, "its record is lost"
	case own.UID != live.UID:
		ch.Code, ch.Why = CodeReplaced, "was replaced by an object with another uid that carries our marks"
	case own.Digest != d.Digest || own.Version != d.Version || d.Late:
		ch.Code = CodeChanged
	case ch.Was != nil:
		ch.Code, ch.Why = CodeChanged, "other fields are left to others now"
		if d.Ignore == nil {
			ch.Why = "its fields are left to others no longer"
		}
	case own.Schema != schema:
		ch.Code, ch.Why = CodeSchema, "the kind's schema changed since it was written"
	case taken:
		ch.Code, ch.Why = CodeDrift, "spec.replicas was set by "+live.by()
	case c.Open && live.ResourceVersion != own.ResourceVersion:
		// two writes of ours within a second leave the same entry
		ch.Code, ch.Why = CodeInterrupted, "may have been written by a run that ended before it was recorded"
	case !Moved(own, live):
		c.unchanged(d, own, live)
		return
	case Unmarked(live):
		ch.Code, ch.Why = CodeManagedGone, "our managed fields entry is gone"
	default:
		ch.Code, ch.Why = CodeDrift, "changed by somebody since it was written"
	}
	c.update(d, own, live, ch)
}

// update finishes an Update with the API server's answer, when there is one.
func (c *computation) update(d Desired, own InventoryEntry, live Live, ch Change) {
	moved := ch.Code != CodeChanged || rewritten(own, live)
	sameDeclaration := own.Digest == d.Digest
	ch.Force = moved && sameDeclaration && own.UID != "" && own.UID == live.UID
	p, ok := c.Previews[d.Ref]
	if !ok {
		c.add(ch)
		return
	}
	ch.Fields, ch.Checked, ch.AgainstLive, ch.Deferred, ch.Reclaim, ch.Foreign, ch.Stays = p.Fields, p.Checked, p.AgainstLive, p.Deferred, p.Reclaim, p.Foreign, cmp.Or(p.Stays, live.Stays)
	switch {
	case p.Immutable:
		c.recreate(d, ch, p.Says)
		return
	case p.NoOp && !d.Late && !slices.ContainsFunc(ch.Fields, func(f FieldChange) bool { return !f.Stays || !sameDeclaration }) && !ch.Handover && ch.Reclaim == "":
		c.unchanged(d, own, live)
		return
	case p.Finding != nil:
		c.find(*p.Finding)
	case len(p.Conflicts) > 0:
		c.fieldConflicts(sameDeclaration, live, p.Conflicts, &ch)
	}
	c.add(ch)
}

// fieldConflicts cedes what is owned rightly through scale, takes back what we had recorded, and blocks on the rest.
func (c *computation) fieldConflicts(sameDeclaration bool, live Live, conflicts []FieldConflict, ch *Change) {
	byPath, blocking, back := func(a, b FieldConflict) int { return cmp.Compare(a.Path+" "+a.Manager, b.Path+" "+b.Manager) }, []FieldConflict(nil), []string(nil)
	for _, fc := range slices.SortedStableFunc(slices.Values(conflicts), byPath) { // a server names them in any order
		switch {
		case fc.Manager == object.HandoverManager:
			ch.Force = true // ours, by another name
		case fc.Subresource == "scale" && live.Autoscaler != "":
			if !slices.Contains(ch.OmitFields, fc.Path) {
				ch.OmitFields = append(ch.OmitFields, fc.Path)
			}
		case fc.Ours || sameDeclaration || c.Options.Adopt:
			ch.Force = true
			if back = append(back, fc.Path+" from "+fc.Manager); ch.Code == CodeChanged {
				ch.Why = "also takes back " + strings.Join(back, ", ")
			}
		default:
			blocking = append(blocking, fc)
		}
	}
	c.blocked(blocking, ch, "remove the fields from the bundle, or take them over with --adopt")
}

// blocked makes a conflict of a change that would take fields from others.
func (c *computation) blocked(blocking []FieldConflict, ch *Change, fix string) {
	if len(blocking) == 0 {
		return
	}
	ch.Action, ch.Code, ch.Force = Conflict, CodeFields, false
	var parts []string
	for _, fc := range blocking {
		parts = append(parts, fc.Path+" (owned by "+fc.Manager+")")
	}
	ch.Why = "fields owned by others: " + strings.Join(parts, ", ")
	f := diag.Errorf("field-conflict", "fields of the object are owned by somebody else")
	f.Object, f.Instance, f.Pos, f.Fix = ch.Ref.String(), ch.Instance, ch.Pos, fix
	f.Because(strings.Join(parts, ", "))
	c.find(f)
}

// recreate deletes and creates again, where that is allowed. says is how the API server refuses the update.
func (c *computation) recreate(d Desired, ch Change, says string) {
	ch.OmitFields, ch.Force, ch.Reclaim, ch.Foreign, ch.FormerEntries = nil, false, "", nil, "" // it is a new object
	ch.Action, ch.Code, ch.Loss, ch.Claims = Recreate, CodeImmutable, builtin.LostByRecreating(d.Ref.Kind, d.Ref.Custom()), c.Live[d.Ref].Claims
	ch.Why = "an immutable field changed"
	if ch.From != "" {
		ch.Why = "taken over from " + ch.From + ", with an immutable field that differs"
	}
	switch kept := c.Live[d.Ref].Keep && (d.Keep || !c.owned[d.Ref].Keep); {
	case kept:
		f := diag.Errorf("immutable", "an immutable field changed of an object that is annotated to be kept: it is not deleted and created again")
		f.Object, f.Instance, f.Pos = d.Ref.String(), d.Instance, d.Pos
		f.Because(answer.NotRecreated(says, "it carries hawser.dev/prune=disabled or helm.sh/resource-policy=keep", ch.Loss))
		f.Fix = "undo the change, or take the annotation away first, from the live object and from the bundle; then --recreate"
		c.find(f)
	case !c.Options.Recreate && !d.ForceRecreate:
		f := diag.Errorf("immutable", "an immutable field changed: the object has to be deleted and created again")
		f.Object, f.Instance, f.Pos = d.Ref.String(), d.Instance, d.Pos
		f.Because(answer.NotRecreated(says, "", ch.Loss))
		f.Fix = "undo the change, or allow it with --recreate"
		c.find(f)
	}
	c.add(ch)
}

// foreign decides about an object that is there and not ours.
func (c *computation) foreign(d Desired, live Live, own InventoryEntry, isOwned bool, ch Change) {
	ch.From, ch.FromManagers = live.Foreign, live.ForeignManagers
	if ch.From == "" {
		ch.From = "nobody we know"
	}
	switch {
	case !c.adopts(d.Ref, live):
		ch.Action, ch.Code = Conflict, CodeForeign
		if ch.Why = "exists already, managed by " + ch.From; c.retakenBy(live) {
			ch.Why = ch.From + " has taken it over again"
		}
		if isOwned && own.UID != "" && own.UID != live.UID {
			ch.Why = "is another object than the one we wrote (other uid), managed by " + ch.From
		}
	case live.Reconciled:
		ch.Action, ch.Code = Conflict, CodeForeign
		ch.Why = ch.From + " still reconciles it: adoption would be undone"
	default:
		c.adopt(d, live, ch)
		return
	}
	f := diag.Errorf("foreign-owner", "the object is owned by somebody else")
	f.Object, f.Instance, f.Pos = ch.Ref.String(), ch.Instance, ch.Pos
	also, fix := c.claimed(d.Ref, live)
	f.Because(ch.Why + also)
	if f.Fix = fix; live.Reconciled {
		f.Fix = "let the other owner release it first"
	}
	c.find(f)
	c.add(ch)
}

// adopt takes over what the former owner has, and nothing of third parties.
func (c *computation) adopt(d Desired, live Live, ch Change) {
	ch.Action, ch.Code, ch.Force, ch.FormerEntries = Adopt, CodeAdopted, true, live.ForeignEntries
	ch.Why = "taken over from " + ch.From
	if from := c.movedFrom(d.Ref, live); from != "" {
		ch.Code, ch.Why = CodeMoved, "moved here from bundle "+from+" of the same files"
		if c.Options.RollingBack {
			ch.Why = "taken back from bundle " + from + ", which has let it go"
		}
	}
	c.cede(d, live, &ch)
	p, ok := c.Previews[ch.Ref]
	if !ok {
		c.add(ch)
		return
	}
	ch.Fields, ch.Checked, ch.Deferred, ch.Foreign = p.Fields, p.Checked, p.Deferred, p.Foreign
	switch {
	case p.Immutable:
		c.recreate(d, ch, p.Says)
		return
	case p.Finding != nil:
		c.find(*p.Finding)
	default:
		c.blocked(p.Conflicts, &ch, "leave them to their owner with an ignore rule, or remove them from the bundle")
	}
	c.add(ch)
}

// unchanged keeps the object in the inventory with what was just seen of it.
func (c *computation) unchanged(d Desired, own InventoryEntry, live Live) {
	o := EntryFor(d, c.Schema[SchemaKey(d.Ref)])
	o.UID, o.ResourceVersion, o.ApplyHash = live.UID, live.ResourceVersion, live.ApplyHash
	o.Awaited, o.Stays, o.Taken = own.Awaited && own.UID == live.UID, live.Stays, own.declared(live.UID)
	switch {
	case d.Ignore == nil:
	case live.LeftToOthers: // what we declared then is what tells a drift from a field that is left to others
		o.ApplyHash, o.Entry = own.ApplyHash, own.Entry
	default:
		o.Entry = live.Entry
	}
	c.plan.Kept = append(c.plan.Kept, o)
	c.plan.Unchanged++
	if own.ApplyHash != o.ApplyHash || own.UID != o.UID || own.Schema != o.Schema || own.Digest != o.Digest ||
		own.Instance != o.Instance || own.Stage != o.Stage || own.Keep != o.Keep || own.NoWait != o.NoWait || own.Timeout != o.Timeout ||
		own.Expires != o.Expires || own.OwnNamespace != o.OwnNamespace || own.Fixed != o.Fixed || own.Force != o.Force || !own.Ignore.Equal(o.Ignore) || own.Entry == nil && o.Entry != nil || own.Stays != o.Stays {
		c.plan.Refresh = true
	}
}

func (c *computation) add(ch Change) {
	if live := c.Live[ch.Ref]; ch.Action == Release && live.Terminating {
		said := strings.TrimSuffix("since "+live.Since+", "+live.Held, ", ")
		ch.Leaving, ch.Why = true, strings.TrimPrefix(ch.Why+"; is being deleted ("+said+")", "; ")
	}
	c.plan.Changes = append(c.plan.Changes, ch)
}

// SchemaKey is the key of Input.Schema for a kind.
func SchemaKey(r object.Ref) string { return r.Group + "/" + r.Kind }

func finalizers(l Live) string {
	if l.Held == "" {
		return ""
	}
	return " (" + l.Held + ")"
}
