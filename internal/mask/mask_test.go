package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/retirement"
)

// Whatever is printed, secret values are masked, and documents stay documents.
func TestMaskedWriter(t *testing.T) {
	redactor := redact.New("hunter2-long", "42424242", "line \"one\"\nline two\n", "12")
	var b bytes.Buffer
	w := &Writer{To: &b, Mask: redactor.Sweep}
	write := func(text string) string {
		b.Reset()
		if n, err := w.Write([]byte(text)); err != nil || n != len(text) {
			t.Fatal(n, err)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"12 objects, hunter2-long seen":     "12 objects, *** seen",
		"nothing 12\n":                      "nothing 12\n",
		`{"a":"hunter2-long","n":42424242}`: `{"a":"***","n":42424242}`,
	} {
		if got := write(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	doc := map[string]any{"v": 1, "text": "hunter2-long", "also": "<line \"one\"\nline two\n>", "n": 42424242, "hunter2-long": "key"}
	for name, encode := range map[string]func() error{
		"json": func() error { b.Reset(); return report.JSON(w, doc) }, "yaml": func() error { b.Reset(); return report.YAML(w, doc) },
	} {
		if err := encode(); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s is no document any more: %v\n%s", name, err, &b)
		}
		if got["text"] != redact.Mask || got["n"] != float64(42424242) || got["also"] != "<***>" || got["hunter2-long"] != "key" || len(got) != 5 {
			t.Errorf("%s: %v", name, got)
		}
		if strings.Count(b.String(), "hunter2") != 1 {
			t.Errorf("%s shows the value: %s", name, &b)
		}
	}
}

// What authenticates in an address is hidden in names, too, whichever they are, in JSON and YAML; and nothing else of them.
func TestAddressesInNames(t *testing.T) {
	const said, hidden = "https://me:pw@charts.example.com/x?token=UrlCanary77&page=2", "https://***@charts.example.com/x?token=***&page=2"
	doc := map[string]any{}
	for name := range names {
		doc[name] = said
	}
	doc["source"] = map[string]any{"name": said, "reference": []string{said}, "hunter2": "x"}
	for form, encode := range map[string]func(w *Writer) error{
		"json": func(w *Writer) error { return report.JSON(w, doc) }, "yaml": func(w *Writer) error { return report.YAML(w, doc) },
	} {
		var b bytes.Buffer
		if err := encode(&Writer{To: &b, Mask: redact.New("hunter2").Sweep}); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil || len(got) != len(doc) {
			t.Fatalf("%s: %v: %s", form, err, &b)
		}
		for name := range names {
			if got[name] != hidden {
				t.Errorf("%s: %s: %v", form, name, got[name])
			}
		}
		if s := b.String(); strings.Contains(s, "UrlCanary77") || !strings.Contains(s, "hunter2") {
			t.Errorf("%s: %s", form, s)
		}
	}
}

// stringKeys are the fields of a type's JSON that hold strings, "labels{}" for those that others name.
func stringKeys(t reflect.Type, key string, seen map[reflect.Type]bool, out map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		stringKeys(t.Elem(), key, seen, out)
	case reflect.Map:
		stringKeys(t.Elem(), key+"{}", seen, out)
	case reflect.String, reflect.Interface:
		out[key] = true
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" || name == "" && !f.Anonymous || seen[f.Type] {
				continue
			}
			if f.Type.Kind() == reflect.Struct {
				seen[f.Type] = true
			}
			stringKeys(f.Type, cmp.Or(name, key), seen, out)
		}
	}
}

// printed are the documents that are printed, by the names of their schemas, and those that have none.
var printed = map[string]any{"plan": fleetplan.FleetPlan{}, "event": fleetplan.Event{}, "outcome": fleetplan.Outcome{}, "status": fleetplan.StatusReport{},
	"outdated": fleetplan.OutdatedReport{}, "lock": fleetplan.LockReport{}, "findings": report.FindingsDocument{}, "fleet-report": fleetplan.FleetReport{},
	"listing": release.Listing{}, "history": history.History{}, "comparison": history.Comparison{}, "between": history.Between{}, "promotion": promotion.Promotion{}, "drift": drift.Report{}, "saying": release.Saying{}, "records": recordkeeping.Report{}, "facts without a schema": fleet.Snapshot{},
	"fleet retire without a schema": retirement.Retirement{}}

// schemas are the names of the schemas of what is printed; bundle and fleet are read.
func schemas(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/schema/*.json")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var out []string
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); name != "bundle" && name != "fleet" {
			out = append(out, name)
		}
	}
	return out
}

// TestEveryFieldIsNameOrText: of every string in the documents we print it is decided whether it is a name, which nothing
// hides, or a text that may hold a secret. A new field fails here until it is in one of the lists: names in mask.go, or texts.
func TestEveryFieldIsNameOrText(t *testing.T) {
	texts := strings.Fields(`access author before blocked brake by chosen closed deferred details diff fix from guard holder inProgress live lock loss lost manager message missing new notPlaced{} old origin origins{} path
		problem reason recorded repository runtimeChanges server source stopped takenBy unknown unreachable value vars{} waits want what why`)
	found := map[string]bool{}
	for _, doc := range printed {
		stringKeys(reflect.TypeOf(doc), "", map[reflect.Type]bool{}, found)
	}
	for _, schema := range schemas(t) {
		if _, ok := printed[schema]; !ok {
			t.Errorf("docs/schema/%s.json is of a document that is not among those of this test", schema)
		}
	}
	if len(found) < 60 {
		t.Fatalf("only %d fields were found", len(found))
	}
	for key := range found {
		bare := strings.TrimSuffix(key, "{}")
		if name, text := names[bare], slices.Contains(texts, key); name == text {
			t.Errorf("the field %q: name %t, text %t; put it into one list: names (mask.go) when it identifies something, texts when it may quote what others wrote", key, name, text)
		}
		if bare != key && !byName[bare] {
			t.Errorf("the fields of %q are named by others: put it into byName (mask.go)", bare)
		}
	}
	for _, text := range texts {
		if !found[text] {
			t.Errorf("there is no field %q any more", text)
		}
	}
}

// vocabulary are words of ours: fields and values of the documents' schemas, and of the program's commands.
func vocabulary(t *testing.T) []string {
	t.Helper()
	words := map[string]bool{"delete": true, "succeeded": true, "staging": true, "ConfigMap": true, "web": true, "web-config": true, "0": true, "1": true, "true": true}
	files, err := filepath.Glob("../../docs/schema/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	quoted := regexp.MustCompile(`"([A-Za-z][A-Za-z0-9 /.-]*)"`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllSubmatch(data, -1) {
			words[string(m[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(words))
}

// TestMaskingFalsifiesNothing: whatever words of ours, and names, somebody puts into Secrets, one by one, in lists or in
// documents, the documents that are printed keep their keys, names and words, and text stays as it is. What is secret beside them
// is hidden all the same.
func TestMaskingFalsifiesNothing(t *testing.T) {
	words := vocabulary(t)
	const canary = "c4nary-77c1-Value"
	p := fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: "delete", Bundle: "shop", Owner: "shop-1f2e", SourceDigest: "sha256:4be1c0", Clusters: []*fleetplan.ClusterPlan{{Cluster: "staging", Group: "prod",
		UID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", NotPlaced: map[string]string{"status": "no cluster has the label " + canary}, Plan: &plan.Plan{Cluster: "staging", Bundle: "shop",
			Changes: []plan.Change{{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web-config"}, Action: plan.Delete, Instance: "web", Code: "removed",
				Why: "it is no longer declared", Fields: []plan.FieldChange{{Path: "data.mode", Old: `"` + canary + `"`, New: `"delete"`}}}}}}}}
	event := fleetplan.Event{V: diag.DocumentVersion, Type: fleetplan.EventWritten, Action: plan.Delete, Cluster: "staging", Instance: "web", Status: "succeeded", Message: "said " + canary,
		Object: &object.Ref{Kind: "ConfigMap", Name: "web-config"}}
	text := "  - ConfigMap web-config  deleted, no longer declared\n1 to delete on staging, 0 unchanged. Nothing was written.\n"
	print := func(mask func(string) string) string {
		var b bytes.Buffer
		w := &Writer{To: &b, Mask: mask}
		for _, f := range []func() error{func() error { return report.JSON(w, p) }, func() error { return report.YAML(w, p) }, func() error { _, err := w.Write([]byte(text)); return err },
			func() error { report.NewNDJSON(w)(event); return nil }} {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	want := print(func(s string) string { return strings.ReplaceAll(s, canary, redact.Mask) })
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(words), 1, 8).Draw(t, "words")
		r := redact.New(canary)
		for i, form := range []string{strings.Join(chosen, ","), strings.Join(chosen, "\n"), `{"a": "` + strings.Join(chosen, `", "b": "`) + `"}`} {
			r.AddFor(fmt.Sprint("mine", i), form)
		}
		for _, w := range chosen {
			r.AddFor("mine", w)
			r.AddFor("web", w) // whose texts this writer does not know
		}
		r.AddFor("mine", "sha256:4be1c0")                        // what looks like a secret
		r.AddFor("mine", "7c9e6679-7425-40de-944b-e07fc1f90ae7") // is none where it is a name
		if got := print(r.Sweep); got != want {
			t.Fatalf("%q change what is printed:\n%s\nwant\n%s", chosen, got, want)
		}
	})
	if strings.Contains(want, canary) {
		t.Error("the canary is shown")
	}
}

// Masking the strings of JSON gives JSON.
func FuzzMaskStrings(f *testing.F) {
	f.Add([]byte(`{"a\"b":["x\\",1,{"c":"ab"}]}`), "ab")
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		if !json.Valid(data) {
			return
		}
		if out := (&Writer{Mask: func(s string) string { return redact.New(value).Value("", s) }}).maskStrings(data); !json.Valid(out) {
			t.Errorf("%q became %q", data, out)
		}
	})
}

// Texts of others give no orders to CI systems and turn no lines around; documents for machines stay what they are.
func TestMaskedWriterIsInert(t *testing.T) {
	for in, want := range map[string]string{
		"  ::error::gone\n":              "  : :error::gone\n",
		"name\u202eexe\n":                "name\\u202eexe\n",
		"{\"a\":\"::error::x\"}\n":       "{\"a\":\"\\u003a:error::x\"}\n",
		"{\"a\":\"b ##[error]\"}\n":      "{\"a\":\"b \\u0023#[error]\"}\n",
		"{\"a\":\"x\u202ey\u009b2J\"}\n": "{\"a\":\"x\\u202ey\\u009b2J\"}\n",
		// What looks like a document of ours is none because others wrote such a line.
		"Bundle md\n::error::x\u202e\nv: 1\n":                          "Bundle md\n: :error::x\\u202e\nv: 1\n",
		"web\x1b[2J\x1b]0;title\a\x1b[8m\u009b2J\n\x1b[32mok\x1b[0m\n": "web\\x1b[2J\\x1b]0;title\\x07\\x1b[8m\\x9b2J\n\x1b[32mok\x1b[0m\n",
		"\x1b[3A\rline\x1b[K\n\x1b[J":                                  "\x1b[3A\rline\x1b[K\n\x1b[J",
		"latin \xe9, tab\t, percent 5%\x1b":                            "latin \xe9, tab\t, percent 5%\\x1b",
	} {
		var out strings.Builder
		w := &Writer{To: &out, Mask: func(s string) string { return s }}
		if n, err := w.Write([]byte(in)); err != nil || n != len(in) || out.String() != want {
			t.Errorf("%q: %q (%d, %v), want %q", in, out.String(), n, err, want)
		}
	}
}

// TestDocumentsAreInert: documents have no line that is an order to a CI system, whether something is hidden in them or not,
// and what is read of them is what it was.
func TestDocumentsAreInert(t *testing.T) {
	const order = "went\n  ::error::boom\n::set-output name=a::b ##vso[task.x]\u202e"
	h := history.History{V: diag.DocumentVersion, Bundles: []history.Bundle{{Bundle: "shop", Releases: []history.Release{{Message: order, Author: "##[error]" + order}}}}}
	for _, secret := range []string{"", "boom"} {
		for name, print := range map[string]func(*Writer) error{
			"yaml": func(w *Writer) error { return report.YAML(w, h) }, "json": func(w *Writer) error { return report.JSON(w, h) },
			"ndjson": func(w *Writer) error {
				report.NewNDJSON(w)(fleetplan.Event{Type: fleetplan.EventWritten, Message: order})
				return nil
			},
		} {
			var b bytes.Buffer
			mask := func(s string) string { return s }
			if secret != "" {
				mask = func(s string) string { return strings.ReplaceAll(s, secret, redact.Mask) }
			}
			if err := print(&Writer{To: &b, Mask: mask}); err != nil {
				t.Fatal(err)
			}
			if bad := regexp.MustCompile(`(?m)^\s*::|"::|##|\x{202e}`).FindString(b.String()); bad != "" {
				t.Errorf("%s: %q in\n%s", name, bad, &b)
			}
			var got any
			if err := yaml.Unmarshal(b.Bytes(), &got); err != nil || !strings.Contains(fmt.Sprint(got), mask(order)) {
				t.Errorf("%s (%v): %q", name, err, got)
			}
		}
	}
}

// TestTyped: what was typed as a credential is hidden in names, keys, values and texts, and documents stay what they are.
func TestTyped(t *testing.T) {
	typed := func(text string) string { return strings.ReplaceAll(text, "ghp_x", "***") }
	type doc struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
		Text   string            `json:"text"`
	}
	d := doc{"ghp_x", map[string]string{"ghp_x": "ghp_x"}, "no ghp_x, hunter2"}
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	var out bytes.Buffer
	w := &Writer{To: &out, Mask: hide, Typed: typed}
	for name, write := range map[string]func() error{
		"json": func() error { return json.NewEncoder(w).Encode(d) },
		"yaml": func() error {
			text, err := yaml.Marshal(d)
			if err == nil {
				_, err = w.AsDocument().Write(text)
			}
			return err
		},
	} {
		out.Reset()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		var back doc
		if err := yaml.UnmarshalStrict(out.Bytes(), &back); err != nil || back.Name != "***" || back.Labels["***"] != "***" || back.Text != "no ***, ***" {
			t.Errorf("%s: %v, %s", name, err, &out)
		}
	}
	out.Reset()
	to, masked := w.Masked(d)
	if got := masked.(doc); got.Name != "***" || got.Text != "no ***, ***" {
		t.Errorf("%v", got)
	}
	if _, _ = to.Write([]byte("name ghp_x")); out.String() != "name ***" || d.Name != "ghp_x" || w.Hide("ghp_x") != "***" {
		t.Errorf("%s, %v", &out, d)
	}
}

// TestTypedIsKnownAsItWas: what was typed is known as it was typed, also where something else would hide a part of it.
func TestTypedIsKnownAsItWas(t *testing.T) {
	const arg = "https://bob:pw12345@h.test/x;Zq!secretpw"
	var out bytes.Buffer
	w := &Writer{To: &out, Mask: redact.New("h.test").Sweep, Typed: func(text string) string { return strings.ReplaceAll(text, arg, "***") }}
	if _, err := w.Write([]byte("no " + arg)); err != nil || out.String() != "no ***" || w.name(arg) != "***" || w.all(arg) != "***" {
		t.Errorf("%v %s %s", err, &out, w.name(arg))
	}
}
