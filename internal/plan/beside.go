package plan

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Beside is what the other bundles of the same files say about a cluster. The zero value is no other bundle, or that
// nobody asked them, see AsksBeside.
type Beside struct {
	// Declares is the bundle that declares an object there, by object.
	Declares map[object.Ref]Declaration
	// Stands tells for what of another bundle a Namespace or definition stays that none declares, by that.
	Stands map[object.Ref]string
	// Hooks is the bundle that declares an object there as a hook, by object.
	Hooks map[object.Ref]string
	// Yields are bundles by owner id: what they have in the cluster and declare no longer goes over to the bundle that does.
	Yields map[string]string
	// Doubts are bundles by owner id that were read from these files as far as their path tells, and that nothing proves to be
	// theirs: what they have stays with them.
	Doubts map[string]string
	// Recorded is the bundle whose record has an object there, by object, where a release is gone back to: no files are asked then.
	Recorded map[object.Ref]Holder
	// Former are the bundles of Yields as their records have them, by owner id; without those whose record is gone.
	Former map[string]Former
	// Told: the files are those of the bundle's record, and all their bundles say what they declare: what they do not is declared
	// nowhere.
	Told bool
	// Ahead is what the bundles are going to write; nil when that is not asked.
	Ahead *Ahead
}

// Holder is a bundle that has an object, and its newest release as people name it.
type Holder struct{ Bundle, Release string }

// Former is what the record of another bundle has in the cluster. Removed: the files do not hold the bundle any more.
type Former struct {
	Bundle     string
	Inventory  []InventoryEntry
	HookStates map[string]HookState
	Removed    bool
}

// Declaration is where another bundle declares an object.
type Declaration struct {
	Bundle, Instance string
	// Pos is where the object is written, Declared where the bundle declares its instance.
	Pos, Declared diag.Pos
	// OwnNamespace: the object is a Namespace that an instance uses, and nobody wrote.
	OwnNamespace bool
}

// declarer is the bundle beside that declares an object, "" for none: who merely uses a Namespace does not declare it.
func (b Beside) declarer(r object.Ref) string {
	if d := b.Declares[r]; !d.OwnNamespace {
		return d.Bundle
	}
	return ""
}

// yields is why a Namespace that is merely used and that the inventory has is let go, "" when it is not: another bundle has it
// now, or declares it.
func (c *computation) yields(d Desired, live Live) string {
	switch to := c.Beside.declarer(d.Ref); {
	case !live.Found:
	case live.ForeignBundle:
		return "managed by " + orUnknown(live.Foreign) + " now; it is used as it is"
	case to != "":
		return "handed to bundle " + to + " of the same files, which declares it"
	}
	return ""
}

// Makes reports whether a plan makes an object that another bundle may declare too. Who has several bundles done in one go
// wants to know before the first of them is.
func Makes(in Input) bool {
	return slices.ContainsFunc(in.Desired, func(d Desired) bool { return d.Hook == nil && !d.OwnNamespace && !in.Live[d.Ref].Found })
}

// FormerBundles are the owner ids of other bundles that have what is declared here, and of which the files know nothing
// (known by owner id): where those were removed from the same files, what they have goes over.
func FormerBundles(in Input, known map[string]string) []string {
	var out []string
	for _, d := range in.Desired {
		live := in.Live[d.Ref]
		if !live.ForeignBundle || len(live.ForeignManagers) != 1 {
			continue
		}
		owner := object.OwnerOf(live.ForeignManagers[0])
		if owner != "" && owner != in.Owner && known[owner] == "" && !slices.Contains(out, owner) {
			out = append(out, owner)
		}
	}
	return out
}

// twice finds an object that is to be made and that another bundle of the same files declares too. Namespaces that
// instances merely use are everybody's.
func (c *computation) twice(d Desired) {
	other := c.Beside.Declares[d.Ref]
	if c.Beside.declarer(d.Ref) == "" || d.OwnNamespace {
		return
	}
	f := diag.Errorf("duplicate-object", "bundles %s and %s of the same files declare the same object", c.Bundle, other.Bundle)
	f.Object, f.Instance, f.Pos = d.Ref.String(), d.Instance, d.Pos
	why := []string{"instance " + other.Instance + " of bundle " + other.Bundle + at(" declares it", other.Pos, other.Declared)}
	if d.Declared.IsValid() && d.Declared != d.Pos {
		why = append([]string{"instance " + d.Instance + " is declared at " + d.Declared.String()}, why...)
	}
	f.Why, f.Fix = strings.Join(why, "; "), "leave it to one of them, or rename one"
	if d.Ref.IsCRD() {
		f.Fix = "leave it to one of them" + skipCRDs
	}
	c.find(f)
}

// at adds to a text where an object is written, and where its instance is declared.
func at(text string, pos, declared diag.Pos) string {
	if pos.IsValid() {
		text += " at " + pos.String()
	}
	if declared.IsValid() && declared != pos {
		text += " (instance at " + declared.String() + ")"
	}
	return text
}

// AsksBeside reports whether a plan depends on what the other bundles of the same files declare: it deletes something, or
// another bundle has something that is declared, or a Namespace is written because it is used. So it is with what is left of a hook: where a run ended in the middle, all
// that lasts may have been taken over before.
func AsksBeside(in Input) bool {
	for _, d := range in.Desired {
		if in.Live[d.Ref].ForeignBundle {
			return true
		}
	}
	for _, ch := range Compute(in).Changes {
		if ch.Action == Delete && ch.Hook == nil || ch.Action == Update && ch.OwnNamespace {
			return true
		}
	}
	return false
}

// movedFrom is the bundle of the same files from which a live object was moved into this one: it wrote the object, nobody
// else's bundle did, and none declares it any more. It is "" when there is none.
func (c *computation) movedFrom(r object.Ref, live Live) string {
	if !live.ForeignBundle || len(live.ForeignManagers) != 1 || c.Beside.declarer(r) != "" || c.Beside.Hooks[r] != "" || c.Beside.Recorded[r].Bundle != "" {
		return ""
	}
	for owner, bundle := range c.Beside.Yields {
		if live.ForeignManagers[0] == object.Manager(owner) && (live.OwnerLabel == owner || live.OwnerLabel == c.Owner) {
			return bundle
		}
	}
	return ""
}

// handed is why an object is let go that another bundle of the same files declares, or stands on, "" when none does.
func (c *computation) handed(r object.Ref) string {
	to := c.Beside.Declares[r].Bundle
	switch {
	case to == "" && c.Options.Deleting: // what is in it holds it up, see InUse
		return ""
	case to == "":
		return c.Beside.Stands[r]
	case r.IsNamespace():
		return "handed to bundle " + to + " of the same files, which declares or uses it"
	}
	return "handed to bundle " + to + " of the same files, which declares it"
}

// claimed says of a conflict which bundle of the same files has the object too, or may have been one of them, and how it is
// solved; "" when there is none.
func (c *computation) claimed(r object.Ref, live Live) (why, fix string) {
	if has := c.Beside.Recorded[r]; has.Bundle != "" {
		return "; bundle " + has.Bundle + " has it in its release " + has.Release, "go back with that bundle first (hawser history " + has.Bundle + ", hawser rollback " +
			has.Bundle + "): it lets go of what it took over; or take it over with --adopt, and that bundle lets it go with its next run"
	} else if c.Options.RollingBack {
		return "", "have its owner let it go first, or take it over with --adopt"
	}
	if to := c.Beside.declarer(r); to != "" {
		return "; bundle " + to + " of the same files declares it too", "leave it to one of them"
	}
	for owner, bundle := range c.Beside.Doubts {
		if slices.Contains(live.ForeignManagers, object.Manager(owner)) {
			return "; " + bundle + " was applied from a directory of this path, and nothing proves that it was in these files and is " + c.Bundle +
				" now: hawser.lock does not know it", ways(r) + "; if it was renamed or removed here: --take-over"
		}
	}
	return "", ways(r)
}

// ways are those out of a conflict with somebody else about an object. A definition is never renamed, and goes with all objects of
// its kind.
func ways(r object.Ref) string {
	if r.IsCRD() {
		return "take it over with --adopt, or leave it to its owner" + skipCRDs
	}
	return "rename ours, remove theirs, or take it over with --adopt"
}

// skipCRDs says how a definition is left out.
const skipCRDs = " (skipCRDs: true in helm leaves out what the crds folder of a chart holds)"

// Add adds what a bundle declares, and what the inventory has of its instances that are left as they are. Where two declare
// an object, the first counts; one that declares a Namespace counts before those that use it. plural is the name of a kind in paths.
func (b *Beside) Add(bundle string, desired []Desired, owned []InventoryEntry, suspended map[string]bool, plural func(schema.GroupKind) string) {
	if b.Declares == nil {
		b.Declares, b.Hooks, b.Stands = map[object.Ref]Declaration{}, map[object.Ref]string{}, map[object.Ref]string{}
	}
	stand := func(r object.Ref) {
		for _, on := range r.StandsOn(plural(r.GroupKind())) {
			b.Stands[on] = cmp.Or(b.Stands[on], "stays for "+r.String()+" of bundle "+bundle+" of the same files")
		}
	}
	add := func(r object.Ref, d Declaration) {
		if before := b.Declares[r]; before.Bundle == "" || before.OwnNamespace && !d.OwnNamespace {
			d.Bundle = bundle
			b.Declares[r] = d
		}
	}
	for _, d := range desired {
		if stand(d.Ref); d.Hook != nil {
			b.Hooks[d.Ref] = bundle
		} else {
			add(d.Ref, Declaration{Instance: d.Instance, Pos: d.Pos, Declared: d.Declared, OwnNamespace: d.OwnNamespace})
		}
	}
	for _, o := range owned {
		if suspended[o.Instance] && o.Hook == nil {
			stand(o.Ref)
			add(o.Ref, Declaration{Instance: o.Instance, OwnNamespace: o.OwnNamespace})
		}
	}
}

// AddRecord adds what the record of another bundle says to the plan of one that goes back to an earlier release: it has what its
// inventory names, and what it let go may be taken back.
func (b *Beside) AddRecord(owner, release string, f Former) {
	if b.Yields[owner] = f.Bundle; b.Recorded == nil {
		b.Recorded = map[object.Ref]Holder{}
	}
	for _, o := range f.Inventory {
		b.Recorded[o.Ref] = Holder{Bundle: f.Bundle, Release: release}
	}
}
