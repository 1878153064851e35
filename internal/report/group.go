package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Columns of a change: its mark, the object, its fields.
const (
	colInstance = 3
	colMark     = 5
	colObject   = 7
	colField    = 9
	maxPath     = 40
)

// section is one heading with its changes: a group, or a cluster with --full.
type section struct {
	head    string
	as      string
	changes []plan.Change
	differ  []group.Variants
	first   *fleetplan.ClusterPlan // whose instances describe the sources
}

// planGroups prints the groups (with --full the clusters) of a plan; of a refused one only those with conflicts.
func planGroups(o *out, p *fleetplan.FleetPlan, refused bool) {
	sections := sectionsOf(o.st, p)
	if refused {
		sections = conflicting(sections, p.Findings)
		if len(sections) > 0 {
			o.line()
		}
	}
	l := layoutOf(o.st, p.Created, sections)
	for i, s := range sections {
		if i > 0 && !o.st.Stat {
			o.line()
		}
		l.section(o, s)
	}
	if len(sections) > 0 && len(unreachable(p)) > 0 {
		o.line()
	}
}

func sectionsOf(st Style, p *fleetplan.FleetPlan) []section {
	byName := make(map[string]*fleetplan.ClusterPlan, len(p.Clusters))
	for _, c := range p.Clusters {
		byName[c.Cluster] = c
	}
	var list []section
	if st.Full {
		for _, c := range p.Clusters {
			if c.Plan == nil || len(changesOf(c.Plan.Changes)) == 0 {
				continue
			}
			list = append(list, section{head: clusterHead(st, c), changes: changesOf(c.Plan.Changes), first: c})
		}
		return list
	}
	for _, g := range p.Groups {
		s := section{as: g.As, changes: changesOf(g.Changes), differ: g.Variants}
		if len(s.changes) == 0 || len(g.Clusters) == 0 {
			continue
		}
		s.first = byName[g.Clusters[0]]
		s.head = st.paint(bold, g.Letter) + "  " + st.paint(bold, clusterList(g.Clusters, st))
		if st.Stat {
			s.head += "  " + statOf(s.changes)
		}
		if g.As != "" {
			s.changes = changesOf(g.Extra)
		}
		list = append(list, s)
	}
	return list
}

func clusterHead(st Style, c *fleetplan.ClusterPlan) string {
	var notes []string
	if c.Group != "" {
		notes = append(notes, "group "+c.Group)
	}
	if c.Wave > 0 {
		notes = append(notes, fmt.Sprintf("wave %d", c.Wave))
	}
	if c.Canary {
		notes = append(notes, "canary")
	}
	if c.Revision > 0 {
		notes = append(notes, fmt.Sprintf("revision %d", c.Revision))
	}
	head := st.paint(bold, c.Cluster) + "  " + strings.Join(notes, ", ")
	if st.Stat {
		head += "  " + statOf(changesOf(c.Plan.Changes))
	}
	return head
}

// statOf is a section's changes in numbers: "+1 ~2 -1".
func statOf(changes []plan.Change) string {
	var parts []string
	for _, a := range []plan.Action{plan.Create, plan.Update, plan.Recreate, plan.Adopt, plan.Delete, plan.Conflict, plan.Unknown, plan.Release} {
		n := 0
		for _, c := range changes {
			if c.Action == a && !hooked(c) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", markOf(a), n))
		}
	}
	hooks := 0
	for _, c := range changes {
		if hooked(c) {
			hooks++
		}
	}
	if hooks > 0 {
		parts = append(parts, count(hooks, "hook"))
	}
	return strings.Join(parts, " ")
}

// hooked reports whether a change is about a hook's object, which is in no other number.
func hooked(c plan.Change) bool { return c.Hook != nil && c.Action != plan.Conflict }

// hookWhy says which hook an object is made or removed for.
func hookWhy(c plan.Change) string {
	why := string(c.Hook.Event) + " hook"
	if c.Hook.Event == object.Test {
		why = "test"
	}
	if c.Hook.Weight != 0 {
		why += fmt.Sprintf(" (weight %d)", c.Hook.Weight)
	}
	if c.Why == "" {
		return why
	}
	return why + ": " + c.Why
}

// markOf is the sign of an action; letting go has its own, so that it does not look unchanged.
func markOf(a plan.Action) string {
	if a == plan.Release {
		return "="
	}
	return a.Mark()
}

// conflicting are the sections with their conflicts alone. Of those that an error tells already only the ones with fields
// are left: what would be changed helps to decide.
func conflicting(sections []section, told diag.Findings) []section {
	var out []section
	objects := map[string]bool{}
	for _, f := range told.Errors() {
		objects[f.Object] = true
	}
	for _, s := range sections {
		var cs []plan.Change
		for _, c := range s.changes {
			if c.Action == plan.Conflict && (len(c.Fields) > 0 || !objects[c.Ref.String()]) {
				cs = append(cs, c)
			}
		}
		if len(cs) > 0 {
			s.changes, s.as = cs, ""
			out = append(out, s)
		}
	}
	return out
}

// layout are the columns that hold for a whole plan, so that fields line up from group to group.
type layout struct {
	st    Style
	now   time.Time
	value int
	why   int
}

// layoutOf finds the columns: values stand behind the longest path, whys behind the longest value that has one.
func layoutOf(st Style, now time.Time, sections []section) layout {
	path, val := 24, 16
	for _, s := range sections {
		for _, c := range s.changes {
			for i := range fieldsOf(c) {
				f := &c.Fields[i]
				path = max(path, width(elidePath(st, f.Path)))
				if v := inline(st, *f); v != "" && width(v) <= 34 && fieldWhy(c, *f, now) != "" {
					val = max(val, width(v))
				}
			}
		}
	}
	l := layout{st: st, now: now, value: colField + min(path, maxPath) + 3}
	l.why = l.value + val + 3
	return l
}

func (l layout) section(o *out, s section) {
	if width(s.head) <= o.st.width() || !o.st.narrow() {
		for _, l := range foldHead(o.st, s.head) {
			o.line(l)
		}
	} else { // names are never left out
		o.wrapped(0, s.head, "")
	}
	if o.st.Stat {
		return
	}
	if s.as != "" {
		o.wrapped(colInstance, "as "+s.as+", and", "")
	}
	instance, begun := "", false
	for _, c := range s.changes {
		if c.ReplacedBy != nil {
			continue // it stands with what replaces it
		}
		if !begun || c.Instance != instance {
			instance, begun = c.Instance, true
			l.instance(o, instance, s.first)
		}
		l.change(o, c)
		l.variants(o, c, s.differ)
		l.content(o, c)
	}
}

// foldHead breaks a long heading at the commas between cluster names.
func foldHead(st Style, head string) []string {
	if width(head) <= st.width() {
		return []string{head}
	}
	var out []string
	line := ""
	for _, w := range strings.SplitAfter(head, ",") {
		if line != "" && width(line)+width(w) > st.width() {
			out, line, w = append(out, line), "     ", strings.TrimLeft(w, " ")
		}
		line += w
	}
	return append(out, line)
}

// instance prints an instance's name and, when it is new or changed, its source and where it is declared.
func (l layout) instance(o *out, name string, cp *fleetplan.ClusterPlan) {
	if name == "" {
		return
	}
	line, pos := strings.Repeat(" ", colInstance)+o.st.paint(cyan, name), ""
	if cp != nil {
		for _, ip := range cp.Instances {
			if ip.Name != name || ip.Source == "" || ip.Source == ip.Before {
				continue
			}
			line += "  " + sourceChange(ip.Before, ip.Source)
			pos = shortPos(ip.Pos.String(), ip.Pos.Column)
		}
	}
	l.withWhy(o, line, l.why, colObject, pos)
}

// shortPos is a position without its column.
func shortPos(pos string, column int) string {
	if column == 0 {
		return pos
	}
	return strings.TrimSuffix(pos, fmt.Sprintf(":%d", column))
}

// sourceChange is "chart api 2.3.0 -> 2.4.1": the words both have are said once.
func sourceChange(before, source string) string {
	if before == "" {
		return source
	}
	b, s := strings.Fields(before), strings.Fields(source)
	n := 0
	for n < len(b)-1 && n < len(s)-1 && b[n] == s[n] {
		n++
	}
	return strings.Join(append(s[:n:n], strings.Join(b[n:], " ")+" -> "+strings.Join(s[n:], " ")), " ")
}

var markInk = map[plan.Action]ink{
	plan.Create: green, plan.Update: yellow, plan.Delete: red, plan.Recreate: magenta,
	plan.Adopt: cyan, plan.Conflict: red, plan.Unknown: dim,
}

// change prints one object with its fields.
func (l layout) change(o *out, c plan.Change) {
	mark := markOf(c.Action)
	if hooked(c) && c.Action != plan.Delete && c.Action != plan.Release {
		mark = o.st.pick("»", ">")
	}
	if mark == "±" || c.Replaces != nil {
		mark = o.st.pick("±", "-/+")
	}
	line := pad(strings.Repeat(" ", colMark)+o.st.paint(markInk[c.Action], mark), colObject)
	if width(line) > colObject {
		line += " "
	}
	l.withWhy(o, line+clean(named(c)), l.why, colField, objectWhy(c))
	for _, f := range fieldsOf(c) {
		l.field(o, c, f)
	}
}

// fieldsOf are the fields shown of a change: a created or deleted object is told by its line alone, unless it replaces one.
func fieldsOf(c plan.Change) []plan.FieldChange {
	switch {
	case c.Action == plan.Create && c.Replaces == nil, c.Action == plan.Delete, c.Action == plan.Release:
		return nil
	}
	return c.Fields
}

// withWhy prints a line with its why at the right, or below at the given indentation when it does not fit.
func (l layout) withWhy(o *out, line string, col, below int, why string) {
	why = clean(why)
	if why == "" {
		o.line(line)
		return
	}
	if !o.st.narrow() {
		if full := at(line, col, o.st.paint(dim, why)); width(full) <= o.st.width() {
			o.line(full)
			return
		}
	}
	o.line(line)
	o.wrapped(below, why, dim)
}

// objectWhy is the reason printed beside an object, "" when the mark says it all.
func objectWhy(c plan.Change) string {
	why := c.Why
	switch {
	case c.Hook != nil:
		why = hookWhy(c)
	case c.Replaces != nil:
		why = strings.TrimSuffix("a new name for what it holds; the old one is deleted last; "+why, "; ")
	case c.Code == plan.CodeDrift && fieldsTell(c):
		why = ""
	case why == "" && c.From != "":
		why = "from " + c.From
	}
	var parts []string
	if c.Action == plan.Release && c.Code != plan.CodeGone && !c.Leaving {
		parts = append(parts, "let go, stays in the cluster")
	}
	if why != "" {
		parts = append(parts, why)
	}
	if len(c.After) > 0 {
		goes := c.Action == plan.Delete || c.Action == plan.Release
		parts = append(parts, map[bool]string{true: "goes only if the values say so that are known after ", false: "values are known after "}[goes]+strings.Join(c.After, ", "))
	}
	if c.Loss != "" {
		parts = append(parts, "loses "+c.Loss)
	}
	if c.Deferred != "" {
		parts = append(parts, "server check deferred: "+c.Deferred)
	}
	if c.Handover {
		parts = append(parts, "hands over spec.replicas before dropping it")
	}
	if c.Ignore != nil {
		parts = append(parts, "leaves "+strings.Join(append(slices.Clone(c.Ignore.Paths), c.Ignore.Managers...), ", ")+" to others")
	}
	if len(c.OmitFields) > 0 {
		parts = append(parts, "leaves "+strings.Join(c.OmitFields, ", ")+" to its owner")
	}
	return strings.Join(parts, "; ")
}

// fieldsTell reports whether some field names who changed it.
func fieldsTell(c plan.Change) bool {
	for _, f := range c.Fields {
		if f.Manager != "" {
			return true
		}
	}
	return false
}
