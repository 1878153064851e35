// Package valuerefs says what is known when of the values that instances take of each other on one cluster: what they have at plan, what is known only
// after another instance was carried out, and what never comes. What gives values is asked through a Lookup, so that a further kind of source is a
// further Lookup, and no rule beside these.
//
// valuerefs must not know how a source is reached, where its answers are kept, or in which order anything is carried out.
package valuerefs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Lookup asks what gives values; today that are objects of a cluster. What is asked of is at, as References.Object says it.
type Lookup interface {
	// Asked reports whether anybody is asked: offline nobody is.
	Asked() bool
	// Read is the value that an instance takes, as it is now: nil without a finding where what gives it is not there. The finding says why it
	// gives no such value, or why it cannot be asked: with the code bind.CodeUnread for good, with bind.CodeUnanswered for now.
	Read(ctx context.Context, by string, f bind.From, at object.Ref) (*v1alpha1.Value, *diag.Finding)
	// Goes reports whether the value that is there is nobody's but the bundle's, so that it goes when it is declared no longer.
	Goes(ctx context.Context, f bind.From, at object.Ref) bool
}

// Taker is an instance with what it takes of others.
type Taker struct {
	Instance string
	Pos      diag.Pos
	// Takes is all of it, Open what is not known: something stands in for that. Refs are its references of secrets, those that are known when
	// a bundle is done among them, with stand-ins, too. Values are the instance's, with all of it put in.
	Takes, Open, Refs []bind.From
	Values            v1alpha1.Values
}

// References are the values that the instances of a bundle take of each other on one cluster.
type References struct {
	Takers []Taker
	// Namespaces are those of the instances; Namespaced says whether a kind has namespaces, and whether that is known.
	Namespaces map[string]string
	Namespaced func(schema.GroupVersionKind) (namespaced, known bool)
	// Declared is what the bundle declares, and Bodies what of it is rendered, as far as both are known.
	Declared []plan.Desired
	Bodies   map[object.Ref]object.Object
	// Maybe is what will be declared, too, if values that are not known come as they are to be expected.
	Maybe []plan.Desired
	// Suspended are instances that nothing is done for, Behind those of which nothing is begun any more.
	Suspended, Behind map[string]bool
	Lookup            Lookup
}

// OfOthers are the values that come from other instances.
func OfOthers(froms []bind.From) []bind.From {
	return slices.DeleteFunc(slices.Clone(froms), func(f bind.From) bool { return f.Instance == "" })
}

// Unknown are the values that something stands in for: open ones of other instances, and of refs those that are known when a bundle is done.
func Unknown(open, refs []bind.From) []bind.From {
	return slices.Concat(open, slices.DeleteFunc(slices.Clone(refs), func(f bind.From) bool { return f.Bundle == "" }))
}

// Object is what a value is taken of.
func (r References) Object(f bind.From) object.Ref {
	ref := f.Object.Ref(r.Namespaces[f.Instance])
	gv, _ := schema.ParseGroupVersion(f.Object.APIVersion) // the documents' grammar has seen it
	if namespaced, known := r.Namespaced(gv.WithKind(ref.Kind)); known && !namespaced {
		ref.Namespace = ""
	}
	return ref
}

// Sources are what the instances take values of.
func (r References) Sources() map[string][]latevalues.Source {
	out := map[string][]latevalues.Source{}
	for _, t := range r.Takers {
		for _, f := range t.Takes {
			out[t.Instance] = append(out[t.Instance], latevalues.Source{Instance: f.Instance, Object: r.Object(f)})
		}
	}
	return out
}

// Late are the instances with values that are not known, with those that give them.
func (r References) Late() map[string]string {
	out := map[string]string{}
	for _, t := range r.Takers {
		if len(t.Open) > 0 {
			out[t.Instance] = strings.Join(bind.After(t.Open), ", ")
		}
	}
	return out
}

// Known is the value that an instance takes as it is now. It is nil without a finding when it may come yet, or nobody is asked.
func (r References) Known(ctx context.Context, by string, f bind.From) (*v1alpha1.Value, *diag.Finding) {
	if !r.Lookup.Asked() {
		return nil, nil
	}
	x, n := r.Lookup.Read(ctx, by, f, r.Object(f))
	if n != nil && !bind.Unasked(n) && r.MayCome(f) {
		return nil, nil
	}
	return x, n
}

// MayCome reports that somebody else has yet to fill the value in: the object is not what the instance declares
// itself, it is declared without data, or the path leads into its status.
func (r References) MayCome(f bind.From) bool {
	if len(f.Path) > 0 && f.Path[0].Name == "status" {
		return true
	}
	at := r.Object(f)
	if body, ok := r.Bodies[at]; ok && bind.FilledByOthers(body.Body) {
		return true
	}
	return !slices.ContainsFunc(r.Declared, func(d plan.Desired) bool { return d.Ref == at && d.Instance == f.Instance })
}

// Awaits reports whether waiting for a value may help that is not there: somebody has yet to fill it in, or who was asked did not answer. n is why it
// is not there, nil where that is not known.
func (r References) Awaits(f bind.From, n *diag.Finding) bool {
	return n == nil && r.MayCome(f) || n != nil && n.Code == bind.CodeUnanswered
}

// Waits says what an instance waits for, n as for Awaits.
func (r References) Waits(by string, f bind.From, n *diag.Finding) string {
	text := fmt.Sprintf("%s takes its %s", by, f.Path)
	if n != nil {
		text += ", which could not be read: " + n.Why
	}
	return text
}

// Absent says why a value has not come that nobody waits for any longer.
func (r References) Absent(ctx context.Context, by string, f bind.From) *diag.Finding {
	at := r.Object(f)
	if _, n := r.Lookup.Read(ctx, by, f, at); n != nil && n.Code != bind.CodeUnread {
		return n
	}
	return f.Absent(at.String(), by)
}

// Lacking finds values that the objects they are taken from will never hold: those are rendered already, and nobody
// else adds to them; or a suspended instance would have to make them.
func (r References) Lacking(ctx context.Context) diag.Findings {
	var findings diag.Findings
	for _, t := range r.Takers {
		if r.Behind[t.Instance] {
			continue
		}
		for _, f := range t.Open {
			if n := r.lacks(ctx, t.Instance, f); n != nil {
				findings = append(findings, valueOf(t.Instance, n))
			}
		}
	}
	return findings
}

// lacks is why a value will never come, nil when it may.
func (r References) lacks(ctx context.Context, by string, f bind.From) *diag.Finding {
	at := r.Object(f)
	x, n := r.Known(ctx, by, f)
	if r.Suspended[f.Instance] && r.Lookup.Asked() && x == nil && n == nil {
		return f.Suspended(at.String(), by)
	}
	body, rendered := r.Bodies[at]
	switch {
	case !rendered || body.Instance != f.Instance || len(r.StandsIn(at)) > 0 || r.leftToOthers(at):
		return nil
	case x != nil && !r.Lookup.Goes(ctx, f, at):
		return nil
	}
	return bind.Lacks(f, body.Body)
}

// leftToOthers reports whether fields of a declared object are left to others.
func (r References) leftToOthers(at object.Ref) bool {
	return slices.ContainsFunc(r.Declared, func(d plan.Desired) bool { return d.Ref == at && d.Ignore != nil })
}

// Missing finds values of late instances that will not come by themselves: the object is there as declared and does not hold them. Of those that
// the plan moves nobody knows.
func (r References) Missing(ctx context.Context, moving map[object.Ref]bool) diag.Findings {
	var findings diag.Findings
	for _, t := range r.late() {
		for _, f := range t.Takes {
			if moving[r.Object(f)] {
				continue
			}
			if _, n := r.Known(ctx, t.Instance, f); n != nil {
				findings = append(findings, valueOf(t.Instance, n))
			}
		}
	}
	return findings
}

// Uncertain are the instances whose values are not certain while the plan is not carried out, with the reason.
func (r References) Uncertain(ctx context.Context, p *plan.Plan) map[string]string {
	open := map[object.Ref]bool{}
	for _, t := range r.late() {
		for _, f := range t.Takes {
			if x, _ := r.Known(ctx, t.Instance, f); x == nil {
				open[r.Object(f)] = true
			}
		}
	}
	return latevalues.Uncertain(p, r.Sources(), func(at object.Ref) bool { return !open[at] })
}

// Reopened are the instances, sorted, that the plan has with values of which it is not certain yet.
func (r References) Reopened(ctx context.Context, p *plan.Plan) []string {
	var out []string
	uncertain := r.Uncertain(ctx, p)
	for _, t := range r.Takers {
		if uncertain[t.Instance] != "" && len(t.Open) < len(t.Takes) {
			out = append(out, t.Instance)
		}
	}
	slices.Sort(out)
	return out
}

// late are those with values that are not known.
func (r References) late() []Taker {
	return slices.DeleteFunc(slices.Clone(r.Takers), func(t Taker) bool { return len(t.Open) == 0 })
}

// StandsIn is what the values are known after, instances and bundles, for which something stands in an object.
func (r References) StandsIn(at object.Ref) []string {
	body, ok := r.Bodies[at]
	if !ok {
		return nil
	}
	for _, t := range r.Takers {
		unknown := Unknown(t.Open, t.Refs)
		if t.Instance == body.Instance && len(unknown) > 0 && (body.Unknown != nil || bind.Holds(body.Body, slices.Concat(t.Takes, unknown))) {
			return bind.After(unknown)
		}
	}
	return nil
}

// mayStay is what is waited for that decides whether an object which is not declared will be, nil where nothing does.
func (r References) mayStay(at object.Ref) []string {
	for _, d := range r.Maybe {
		for _, t := range r.Takers {
			if d.Ref == at && t.Instance == d.Instance {
				return bind.After(Unknown(t.Open, t.Refs))
			}
		}
	}
	return nil
}

// Mark tells of every change which values it waits for, and what it takes of others' values.
func (r References) Mark(p *plan.Plan) {
	taken := map[string]*Taker{}
	values := map[string]map[string]any{}
	for i, t := range r.Takers {
		if all := slices.Concat(t.Takes, t.Refs); len(all) > 0 {
			taken[t.Instance], values[t.Instance] = &r.Takers[i], bind.Taken(t.Values, all)
		}
	}
	for i := range p.Changes {
		ch := &p.Changes[i]
		if ch.Action == plan.Delete || ch.Action == plan.Release {
			ch.After = r.mayStay(ch.Ref)
			continue
		}
		ch.After = r.StandsIn(ch.Ref)
		body, rendered := r.Bodies[ch.Ref]
		if len(ch.After) > 0 && len(body.Unknown) > 0 {
			show(ch, body, r.previewed(body.Instance))
		}
		if t := taken[body.Instance]; rendered && t != nil {
			ch.Late = &plan.Late{Object: body, Values: values[body.Instance]}
			for _, f := range Unknown(t.Open, t.Refs) {
				ch.Late.Open = append(ch.Late.Open, f.At)
			}
		}
	}
}

// previewed reports whether a user gave a preview of what is not known of an instance.
func (r References) previewed(instance string) bool {
	return slices.ContainsFunc(r.Takers, func(t Taker) bool { return t.Instance == instance && bind.Previewed(Unknown(t.Open, t.Refs)) })
}

// Shown are bodies as a plan shows them: what is not known in them says so, whatever stands there meanwhile.
func (r References) Shown(bodies map[object.Ref]object.Object) map[object.Ref]object.Object {
	out := maps.Clone(bodies)
	for ref, o := range bodies {
		if len(o.Unknown) == 0 {
			continue
		}
		if after := r.StandsIn(ref); len(after) > 0 {
			o.Body = bind.Shown(o.Body, o.Unknown, after, r.previewed(o.Instance))
			out[ref] = o
		}
	}
	return out
}

// show tells of the fields of a change, and in what is made, which of them are not known: what stands there meanwhile looks like any other value, and is
// no change where it is what is there. What is hidden stays so.
func show(ch *plan.Change, body object.Object, preview bool) {
	if ch.Content != nil {
		ch.Content = bind.Shown(ch.Content, body.Unknown, ch.After, preview)
	}
	ch.Fields = slices.Clone(ch.Fields)
	at := map[string]int{}
	for i, f := range ch.Fields {
		at[f.Path] = i
	}
	before, after := object.WithoutPaths(body.Body, ch.OmitFields), object.WithoutPaths(bind.Shown(body.Body, body.Unknown, ch.After, preview), ch.OmitFields)
	told := len(ch.Fields)
	for _, f := range plan.FieldChanges(body, before, after, func(s string) string { return s }, object.Setters{}) {
		i, among := at[f.Path]
		switch {
		case among && !f.Hidden && !ch.Fields[i].Hidden && ch.Fields[i].New != "":
			as := bind.ShownAs(ch.Fields[i].New, ch.After, preview)
			if text, err := diag.JSON(as); as != ch.Fields[i].New && err == nil {
				ch.Fields[i].New = text
			}
		case !among && adds(*ch) && !left(ch.Ignore, f.Path):
			if within(ch.Fields[:told], f.Path) {
				f.Old = "" // what was there is told with the field around it
			}
			ch.Fields = append(ch.Fields, f)
		}
	}
	if len(ch.Fields) > told {
		slices.SortStableFunc(ch.Fields, func(a, b plan.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	}
}

// adds reports whether it is known in which fields what a change writes differs from what is there: all others are as they are declared.
func adds(ch plan.Change) bool {
	return ch.Hook == nil && ch.Action != plan.Create && (ch.Checked || len(ch.Fields) > 0)
}

// left reports whether a field is left to others by its path.
func left(ignore *object.Ignore, path string) bool {
	return ignore != nil && (&object.Ignore{Paths: ignore.Paths}).Leaves(path, "")
}

// within reports whether a path leads into one of the fields.
func within(fields []plan.FieldChange, path string) bool {
	return slices.ContainsFunc(fields, func(f plan.FieldChange) bool {
		return strings.HasPrefix(path, f.Path+".") || strings.HasPrefix(path, f.Path+"[")
	})
}

// StandIns warns of values that are not known where nothing is planned.
func (r References) StandIns() diag.Findings {
	var out diag.Findings
	for _, t := range r.Takers {
		for _, f := range t.Open {
			out = append(out, diag.Findings{f.Placeholder()}.OfInstance(t.Instance, t.Pos)...)
		}
	}
	return out
}

// valueOf is a finding about a value of an instance.
func valueOf(instance string, n *diag.Finding) diag.Finding {
	out := *n
	out.Instance, out.Path = instance, "values."+out.Path
	return out
}
