package fleetplan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
)

// named are the texts of a fleet plan that name or identify something, or that are masked where they are made: the plan of
// a cluster by plan.Redact, runtime values by fleet.Moved. Every other one passes the redactor, those to come too.
var named = []string{"Verb", "Bundle", "Requires", "Owner", "Fleet", "SourceDigest", "Created", "Schedule", "Stats", "Cluster", "Group", "Groups", "UID", "Version",
	"Plan", "Name", "Pos", "Late", "RuntimeChanges", "Severity", "Code", "Instance", "RollbackTo"}

func plant(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(`a["` + text + `"]`)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(named, f.Name) {
				plant(v.Field(i), text)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0), text)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		plant(item, text)
		v.SetMapIndex(reflect.ValueOf("name"), item)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem(), text)
	}
}

// TestFleetPlanIsRedactedWhole: sources, reasons of placement, reasons of the guard and whatever else a fleet plan says
// beside the plans of its clusters hold no secret.
func TestFleetPlanIsRedactedWhole(t *testing.T) {
	const canary = "canary-77c1"
	var p FleetPlan
	plant(reflect.ValueOf(&p).Elem(), canary)
	before, err := json.Marshal(p)
	if err != nil || strings.Count(string(before), canary) < 9 {
		t.Fatalf("the plan is not filled: %s %v", before, err)
	}
	shared := p.Clusters[0].NotPlaced
	p.Redact(redact.New(canary))
	after, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(after), canary); i >= 0 {
		t.Errorf("not redacted: …%s", after[max(0, i-80):])
	}
	if !strings.Contains(shared["name"], canary) {
		t.Error("what decides about placement was changed")
	}
}
