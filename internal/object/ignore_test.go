package object

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
)

func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// applied is an Apply entry, updated an Update entry.
func applied(manager, fields string) metav1.ManagedFieldsEntry {
	f := &metav1.FieldsV1{}
	f.SetRawBytes([]byte(fields))
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: f}
}

func updated(manager, fields string) metav1.ManagedFieldsEntry {
	e := applied(manager, fields)
	e.Operation = metav1.ManagedFieldsOperationUpdate
	return e
}

const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: n, labels: {hawser.dev/owner: o, app: api}}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - {name: app, image: "a:1", args: [x]}
      - {name: side, image: "s:1"}
`

const ourFields = `{"f:metadata":{"f:labels":{"f:hawser.dev/owner":{},"f:app":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{` +
	`"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:image":{},"f:args":{}},"k:{\"name\":\"side\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`

func TestCede(t *testing.T) {
	for _, c := range []struct {
		name    string
		ignore  Ignore
		live    string // replaces parts of the workload: from -> to
		entries []metav1.ManagedFieldsEntry
		folded  []string
		want    string
	}{
		{"taken by somebody", Ignore{Paths: []string{"spec.replicas"}}, "replicas: 2 -> replicas: 9",
			[]metav1.ManagedFieldsEntry{applied("us", `{"f:spec":{}}`), updated("hpa", `{"f:spec":{"f:replicas":{}}}`)}, nil, "  replicas: 2\n -> "},
		{"still ours: with the live value", Ignore{Paths: []string{"spec.replicas"}}, "replicas: 2 -> replicas: 3",
			[]metav1.ManagedFieldsEntry{applied("us", ourFields)}, nil, "replicas: 2 -> replicas: 3"},
		{"still ours, gone from the object", Ignore{Paths: []string{"spec.replicas"}}, "  replicas: 2\n -> ",
			[]metav1.ManagedFieldsEntry{applied("us", ourFields)}, nil, "  replicas: 2\n -> "},
		{"a field of a keyed item", Ignore{Paths: []string{"spec.template.spec.containers[name=app].image"}}, `"a:1" -> "a:2"`,
			[]metav1.ManagedFieldsEntry{updated("ci", `{}`)}, nil, `image: "a:1",  -> `},
		{"a whole item, ours", Ignore{Paths: []string{"spec.template.spec.containers[name=side]"}}, `"s:1" -> "s:2"`,
			[]metav1.ManagedFieldsEntry{applied("us", ourFields)}, nil, `"s:1" -> "s:2"`},
		{"a whole item, nobody's", Ignore{Paths: []string{"spec.template.spec.containers[name=side]"}}, "",
			nil, nil, "      - {name: side, image: \"s:1\"}\n -> "},
		{"a manager's fields", Ignore{Managers: []string{"ci-*"}}, `"a:1" -> "a:2"`,
			[]metav1.ManagedFieldsEntry{applied("us", ourFields), updated("ci-bot", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:name":{},"f:image":{}}}}}}}`)}, nil, `image: "a:1",  -> `},
		{"another manager's", Ignore{Managers: []string{"ci-*"}}, "",
			[]metav1.ManagedFieldsEntry{applied("us", ourFields), updated("kubectl", `{"f:spec":{"f:replicas":{}}}`)}, nil, " -> "},
		{"marks are ours whoever owns them", Ignore{Managers: []string{"*"}, Paths: []string{"metadata.labels"}}, "",
			[]metav1.ManagedFieldsEntry{updated("copier", `{"f:metadata":{"f:labels":{"f:hawser.dev/owner":{},"f:app":{}}}}`)}, nil, ", app: api -> "},
		{"adopted: what they owned becomes ours, as it is", Ignore{Managers: []string{"helm"}, Paths: []string{"spec.template.spec.containers[name=app].image"}}, `replicas: 2 -> replicas: 7 | "a:1" -> "a:7"`,
			[]metav1.ManagedFieldsEntry{updated("helm", `{"f:spec":{"f:replicas":{}}}`), updated("kubectl", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}}}`)},
			[]string{"helm", "kubectl"}, `replicas: 2 -> replicas: 7 | "a:1" -> "a:7"`},
		{"what is not declared", Ignore{Paths: []string{"spec.paused", "spec.template.spec.containers[name=none].image"}}, "", nil, nil, " -> "},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, live := tree(t, workload), tree(t, replaced(t, workload, c.live))
			got := c.ignore.OmitFields(body, live, c.entries, "us", c.folded)
			if diff := cmp.Diff(tree(t, replaced(t, workload, c.want)), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if diff := cmp.Diff(tree(t, workload), body); diff != "" {
				t.Errorf("the declaration was changed: %s", diff)
			}
		})
	}
}

func TestYielded(t *testing.T) {
	without := func(part string) string { return replaced(t, ourFields, part+" -> ") }
	before := EntryOf([]metav1.ManagedFieldsEntry{applied("us", ourFields)}, "us")
	byPath, byManager := &Ignore{Paths: []string{"spec.replicas"}}, &Ignore{Managers: []string{"hpa"}}
	hpa := updated("hpa", `{"f:spec":{"f:replicas":{}}}`)
	other := applied("us", ourFields)
	other.Time = &metav1.Time{}
	for _, c := range []struct {
		name    string
		ignore  *Ignore
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		{"nothing moved", byPath, []metav1.ManagedFieldsEntry{applied("us", ourFields)}, true},
		{"the ignored field was taken", byPath, []metav1.ManagedFieldsEntry{applied("us", without(`"f:replicas":{},`)), hpa}, true},
		{"by the ignored manager", byManager, []metav1.ManagedFieldsEntry{applied("us", without(`"f:replicas":{},`)), hpa}, true},
		{"by another manager", byManager, []metav1.ManagedFieldsEntry{applied("us", without(`"f:replicas":{},`)), updated("kubectl", `{"f:spec":{"f:replicas":{}}}`)}, false},
		{"another field was taken too", byPath, []metav1.ManagedFieldsEntry{applied("us", replaced(t, without(`"f:replicas":{},`), `,"f:args":{} -> `))}, false},
		{"written by us again", byPath, []metav1.ManagedFieldsEntry{other}, false},
		{"our entry is gone", byPath, []metav1.ManagedFieldsEntry{hpa}, false},
		{"nothing is ignored", nil, []metav1.ManagedFieldsEntry{applied("us", ourFields)}, false},
	} {
		if got := LeftToOthers(before, c.entries, "us", c.ignore); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if LeftToOthers(nil, []metav1.ManagedFieldsEntry{applied("us", ourFields)}, "us", byPath) {
		t.Error("nothing is known of before")
	}
}

// FuzzCede: whatever others own, what names and marks the object stays, and the declaration is not touched.
func FuzzCede(f *testing.F) {
	f.Add(ourFields, "spec.template.spec.containers[name=app].image", "hpa")
	f.Add(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"i:0":{}}}}}}`, "metadata", "*")
	f.Add(`{"f:metadata":{"f:labels":{}},"f:spec":{"v:1":{}}}`, `spec.template."x"`, "u*")
	f.Fuzz(func(t *testing.T, fields, path, manager string) {
		body := tree(t, workload)
		g := &Ignore{Paths: []string{path}, Managers: []string{manager}}
		for _, entries := range [][]metav1.ManagedFieldsEntry{{applied("us", fields)}, {updated("hpa", fields), applied("us", ourFields)}} {
			out := g.OmitFields(body, body, entries, "us", nil)
			meta, _ := out["metadata"].(map[string]any)
			labels, _ := meta["labels"].(map[string]any)
			if meta["name"] != "api" || labels["hawser.dev/owner"] != "o" || out["kind"] != "Deployment" {
				t.Errorf("not the object any more: %v", out)
			}
			if _, err := json.Marshal(out); err != nil {
				t.Error(err)
			}
			LeftToOthers(&Entry{APIVersion: "v1", Fields: fields}, entries, "us", g)
		}
		if !cmp.Equal(tree(t, workload), body) {
			t.Error("the declaration was changed")
		}
	})
}

// replaced makes replacements in a text: "from -> to | from -> to".
func replaced(t testing.TB, text, edits string) string {
	t.Helper()
	for _, e := range strings.Split(edits, " | ") {
		from, to, ok := strings.Cut(e, " -> ")
		if from == "" {
			continue
		}
		if !ok || !strings.Contains(text, from) {
			t.Fatalf("%q is not in %s", from, text)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// TestVetIgnore: an index and what names an object are no fields that can be left to others, and a rule names something.
func TestVetIgnore(t *testing.T) {
	for path, why := range map[string]string{"": "expected a name", "spec.containers[0]": "an index", "kind": "names the object", "metadata": "names the object",
		"metadata.name": "names the object", "spec.template.metadata.name": "", "metadata.labels.app": "", "spec.containers[name=app].image": ""} {
		fs := VetIgnore([]v1alpha1.IgnoreRule{{Paths: []string{path}}})
		if why == "" && len(fs) != 0 || why != "" && (len(fs) != 1 || !strings.Contains(fs[0].Why, why)) {
			t.Errorf("%q: %v, want %q", path, fs, why)
		}
	}
	if fs := VetIgnore([]v1alpha1.IgnoreRule{{Kind: "Deployment"}}); len(fs) != 1 {
		t.Errorf("a rule without effect: %v", fs)
	}
}
