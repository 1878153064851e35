package valuerefs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/secret"
)

// answers is what a lookup says of one source.
type answers struct {
	value, wrong, unread string
	goes                 bool
}

// table is a lookup by what it is asked for; what it does not name is not there.
type table struct {
	offline bool
	of      map[string]answers
}

func (l table) Asked() bool { return !l.offline }

func (l table) Read(_ context.Context, _ string, f bind.From, at object.Ref) (*v1alpha1.Value, *diag.Finding) {
	switch a := l.of[at.String()]; {
	case a.unread != "":
		return nil, f.Unread(at.String(), a.unread, true)
	case a.wrong != "":
		return nil, f.Finding("value-from", "%s", a.wrong)
	case a.value != "":
		return &v1alpha1.Value{Kind: v1alpha1.KindString, Text: a.value}, nil
	}
	return nil, nil
}

func (l table) Goes(_ context.Context, _ bind.From, at object.Ref) bool {
	return l.of[at.String()].goes
}

// taken is a value that is taken of another instance.
func taken(t *testing.T, from string) bind.From {
	t.Helper()
	f, err := cuelang.FromYAML("b.yaml", []byte("{v: {from: "+from+"}}"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuelang.FromFile(f)
	if err != nil {
		t.Fatal(err)
	}
	froms, fs := bind.Froms(v1alpha1.Values{Struct: x})
	if len(fs) > 0 || len(froms) != 1 {
		t.Fatalf("%s: %v", from, fs)
	}
	return froms[0]
}

// body is an object that an instance declares, in the namespace of its instance.
func body(instance, kind, name string, data map[string]any) object.Object {
	out := object.Object{Instance: instance, Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": instance + "-ns"}}}
	if data != nil {
		out.Body["data"] = data
	}
	return out
}

// references are those of instances each of which has a namespace of its own.
func references(l Lookup, takers []Taker, bodies ...object.Object) References {
	r := References{Takers: takers, Namespaces: map[string]string{}, Bodies: map[object.Ref]object.Object{}, Lookup: l,
		Namespaced: func(gvk schema.GroupVersionKind) (bool, bool) { return gvk.Kind != "Node", gvk.Kind != "Widget" }}
	for _, name := range []string{"db", "api", "web"} {
		r.Namespaces[name] = name + "-ns"
	}
	for _, b := range bodies {
		r.Bodies[b.Ref()] = b
		r.Declared = append(r.Declared, plan.Desired{Ref: b.Ref(), Instance: b.Instance})
	}
	return r
}

const conn = "Secret db-ns/conn"

// What a value is taken of stands in the namespace of its instance, where its kind has namespaces and it names none.
func TestObject(t *testing.T) {
	for from, want := range map[string]string{
		"{instance: db, object: v1/Secret/conn, path: data.uri}":           conn,
		"{instance: db, object: v1/Secret/other/conn, path: data.uri}":     "Secret other/conn",
		"{instance: db, object: v1/Node/conn, path: spec.podCIDR}":         "Node conn",
		"{instance: db, object: example.com/v1/Widget/w, path: status.ip}": "Widget db-ns/w",
	} {
		if got := references(table{}, nil).Object(taken(t, from)).String(); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// What is known of a value at the moment: the value, that it may come yet (neither), or why there is none.
func TestKnown(t *testing.T) {
	uri, ip := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}"), taken(t, "{instance: db, object: v1/Secret/conn, path: status.ip}")
	declared, empty := body("db", "Secret", "conn", map[string]any{"url": "eA=="}), body("db", "Secret", "conn", nil)
	for _, c := range []struct {
		name    string
		from    bind.From
		is      answers
		bodies  []object.Object
		offline bool
		want    string
		mayCome bool
	}{
		{"it is there", uri, answers{value: "x"}, []object.Object{declared}, false, "x", false},
		{"nobody is asked", uri, answers{value: "x"}, nil, true, "", true},
		{"nothing is there", uri, answers{}, []object.Object{declared}, false, "", false},
		{"declared without it", uri, answers{wrong: "no uri"}, []object.Object{declared}, false, "no uri", false},
		{"declared for others to fill in", uri, answers{wrong: "no uri"}, []object.Object{empty}, false, "", true},
		{"made by a controller", uri, answers{wrong: "no uri"}, nil, false, "", true},
		{"declared by another instance", uri, answers{wrong: "no uri"}, []object.Object{func() object.Object { o := declared; o.Instance = "web"; return o }()}, false, "", true},
		{"in a status", ip, answers{wrong: "no ip"}, []object.Object{declared}, false, "", true},
		{"it cannot be read", uri, answers{unread: "forbidden"}, nil, false, conn + " of instance db cannot be read", true},
	} {
		r := references(table{c.offline, map[string]answers{conn: c.is}}, nil, c.bodies...)
		got := ""
		if x, n := r.Known(t.Context(), "api", c.from); n != nil {
			got = n.What
		} else if x != nil {
			got = x.Text
		}
		if got != c.want || r.MayCome(c.from) != c.mayCome {
			t.Errorf("%s: %q, may come %v", c.name, got, r.MayCome(c.from))
		}
	}
}

// What will never come is found before anything is written; what somebody may add yet is not.
func TestLacking(t *testing.T) {
	uri := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}")
	declared, late := body("db", "Secret", "conn", map[string]any{"url": "eA=="}), body("db", "Secret", "conn", map[string]any{"url": "eA=="})
	late.Unknown = map[string]bool{}
	const lacks, suspended = "Secret db-ns/conn of instance db has no data.uri", "api takes a value of Secret db-ns/conn, which is not there, and db, which makes it, is suspended"
	for _, c := range []struct {
		name   string
		is     answers
		bodies []object.Object
		change func(*References)
		want   string
	}{
		{"declared without it", answers{}, []object.Object{declared}, nil, lacks},
		{"offline too", answers{}, []object.Object{declared}, func(r *References) { r.Lookup = table{offline: true} }, lacks},
		{"not rendered", answers{}, nil, nil, ""},
		{"declared by another instance", answers{}, []object.Object{body("web", "Secret", "conn", map[string]any{"a": "eA=="})}, nil, ""},
		{"there, of somebody else", answers{value: "x"}, []object.Object{declared}, nil, ""},
		{"there, and goes with the declaration", answers{value: "x", goes: true}, []object.Object{declared}, nil, lacks},
		{"fields are left to others", answers{}, []object.Object{declared}, func(r *References) { r.Declared[0].Ignore = &object.Ignore{Paths: []string{"data"}} }, ""},
		{"something stands in it", answers{}, []object.Object{late}, func(r *References) {
			r.Takers = append(r.Takers, Taker{Instance: "db", Takes: r.Takers[0].Takes, Open: r.Takers[0].Open})
			r.Takers = r.Takers[:2]
		}, ""},
		{"nothing is begun of who takes it", answers{}, []object.Object{declared}, func(r *References) { r.Behind = map[string]bool{"api": true} }, ""},
		{"who makes it is suspended", answers{}, nil, func(r *References) { r.Suspended = map[string]bool{"db": true} }, suspended},
		{"suspended, and nobody is asked", answers{}, nil, func(r *References) { r.Suspended, r.Lookup = map[string]bool{"db": true}, table{offline: true} }, ""},
		{"suspended, and it is there", answers{value: "x"}, nil, func(r *References) { r.Suspended = map[string]bool{"db": true} }, ""},
	} {
		r := references(table{of: map[string]answers{conn: c.is}}, []Taker{{Instance: "api", Takes: []bind.From{uri}, Open: []bind.From{uri}}}, c.bodies...)
		if c.change != nil {
			c.change(&r)
		}
		got := ""
		if fs := r.Lacking(t.Context()); len(fs) > 0 {
			if got = fs[0].What; fs[0].Instance != "api" || fs[0].Path != "values.v" {
				t.Errorf("%s: at %s %s", c.name, fs[0].Instance, fs[0].Path)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// What another bundle takes of a Secret is lost where the plan deletes that, or writes it without the key that nobody else has.
func TestLoses(t *testing.T) {
	declared, empty := body("db", "Secret", "conn", map[string]any{"url": "eA=="}), body("db", "Secret", "conn", nil)
	of := []object.Object{declared}
	const without = "declares " + conn + " without uri"
	for name, c := range map[string]struct {
		fate   plan.Action
		is     answers
		bodies []object.Object
		want   string
	}{
		"deleted":                              {plan.Delete, answers{value: "x"}, nil, "deletes " + conn},
		"declared with it":                     {plan.Update, answers{}, []object.Object{body("db", "Secret", "conn", map[string]any{"uri": "eA=="})}, ""},
		"declared without it":                  {plan.Create, answers{}, of, without},
		"there without it":                     {plan.Update, answers{wrong: "no uri"}, of, without},
		"it goes":                              {plan.Update, answers{value: "x", goes: true}, of, without},
		"it goes with all others":              {plan.Update, answers{value: "x", goes: true}, []object.Object{empty}, without},
		"others have it":                       {plan.Update, answers{value: "x"}, of, ""},
		"others have it, and it is made anew":  {plan.Recreate, answers{value: "x"}, of, without},
		"for others to fill in":                {plan.Create, answers{}, []object.Object{empty}, ""},
		"for others to fill in, there without": {plan.Update, answers{wrong: "no uri"}, []object.Object{empty}, ""},
		"it may not be read":                   {plan.Update, answers{unread: "forbidden"}, of, ""},
		"not rendered":                         {plan.Update, answers{value: "x", goes: true}, nil, ""},
	} {
		r := references(table{of: map[string]answers{conn: c.is}}, nil, c.bodies...)
		if got := r.Loses(t.Context(), c.fate, declared.Ref(), "uri"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	r := references(table{}, nil, declared)
	if r.Declared[0].Ignore = (&object.Ignore{Paths: []string{"data"}}); r.Loses(t.Context(), plan.Create, declared.Ref(), "uri") != "" {
		t.Error("what is left to others is said to be lost")
	}
}

// What is known only after others, with what of it stands where: in the changes of a plan, and where nothing is planned.
func TestLate(t *testing.T) {
	uri, port := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}"), taken(t, "{instance: db, object: v1/Service/db, path: spec.clusterIP}")
	host := taken(t, "{instance: web, object: v1/Service/web, path: spec.clusterIP}")
	all := []bind.From{uri, port, host}
	r := references(table{}, []Taker{{Instance: "api", Takes: all, Open: all, Pos: diag.Pos{File: "b.yaml", Line: 9}}, {Instance: "web", Takes: []bind.From{uri}}},
		body("api", "ConfigMap", "c", map[string]any{"uri": "x known after db"}), body("api", "ConfigMap", "d", map[string]any{"uri": "x"}),
		body("web", "ConfigMap", "e", map[string]any{"uri": "known after db"}))
	if got := r.Late(); !maps.Equal(got, map[string]string{"api": "db, web"}) {
		t.Error(got)
	}
	p := &plan.Plan{}
	for _, d := range r.Declared {
		p.Changes = append(p.Changes, plan.Change{Ref: d.Ref, Action: plan.Update}, plan.Change{Ref: d.Ref, Action: plan.Delete})
	}
	r.Mark(p)
	var marked []string
	for _, ch := range p.Changes {
		if len(ch.After) > 0 {
			marked = append(marked, string(ch.Action)+" "+ch.Ref.Name+": "+strings.Join(ch.After, ", "))
		}
	}
	if d := cmp.Diff([]string{"update c: db, web"}, marked); d != "" {
		t.Error(d)
	}
	fs := r.StandIns()
	if len(fs) != 3 || fs[0].Code != bind.CodeStandIn || fs[0].Instance != "api" || fs[2].What != "the value is known only after web" {
		t.Errorf("%+v", fs)
	}
	if got := OfOthers(append(slices.Clone(all), taken(t, "{file: x}"))); len(got) != 3 {
		t.Errorf("%d come from others", len(got))
	}
}

// What a bundle that is done first writes stands in an object like what comes of another instance: the change says after which bundle it is known,
// and has all that its instance refers to. An instance is not late for it: there is nothing to wait for in its own steps.
func TestReferencesThatABundleWrites(t *testing.T) {
	of := func(at, bundle string) bind.From {
		return bind.Ref{At: at, Ref: secret.Ref{Store: "vault", Path: "db", Property: at}}.From(bundle)
	}
	values := v1alpha1.Values{Struct: &v1alpha1.Value{Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{
		{Name: "a", Value: bind.StandIn(of("a", "platform"))}, {Name: "b", Value: &v1alpha1.Value{Kind: v1alpha1.KindString, Text: "read"}}}}}
	r := references(table{}, []Taker{{Instance: "api", Refs: []bind.From{of("a", "platform"), of("b", "")}, Values: values}},
		body("api", "ConfigMap", "c", map[string]any{"uri": "x known after bundle platform (ref://vault:db/a)"}), body("api", "ConfigMap", "d", map[string]any{"uri": "x"}))
	p := &plan.Plan{Changes: []plan.Change{{Ref: r.Declared[0].Ref, Action: plan.Create}, {Ref: r.Declared[1].Ref, Action: plan.Create}}}
	r.Mark(p)
	if c := p.Changes; len(r.Late()) > 0 || !slices.Equal(c[0].After, []string{"bundle platform"}) || c[1].After != nil {
		t.Errorf("%v, %v, %v", r.Late(), c[0].After, c[1].After)
	}
	for _, c := range p.Changes {
		if !slices.Equal(c.Late.Open, []string{"a"}) || !maps.Equal(c.Late.Values, map[string]any{"a": "known after bundle platform (ref://vault:db/a)", "b": "read"}) {
			t.Errorf("%+v", c.Late)
		}
	}
}

// What is rendered with stand-ins after all: every instance whose values are not certain and that has one of them, whichever others are late for
// something else, certain or not.
func TestReopened(t *testing.T) {
	uri, port := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}"), taken(t, "{instance: db, object: v1/Secret/conn, path: data.port}")
	other := taken(t, "{instance: web, object: v1/ConfigMap/c, path: data.host}")
	both := []bind.From{uri, port}
	moved := body("db", "Secret", "conn", nil)
	for name, c := range map[string]struct {
		takers []Taker
		want   []string
	}{
		"all of it is known":                              {[]Taker{{Instance: "web", Takes: both}, {Instance: "api", Takes: both}}, []string{"api", "web"}},
		"some of it is known":                             {[]Taker{{Instance: "api", Takes: both, Open: both[1:]}}, []string{"api"}},
		"nothing of it is known":                          {[]Taker{{Instance: "api", Takes: both, Open: both}}, nil},
		"beside one that goes on with what a plan showed": {[]Taker{{Instance: "api", Takes: both}, {Instance: "job", Takes: []bind.From{other}, Open: []bind.From{other}}}, []string{"api"}},
		"it is certain":                                   {[]Taker{{Instance: "api", Takes: []bind.From{other}}}, nil},
	} {
		r := references(table{of: map[string]answers{conn: {value: "x"}, "ConfigMap web-ns/c": {value: "x"}}}, c.takers, moved, body("web", "ConfigMap", "c", map[string]any{"host": "h"}))
		p := &plan.Plan{Changes: []plan.Change{{Ref: moved.Ref(), Instance: "db", Action: plan.Update}}, Kept: []plan.InventoryEntry{{Ref: object.Ref{Kind: "ConfigMap", Namespace: "web-ns", Name: "c"}, Instance: "web"}}}
		if got := r.Reopened(t.Context(), p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, c := range map[string]struct {
		takes, open []bind.From
		want        bool
	}{"some": {both, both[:1], true}, "all": {both, nil, false}, "nothing": {both, both, false}, "nothing is taken": {nil, nil, false}} {
		if InPart(c.takes, c.open) != c.want {
			t.Errorf("%s is known", name)
		}
	}
}

// What is certain while a plan is not carried out, and what will not come by itself.
func TestUncertain(t *testing.T) {
	uri := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}")
	declared := body("db", "Secret", "conn", map[string]any{"url": "eA=="})
	for _, c := range []struct {
		name            string
		open            bool
		is              answers
		writes          bool
		uncertain, lost string
	}{
		{"known, and nothing changes", false, answers{value: "x"}, false, "", ""},
		{"known, and the plan writes it", false, answers{value: "x"}, true, conn + " changes", ""},
		{"not there", true, answers{}, false, conn + " is not there yet", ""},
		{"it came meanwhile", true, answers{value: "x"}, false, "", ""},
		{"there as declared, without it", true, answers{wrong: "no uri"}, false, conn + " is not there yet", "no uri"},
	} {
		taker := Taker{Instance: "api", Takes: []bind.From{uri}}
		if c.open {
			taker.Open = taker.Takes
		}
		r := references(table{of: map[string]answers{conn: c.is}}, []Taker{taker}, declared)
		p := &plan.Plan{Kept: []plan.InventoryEntry{{Ref: declared.Ref(), Instance: "db"}}}
		if c.writes {
			p.Changes = []plan.Change{{Ref: declared.Ref(), Instance: "db", Action: plan.Update}}
		}
		lost := ""
		if fs := r.Missing(t.Context(), nil); len(fs) > 0 {
			lost = fs[0].What
		}
		if got := r.Uncertain(t.Context(), p)["api"]; got != c.uncertain || lost != c.lost {
			t.Errorf("%s: %q, %q", c.name, got, lost)
		}
		if fs := r.Missing(t.Context(), map[object.Ref]bool{declared.Ref(): true}); len(fs) > 0 {
			t.Errorf("%s: of what moves nobody knows: %v", c.name, fs)
		}
	}
}

// Who waits no longer is told what stands against the value, and not that it may not be asked for.
func TestAbsent(t *testing.T) {
	uri := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}")
	const gone = conn + ", which api takes a value of, is not there"
	for want, is := range map[string][]answers{gone: {{}, {unread: "forbidden"}}, "no uri": {{wrong: "no uri"}}} {
		for _, a := range is {
			if n := references(table{of: map[string]answers{conn: a}}, nil).Absent(t.Context(), "api", uri); n.What != want {
				t.Errorf("%+v: %s", a, n.What)
			}
		}
	}
}

// An instance gets what is known, and a stand-in for the rest.
func TestFilling(t *testing.T) {
	uri := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}")
	for _, c := range []struct {
		name string
		g    Filling
		is   answers
		want string
		open bool
		as   diag.Severity
	}{
		{"known", Filling{}, answers{value: "x"}, "x", false, ""},
		{"known, and not wanted", Filling{StandIn: true}, answers{value: "x"}, "known after db", true, ""},
		{"not there", Filling{}, answers{}, "known after db", true, ""},
		{"wrong", Filling{Lenient: true}, answers{wrong: "no uri"}, "", false, diag.Error},
		{"unread", Filling{}, answers{unread: "forbidden"}, "", false, diag.Error},
		{"unread, and lenient", Filling{Lenient: true}, answers{unread: "forbidden"}, "known after db", true, diag.Warning},
	} {
		c.g.By = "api"
		x, n := c.g.From(t.Context(), references(table{of: map[string]answers{conn: c.is}}, nil, body("db", "Secret", "conn", map[string]any{"a": "eA=="})), uri)
		got, as := "", diag.Severity("")
		if x != nil {
			got = x.Text
		}
		if n != nil {
			as = n.Severity
		}
		if got != c.want || as != c.as || c.open != (len(c.g.Open) == 1) {
			t.Errorf("%s: %q, %s, open %v", c.name, got, as, c.g.Open)
		}
	}
}

// A value is waited for that somebody has yet to fill in, or of which nobody can tell now; one that may not be read, or that the object does not hold, is
// not. What is waited for says why it could not be read.
func TestAwaits(t *testing.T) {
	uri, ip := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}"), taken(t, "{instance: db, object: v1/Secret/conn, path: status.ip}")
	declared := references(table{}, nil, body("db", "Secret", "conn", map[string]any{"uri": "eA=="}))
	away, denied := uri.Unanswered(conn, "500"), uri.Unread(conn, "403", true)
	for name, c := range map[string]struct {
		refs References
		f    bind.From
		n    *diag.Finding
		want bool
	}{
		"of an object that nobody declares": {references(table{}, nil), uri, nil, true},
		"in a status":                       {declared, ip, nil, true},
		"of an object as it is declared":    {declared, uri, nil, false},
		"no answer":                         {references(table{}, nil), uri, away, true},
		"no answer about a declared one":    {declared, uri, away, true},
		"no right":                          {references(table{}, nil), uri, denied, false},
		"another value":                     {references(table{}, nil), uri, uri.Finding("value-from", "no text"), false},
	} {
		if got := c.refs.Awaits(c.f, c.n); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if text := declared.Waits("api", uri, nil); text != "api takes its data.uri" {
		t.Error(text)
	}
	if text := declared.Waits("api", uri, away); text != "api takes its data.uri, which could not be read: 500" {
		t.Error(text)
	}
	if !strings.Contains(denied.Fix, "grant the right") || strings.Contains(uri.Unread(conn, "400", false).Fix+away.Fix, "grant the right") {
		t.Error("rights are named where none are missing, or not where they are")
	}
}

// What stands in and is what is there is told all the same, where it is known what else changes: not where others have it, nor twice, and below what is
// told as a whole without what was there. It is no preview where none was given.
func TestStandInsThatAreThereAreTold(t *testing.T) {
	previewed, text := taken(t, "{instance: db, object: v1/Service/db, path: spec.n, preview: 2}"), taken(t, "{instance: db, object: v1/Service/db, path: spec.n}")
	late := body("api", "ConfigMap", "c", map[string]any{"n": int64(2), "on": false, "mine": int64(0), "box": map[string]any{"n": int64(2)}, "own": int64(2)})
	late.Unknown = map[string]bool{"data.n": true, "data.on": true, "data.mine": true, "data.box.n": true}
	boxed := plan.FieldChange{Path: "data.box", New: `{"n":2}`}
	for name, c := range map[string]struct {
		from   bind.From
		change plan.Change
		want   string
	}{
		"asked":             {previewed, plan.Change{Action: plan.Update, Checked: true}, `box.n 2>"P 2)" mine 0>"P 0)" n 2>"P 2)" on false>"P false)"`},
		"no preview":        {text, plan.Change{Action: plan.Update, Checked: true}, `box.n 2>"K" mine 0>"K" n 2>"K" on false>"K"`},
		"others have it":    {text, plan.Change{Action: plan.Update, Checked: true, Ignore: &object.Ignore{Paths: []string{"data.mine"}}, OmitFields: []string{"data.box"}}, `n 2>"K" on false>"K"`},
		"told":              {text, plan.Change{Action: plan.Update, Fields: []plan.FieldChange{{Path: "data.n", Old: "1", New: "2"}, boxed}}, `box >{"n":2} box.n >"K" mine 0>"K" n 1>"K" on false>"K"`},
		"nobody knows":      {text, plan.Change{Action: plan.Update}, ""},
		"it is made":        {text, plan.Change{Action: plan.Create, Checked: true}, ""},
		"it is to be taken": {text, plan.Change{Action: plan.Adopt, Checked: true, OmitFields: []string{"data.box", "data.mine", "data.n"}}, `on false>"K"`},
	} {
		r := references(table{}, []Taker{{Instance: "api", Takes: []bind.From{c.from}, Open: []bind.From{c.from}}}, late)
		c.change.Ref = r.Declared[0].Ref
		p := &plan.Plan{Changes: []plan.Change{c.change}}
		r.Mark(p)
		var got []string
		for _, f := range p.Changes[0].Fields {
			got = append(got, strings.TrimPrefix(f.Path, "data.")+" "+f.Old+">"+strings.NewReplacer("known after db (preview", "P", "known after db", "K").Replace(f.New))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s\nwant %s", name, text, c.want)
		}
		shown := r.Shown(r.Bodies)[r.Declared[0].Ref].Body["data"].(map[string]any)
		if on, _ := shown["on"].(string); !strings.HasPrefix(on, "known after db") || shown["own"] != int64(2) || late.Body["data"].(map[string]any)["on"] != false {
			t.Errorf("%s: %v", name, shown)
		}
	}
}

// A preview is shown as what it is, in what is made and in fields that change; fields that are known, or hidden, stay.
func TestPreviewIsShown(t *testing.T) {
	from := taken(t, "{instance: db, object: v1/Service/db, path: spec.n, preview: 2}")
	late := body("api", "ConfigMap", "c", map[string]any{"n": int64(2), "items": []any{map[string]any{"name": "x", "v": int64(2)}}, "own": int64(2), "hidden": int64(2)})
	late.Unknown = map[string]bool{"data.n": true, "data.items[0].v": true, "data.hidden": true}
	r := references(table{}, []Taker{{Instance: "api", Takes: []bind.From{from}, Open: []bind.From{from}}}, late)
	fields := []plan.FieldChange{{Path: "data.n", Old: "1", New: "2"}, {Path: "data.items[x].v", New: "2"}, {Path: "data.own", New: "2"}, {Path: "data.hidden", Hidden: true}}
	p := &plan.Plan{Changes: []plan.Change{{Ref: r.Declared[0].Ref, Action: plan.Update, Fields: fields, Content: late.Body}}}
	r.Mark(p)
	const shown = `"known after db (preview 2)"`
	want := []plan.FieldChange{{Path: "data.n", Old: "1", New: shown}, {Path: "data.items[x].v", New: shown}, {Path: "data.own", New: "2"}, {Path: "data.hidden", Hidden: true}}
	if d := cmp.Diff(want, p.Changes[0].Fields); d != "" {
		t.Error(d)
	}
	if data := p.Changes[0].Content["data"].(map[string]any); data["n"] != "known after db (preview 2)" || data["own"] != int64(2) || fields[0].New != "2" {
		t.Errorf("%v", data)
	}
	if p.Changes[0].Late.Object.Body["data"].(map[string]any)["n"] != int64(2) {
		t.Error("what is compared is changed")
	}
}
