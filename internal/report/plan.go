package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
)

// Plan prints the one plan of a fleet: header, groups of equal change, rollout, totals. A plan that holds errors or
// conflicts is printed as refused: its findings first, then the conflicting groups, then that nothing was written. One that
// only wants the number of its deletions, or waves before it, is printed whole, and then what holds it up.
func Plan(w io.Writer, p *fleetplan.FleetPlan, st Style) error {
	o, p := laid(w, p, st)
	planHeader(o, p)
	guard, others := p.Unconfirmed()
	switch problems := problems(p); {
	case len(guard) > 0:
		wholePlan(o, p, others)
		o.line()
		writeFindings(o, guard)
		o.line()
		refusal(o, problems)
	case problems > 0:
		o.line()
		writeFindings(o, p.Findings)
		planGroups(o, p, true)
		unreached(o, p)
		o.line()
		refusal(o, problems)
	case !p.Writes() && len(unreachable(p)) == 0:
		planNotes(o, p, p.Findings)
		n, notAsked := asked(p)
		o.linef("No changes: %s on %s are as declared (%s).%s", count(p.Counts().Unchanged, "object"), count(n, "cluster"),
			st.shortDigest(p.SourceDigest), notAsked)
	default:
		wholePlan(o, p, p.Findings)
	}
	return o.Flush()
}

// FirstWrite prints what a plan writes first, and where, broken to the width; nothing where it writes nothing.
func FirstWrite(w io.Writer, p *fleetplan.FleetPlan, st Style) error {
	o, p := laid(w, p, st)
	if text := p.FirstWrite(); text != "" {
		o.wrapped(0, clean(text), "")
	}
	return o.Flush()
}

// refusal is the last line of a plan that cannot be carried out.
func refusal(o *out, problems int) {
	o.wrapped(0, fmt.Sprintf("Plan: refused, %s. Nothing was written.", count(problems, "problem")), red)
}

// wholePlan prints what is to be read before a plan is confirmed: findings, groups, rollout, what deletions will want,
// totals.
func wholePlan(o *out, p *fleetplan.FleetPlan, findings diag.Findings) {
	planNotes(o, p, findings)
	planGroups(o, p, false)
	unreached(o, p)
	rolloutBlock(o, p)
	o.line()
	if len(findings) == len(p.Findings) {
		brake(o, p)
	}
	o.wrapped(0, totals(p), bold)
}

// asked counts the clusters that a plan looked at, and says how many it did not ask.
func asked(p *fleetplan.FleetPlan) (n int, notAsked string) {
	for _, c := range p.Clusters {
		if !c.Later {
			n++
		}
	}
	if later := len(p.Clusters) - n; later > 0 {
		notAsked = fmt.Sprintf(" Not asked: %s in later waves.", count(later, "cluster"))
	}
	return n, notAsked
}

// brake says which deletions will have to be confirmed by their number.
func brake(o *out, p *fleetplan.FleetPlan) {
	if len(p.Guard) == 0 {
		return
	}
	c := p.Counts()
	o.wrapped(0, fmt.Sprintf("To be applied it needs --confirm-delete=%d:", max(p.Confirm, c.Delete+c.Recreate)), red)
	for _, why := range p.Guard {
		for i, l := range wrap(clean(why), max(20, o.st.width()-5)) { // what goes on is indented further: a reason a line
			o.line(strings.Repeat(" ", 3+2*min(i, 1)), l)
		}
	}
}

// Diff prints the field diffs of a plan alone, grouped like the plan, without header, rollout and totals.
func Diff(w io.Writer, p *fleetplan.FleetPlan, st Style) error {
	o, p := laid(w, p, st)
	if p.Findings.HasErrors() {
		writeFindings(o, p.Findings)
		o.line()
	}
	planGroups(o, p, false)
	unreached(o, p)
	return o.Flush()
}

// Saved prints where a plan was saved and how to apply exactly it.
func Saved(w io.Writer, file, digest string, st Style) error {
	_, err := fmt.Fprintf(w, "Saved as %s (%s). Apply exactly this:  hawser apply %s\n", file, st.shortDigest(digest), file)
	return err
}

// problems counts what blocks the plan: its errors, or its conflicts when no finding tells of them.
func problems(p *fleetplan.FleetPlan) int {
	if n := len(p.Findings.Errors()); n > 0 {
		return len(p.Findings.Errors().Merge())
	}
	return p.Counts().Conflict
}

func planHeader(o *out, p *fleetplan.FleetPlan) {
	where := " on " + count(len(p.Clusters), "cluster")
	if len(p.Clusters) == 1 {
		where = " on cluster " + p.Clusters[0].Cluster
		if s := p.Clusters[0].Server; s != "" {
			where += " (" + s + ")"
		}
	}
	if n := len(p.Schedule.Waves); n > 0 && !p.Schedule.Sequential {
		where += ", " + count(n, "wave")
	}
	head := p.Title(where)
	if !o.st.Apply {
		head += ". Reading only"
	}
	o.line(o.st.paint(bold, head+"."))
	s := p.Stats
	if s.Clusters == 0 {
		return
	}
	ms := func(n int64) string { return seconds(time.Duration(n) * time.Millisecond) }
	parts := []string{fmt.Sprintf("%d/%d connected %s", s.Connected, s.Clusters, ms(s.ConnectMS))}
	if s.Instances > 0 {
		parts = append(parts, fmt.Sprintf("%s for %s %s", count(s.Renders, "render"), count(s.Instances, "instance"), ms(s.RenderMS)))
	}
	parts = append(parts, fmt.Sprintf("%s compared %s", count(s.Objects, "object"), ms(s.ObserveMS)))
	o.line(o.st.paint(dim, strings.Join(parts, " "+o.st.dot()+" ")))
}

// planNotes prints what a reader must know before the changes: warnings, interrupted runs, changed runtime values
// and, with -v, instances that are not placed.
func planNotes(o *out, p *fleetplan.FleetPlan, findings diag.Findings) {
	if fs := shown(findings, o.st); len(fs) > 0 {
		o.line()
		writeFindings(o, fs)
	}
	resumes, undone := p.Interrupted()
	runtime, left, suspended := newTally(), newTally(), newTally()
	for _, c := range p.Clusters {
		for _, r := range c.RuntimeChanges {
			runtime.add(r, c.Cluster)
		}
		if c.Plan != nil {
			for _, inst := range c.Plan.Suspended {
				suspended.add(inst, c.Cluster)
			}
		}
		for _, inst := range sortedKeys(c.NotPlaced) {
			left.add(inst+": "+c.NotPlaced[inst], c.Cluster)
		}
	}
	if len(resumes) > 0 {
		o.line()
		o.wrapped(0, "Resumes a run that ended in the middle on "+clusterList(resumes, o.st), "")
	}
	if len(undone) > 0 {
		o.line()
		o.wrapped(0, "A run that was to delete or eject everything ended in the middle on "+clusterList(undone, o.st)+"; this one makes it again", "")
	}
	for _, text := range awaited(p, o.st) {
		o.line()
		o.wrapped(0, text, "")
	}
	tallied(o, "Runtime values that changed since the last release", runtime)
	tallied(o, "Suspended, left as they are", suspended)
	notPlaced(o, left)
	if p.Writes() || len(resumes)+len(undone)+len(runtime.keys)+len(suspended.keys)+len(findings)+len(awaited(p, o.st)) > 0 {
		o.line()
	}
}

// awaited are the clusters where nothing is written, and what the last run left is waited for: a line for each reason.
func awaited(p *fleetplan.FleetPlan, st Style) []string {
	waits := newTally()
	for _, c := range p.Clusters {
		if c.Waits != "" {
			waits.add(c.Waits, c.Cluster)
		}
	}
	var out []string
	for _, why := range waits.keys {
		out = append(out, "Nothing to write on "+clusterList(waits.at[why], st)+", but "+clean(why)+": an apply waits for it")
	}
	return out
}

// notPlaced says which instances are not everywhere: in one line each with -v, else all in one.
func notPlaced(o *out, left *tally) {
	if o.st.Verbose > 0 {
		tallied(o, "Not placed", left)
		return
	}
	var parts []string
	for _, k := range left.keys {
		inst, why, _ := strings.Cut(k, ": ")
		parts = append(parts, inst+" on "+Names(left.at[k])+" ("+why+")")
	}
	if len(parts) > 0 {
		o.line()
		o.wrapped(0, "Not placed: "+clean(strings.Join(parts, "; ")), dim)
	}
}

// tally collects the clusters of equal texts, in the order of first appearance.
type tally struct {
	keys []string
	at   map[string][]string
}

func newTally() *tally { return &tally{at: map[string][]string{}} }

func (t *tally) add(key, cluster string) {
	if _, ok := t.at[key]; !ok {
		t.keys = append(t.keys, key)
	}
	t.at[key] = append(t.at[key], cluster)
}

func tallied(o *out, title string, t *tally) {
	if len(t.keys) == 0 {
		return
	}
	o.line()
	o.line(title)
	for _, k := range t.keys {
		list := clusterList(t.at[k], o.st)
		if o.st.narrow() && 3+width(clean(k))+2+width(list) > o.st.width() {
			o.wrapped(3, clean(k), "")
			o.wrapped(5, list, dim)
			continue
		}
		o.line("   ", clean(k), "  ", o.st.paint(dim, list))
	}
}

// clusterList is "2 clusters: a, b".
func clusterList(names []string, st Style) string {
	head := count(len(names), "cluster")
	if st.Full {
		return head + ": " + strings.Join(names, ", ")
	}
	return head + ": " + Names(names)
}

// unreachable lists clusters that resolve but did not answer.
func unreachable(p *fleetplan.FleetPlan) []*fleetplan.ClusterPlan {
	var list []*fleetplan.ClusterPlan
	for _, c := range p.Clusters {
		if c.Unreachable != "" {
			list = append(list, c)
		}
	}
	return list
}

func unreached(o *out, p *fleetplan.FleetPlan) {
	r := newReasons()
	for _, c := range unreachable(p) {
		r.add(c.Cluster, c.State(), c.Unreachable)
	}
	r.write(o, ". Not planned; not counted as unchanged.")
}

// totals is the last line: what the plan would do, in numbers.
func totals(p *fleetplan.FleetPlan) string {
	c := p.Counts()
	parts := []string{fmt.Sprintf("%d to create, %d to change", c.Create, c.Update)}
	for _, x := range []struct {
		n    int
		what string
	}{{c.Recreate, "to recreate"}, {c.Adopt, "to adopt"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	parts = append(parts, fmt.Sprintf("%d to delete", c.Delete))
	if c.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown until apply", c.Unknown))
	}
	if c.Release > 0 {
		parts = append(parts, fmt.Sprintf("%d to let go", c.Release))
	}
	if c.Hooks > 0 {
		parts = append(parts, count(c.Hooks, "hook"))
	}
	parts = append(parts, fmt.Sprintf("%d unchanged", c.Unchanged))
	change, same, lost, later := 0, 0, 0, 0
	for _, cp := range p.Clusters {
		switch {
		case cp.Later:
			later++
		case cp.Unreachable != "" || cp.Plan == nil:
			lost++
		case cp.Plan.Empty():
			same++
		default:
			change++
		}
	}
	verb := "clusters change"
	if change == 1 {
		verb = "cluster changes"
	}
	not := "do"
	if same == 1 {
		not = "does"
	}
	tail := fmt.Sprintf("%d %s, %d %s not", change, verb, same, not)
	if lost > 0 {
		tail += fmt.Sprintf(", %d not reached", lost)
	}
	if later > 0 {
		tail += fmt.Sprintf(", %d in later waves", later)
	}
	return "Plan: " + strings.Join(parts, ", ") + ". " + tail + "."
}

// ended prints the findings of an answer, those worth telling, and is the error of all output.
func (o *out) ended(fs diag.Findings) error {
	if fs = shown(fs, o.st); len(fs) > 0 {
		o.line()
		writeFindings(o, fs)
	}
	return o.Flush()
}

// shown are the findings a plan that is not refused prints: warnings, infos that people wait for, with -v all infos.
func shown(fs diag.Findings, st Style) diag.Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f diag.Finding) bool {
		return f.Severity == diag.Info && st.Verbose == 0 && !slices.Contains([]string{fleetplan.CodeApproved, fleetplan.CodeNotInstalled, plan.CodeUnchecked}, f.Code)
	})
}

// changesOf are the changes worth a line.
func changesOf(changes []plan.Change) []plan.Change {
	if !slices.ContainsFunc(changes, func(c plan.Change) bool { return c.Action == plan.Unchanged && c.Hook == nil }) {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c plan.Change) bool { return c.Action == plan.Unchanged && c.Hook == nil })
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
