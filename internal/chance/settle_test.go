package chance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answersOf are answers written as "A B": a value each, and "A<ba2": taken from bundle ba at the second move, "A<ba2M" where
// that was M, "A<ba2" where it was not noted.
func answersOf(text string) Answers {
	var a Answers
	text, from, moved := strings.Cut(text, "<")
	if moved {
		a.From, a.Moves, a.Took = from[:2], int(from[2]-'0'), answersOf(from[3:]).Digest()
	}
	for _, v := range strings.Fields(text) {
		a.Calls = append(a.Calls, Call{Template: "t", Func: Generate, Args: v[:1], Value: v})
	}
	return a
}

func keptOf(entries ...string) map[string]Answers {
	out := map[string]Answers{}
	for _, e := range entries {
		name, text, _ := strings.Cut(e, "=")
		out[name] = answersOf(text)
	}
	return out
}

func written(kept map[string]Answers) string {
	var out []string
	for name, a := range kept {
		text := name + "="
		for i, c := range a.Calls {
			if i > 0 {
				text += " "
			}
			text += c.Value
		}
		if a.From != "" {
			text += fmt.Sprintf("<%s%d", a.From, a.Moves)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func listed(names string) func(string) bool {
	return func(name string) bool { return slices.Contains(strings.Fields(names), name) }
}

// other is a bundle beside the one that is settled.
type other struct {
	owner, delivered, declares string
	kept                       []string
}

// settled are cases of TestSettle.
var settled = []struct {
	reason              string
	kept, made          []string
	delivered, declared string
	beside              []other
	want, came          string
}{
	{reason: "nothing is new", kept: []string{"db=A", "web=B"}, delivered: "db web", declared: "db web", want: "db=A, web=B"},
	{reason: "an instance is dropped", kept: []string{"db=A", "web=B"}, delivered: "db web", declared: "web", want: "db=A, web=B"},
	{reason: "a dropped one comes back", kept: []string{"db=A", "web=B"}, delivered: "web", declared: "db web", want: "db=A, web=B"},

	{reason: "renamed", kept: []string{"db=A", "web=B"}, delivered: "db web", declared: "database web",
		want: "database=A, db@1=A, web=B", came: "database: db"},
	{reason: "renamed, and recorded: the copy goes", kept: []string{"database=A", "db@1=A", "web=B"}, delivered: "database web",
		declared: "database web", want: "database=A, web=B"},
	{reason: "two came", kept: []string{"db=A"}, delivered: "db", declared: "a b", want: "db=A"},
	{reason: "two are gone", kept: []string{"db=A", "web=B"}, delivered: "db web", declared: "a", want: "db=A, web=B"},
	{reason: "what came was there before", kept: []string{"db=A", "web=B"}, delivered: "db web api", declared: "web api", want: "db=A, web=B"},
	{reason: "renamed after others were dropped", kept: []string{"b=B", "c=C", "d=D"}, delivered: "c", declared: "cc",
		want: "b=B, c@1=C, cc=C, d=D", came: "cc: c"},
	{reason: "renamed to a former name", kept: []string{"blue=B", "green=G"}, delivered: "green", declared: "blue",
		want: "blue=G, blue@1=B, green@1=G", came: "blue: green?"},
	{reason: "two names swapped: objects tell", kept: []string{"a=A", "b=B"}, delivered: "a b", declared: "a b", want: "a=A, b=B"},
	{reason: "renamed and back", kept: []string{"db=A", "x@1=X"}, delivered: "db", declared: "dbx", want: "db@1=A, dbx=A, x@1=X", came: "dbx: db"},

	{reason: "a rename that was not recorded goes on", kept: []string{"dby=A", "dbx@1=A"}, made: []string{"dbx=A"}, delivered: "dbx",
		declared: "dby", want: "dbx@1=A, dby=A", came: "dby: dbx"},
	{reason: "and is taken back", kept: []string{"dby=A", "dbx@1=A"}, made: []string{"dbx=A"}, delivered: "dbx", declared: "dbx", want: "dbx=A"},
	{reason: "by an earlier version", kept: []string{"dby=A"}, made: []string{"dbx=A"}, delivered: "dbx", declared: "dbx", want: "dbx=A"},
	{reason: "with a value that came with it, on", kept: []string{"dby=A N", "dbx@1=A"}, made: []string{"dbx=A"}, delivered: "dbx",
		declared: "dby", want: "dbx@1=A, dby=A N", came: "dby: dbx"},
	{reason: "and back", kept: []string{"dby=A N", "dbx@1=A"}, made: []string{"dbx=A"}, delivered: "dbx", declared: "dbx", want: "dbx=A"},
	{reason: "to a former name, and back", kept: []string{"blue=G", "blue@1=B", "green@1=G"}, made: []string{"blue=B", "green=G"},
		delivered: "green", declared: "green", want: "blue@1=B, green=G"},
	{reason: "rotated, and back", kept: []string{"dby=A2", "dbx@1=A"}, made: []string{"dbx=A"}, delivered: "dbx", declared: "dbx",
		want: "dbx=A, dby=A2"},
	{reason: "kept later than recorded is no rename", kept: []string{"db=A2", "x=A"}, made: []string{"db=A"}, delivered: "db", declared: "db",
		want: "db=A2, x=A"},

	{reason: "moved here, this bundle first", declared: "db", beside: []other{{"bb", "db", "", []string{"db=A"}}}, want: "db=A<bb1", came: "db: bb"},
	{reason: "moved here, that bundle first", declared: "db", beside: []other{{"bb", "", "", []string{"db=A"}}}, want: "db=A<bb1", came: "db: bb"},
	{reason: "there is one of the name in both", declared: "db", beside: []other{{"bb", "db", "db", []string{"db=A"}}}},
	{reason: "moved back, that bundle first: the later ones", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A2<ba1"}}}, want: "db=A2<bb2, db@1=A", came: "db: bb"},
	{reason: "moved back, this bundle first", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "db", "", []string{"db=A2<ba1"}}}, want: "db=A2<bb2, db@1=A", came: "db: bb"},
	{reason: "moved back, and this one never let it go", kept: []string{"db=A"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "db", "", []string{"db=A2<ba1"}}}, want: "db=A2<bb2, db@1=A", came: "db: bb"},
	{reason: "nothing was rotated in between", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A<ba1"}}}, want: "db=A<bb2", came: "db: bb"},
	{reason: "what stays there when it is back", kept: []string{"db=A3<bb2"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A2<ba1"}}}, want: "db=A3<bb2"},
	{reason: "dropped and declared again after it was back", kept: []string{"db=A3<bb2"}, declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A2<ba1"}}}, want: "db=A3<bb2"},
	{reason: "back by way of a third", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A2<ba1"}}, {"bc", "", "", []string{"db=A3<bb2"}}}, want: "db=A3<bc3, db@1=A", came: "db: bc"},
	{reason: "a move that came to nothing", kept: []string{"db=A"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A2<ba1"}}}, want: "db=A"},
	{reason: "a run was killed after it took it", kept: []string{"db=A N<bb1"}, declared: "db",
		beside: []other{{"bb", "db", "", []string{"db=A"}}}, want: "db=A N<bb1", came: "db: bb"},
	{reason: "an own one, and another of its name is dropped there", kept: []string{"db=A"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "", "", []string{"db=Z<bc1"}}}, want: "db=A"},
	{reason: "a former own one, and a live one comes", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "db", "", []string{"db=Z"}}}, want: "db=Z<bb1, db@1=A", came: "db: bb?"},
	{reason: "a former own one, and a former one there", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "", "", []string{"db=Z"}}}, want: "db=A"},
	{reason: "it went there and stays, and a new one of its name", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "db", "db", []string{"db=A<ba1"}}}, want: "db@1=A"},
	{reason: "a move that only that bundle has done is taken back", kept: []string{"db=A"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "", "", []string{"db=A<ba1"}}}, want: "db=A", came: "db: bb"},
	{reason: "another instance moved there, got this one's name and another one again", kept: []string{"n=A"}, delivered: "n", declared: "n",
		beside: []other{{"bb", "n", "q", []string{"n=M<ba1M"}}}, want: "n=A"},
	{reason: "another instance moved there, got this one's name and was dropped", kept: []string{"n=A"}, delivered: "n", declared: "n",
		beside: []other{{"bb", "n", "", []string{"n=M<ba1M"}}}, want: "n=A"},
	{reason: "renamed what came under another name, beside one of its name", kept: []string{"n=M<bb1M"}, delivered: "n", declared: "q",
		beside: []other{{"bb", "n", "n", []string{"n=A"}}}, want: "n@1=M<bb1, q=M<bb1", came: "q: n"},
	{reason: "renamed what came: the name that it had is kept", kept: []string{"m=M<bb1"}, delivered: "m", declared: "n",
		want: "m@1=M<bb1, n=M<bb1", came: "n: m"},
	{reason: "a new one, and the former one of its name is back there and renamed", kept: []string{"k=N"}, delivered: "k", declared: "k",
		beside: []other{{"bb", "k", "l", []string{"k=A<ba2A"}}}, want: "k=N"},
	{reason: "a new one, and the former one of its name was there all the time, under other names", kept: []string{"k=N"}, delivered: "k", declared: "k",
		beside: []other{{"bb", "k", "q", []string{"k=A<ba1A"}}}, want: "k=N"},
	{reason: "moved back and changed there: what was taken tells", kept: []string{"db=A"}, delivered: "db", declared: "db",
		beside: []other{{"bb", "db", "", []string{"db=A2<ba1A"}}}, want: "db=A2<bb2, db@1=A", came: "db: bb"},
	{reason: "renamed there and back here", kept: []string{"m@1=M"}, declared: "n", beside: []other{{"bb", "n", "", []string{"n=M<ba1M"}}},
		want: "m@1=M, n=M<bb2", came: "n: bb"},
	{reason: "it went there, has another name and stays, and a new one of its name", kept: []string{"db=A"}, declared: "db",
		beside: []other{{"bb", "web", "web", []string{"web=A<ba1A"}}}, want: "db@1=A"},
	{reason: "one went to another bundle, one is new", kept: []string{"db=A", "web=B"}, delivered: "db web", declared: "web new",
		beside: []other{{"bb", "", "db", nil}}, want: "db=A, web=B"},
	{reason: "one came from another bundle, one was renamed", kept: []string{"db=A"}, delivered: "db", declared: "database web",
		beside: []other{{"bb", "web", "", []string{"web=W"}}}, want: "database=A, db@1=A, web=W<bb1", came: "database: db, web: bb"},
	{reason: "renamed to a name that is former elsewhere", kept: []string{"db=A"}, delivered: "db", declared: "web",
		beside: []other{{"bb", "", "", []string{"web=W"}}}, want: "db@1=A, web=A, web@1=W<bb1", came: "web: db?"},
}

// TestSettle: whose answers each instance has, and what nobody has.
func TestSettle(t *testing.T) {
	for _, c := range settled {
		t.Run(c.reason, func(t *testing.T) {
			own := Own{Owner: "ba", Kept: keptOf(c.kept...), Made: map[string]string{}, Delivered: listed(c.delivered),
				Declared: strings.Fields(c.declared), Placed: strings.Fields(c.declared)}
			for name, a := range keptOf(c.made...) {
				own.Made[name] = a.Digest()
			}
			var beside []Beside
			for _, o := range c.beside {
				beside = append(beside, Beside{Owner: o.owner, Kept: keptOf(o.kept...), Delivered: listed(o.delivered), Declares: listed(o.declares)})
			}
			before := written(own.Kept)
			s := Settle(own, beside)
			var came []string
			for name, o := range s.Came {
				from := o.Instance
				if o.Owner != "ba" {
					from = o.Owner
				}
				if o.Doubt {
					from += "?"
				}
				came = append(came, name+": "+from)
			}
			slices.Sort(came)
			if diff := cmp.Diff(c.want+" / "+c.came, written(s.Kept)+" / "+strings.Join(came, ", ")); diff != "" {
				t.Error(diff)
			}
			if written(own.Kept) != before {
				t.Error("what is kept was changed")
			}
		})
	}
}

// TestHandOver: what goes to the bundle that declares the instances when theirs is deleted.
func TestHandOver(t *testing.T) {
	for _, c := range []struct {
		reason          string
		to              []string
		delivered, live string
		want            string
	}{
		{"not taken yet", nil, "", "db", "db=A<ol1"},
		{"let go by an earlier run", nil, "", "", "db=A<ol1"},
		{"taken, and rotated since", []string{"db=B<ol1"}, "db", "", "db=B<ol1"},
		{"taken by a run that was killed", []string{"db=A N<ol1"}, "", "db", "db=A N<ol1"},
		{"an own one that lives", []string{"db=B"}, "db", "db", "db=B"},
	} {
		to := Own{Owner: "new", Kept: keptOf(c.to...), Delivered: listed(c.delivered), Declared: []string{"db"}, Placed: []string{"db"}}
		from := Beside{Owner: "ol", Kept: keptOf("db=A", "web=W"), Delivered: listed(c.live), Declares: listed("")}
		if got := written(HandOver(to, from)); got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}

// TestAsks: what other bundles keep is read only where it may matter.
func TestAsks(t *testing.T) {
	own := Own{Kept: keptOf("db=A"), Delivered: listed("db"), Declared: []string{"db"}, Placed: []string{"db"}}
	fresh := own
	fresh.Delivered = listed("")
	made := func(names ...string) map[string]string {
		out := map[string]string{}
		for _, n := range names {
			out[n] = "digest"
		}
		return out
	}
	for _, c := range []struct {
		own      Own
		made     map[string]string
		declares string
		want     bool
	}{
		{own, made(), "", false}, {own, made("web"), "web", false}, {own, made("db"), "db", false}, {own, made("db"), "", true}, {fresh, made("db"), "db", true},
	} {
		if got := c.own.Asks(c.made, listed(c.declares)); got != c.want {
			t.Errorf("%v, declares %q: %t", c.made, c.declares, got)
		}
	}
}

func TestStamp(t *testing.T) {
	s := Settled{Kept: keptOf("db=A<bb2M")}
	now := keptOf("db=A2", "web=B<xx1")
	s.Stamp(now)
	if got := written(now); got != "db=A2<bb2, web=B" || now["db"].Took == "" {
		t.Error(got)
	}
	for text, want := range map[string]bool{"db=A": true, "db=A<bb2": false, "db=A<bb2M": false, "db=B": false, "db=A,x=": true, "db=A,x=B": false} {
		if got := Same(keptOf("db=A"), keptOf(strings.Split(text, ",")...)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
