package fleetplan

import (
	"encoding/json"
	"reflect"
	"testing"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/planfile"
)

// fill sets every field of a struct to something.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch f.Kind() {
		case reflect.Struct:
			fill(t, f)
		case reflect.String:
			f.SetString(name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(7)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			f.Index(0).SetString(name)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
			f.Elem().SetInt(3)
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		default:
			t.Fatalf("%s is of kind %s", name, f.Kind())
		}
	}
}

// What decides is saved whole, and side by side: no part of a request hides a field of another.
func TestDecidedIsSavedWhole(t *testing.T) {
	var d, back Decided
	fill(t, reflect.ValueOf(&d).Elem())
	d.ID, d.Inputs = "", planfile.Inputs{}
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || !reflect.DeepEqual(d, back) {
		t.Errorf("%v\n%s\n%+v\n%+v", err, text, d, back)
	}
	for field := range lifts {
		if _, ok := reflect.TypeFor[PlanOptions]().FieldByName(field); !ok {
			t.Errorf("%s is no option of a plan", field)
		}
	}
}

// A request that an earlier version saved is read as it was meant.
func TestDecidedOfEarlierVersions(t *testing.T) {
	text := `{"files":["b.yaml"],"fleet":["f.yaml"],"workdir":"w","package":"main","name":"n","namespace":"ns","bundle":"shop","to":"3","runtimeFromEnv":true,` +
		`"selection":{"Clusters":["eu*"],"Groups":null,"Labels":"a=b"},"context":"eu","rotate":["web"],"adopt":true,"takeOver":true,"acceptClusters":["eu"],"recreate":true,` +
		`"letUnserved":true,"skipWaves":true,"untilWave":2,"confirmDelete":3,"tests":true,"noHooks":true,"locked":true,"serverCheck":true,"showDiff":true,"showFields":true,` +
		`"showContent":true,"retire":"old","keep":true,"inputs":{"dir":"/d","files":{},"sources":{}}}`
	three := 3
	want := Decided{Paths: Paths{Files: []string{"b.yaml"}, FleetFiles: []string{"f.yaml"}, Workdir: "w", Package: "main", Name: "n", Namespace: "ns"},
		Selection: Selection{Bundle: "shop", Clusters: fleet.Selection{Clusters: []string{"eu*"}, Labels: "a=b"}, Retire: "old", Keep: true},
		PlanOptions: PlanOptions{To: "3", RuntimeFromEnv: true, Rotate: []string{"web"}, Adopt: true, TakeOver: true, AcceptClusters: []string{"eu"}, Recreate: true,
			LetUnserved: true, SkipWaves: true, UntilWave: 2, ConfirmDelete: &three, Tests: true, NoHooks: true, Locked: true, ServerCheck: true, ShowDiff: true, ShowFields: true, ShowContent: true},
		Context: "eu", Inputs: planfile.Inputs{Dir: "/d", Files: map[string]string{}, Sources: map[string]string{}}}
	var got Decided
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\n%+v", err, got, want)
	}
}

// The plan's options are the saved ones, but for a number of deletions that only the request confirms.
func TestOptions(t *testing.T) {
	one, two := 1, 2
	for name, c := range map[string]struct{ saved, given, want *int }{"none": {nil, nil, nil}, "given": {nil, &one, &one}, "saved": {&two, nil, &two}, "both": {&two, &one, &two}} {
		got := Decided{PlanOptions: PlanOptions{Adopt: true, ConfirmDelete: c.saved}}.Options(PlanOptions{Recreate: true, ConfirmDelete: c.given})
		if !got.Adopt || got.Recreate || got.ConfirmDelete != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
