package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/redact"
)

// filled makes a value of a type with a text of its own in every field, "canary" in each.
func filled(t reflect.Type, depth int, n *int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		*n++
		v.SetString(fmt.Sprintf("https://me:pw@x.example/?of=canary-77c1-Value %d", *n))
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(filled(t.Elem(), depth-1, n))
		}
	case reflect.Slice:
		if depth > 0 && t.Elem().Kind() > reflect.Complex128 {
			v.Set(reflect.Append(v, filled(t.Elem(), depth-1, n), filled(t.Elem(), depth-1, n)))
		}
	case reflect.Map:
		if depth > 0 && t.Key().Kind() == reflect.String {
			v.Set(reflect.MakeMap(t))
			v.SetMapIndex(reflect.ValueOf("canary-77c1-Value").Convert(t.Key()), filled(t.Elem(), depth-1, n))
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf(any(map[string]any{"name": "canary-77c1-Value", "list": []any{"canary-77c1-Value"}})))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(filled(t.Field(i).Type, depth, n))
			}
		}
	}
	return v
}

// asJSON is a document as JSON.
func asJSON(t *testing.T, doc any) []byte {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDocumentIsMaskedAsItsJSON: what text is laid out of holds no more, and no less, than the JSON that is printed of it, field by field of every document.
func TestDocumentIsMaskedAsItsJSON(t *testing.T) {
	mask := redact.New("canary-77c1-Value").Sweep
	for name, doc := range printed {
		n := 0
		v := filled(reflect.TypeOf(doc), 7, &n)
		if n < 3 {
			t.Errorf("%s: only %d texts", name, n)
		}
		before := asJSON(t, v.Interface())
		got, want := asJSON(t, Document(v.Interface(), mask)), (&Writer{Mask: mask}).maskStrings(before)
		if !bytes.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%s: at %s\nwant %s", name, got[max(0, i-200):min(len(got), i+100)], want[max(0, i-200):min(len(want), i+100)])
		}
		if after := asJSON(t, v.Interface()); !bytes.Equal(before, after) {
			t.Errorf("%s: what was given was changed", name)
		}
	}
}

// TestDocumentOfPlans: whatever words are secret, names and actions stay, what leads back to itself ends, and a warning that something is hidden is hidden by nobody.
func TestDocumentOfPlans(t *testing.T) {
	hides := diag.Warnf("hidden-by-others", "in 2 places something is hidden")
	rapid.Check(t, func(t *rapid.T) {
		r := redact.New(rapid.SampledFrom([]string{"in 2 places something is hidden", "c4nary-77c1-Value", "staging-eu-7731"}).Draw(t, "secret"))
		p := &fleetplan.FleetPlan{Bundle: "staging-eu-7731", Findings: diag.Findings{hides, diag.Warnf("x", "said c4nary-77c1-Value")},
			Clusters: []*fleetplan.ClusterPlan{{Cluster: "staging-eu-7731", Unreachable: "of c4nary-77c1-Value"}}}
		p.Clusters = append(p.Clusters, p.Clusters[0])
		got := Document(p, r.Sweep)
		if got.Bundle != p.Bundle || got.Findings[0].What != hides.What || got.Clusters[0] != got.Clusters[1] || got.Clusters[0].Cluster != "staging-eu-7731" {
			t.Fatalf("%+v", got)
		}
		if said := got.Findings[1].What + got.Clusters[0].Unreachable; strings.Contains(said, "c4nary") == (r.Sweep("c4nary-77c1-Value") == redact.Mask) {
			t.Fatal(said)
		}
	})
	type ring struct {
		Why  string
		Next *ring
	}
	a := &ring{Why: "c4nary-77c1-Value"}
	a.Next = &ring{Next: a}
	if got := Document(a, redact.New("c4nary-77c1-Value").Sweep); got.Why != redact.Mask || a.Why == redact.Mask {
		t.Errorf("%+v", got)
	}
}
