package deletionguard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/successor"
)

// Code of the finding.
const Code = "deletion-brake"

// Cluster is what an apply would do on one cluster.
type Cluster struct {
	Name string
	Plan *plan.Plan
	// Inventory is what the record has there, Declared what is declared there now.
	Inventory []plan.InventoryEntry
	Declared  []plan.Desired
	// Placed are the instances placed there and not suspended; NotPlaced the others, with the reason.
	Placed    []string
	NotPlaced map[string]string
}

// minimum is the number of deletions from which "more than half" counts.
const minimum = 10

// shown is how many objects are named before the rest is a number.
const shown = 10

// OnCluster says why the deletions on one cluster need their number, "" when they do not: Namespaces, definitions, volume
// claims and what makes them; objects of which somebody took fields since they were written, or of which marks alone are known; more than half of at least ten; everything, or every workload, of an instance that is still
// placed, or of the bundle.
func OnCluster(c Cluster) string {
	var why []string
	if dear := dearOnes(c.Plan); dear != "" {
		why = append(why, dear)
	}
	goes := deletedOf(c.Plan)
	has := 0
	for _, o := range c.Inventory {
		if o.Hook == nil {
			has++
		}
	}
	if len(goes) >= minimum && len(goes)*2 > has {
		why = append(why, fmt.Sprintf("deletes %d of the %s it has from this bundle", len(goes), diag.Counted(has, "object")))
	}
	instances := false
	for _, name := range c.Placed {
		if text := c.lost("instance "+name, goes, func(instance string) bool { return instance == name }); text != "" {
			why, instances = append(why, text), true
		}
	}
	if text := c.lost("the bundle", goes, func(string) bool { return true }); text != "" && !instances {
		why = append(why, text)
	}
	return strings.Join(why, "; ")
}

// deletedOf are the lasting objects that a plan deletes.
func deletedOf(p *plan.Plan) map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, ch := range p.Changes {
		if ch.Action == plan.Delete && ch.Hook == nil {
			out[ch.Ref] = true
		}
	}
	return out
}

// dearOnes names what takes data or everybody's objects along, and what somebody else has begun to manage.
func dearOnes(p *plan.Plan) string {
	var deleted, recreated []string
	for _, ch := range p.Changes {
		taken := ch.Action == plan.Delete && ch.TakenBy != ""
		if ch.Action != plan.Delete && ch.Action != plan.Recreate || ch.Hook != nil || !dear(ch) && !taken && !unsure(ch) {
			continue
		}
		name := ch.Ref.String()
		if ch.Claims {
			name += ", which makes volume claims"
		}
		if taken {
			name += ", of which " + ch.TakenBy + " has taken fields"
		}
		if unsure(ch) {
			name += ", of which its marks alone are known"
		}
		if ch.Action == plan.Delete {
			deleted = append(deleted, name)
			continue
		}
		recreated = append(recreated, "deletes "+name+" and creates it again; lost by that: "+ch.Loss)
	}
	if slices.ContainsFunc(p.Changes, unsure) {
		recreated = append(recreated, yours)
	}
	if len(deleted) > 0 {
		recreated = append([]string{"deletes " + few(deleted)}, recreated...)
	}
	return strings.Join(recreated, "; ")
}

// unsure reports whether what is deleted may be somebody else's: the record was lost, and a release may have let it go before.
func unsure(ch plan.Change) bool { return ch.Action == plan.Delete && ch.From == plan.ByMarks }

// yours is what to do about that.
const yours = "a record was lost, and what was adopted once and let go has the same marks: what is somebody else's stays when the label " + object.LabelOwner + " is taken off it"

// Unsure says why the delete of a whole bundle needs its number on a cluster: it may delete what is somebody else's.
func Unsure(cluster string, p *plan.Plan) []string {
	var names []string
	for _, ch := range p.Changes {
		if unsure(ch) {
			names = append(names, ch.Ref.String())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"on cluster " + cluster + ": deletes " + few(names) + ", of which its marks alone are known; " + yours}
}

func dear(ch plan.Change) bool {
	switch {
	case ch.Ref.IsCRD(), ch.Claims:
		return true
	case ch.Ref.Group == "":
		return ch.Ref.Kind == "Namespace" || ch.Ref.Kind == "PersistentVolumeClaim"
	}
	return false
}

// lost says that everything, or every workload, goes that some instances had; those chosen by in. An object with a
// successor of its own (a versioned ConfigMap, the next Job) is not lost.
func (c Cluster) lost(who string, goes map[object.Ref]bool, in func(instance string) bool) string {
	var had, hadWork, lost, lostWork []string
	for _, o := range c.Inventory {
		if o.Hook != nil || o.OwnNamespace || !in(o.Instance) {
			continue
		}
		gone := goes[o.Ref] && !c.succeeded(o.Ref)
		add(&had, &lost, o.Ref, gone)
		if runs(o.Ref) {
			add(&hadWork, &lostWork, o.Ref, gone)
		}
	}
	declared, declaredWork := 0, 0
	for _, d := range c.Declared {
		if d.Hook == nil && !d.OwnNamespace && in(d.Instance) {
			declared++
			if runs(d.Ref) {
				declaredWork++
			}
		}
	}
	switch {
	case len(lost) > 0 && len(lost) == len(had) && declared == 0 && who != "the bundle":
		return fmt.Sprintf("%s renders nothing any more, and the %d it has there go", who, len(lost))
	case len(lost) > 0 && len(lost) == len(had) && declared > 0:
		goes := "goes"
		if len(lost) > 1 {
			goes = "go"
		}
		return fmt.Sprintf("everything %s has there is replaced by other things: %s %s", who, few(lost), goes)
	case len(lostWork) > 0 && len(lostWork) == len(hadWork) && (declaredWork > 0 || who != "the bundle"):
		return fmt.Sprintf("every workload %s has there goes: %s", who, few(lostWork))
	}
	return ""
}

func add(had, lost *[]string, r object.Ref, gone bool) {
	*had = append(*had, r.String())
	if gone {
		*lost = append(*lost, r.String())
	}
}

// runs reports whether objects of the kind keep something running; a Job does not.
func runs(r object.Ref) bool {
	return r.IsWorkload() && !r.Finishes()
}

// succeeded reports that an object whose name ends with what it holds (a digest, a version) has a new one whose name
// differs in that alone: ConfigMaps and Secrets of generators, Jobs of migrations.
func (c Cluster) succeeded(r object.Ref) bool {
	switch {
	case r.Group == "" && r.Kind == "ConfigMap", r.IsSecret(), r.Finishes():
	default:
		return false // made anew under another name, it is another one
	}
	return slices.ContainsFunc(c.Declared, func(d plan.Desired) bool {
		return d.Ref.GroupKind() == r.GroupKind() && d.Ref.Namespace == r.Namespace && successor.Of(r.Name, d.Ref.Name)
	})
}

func few(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
}

// Leaving are the declared instances of which objects are deleted while none of these clusters has a place for them, with
// the number of objects. Whether they have one elsewhere has to be asked.
func Leaving(clusters []Cluster) map[string]int {
	placed, away, goes := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, c := range clusters {
		for name := range c.NotPlaced {
			away[name] = true
		}
		for _, name := range c.Placed {
			placed[name] = true
		}
		for _, ch := range c.Plan.Changes {
			if ch.Action == plan.Delete && ch.Hook == nil {
				goes[ch.Instance]++
			}
		}
	}
	maps.DeleteFunc(goes, func(name string, _ int) bool { return !away[name] || placed[name] })
	return goes
}

// OnFleet says why the deletions of the whole apply need their number: those of each cluster, instances that lose their
// last place (elsewhere are those with one on a cluster that is not among these), and a bundle of which nothing is left.
func OnFleet(clusters []Cluster, elsewhere map[string]bool) []string {
	var why, brakes []string
	at := map[string][]string{}
	declared, deleted := 0, 0
	for _, c := range clusters {
		if brake := c.Plan.Brake; brake != "" {
			if !slices.Contains(brakes, brake) {
				brakes = append(brakes, brake)
			}
			at[brake] = append(at[brake], c.Name)
		}
		deleted += len(deletedOf(c.Plan))
		for _, d := range c.Declared {
			if !d.OwnNamespace && d.Hook == nil {
				declared++
			}
		}
	}
	for _, brake := range brakes {
		where := "on cluster " + at[brake][0] + ": "
		if n := len(at[brake]); n > 1 {
			where = fmt.Sprintf("on %d clusters (%s): ", n, strings.Join(at[brake], ", "))
		}
		why = append(why, where+brake)
	}
	leaving := Leaving(clusters)
	for _, name := range slices.Sorted(maps.Keys(leaving)) {
		if !elsewhere[name] {
			why = append(why, fmt.Sprintf("instance %s is placed on no cluster any more, and the %d objects it has go", name, leaving[name]))
		}
	}
	if declared == 0 && deleted > 0 && len(why) == 0 {
		why = append(why, "nothing of the bundle is placed on any selected cluster any more")
	}
	return why
}

// Requiring are the bundles on a cluster that require the one that is to be deleted.
type Requiring struct {
	Cluster string
	Bundles []string
}

// Required says why the delete of a whole bundle needs its number: other bundles require it, and stay.
func Required(on []Requiring) []string {
	at := map[string][]string{}
	for _, c := range on {
		for _, b := range c.Bundles {
			at[b] = append(at[b], c.Cluster)
		}
	}
	var why []string
	for _, b := range slices.Sorted(maps.Keys(at)) {
		why = append(why, fmt.Sprintf("bundle %s requires it, and runs on %s; where both are to go, delete %s first", b, diag.Few(at[b]), b))
	}
	return why
}

// Missed warns of bundles that require one of which there will be no record any more.
func Missed(on []Requiring) diag.Findings {
	var out diag.Findings
	for _, c := range on {
		for _, b := range c.Bundles {
			f := diag.Warnf("required", "bundle %s requires it, and will not find it any more", b)
			f.Cluster, f.Fix = c.Cluster, "take it out of what "+b+" requires, or eject that one too"
			out = append(out, f)
		}
	}
	return out
}

// Check is the refusal of a plan whose deletions need their number, nil when that number was confirmed, and of every plan that
// was confirmed with another number than its own. deletes is the number of deletions and recreations, confirmed what the user said
// (nil for nothing).
func Check(why []string, deletes int, confirmed *int) diag.Findings {
	switch {
	case confirmed != nil && *confirmed != deletes:
		f := Miscounted("the plan deletes ", deletes, *confirmed)
		f.Because(strings.Join(why, "\n"))
		return diag.Findings{f}
	case len(why) == 0 || deletes == 0 || confirmed != nil:
		return nil
	}
	f := diag.Errorf(Code, "the plan deletes %s, which needs a confirmation of its own", diag.Counted(deletes, "object"))
	f.Because(strings.Join(why, "\n"))
	f.Fix = fmt.Sprintf("if that is meant: --confirm-delete=%d", deletes)
	return diag.Findings{f}
}

// Miscounted refuses a number that was confirmed and is not that of the deletions; deletes is what deletes how many: "the plan deletes ".
func Miscounted(deletes string, number, confirmed int) diag.Finding {
	f := diag.Errorf(Code, "--confirm-delete=%d does not match: %s%s", confirmed, deletes, diag.Counted(number, "object"))
	if f.Fix = fmt.Sprintf("if that is meant: --confirm-delete=%d", number); number == 0 {
		f.What = fmt.Sprintf("--confirm-delete=%d does not match: %snothing", confirmed, deletes)
		f.Fix = "look at the plan; if that is meant, leave --confirm-delete out"
	}
	return f
}
