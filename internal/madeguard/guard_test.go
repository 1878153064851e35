package madeguard

import (
	"encoding/base64"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func TestMadeAnew(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	plain := object.Ref{Kind: "Secret", Namespace: "ns", Name: "plain"}
	answers := func(v string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: v}}}
	}
	type kept = map[string]chance.Answers
	taken := func(from string) chance.Answers {
		a := answers("new-password-of-app")
		a.From, a.Moves = from, 1
		return a
	}
	desired := []plan.Desired{{Ref: ref, Instance: "app"}}
	was := func(instance string) plan.Input {
		return plan.Input{Desired: desired, Inventory: []plan.InventoryEntry{{Ref: ref, Instance: instance}}}
	}
	deleted := func(live plan.Live, o plan.InventoryEntry) plan.Input {
		o.Ref, o.Instance = ref, "app"
		return plan.Input{Desired: desired, Undone: true, Recorded: true, Inventory: []plan.InventoryEntry{o}, Live: map[object.Ref]plan.Live{ref: live}}
	}
	writes := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Update}}}
	moved := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Adopt, Code: plan.CodeMoved, FromManagers: []string{object.Manager("bb")}}}}
	adopted := func(ref object.Ref, manager string) plan.Plan {
		return plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Adopt, Code: plan.CodeAdopted, From: "Helm release ns/app", FromManagers: []string{manager}}}}
	}
	bodies := map[object.Ref]object.Object{ref: {Body: map[string]any{"data": map[string]any{"p": "x bmV3LXBhc3N3b3JkLW9mLWFwcA== y"}}},
		plain: {Body: map[string]any{"data": map[string]any{"p": "c3RhdGlj"}}}}
	came := func(owner, instance string, doubt bool) map[string]chance.Origin {
		return map[string]chance.Origin{"app": {Owner: owner, Instance: instance, Doubt: doubt}}
	}
	for _, c := range []struct {
		reason string
		p      plan.Plan
		in     plan.Input
		s      chance.Settled
		want   string
	}{
		{"a first install", plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Create}}}, plan.Input{Desired: desired}, chance.Settled{}, ""},
		{"the record is lost", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Inventory: []plan.InventoryEntry{{Ref: ref, Instance: "app"}}}, chance.Settled{}, "kept-values-lost"},
		{"the record is lost, and not what is kept", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Inventory: []plan.InventoryEntry{{Ref: ref, Instance: "app"}}},
			chance.Settled{Kept: kept{"app": answers("new-password-of-app")}}, ""},
		{"the record is lost, the instance is new", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Inventory: []plan.InventoryEntry{{Ref: object.Ref{Kind: "Job"}, Instance: "job"}}}, chance.Settled{}, ""},
		{"a delete was cut short, and left nothing", plan.Plan{}, deleted(plan.Live{}, plan.InventoryEntry{}), chance.Settled{}, ""},
		{"a delete was cut short, and left what is kept", plan.Plan{}, deleted(plan.Live{Found: true, UID: "u"}, plan.InventoryEntry{UID: "u"}), chance.Settled{Kept: kept{"app": answers("new-password-of-app")}}, ""},
		{"a delete was cut short, and left an object without what is kept", plan.Plan{}, deleted(plan.Live{Found: true, UID: "u"}, plan.InventoryEntry{UID: "u"}), chance.Settled{}, "kept-values-lost"},
		{"a delete was cut short, and left a kind that is not seen", plan.Plan{}, deleted(plan.Live{Unseen: "forbidden"}, plan.InventoryEntry{UID: "u"}), chance.Settled{}, "kept-values-lost"},
		{"a delete was cut short, and its object is on its way", plan.Plan{}, deleted(plan.Live{Found: true, UID: "u", Terminating: true}, plan.InventoryEntry{UID: "u"}), chance.Settled{}, ""},
		{"a delete was cut short, and somebody made another object", plan.Plan{}, deleted(plan.Live{Found: true, UID: "x"}, plan.InventoryEntry{UID: "u"}), chance.Settled{}, ""},
		{"a delete was cut short, and left the instance's Namespace", plan.Plan{}, deleted(plan.Live{Found: true, UID: "u"}, plan.InventoryEntry{UID: "u", OwnNamespace: true}), chance.Settled{}, ""},
		{"it was another instance's", plan.Plan{}, was("db"), chance.Settled{Kept: kept{"db": answers("old")}}, "kept-values-moved"},
		{"the other instance's are the same", plan.Plan{}, was("db"), chance.Settled{Kept: kept{"db": answers("new-password-of-app")}}, ""},
		{"it was another instance's, which made nothing up", plan.Plan{}, was("db"), chance.Settled{}, ""},
		{"two names were swapped", writes, was("db"), chance.Settled{Kept: kept{"db": answers("old"), "app": answers("new-password-of-app")}}, "kept-values-moved"},
		{"it moves into another instance, and holds nothing of that", plan.Plan{}, plan.Input{Desired: []plan.Desired{{Ref: plain, Instance: "app"}}, Inventory: []plan.InventoryEntry{{Ref: plain, Instance: "db"}}}, chance.Settled{Kept: kept{"db": answers("old"), "app": answers("new-password-of-app")}}, ""},
		{"the instance was renamed", writes, was("db"), chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", false)}, ""},
		{"renamed to a former name, and objects come along", writes, was("db"), chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", true)}, ""},
		{"renamed to a former name, and none does", plan.Plan{}, plan.Input{Desired: desired}, chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", true)}, "kept-values-doubtful"},
		{"it was another bundle's", moved, plan.Input{Desired: desired}, chance.Settled{}, "kept-values-moved"},
		{"it was another bundle's, and so were the values", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": taken("bb")}, Came: came("bb", "app", true)}, ""},
		{"it was another bundle's, and the values are own ones", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": answers("new-password-of-app")}}, "kept-values-moved"},
		{"it was another bundle's, and the values are of a third", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": taken("bc")}, Came: came("bc", "app", false)}, "kept-values-moved"},
		{"it is adopted from a bundle of other files", adopted(ref, object.Manager("bb")), plan.Input{Desired: desired}, chance.Settled{}, "kept-values-moved"},
		{"what is adopted from there holds nothing made up", adopted(plain, object.Manager("bb")), plan.Input{Desired: desired}, chance.Settled{}, ""},
		{"it is adopted from Helm, which makes anew itself", adopted(ref, "helm"), plan.Input{Desired: desired}, chance.Settled{}, ""},
		{"it goes to another bundle", plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Release, Code: plan.CodeMoved}}}, plan.Input{}, chance.Settled{}, ""},
	} {
		got := ""
		if fs := MadeAnew(&c.p, c.in, "app", c.s, answers("new-password-of-app"), bodies); len(fs) > 0 {
			got = fs[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestInUse: what is there without the bundle keeps what it holds, but for what a chart that looks nothing up has Helm make anew, too.
func TestInUse(t *testing.T) {
	ref, plain := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}, object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "plain"}
	bodies := map[object.Ref]object.Object{ref: {Body: map[string]any{"data": map[string]any{"p": "x bmV3LXBhc3N3b3JkLW9mLWFwcA== y"}}},
		plain: {Body: map[string]any{"data": map[string]any{"p": "c3RhdGlj"}}}}
	made := chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: "new-password-of-app"}}}
	kept := chance.Settled{Kept: map[string]chance.Answers{"app": made}}
	bodies[ref].Body["data"].(map[string]any)["tls.key"] = base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE KEY-----"))
	webhook := ref
	webhook.Name = "webhook"
	bodies[webhook] = bodies[ref]
	deployment := ref
	deployment.Kind = "Deployment"
	bodies[deployment] = bodies[ref]
	bodies[ref].Body["data"].(map[string]any)["q"] = "b2YtaGVsbS1pdHNlbGY="
	lookedUp := made // a chart that looks its Secret up: of it one key was found
	lookedUp.Secrets = map[string]map[string]string{"ns/login": {"q": "b2YtaGVsbS1pdHNlbGY="}}
	helm := func(ch *plan.Change) { ch.From = "Helm release ns/app" }
	adopted := plan.Change{Ref: ref, Action: plan.Adopt, Code: plan.CodeAdopted, From: "nobody we know"}
	with := func(ch plan.Change, set func(*plan.Change)) plan.Change { ch.Instance = "app"; set(&ch); return ch }
	replaces := func(fields ...plan.FieldChange) func(*plan.Change) {
		return func(ch *plan.Change) { ch.Checked, ch.Fields = true, fields }
	}
	ofHelm := func(fields ...plan.FieldChange) plan.Change {
		ch := with(adopted, replaces(fields...))
		helm(&ch)
		return ch
	}
	for reason, c := range map[string]struct {
		ch   plan.Change
		s    chance.Settled
		want bool
		made chance.Answers
	}{
		"from nobody":                                            {with(adopted, func(*plan.Change) {}), chance.Settled{}, true, made},
		"nothing made up is in it":                               {with(adopted, func(ch *plan.Change) { ch.Ref = plain }), chance.Settled{}, false, made},
		"nothing of it is replaced":                              {with(adopted, replaces(plan.FieldChange{Path: "data.p", Hidden: true, Added: true})), chance.Settled{}, false, made},
		"a value is replaced":                                    {with(adopted, replaces(plan.FieldChange{Path: "data.p", Hidden: true})), chance.Settled{}, true, made},
		"with what is kept":                                      {with(adopted, func(*plan.Change) {}), kept, false, made},
		"from Helm, which makes anew itself":                     {with(adopted, helm), chance.Settled{}, false, made},
		"a delete kept it, and not the password":                 {with(adopted, func(ch *plan.Change) { ch.Action, ch.Code = plan.Update, plan.CodeAgain }), chance.Settled{}, true, made},
		"from Helm, and a key that no look-up found is replaced": {ofHelm(plan.FieldChange{Path: "data.p", Hidden: true}), chance.Settled{}, true, lookedUp},
		"from Helm, and a key that was found is written":         {ofHelm(plan.FieldChange{Path: "data.q", Hidden: true}), chance.Settled{}, false, lookedUp},
		"from Helm, and the key that was not found is new":       {ofHelm(plan.FieldChange{Path: "data.p", Hidden: true, Added: true}), chance.Settled{}, false, lookedUp},
		"from Helm, and nothing but metadata changes":            {ofHelm(plan.FieldChange{Path: "metadata.labels.a", Old: "b", New: "c"}), chance.Settled{}, false, lookedUp},
		"from Helm, and a certificate is made anew":              {with(ofHelm(plan.FieldChange{Path: "data.\"tls.key\"", Hidden: true}), func(ch *plan.Change) { ch.Ref = webhook }), chance.Settled{}, false, lookedUp},
		"from Helm, and a key in what it looks up is":            {ofHelm(plan.FieldChange{Path: "data.\"tls.key\"", Hidden: true}), chance.Settled{}, true, lookedUp},
		"from Helm, and a pod template has something new":        {with(ofHelm(plan.FieldChange{Path: "data.p", Hidden: true}), func(ch *plan.Change) { ch.Ref.Kind = "Deployment" }), chance.Settled{}, false, lookedUp},
		"from Helm, and nobody was asked":                        {with(adopted, helm), chance.Settled{}, true, lookedUp},
		"from Helm, another object, which holds nothing made up": {with(adopted, func(ch *plan.Change) { helm(ch); ch.Ref = plain }), chance.Settled{}, false, lookedUp},
	} {
		found := MadeAnew(&plan.Plan{Changes: []plan.Change{c.ch}}, plan.Input{}, "app", c.s, c.made, bodies)
		if (len(found) == 1 && found[0].Code == "kept-values-in-use") != c.want || len(found) > 0 != c.want {
			t.Errorf("%s: %v", reason, found)
		}
	}
}

// TestSwapped: what swaps two names says how that is done.
func TestSwapped(t *testing.T) {
	of := func(name string) object.Ref { return object.Ref{Kind: "Secret", Namespace: "ns", Name: name} }
	made := func(v string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: v}}}
	}
	in := plan.Input{Desired: []plan.Desired{{Ref: of("a"), Instance: "b"}, {Ref: of("b"), Instance: "a"}}, Inventory: []plan.InventoryEntry{{Ref: of("a"), Instance: "a"}, {Ref: of("b"), Instance: "b"}}}
	v := Values{Now: made("password-of-a"), Settled: chance.Settled{Kept: map[string]chance.Answers{"a": made("password-of-a"), "b": made("password-of-b")}}}
	for _, c := range [][2]string{{"swapped", "rename b to a name that is not used, then a to b, then that name to a"}, {"one alone", "rename one instance at a time"}} {
		got := Check(&plan.Plan{}, in, "a", v, nil)
		if len(got) != 1 || !strings.Contains(got[0].Fix, c[1]) {
			t.Errorf("%s: %v", c[0], got)
		}
		in.Desired = in.Desired[1:] // then b is gone
	}
}

// TestLeft: what is made anew goes everywhere, or the plan is refused.
func TestLeft(t *testing.T) {
	const old, next = "old-password-of-app", "new-password-of-app"
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	client := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "client"}
	answers := func(v string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: v}}}
	}
	body := func(v string) object.Object {
		return object.Object{Body: map[string]any{"kind": "Secret", "data": map[string]any{"p": base64.StdEncoding.EncodeToString([]byte(v)), "u": "YWRtaW4="}}}
	}
	from := bind.From{Instance: "db", Object: bind.Object{APIVersion: "v1", Kind: "Secret", Name: "db"}, Preview: &v1alpha1.Value{Kind: v1alpha1.KindString, Text: "stands in for p"}}
	once, plain := plan.Desired{Ref: ref, Instance: "app", Once: true, Digest: "d2", Pos: diag.Pos{File: "a.yaml", Line: 7}}, plan.Desired{Ref: ref, Instance: "app"}
	hooked := plan.Desired{Ref: ref, Instance: "app", Hook: &object.Hook{Events: []object.HookPhase{object.PreInstall}}}
	left := func(paths ...string) plan.Desired {
		return plan.Desired{Ref: ref, Instance: "app", Ignore: &object.Ignore{Paths: paths}}
	}
	live := map[object.Ref]plan.Live{ref: {Found: true}}
	rotate := Values{Rotate: chance.Rotation{"app/x"}, Now: answers(next), Settled: chance.Settled{Kept: map[string]chance.Answers{"app": answers(old)}}}
	unasked := rotate
	unasked.Rotate = nil
	same := rotate
	same.Now = answers(old)
	other := Values{Rotate: chance.Rotation{"db"}, Takes: []bind.From{from}}
	for _, c := range []struct {
		reason  string
		v       Values
		d       plan.Desired
		body    object.Object
		live    map[object.Ref]plan.Live
		changes []plan.Change
		client  string // what it holds
		was     string // the recorded digest
		ran     bool   // it is a hook's
		want    string
	}{
		{reason: "a rotation, and the Secret is changed", v: rotate, d: plain, body: body(next), live: live},
		{reason: "the Secret is one-off", v: rotate, d: once, body: body(next), live: live, want: "kept-values-one-off"},
		{reason: "and holds something that was made of it", v: rotate, d: once, body: body("hash"), live: live, was: "d1", want: "kept-values-one-off"},
		{reason: "and holds nothing of it", v: rotate, d: once, body: body("admin"), live: live, was: "d2"},
		{reason: "and is not there", v: rotate, d: once, body: body(next)},
		{reason: "and is taken over", v: rotate, d: once, body: body(next), live: live, changes: []plan.Change{{Ref: ref, Action: plan.Adopt}}},
		{reason: "and nothing was made anew", v: same, d: once, body: body(old), live: live, was: "d2"},
		{reason: "something new, unasked, for others too", v: unasked, d: once, body: body(next), live: live, client: next, want: "kept-values-one-off"},
		{reason: "something new, unasked, for it alone", v: unasked, d: once, body: body(next), live: live},
		{reason: "the field is left to others", v: rotate, d: left("data.p"), body: body(next), live: live, want: "kept-values-ignored"},
		{reason: "another field is", v: rotate, d: left("data.u"), body: body(next), live: live},
		{reason: "it is, and nobody asked", v: unasked, d: left("data.p"), body: body(next), live: live, client: next},
		{reason: "a hook made it, and does not run", v: rotate, d: hooked, body: body(next), ran: true, want: "kept-values-one-off"},
		{reason: "a hook made it, and runs", v: rotate, d: hooked, body: body(next), ran: true, changes: []plan.Change{{Ref: ref, Action: plan.Recreate, Hook: &plan.HookTask{}}}},
		{reason: "a hook made it, and it went", v: rotate, d: hooked, body: body(next)},
		{reason: "it is not known yet what will be made", v: Values{Rotate: chance.Rotation{"app"}, Open: true}, d: once, body: body("placeholder"), live: live, want: "kept-values-one-off"},
		{reason: "it is not known yet, and goes everywhere", v: Values{Rotate: chance.Rotation{"app"}, Open: true}, d: plain, body: body("placeholder"), live: live},
		{reason: "a one-off object takes it", v: other, d: once, body: body("x stands in for p y"), live: live, want: "kept-values-one-off"},
		{reason: "an object takes it", v: other, d: plain, body: body("x stands in for p y"), live: live},
	} {
		in := plan.Input{Desired: []plan.Desired{c.d, {Ref: client, Instance: "web"}}, Live: c.live, Inventory: []plan.InventoryEntry{{Ref: ref, Digest: c.was}}}
		if c.ran {
			in.Inventory[0].Hook = &plan.HookRun{Done: true}
		}
		bodies := map[object.Ref]object.Object{ref: c.body, client: body(c.client)}
		got := ""
		for _, f := range Check(&plan.Plan{Changes: c.changes}, in, "app", c.v, bodies) {
			got = f.Code
			if f.Object != ref.String() || f.Fix == "" || f.Pos != c.d.Pos {
				t.Errorf("%s: %+v", c.reason, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestLeftBehind: a bundle is not deleted with the passwords of what goes to an instance of another name.
func TestLeftBehind(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	p := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Release, Code: plan.CodeMoved}}}
	made := map[string]string{"app": "sha256:1"}
	for _, c := range []struct {
		to   string
		made map[string]string
		want int
	}{{"app", made, 0}, {"database", made, 1}, {"database", nil, 0}} {
		b := plan.Beside{Declares: map[object.Ref]plan.Declaration{ref: {Bundle: "bb", Instance: c.to}}}
		if got := LeftBehind(&p, b, c.made); len(got) != c.want {
			t.Errorf("to %s: %v", c.to, got)
		}
	}
}
