package bind

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// Numbers as JSON has them: whole ones, and others. One that is longer than maxNumber is refused.
var (
	whole  = lazyregexp.New(`^-?(0|[1-9][0-9]*)$`)
	number = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

const maxNumber = 64

// Package is what the source of an instance says of its values: for each of some paths the kinds that it takes there instead of a text, none where a
// text will do; and its own value at a path, nil for none.
type Package struct {
	Kinds func([]v1alpha1.Path) [][]v1alpha1.Kind
	Own   func(v1alpha1.Path) *v1alpha1.Value
}

// OfKinds gives values in which what came by references, which is always a text, is a number or a boolean where the package takes no text and the
// text is one. Where nobody was asked, the package's own number or boolean stands in for it, else 1 or true. What another bundle writes first is refused:
// a number that is not the true one would be shown as if it were, and a boolean, or a text in its place, would decide what there is. What is no such text
// stays: whoever checks the values says so. A number that would become another one is refused.
func OfKinds(v v1alpha1.Values, refs []From, of Package) (v1alpha1.Values, diag.Findings) {
	var paths []v1alpha1.Path
	var asked []int
	for i, f := range refs {
		path, err := v1alpha1.ParsePath(f.At)
		if x := stepped(v.Struct, path); err == nil && x != nil && (f.unread(x) || ofKind(x, allKinds) != nil || misfit(x, allKinds) != "") {
			paths, asked = append(paths, path), append(asked, i)
		}
	}
	if len(paths) == 0 {
		return v, nil
	}
	var refused diag.Findings
	at := map[string]*v1alpha1.Value{}
	for n, kinds := range of.Kinds(paths) {
		f := refs[asked[n]]
		x := stepped(v.Struct, paths[n])
		switch {
		case len(kinds) == 0:
		case misfit(x, kinds) != "":
			n := f.Finding("number-range", "%s is no number that can be taken here", f.Ref)
			n.Path, n.Why, n.Fix = "values."+f.At, misfit(x, kinds), "correct what "+f.Ref+" leads to in its store"
			refused = append(refused, *n)
		case !f.unread(x):
			at[f.At] = ofKind(x, kinds)
		case f.Bundle == "":
			at[f.At] = standIn(of.Own(paths[n]), kinds, f.node.Pos)
		default:
			n := f.Finding("late-number", "%s is to be a number or a boolean, and is known only after bundle %s", f.Ref, f.Bundle)
			n.Path, n.Why, n.Fix = "values."+f.At, "nothing stands in for one: a plan would show it as if it were the true one", meanwhile([]From{f})
			refused = append(refused, *n)
		}
	}
	return Replaced(v, at), refused
}

var allKinds = []v1alpha1.Kind{v1alpha1.KindBool, v1alpha1.KindInt, v1alpha1.KindFloat}

// unread reports whether x stands in for the reference, as it is not known yet or nobody was asked.
func (f From) unread(x *v1alpha1.Value) bool {
	text, ok := x.Str()
	return ok && (f.Bundle != "" || text == f.Ref)
}

// stepped is the value at a path, nil where it leads nowhere.
func stepped(x *v1alpha1.Value, path v1alpha1.Path) *v1alpha1.Value {
	for _, step := range path {
		step.Index = false
		x, _ = x.Step(step)
	}
	return x
}

// ofKind is a text as the first of the kinds that it is; nil where it is none of them.
func ofKind(x *v1alpha1.Value, kinds []v1alpha1.Kind) *v1alpha1.Value {
	s, ok := x.Str()
	if s = strings.TrimSpace(s); !ok || len(s) > maxNumber {
		return nil
	}
	out := *x
	out.Text = s
	for _, out.Kind = range []v1alpha1.Kind{v1alpha1.KindBool, v1alpha1.KindInt, v1alpha1.KindFloat} {
		switch {
		case !slices.Contains(kinds, out.Kind):
		case out.Kind == v1alpha1.KindBool && (s == "true" || s == "false"), out.Kind == v1alpha1.KindInt && whole.MatchString(s):
			return &out
		case out.Kind == v1alpha1.KindFloat && number.MatchString(s):
			if whole.MatchString(s) {
				out.Text += ".0"
			}
			return &out
		}
	}
	return nil
}

// misfit is why a text is a number that none of the kinds can hold, "" where it is no number, or can be held. What is said has nothing of it.
func misfit(x *v1alpha1.Value, kinds []v1alpha1.Kind) string {
	s, ok := x.Str()
	s = strings.TrimSpace(s)
	integer, float := slices.Contains(kinds, v1alpha1.KindInt), slices.Contains(kinds, v1alpha1.KindFloat)
	if !ok || !integer && !float || !number.MatchString(s) {
		return ""
	}
	if len(s) > maxNumber {
		return fmt.Sprintf("it has more than %d characters", maxNumber)
	}
	if integer && whole.MatchString(s) {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil {
			return "it does not fit into 64 bits"
		}
		return ""
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case !float:
		return ""
	case err != nil || math.IsInf(f, 0):
		return "it is too large for a number of 64 bits"
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return "it is so small that it would be zero"
	}
	return ""
}

// standIn stands in for a value that is to be of one of the kinds: the package's own where that is, which it takes itself.
func standIn(own *v1alpha1.Value, kinds []v1alpha1.Kind, pos v1alpha1.Position) *v1alpha1.Value {
	text := map[v1alpha1.Kind]string{v1alpha1.KindBool: "true", v1alpha1.KindInt: "1", v1alpha1.KindFloat: "1.0"}[kinds[0]]
	out := v1alpha1.Value{Kind: kinds[0], Text: text, Pos: pos}
	if own != nil && slices.Contains(kinds, own.Kind) {
		out.Kind, out.Text = own.Kind, own.Text
	}
	return &out
}

// dotted is a path with the indexes of lists as names: as renderers write it.
func dotted(path string) string { return strings.NewReplacer("[", ".", "]", "").Replace(path) }

// Misfit says at errors about a value that came by one of the references what to do: its text is not what is wanted there.
func Misfit(fs diag.Findings, refs []From) diag.Findings {
	for i := range fs {
		at := slices.IndexFunc(refs, func(f From) bool { return f.Bundle == "" && dotted(fs[i].Path) == dotted("values."+f.At) })
		if at < 0 || fs[i].Severity != diag.Error {
			continue
		}
		if refs[at].Stood {
			fs[i].Pos, fs[i].Why = refs[at].Pos, "nobody read what "+refs[at].Ref+" leads to: it stands for itself"
			fs[i].Fix = "check where it can be read, or without what depends on its value: hawser vet --stand-ins"
			continue
		}
		fs[i].Fix = "correct what " + refs[at].Ref + " leads to in its store, or let the reference lead to what fits: " +
			"a text is taken as a number where it is one of JSON and the schema wants no text there, as a boolean where it is true or false"
		if fs[i].Pos = refs[at].Pos; fs[i].Why == "" {
			fs[i].Why = "the value is the text that a store of secrets gives"
		}
	}
	return fs
}
