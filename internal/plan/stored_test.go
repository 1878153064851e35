package plan

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

// full sets every field of a struct, those of structs in it likewise: texts to their names, numbers to 7.
func full(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(v.Index(0), name)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				full(v.Field(i), f.Name)
			}
		}
	}
}

// Records and plan files outlive a version, and an instance's inputs hold its policy: what is written stays what it is, to the byte.
func TestStoredForm(t *testing.T) {
	var entry InventoryEntry
	full(reflect.ValueOf(&entry).Elem(), "")
	entry.Entry = nil // object's own, and tested there
	change := Change{Action: Update, Ref: object.Ref{Kind: "ConfigMap", Name: "a"}, NoWait: true, Timeout: time.Minute, Force: true, OmitFields: []string{"spec.replicas"},
		Ignore: &object.Ignore{Paths: []string{"p"}, Managers: []string{"m"}}, Handover: true, Checked: true, After: []string{"db"}, OwnNamespace: true}
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"an entry of the inventory": {entry, `{"ref":{"group":"Group","kind":"Kind","namespace":"Namespace","name":"Name"},"version":"Version","instance":"Instance","stage":7,"uid":"UID","rv":"ResourceVersion",` +
			`"digest":"Digest","own":"ApplyHash","schema":"Schema","keep":true,"noWait":true,"timeout":7,"once":true,"expires":true,"awaited":true,` +
			`"ignore":{"paths":["Paths"],"managers":["Managers"]},"ownNamespace":true,"replicas":true,"fixed":"Fixed","force":true,"stays":"Stays","taken":"Taken","hook":{"event":"Event","done":true}}`},
		"an empty one": {InventoryEntry{}, `{"ref":{"kind":"","name":""},"version":""}`},
		"a change": {change, `{"action":"update","object":{"kind":"ConfigMap","name":"a"},"force":true,"omitFields":["spec.replicas"],"ignore":{"paths":["p"],"managers":["m"]},` +
			`"handover":true,"checked":true,"noWait":true,"timeout":60000000000,"after":["db"]}`},
	} {
		if got, err := json.Marshal(c.value); err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	no := false
	in := v1alpha1.Instance{Wait: &no, Timeout: v1alpha1.Duration{Duration: time.Minute}, Ignore: []v1alpha1.IgnoreRule{{Kind: "Deployment", Paths: []string{"spec.replicas"}}}}
	if got := PolicyKey(in, []v1alpha1.IgnoreRule{{Managers: []string{"hpa"}}}) + "|" + PolicyKey(v1alpha1.Instance{}, nil); got != ` {"noWait":true,"timeout":60000000000,"ignore":[{"kind":"Deployment","paths":["spec.replicas"]},{"managers":["hpa"]}]}|` {
		t.Errorf("the policy: %s", got)
	}
}

// What is recorded of a declaration is what is desired when nothing is rendered: nothing of it is lost on the way there and back.
func TestDeclarationIsRecordedWhole(t *testing.T) {
	var d Desired
	full(reflect.ValueOf(&d).Elem(), "")
	back := DesiredFrom(EntryFor(d, "schema"))
	// where it is written, whether it may be shown, and what of it is not known yet, is known of what is rendered alone; hooks have entries of their own
	d.Pos, d.Declared, d.Open, d.Late, d.Hook = back.Pos, back.Declared, back.Open, back.Late, back.Hook
	if !reflect.DeepEqual(d, back) {
		t.Errorf("%+v\nwant %+v", back, d)
	}
}
