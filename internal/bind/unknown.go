package bind

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

// Otherwise gives values, in which stand-ins stand for what is open, with other stand-ins of the same types. What is
// rendered from both alike does not depend on the values (see Unknown). A list of nothing becomes one of a text, with maps one of an empty map.
func Otherwise(v v1alpha1.Values, open []From, maps bool) v1alpha1.Values {
	at := map[string]bool{}
	for _, f := range open {
		at[f.At] = true
	}
	v.Struct = rewrite(v.Struct, nil, func(x *v1alpha1.Value, p v1alpha1.Path) (*v1alpha1.Value, bool) {
		if !at[p.String()] {
			return nil, false
		}
		return rewrite(x, nil, func(x *v1alpha1.Value, _ v1alpha1.Path) (*v1alpha1.Value, bool) { return other(x, maps) }), true
	})
	return v
}

// other is another scalar of the same type, a text for null, and something in what is empty.
func other(x *v1alpha1.Value, maps bool) (*v1alpha1.Value, bool) {
	out := *x
	something := &v1alpha1.Value{Kind: v1alpha1.KindString, Text: "not " + knownAfter + "0", Foreign: true, Pos: x.Pos}
	switch x.Kind {
	case v1alpha1.KindNull:
		return something, true
	case v1alpha1.KindString, v1alpha1.KindBytes:
		if strings.HasPrefix(x.Text, knownAfter) {
			out.Text = "not " + x.Text
		}
		out.Text, out.Foreign = out.Text+"0", true
	case v1alpha1.KindInt:
		n, err := strconv.ParseInt(x.Text, 10, 64)
		if err != nil {
			return nil, false
		}
		out.Text = strconv.FormatInt(n+1, 10)
	case v1alpha1.KindFloat:
		n, err := strconv.ParseFloat(x.Text, 64)
		if err != nil {
			return nil, false
		}
		out.Text = strconv.FormatFloat(n+0.5, 'f', -1, 64)
	case v1alpha1.KindBool:
		out.Text = strconv.FormatBool(x.Text != "true")
	case v1alpha1.KindList:
		if len(x.Items) > 0 {
			return nil, false
		}
		if out.Items = []*v1alpha1.Value{something}; maps {
			out.Items = []*v1alpha1.Value{{Kind: v1alpha1.KindStruct, Pos: x.Pos}}
		}
	case v1alpha1.KindStruct:
		if len(x.Fields) > 0 {
			return nil, false
		}
		out.Fields = []v1alpha1.Field{{Name: "other", Value: something, Pos: x.Pos}}
	default:
		return nil, false
	}
	return &out, true
}

// Numbers gives values with a text of digits in place of each text that stands in for what is open, which is a number and base64 of a text, too: what a
// chart takes as such is the same for any text that is neither. There are none where no text stands in.
func Numbers(v v1alpha1.Values, open []From) []v1alpha1.Values {
	at := map[string]int{}
	for _, f := range Texts(open) {
		at[f.At] = len(at) + 1
	}
	v.Struct = rewrite(v.Struct, nil, func(x *v1alpha1.Value, p v1alpha1.Path) (*v1alpha1.Value, bool) {
		n := at[p.String()]
		if n == 0 {
			return nil, false
		}
		out := *x
		out.Text = "140" + strconv.Itoa(n%10)
		return &out, true
	})
	if len(at) == 0 {
		return nil
	}
	return []v1alpha1.Values{v}
}

// Others are the values of Otherwise, in the order in which they are tried.
func Others(v v1alpha1.Values, open []From) []v1alpha1.Values {
	out := []v1alpha1.Values{Otherwise(v, open, false)}
	if EmptyLists(open) {
		out = append(out, Otherwise(v, open, true))
	}
	return out
}

// EmptyLists reports whether a list of nothing stands in for any of what is open, or is in what does.
func EmptyLists(open []From) (found bool) {
	for _, f := range open {
		rewrite(StandIn(f), nil, func(x *v1alpha1.Value, _ v1alpha1.Path) (*v1alpha1.Value, bool) {
			found = found || x.Kind == v1alpha1.KindList && len(x.Items) == 0
			return nil, false
		})
	}
	return found
}

// Unknown marks which objects of a render depend on what is open: those that a second render, of the values with other
// stand-ins, has otherwise or not at all. Texts that are computed of stand-ins (a digest) become texts that say so, where no
// stand-in is seen in them. They are the scalars that differ, of all that was found so far. The objects given are not changed.
func Unknown(objs, second []object.Object, open []From) []object.Object {
	u := unknown{marks: marksOf(open)}
	u.label = knownAfter + strings.Join(After(open), ", ")
	bodies := map[object.Ref]map[string]any{}
	for _, o := range second {
		bodies[o.Ref()] = o.Body
	}
	out := slices.Clone(objs)
	for i, o := range out {
		body, ok := bodies[o.Ref()]
		if !ok {
			out[i].Unknown = u.known(o)
			continue
		}
		u.secret, u.base64, u.open = o.Ref().IsSecret(), false, u.known(o)
		got, differs := u.both("", o.Body, body)
		if differs {
			out[i].Unknown = u.open
			out[i].Body, _ = got.(map[string]any)
		}
	}
	return out
}

// After is what values are known after, each once, in order.
func After(froms []From) []string {
	var out []string
	for _, f := range froms {
		if after := f.After(); !slices.Contains(out, after) {
			out = append(out, after)
		}
	}
	return out
}

// unknown compares two renders of an object.
type unknown struct {
	marks map[string]bool
	label string
	// secret: what is compared is a Secret, and base64: its data.
	secret, base64 bool
	// open are the paths of scalars that differ, object.Object.Unknown.
	open map[string]bool
}

// known is what is known already of what is not known of an object.
func (u *unknown) known(o object.Object) map[string]bool {
	out := map[string]bool{}
	maps.Copy(out, o.Unknown)
	return out
}

// both is a with the label in place of texts that differ in b and hold no stand-in, and whether anything differs; path is where they are.
func (u *unknown) both(path string, a, b any) (_ any, differs bool) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return a, true
		}
		out := maps.Clone(x)
		if differs = len(x) != len(y); differs && len(x) == 0 {
			u.open[path] = true
		}
		for k, v := range x {
			data := path == "" && k == "data" && u.secret
			u.base64 = u.base64 || data
			got, d := v, true
			if other, ok := y[k]; ok {
				got, d = u.both(object.JoinPath(path, k), v, other)
			}
			u.base64 = u.base64 && !data
			out[k], differs = got, differs || d
		}
		return out, differs
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) { // which item is which is not known: none of them is open, but for what was none
			u.open[path] = u.open[path] || len(x) == 0
			return a, true
		}
		out := slices.Clone(x)
		for i, v := range x {
			got, d := u.both(path+"["+strconv.Itoa(i)+"]", v, y[i])
			out[i], differs = got, differs || d
		}
		return out, differs
	}
	if reflect.DeepEqual(a, b) {
		return a, false
	}
	switch b.(type) {
	case map[string]any, []any:
		u.open[path] = u.open[path] || a == nil
		return a, true
	}
	u.open[path] = true
	if below, ok := strings.CutPrefix(path, "stringData"); ok && u.secret {
		u.open["data"+below] = true // where it comes to be
	}
	x, ok := a.(string)
	y, isText := b.(string)
	if !ok || !isText {
		return a, true
	}
	return u.text(x, y), true
}

// Where words begin and end in texts.
const begins, ends = " \t\n\"'=:@,", " \t\n\"',:@"

// text is a text with the label in place of what differs in another one, in whole words.
func (u *unknown) text(a, b string) string {
	if holds(a, u.marks) {
		return a
	}
	if u.base64 {
		return base64.StdEncoding.EncodeToString([]byte(u.label))
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	from = strings.LastIndexAny(a[:from], begins) + 1
	to := 0
	for to < min(len(a), len(b))-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	tail := a[len(a)-to:]
	if i := strings.IndexAny(tail, ends); i >= 0 {
		tail = tail[i:]
	} else {
		tail = ""
	}
	return a[:from] + u.label + tail
}

// marksOf are the scalars of stand-ins as text, and the texts that say so; true: found inside of texts too.
func marksOf(froms []From) map[string]bool {
	marks := map[string]bool{}
	for _, f := range froms {
		if f.After() != "" {
			standIns(StandIn(f), marks)
			marks[knownAfter+f.After()] = true
		}
	}
	return marks
}

// standIns collects the scalars of a stand-in as text; true: found inside of texts too.
func standIns(x *v1alpha1.Value, marks map[string]bool) {
	rewrite(x, nil, func(x *v1alpha1.Value, _ v1alpha1.Path) (*v1alpha1.Value, bool) {
		if s, ok := x.Str(); ok && s != "" {
			marks[s] = true
		} else if v, err := x.Any(); err == nil {
			switch v.(type) {
			case int64, float64, bool:
				if _, isText := marks[fmt.Sprint(v)]; !isText {
					marks[fmt.Sprint(v)] = false
				}
			}
		}
		return nil, false
	})
}

// Taken are the values at the paths of froms as JSON types, by those paths.
func Taken(v v1alpha1.Values, froms []From) map[string]any {
	at := map[string]bool{}
	for _, f := range froms {
		at[f.At] = true
	}
	out := map[string]any{}
	if v.Struct == nil {
		return out
	}
	rewrite(v.Struct, nil, func(x *v1alpha1.Value, p v1alpha1.Path) (*v1alpha1.Value, bool) {
		path := p.String()
		if !at[path] {
			return nil, false
		}
		if value, err := x.Any(); err == nil {
			out[path] = value
		}
		return x, true
	})
	return out
}
