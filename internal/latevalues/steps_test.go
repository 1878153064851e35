package latevalues

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func secretRef(name string) object.Ref {
	return object.Ref{Kind: "Secret", Namespace: "ns", Name: name}
}

func takesOf(pairs ...string) map[string][]Source {
	out := map[string][]Source{}
	for _, p := range pairs { // "api<db:conn"
		name, source, _ := strings.Cut(p, "<")
		instance, obj, _ := strings.Cut(source, ":")
		out[name] = append(out[name], Source{Instance: instance, Object: secretRef(obj)})
	}
	return out
}

func TestUncertain(t *testing.T) {
	change := func(a plan.Action, instance, name string) plan.Change {
		return plan.Change{Action: a, Instance: instance, Ref: secretRef(name)}
	}
	for _, c := range []struct {
		reason  string
		takes   []string
		changes []plan.Change
		kept    []string
		missing []string
		want    map[string]string
	}{
		{reason: "the object is there and stays", takes: []string{"api<db:conn"}, kept: []string{"conn"}, want: map[string]string{}},
		{reason: "the object is created", takes: []string{"api<db:conn"}, changes: []plan.Change{change(plan.Create, "db", "conn")}, missing: []string{"conn"},
			want: map[string]string{"api": "Secret ns/conn is not there yet"}},
		{reason: "the object changes", takes: []string{"api<db:conn"}, changes: []plan.Change{change(plan.Update, "db", "conn")},
			want: map[string]string{"api": "Secret ns/conn changes"}},
		{reason: "the object is made again", takes: []string{"api<db:conn"}, changes: []plan.Change{change(plan.Recreate, "db", "conn")},
			want: map[string]string{"api": "Secret ns/conn changes"}},
		{reason: "the object is deleted", takes: []string{"api<db:conn"}, changes: []plan.Change{change(plan.Delete, "db", "conn")},
			want: map[string]string{"api": "Secret ns/conn changes"}},
		{reason: "the object is let go and stays", takes: []string{"api<db:conn"}, changes: []plan.Change{change(plan.Release, "db", "conn")}, want: map[string]string{}},
		{reason: "another object of the instance changes", takes: []string{"api<db:conn"}, kept: []string{"conn"},
			changes: []plan.Change{change(plan.Update, "db", "other")}, want: map[string]string{}},
		{reason: "a controller's object, and its instance changes", takes: []string{"api<db:made"}, changes: []plan.Change{change(plan.Update, "db", "other")},
			want: map[string]string{"api": "db, which keeps Secret ns/made, changes"}},
		{reason: "a controller's object, and another instance changes", takes: []string{"api<db:made"}, changes: []plan.Change{change(plan.Update, "web", "other")},
			want: map[string]string{}},
		{reason: "a controller's object that is not there", takes: []string{"api<db:made"}, missing: []string{"made"},
			want: map[string]string{"api": "Secret ns/made is not there yet"}},
		{reason: "through another instance", takes: []string{"web<api:url", "api<db:conn", "web<cache:c"}, kept: []string{"url", "c"},
			changes: []plan.Change{change(plan.Update, "db", "conn")},
			want:    map[string]string{"api": "Secret ns/conn changes", "web": "api is not known yet"}},
		{reason: "the first of several sources is named", takes: []string{"api<db:a", "api<db:b"}, missing: []string{"a", "b"},
			want: map[string]string{"api": "Secret ns/a is not there yet"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := &plan.Plan{Changes: c.changes}
			for _, name := range c.kept {
				p.Kept = append(p.Kept, plan.InventoryEntry{Ref: secretRef(name)})
			}
			got := Uncertain(p, takesOf(c.takes...), func(r object.Ref) bool { return !slices.Contains(c.missing, r.Name) })
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		reason, instances string
		depends           map[string][]string
		takes             []string
		uncertain, want   string
	}{
		{"nothing is taken", "a b c", map[string][]string{"b": {"a"}}, nil, "", "a b c"},
		{"everything taken is certain", "db api", nil, []string{"api<db:x"}, "", "db api"},
		{"one waits for the other", "api db web", nil, []string{"api<db:x"}, "api", "db web|api"},
		{"a chain", "a b c", nil, []string{"b<a:x", "c<b:x"}, "b c", "a|b|c"},
		{"two sources", "a b c", nil, []string{"b<a:x", "c<b:x", "c<a:x"}, "b c", "a|b|c"},
		{"what depends on a late one waits with it", "db api web", map[string][]string{"web": {"api"}}, []string{"api<db:x"}, "api", "db|api web"},
		{"what takes a certain value of a late one's dependant", "db api web ui", map[string][]string{"web": {"api"}}, []string{"api<db:x", "ui<web:u"}, "api", "db|api web ui"},
		{"unknown names do not count", "a", map[string][]string{"a": {"gone"}}, []string{"a<gone:x"}, "a", "a"},
		{"a cycle ends", "a b", nil, []string{"a<b:x", "b<a:x"}, "a b", "a b"},
		{"nothing at all", "", nil, nil, "", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			uncertain := map[string]string{}
			for _, name := range strings.Fields(c.uncertain) {
				uncertain[name] = "yes"
			}
			var got []string
			for _, l := range Levels(strings.Fields(c.instances), c.depends, takesOf(c.takes...), uncertain) {
				got = append(got, strings.Join(l, " "))
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}

func TestStep(t *testing.T) {
	p := &plan.Plan{Cluster: "c", Bundle: "b", Owner: "o", Unchanged: 2, Refresh: true, Brake: "too many", Suspended: []string{"web"}, Changes: []plan.Change{
		{Action: plan.Create, Instance: "db", Ref: secretRef("1")},
		{Action: plan.Delete, Instance: "db", Ref: secretRef("2")},
		{Action: plan.Update, Instance: "api", Ref: secretRef("3")},
		{Action: plan.Release, Instance: "db", Ref: secretRef("4")},
		{Action: plan.Delete, Instance: "gone", Ref: secretRef("5")},
	}, Kept: []plan.InventoryEntry{{Instance: "db", Ref: secretRef("6")}, {Instance: "api", Ref: secretRef("7")}, {Instance: "gone", Ref: secretRef("8")}}}
	levels := [][]string{{"db"}, {"api"}}
	var got []string
	for n := range levels {
		s := Step(p, levels, nil, n, false)
		line := fmt.Sprintf("%s/%s/%s unchanged=%d refresh=%t brake=%q:", s.Cluster, s.Bundle, s.Owner, s.Unchanged, s.Refresh, s.Brake)
		for _, ch := range s.Changes {
			line += " " + string(ch.Action) + ch.Ref.Name
		}
		for _, o := range s.Kept {
			line += " kept" + o.Ref.Name
		}
		got = append(got, line)
	}
	want := []string{`c/b/o unchanged=2 refresh=true brake="": create1 kept6`,
		`c/b/o unchanged=0 refresh=true brake="too many": delete2 update3 release4 delete5 kept7 kept8`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(p, Step(p, nil, nil, 0, false)); d != "" {
		t.Errorf("without levels the step is the plan: %s", d)
	}
}

func drawRef(t *rapid.T) object.Ref {
	return object.Ref{Kind: rapid.SampledFrom([]string{"ConfigMap", "Namespace", "ValidatingAdmissionPolicy"}).Draw(t, "kind"), Name: rapid.StringMatching(`[a-h]`).Draw(t, "name")}
}

// drawPlan makes a plan of any changes of four instances, and of one that is declared no longer.
func drawPlan(t *rapid.T) *plan.Plan {
	p := &plan.Plan{Cluster: "c", Unchanged: rapid.IntRange(0, 3).Draw(t, "unchanged")}
	seen := map[object.Ref]bool{}
	for range rapid.IntRange(0, 8).Draw(t, "objects") {
		ref, instance := drawRef(t), rapid.SampledFrom([]string{"i", "j", "k", "l", "gone"}).Draw(t, "instance")
		if seen[ref] {
			continue
		}
		seen[ref] = true
		if a := rapid.SampledFrom([]plan.Action{plan.Create, plan.Update, plan.Delete, plan.Recreate, plan.Adopt, plan.Conflict, plan.Release, plan.Unchanged}).Draw(t, "action"); a == plan.Unchanged {
			p.Kept = append(p.Kept, plan.InventoryEntry{Ref: ref, Instance: instance})
		} else {
			ch := plan.Change{Action: a, Ref: ref, Instance: instance}
			if a == plan.Create && rapid.IntRange(0, 2).Draw(t, "hook") == 0 {
				ch.Hook = &plan.HookTask{Event: rapid.SampledFrom([]object.HookPhase{object.PreDelete, object.PreUpgrade}).Draw(t, "event")}
				p.Events = map[string]plan.LifecycleStep{"gone": plan.Removal, "i": plan.Upgrade}
			}
			p.Changes = append(p.Changes, ch)
		}
	}
	return p
}

// TestStepsLaws: the steps of any plan are a partition of it, prunes come last, and no instance stands below what it
// depends on or takes late values from.
func TestStepsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		names := []string{"i", "j", "k", "l"}
		takes, depends := map[string][]Source{}, map[string][]string{}
		for n, name := range names[1:] {
			for range rapid.IntRange(0, 2).Draw(t, "takes") {
				takes[name] = append(takes[name], Source{Instance: rapid.SampledFrom(names[:n+1]).Draw(t, "source"), Object: drawRef(t)})
			}
			for range rapid.IntRange(0, 1).Draw(t, "depends") {
				depends[name] = append(depends[name], rapid.SampledFrom(names[:n+1]).Draw(t, "dependency"))
			}
		}
		there := rapid.Bool().Draw(t, "there")
		uncertain := Uncertain(p, takes, func(object.Ref) bool { return there })
		if none := Uncertain(p, takes, func(object.Ref) bool { return false }); len(none) != len(takes) {
			t.Fatalf("without any object %v are uncertain of %v", none, takes)
		}
		order := rapid.Permutation(names).Draw(t, "order")
		levels := Levels(order, depends, takes, uncertain)
		level := levelOf(levels)
		if len(level) != len(names) {
			t.Fatalf("levels %v", levels)
		}
		for _, name := range names {
			for _, d := range depends[name] {
				if level[d] > level[name] {
					t.Fatalf("%s stands below %s: %v", name, d, levels)
				}
			}
			for _, s := range takes[name] {
				if uncertain[s.Instance] != "" && uncertain[name] == "" {
					t.Fatalf("%s is certain, %s is not", name, s.Instance)
				}
				if level[s.Instance] > level[name] || uncertain[name] != "" && level[s.Instance] == level[name] {
					t.Fatalf("%s does not wait for %s: %v", name, s.Instance, levels)
				}
			}
		}
		checkPartition(t, p, levels)
		at := rapid.IntRange(0, len(levels)-1).Draw(t, "at")
		waiting := rapid.SliceOfDistinct(rapid.SampledFrom(levels[at]), rapid.ID[string]).Draw(t, "waiting")
		put, ok := PutOff(levels, at, waiting, depends, takes, nil)
		if !ok {
			if len(put) != len(levels) {
				t.Fatalf("%v are put off of %v: %v", waiting, levels[at], put)
			}
			return
		}
		checkPartition(t, p, put)
		checkPutOff(t, put, at, waiting, depends, takes)
		now := levelOf(put)
		for name, was := range level {
			if was < at && now[name] != was {
				t.Fatalf("%s went from %d to %d: %v, %v wait", name, was, now[name], put, waiting)
			}
			for _, s := range takes[name] {
				if uncertain[name] != "" && now[s.Instance] == now[name] {
					t.Fatalf("%s does not wait for %s: %v", name, s.Instance, put)
				}
			}
		}
	})
}

// Who stands on another one of the same instances, through whomever, is asked when that one has its values, and not where that one waits.
func TestWaiting(t *testing.T) {
	depends, takes := map[string][]string{"b": {"a"}, "c": {"x"}, "x": {"b"}}, map[string][]Source{"e": {{Instance: "d"}}}
	for _, c := range []struct{ of, wait, asked []string }{
		{[]string{"e", "d", "c", "b", "a"}, nil, []string{"d", "a", "e", "b", "c"}},
		{[]string{"e", "d", "c", "b", "a"}, []string{"a"}, []string{"d", "a", "e"}},
		{[]string{"e", "d", "c", "b", "a"}, []string{"b", "e"}, []string{"d", "a", "e", "b"}},
		{[]string{"c", "e"}, []string{"c", "e"}, []string{"c", "e"}},
		{nil, nil, nil},
	} {
		var asked []string
		got := Waiting(c.of, depends, takes, func(name string) (bool, bool) {
			asked = append(asked, name)
			return slices.Contains(c.wait, name), false
		})
		if !slices.Equal(asked, c.asked) || len(got) != len(c.wait) {
			t.Errorf("of %v, %v waiting: asked %v, want %v; waiting %v", c.of, c.wait, asked, c.asked, got)
		}
	}
	if got := Waiting([]string{"a", "d"}, depends, takes, func(string) (bool, bool) { return true, true }); got != nil {
		t.Errorf("stopped: %v", got)
	}
}

// Those that wait, and what depends on them, are put off behind the next who need not.
func TestPutOff(t *testing.T) {
	levels := [][]string{{"db"}, {"a", "b", "c", "d"}, {"e", "f"}}
	depends := map[string][]string{"c": {"b"}, "e": {"a"}}
	takes := map[string][]Source{"f": {{Instance: "b"}}}
	for _, c := range []struct {
		name    string
		waiting []string
		done    map[string]bool
		want    [][]string
	}{
		{"one waits", []string{"a"}, nil, [][]string{{"db"}, {"b", "c", "d"}, {"a"}, {"e", "f"}}},
		{"one that another one depends on", []string{"b"}, nil, [][]string{{"db"}, {"a", "d"}, {"b", "c"}, {"e", "f"}}},
		{"all wait, and of the next all stand on them", []string{"a", "b", "d"}, nil, nil},
		{"of the others nothing is begun, and of the next one goes on", []string{"a"}, map[string]bool{"b": true, "c": true, "d": true}, [][]string{{"db"}, {"f"}, {"a", "b", "c", "d"}, {"e"}}},
		{"of the others nothing is begun", []string{"a", "b"}, map[string]bool{"d": true}, nil},
		{"one of which nothing is begun depends on it", []string{"b"}, map[string]bool{"c": true}, [][]string{{"db"}, {"a", "d"}, {"b", "c"}, {"e", "f"}}},
	} {
		got, ok := PutOff(levels, 1, c.waiting, depends, takes, c.done)
		if want := c.want; ok != (want != nil) || ok && !cmp.Equal(got, want) || !ok && !cmp.Equal(got, levels) {
			t.Errorf("%s: %v (%t), want %v", c.name, got, ok, want)
		}
	}
}

// What a plan that was computed anew between two steps would have had in the first one is not lost: it is in its instance's step, and a deletion in the last.
func TestStepAnew(t *testing.T) {
	name := func(kind string) object.Ref { return object.Ref{Kind: kind, Name: "x"} }
	webhooks := object.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Name: "w"}
	crd := object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "x.example.com"}
	p := &plan.Plan{Changes: []plan.Change{{Action: plan.Create, Instance: "late", Ref: name("Namespace")}, {Action: plan.Update, Instance: "late", Ref: crd},
		{Action: plan.Delete, Instance: "db", Ref: webhooks}, {Action: plan.Create, Instance: "db", Ref: name("Namespace2")}}}
	levels := [][]string{{"db"}, {"late"}, {"last"}}
	for n, want := range []string{"Namespace2", "Namespace CustomResourceDefinition", "ValidatingWebhookConfiguration"} {
		var got []string
		for _, ch := range Step(p, levels, nil, n, true).Changes {
			got = append(got, ch.Ref.Kind)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("step %d: %q, want %s", n, got, want)
		}
	}
	if first := Step(p, levels, nil, 0, false).Changes; len(first) != 4 {
		t.Errorf("in the first step are %v", first)
	}
}

func levelOf(levels [][]string) map[string]int {
	out := map[string]int{}
	for n, l := range levels {
		for _, name := range l {
			out[name] = n
		}
	}
	return out
}

// checkPutOff holds that none that waits, or stands on one that does, goes ahead, and that nobody stands below what it depends on or takes values from.
func checkPutOff(t *rapid.T, put [][]string, at int, waiting []string, depends map[string][]string, takes map[string][]Source) {
	held, now := Behind(waiting, depends, takes), levelOf(put)
	if slices.ContainsFunc(put[at], func(name string) bool { return held[name] }) {
		t.Fatalf("%v go ahead though %v wait", put[at], waiting)
	}
	for name := range now {
		for _, d := range depends[name] {
			if now[d] > now[name] {
				t.Fatalf("%s stands below %s: %v", name, d, put)
			}
		}
		for _, s := range takes[name] {
			if now[s.Instance] > now[name] {
				t.Fatalf("%s stands below %s: %v", name, s.Instance, put)
			}
		}
	}
}

func checkPartition(t *rapid.T, p *plan.Plan, levels [][]string) {
	var changes []plan.Change
	var kept []plan.InventoryEntry
	counts := plan.Counts{}
	for n := range levels {
		s := Step(p, levels, nil, n, false)
		changes, kept, counts = append(changes, s.Changes...), append(kept, s.Kept...), counts.Add(s.Count())
		for _, ch := range s.Changes {
			if (ch.Action == plan.Delete || ch.Action == plan.Release) && n != len(levels)-1 && !slices.Contains(p.First(), ch.Ref) {
				t.Fatalf("%s %s is in step %d of %d", ch.Action, ch.Ref, n, len(levels))
			}
		}
	}
	byRef := cmpopts.SortSlices(func(a, b plan.Change) bool { return a.Ref.Compare(b.Ref) < 0 })
	ownedByRef := cmpopts.SortSlices(func(a, b plan.InventoryEntry) bool { return a.Ref.Compare(b.Ref) < 0 })
	if d := cmp.Diff(p.Changes, changes, byRef, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(p.Kept, kept, ownedByRef, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	if counts != p.Count() {
		t.Fatalf("counts %+v, want %+v", counts, p.Count())
	}
}

func TestBehind(t *testing.T) {
	for _, c := range []struct {
		reason, failed string
		depends        map[string][]string
		takes          []string
		want           string
	}{
		{"nothing failed", "", map[string][]string{"b": {"a"}}, nil, ""},
		{"nothing stands on it", "a", map[string][]string{"c": {"b"}}, nil, "a"},
		{"what depends on it", "a", map[string][]string{"b": {"a"}, "c": {"d"}}, nil, "a b"},
		{"what takes a value of it", "a", nil, []string{"b<a:x", "c<d:x"}, "a b"},
		{"through others", "a", map[string][]string{"c": {"b"}, "e": {"d", "c"}}, []string{"b<a:x"}, "a b c e"},
		{"several", "a d", map[string][]string{"b": {"a"}, "e": {"d"}, "g": {"f"}}, nil, "a b d e"},
		{"a cycle ends", "a", map[string][]string{"a": {"b"}, "b": {"a"}}, nil, "a b"},
	} {
		got := slices.Sorted(maps.Keys(Behind(strings.Fields(c.failed), c.depends, takesOf(c.takes...))))
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.reason, s, c.want)
		}
	}
}

// What is left of a step has nothing of those that are left out, and deletes nothing; nothing is lost without being told.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, out := drawPlan(t), map[string]bool{}
		for _, name := range []string{"i", "j"} {
			if rapid.Bool().Draw(t, name) {
				out[name] = true
			}
		}
		rest, left := Without(p, out)
		if len(out) == 0 {
			if rest != p || left != nil {
				t.Fatalf("%v of %v", left, p)
			}
			return
		}
		told := map[object.Ref]bool{}
		for _, ref := range left {
			told[ref] = true
		}
		does := map[object.Ref]bool{}
		for _, ch := range rest.Changes {
			if does[ch.Ref] = true; out[ch.Instance] || ch.Action == plan.Delete || ch.Action == plan.Release || ch.Hook != nil && ch.Hook.Event == object.PreDelete {
				t.Fatalf("%s %s of %s", ch.Action, ch.Ref, ch.Instance)
			}
		}
		for _, ch := range p.Changes {
			if ch.Action.Writes() && does[ch.Ref] == told[ch.Ref] {
				t.Fatalf("%s %s of %s: done %t, told %t", ch.Action, ch.Ref, ch.Instance, does[ch.Ref], told[ch.Ref])
			}
		}
		for name, m := range rest.Events {
			if out[name] || m == plan.Removal {
				t.Fatalf("%s: %s", name, m)
			}
		}
		for _, o := range rest.Kept {
			if out[o.Instance] {
				t.Fatalf("%s of %s is waited for", o.Ref, o.Instance)
			}
		}
		if rest.Brake != "" || rest.Unchanged != p.Unchanged {
			t.Fatalf("%+v", rest)
		}
	})
}

// What would refuse writes goes in the first step, whatever instance it is of.
func TestStepFirst(t *testing.T) {
	webhooks := object.Ref{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration", Name: "guard"}
	p := &plan.Plan{Changes: []plan.Change{{Action: plan.Create, Instance: "db", Ref: secretRef("1")}, {Action: plan.Delete, Instance: "api", Ref: webhooks},
		{Action: plan.Delete, Instance: "db", Ref: secretRef("2")}}}
	var got []string
	for n := range 2 {
		for _, ch := range Step(p, [][]string{{"db"}, {"api"}}, nil, n, false).Changes {
			got = append(got, fmt.Sprintf("%d %s", n, ch.Ref.Name))
		}
	}
	if want := []string{"0 1", "0 guard", "1 2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of an instance whose values have not come nothing is done in the first step, whatever would come first of others: but for a new Namespace, and a
// definition, that something stands on which is written before.
func TestStepOfLate(t *testing.T) {
	crd := object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "dbs.example.com"}
	ns := object.Ref{Kind: "Namespace", Name: "apps"}
	guard := plan.Change{Action: plan.Delete, Instance: "api", Ref: object.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy", Name: "guard"}}
	in := func(instance string) plan.Change {
		return plan.Change{Action: plan.Create, Instance: instance, Ref: object.Ref{Kind: "Secret", Namespace: "apps", Name: instance}}
	}
	of := func(instance string) plan.Change {
		return plan.Change{Action: plan.Update, Instance: instance, Ref: object.Ref{Group: "example.com", Kind: "Db", Namespace: "x", Name: instance}}
	}
	holder := func(action plan.Action, at object.Ref) plan.Change {
		return plan.Change{Action: action, Instance: "api", Ref: at}
	}
	levels := [][]string{{"db"}, {"api"}, {"last"}}
	for name, c := range map[string]struct {
		changes []plan.Change
		late    bool
		want    int
	}{
		"a guard that goes":                                {[]plan.Change{guard, in("db")}, true, 2},
		"a guard that goes, of one that is not late":       {[]plan.Change{guard, in("db")}, false, 0},
		"a Namespace":                                      {[]plan.Change{holder(plan.Create, ns), in("api")}, true, 1},
		"a Namespace of one that is not late":              {[]plan.Change{holder(plan.Update, ns), in("api")}, false, 0},
		"a Namespace that one before stands in":            {[]plan.Change{holder(plan.Create, ns), in("db")}, true, 0},
		"a Namespace that one after stands in":             {[]plan.Change{holder(plan.Create, ns), in("last")}, true, 1},
		"a Namespace that is there":                        {[]plan.Change{holder(plan.Update, ns), in("db")}, true, 1},
		"a definition":                                     {[]plan.Change{holder(plan.Create, crd), of("api")}, true, 1},
		"a definition that one before has objects of":      {[]plan.Change{holder(plan.Update, crd), of("db")}, true, 0},
		"a definition of which one before deletes objects": {[]plan.Change{holder(plan.Update, crd), {Action: plan.Delete, Instance: "db", Ref: of("db").Ref}}, true, 1},
	} {
		late := map[string][]Source{}
		if c.late {
			late["api"] = []Source{{Instance: "db"}}
		}
		p, at := &plan.Plan{Changes: c.changes}, -1
		for n := range levels {
			if slices.ContainsFunc(Step(p, levels, late, n, false).Changes, func(ch plan.Change) bool { return ch.Ref == c.changes[0].Ref }) {
				at = n
			}
		}
		if at != c.want {
			t.Errorf("%s is in step %d, want %d", name, at, c.want)
		}
	}
}
