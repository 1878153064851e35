package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
)

const canary = "canary-5e6f7a"

// whole are the strings of a plan that are no texts for people: names, identities, and what it is carried out by. Every
// other one passes the redactor, those to come too.
var names = []string{"Ref", "Version", "Instance", "Code", "Action", "Digest", "UID", "ResourceVersion", "ApplyHash", "FormerEntries", "Foreign", "ForeignDigest", "OmitFields", "Ignore", "Was",
	"FromManagers", "Pos", "After", "Hook", "Since", "Cluster", "Bundle", "Owner", "Events", "Suspended", "Kept", "Lives", "Forget", "Severity", "Replaces", "ReplacedBy"}

// fill puts the canary into every string but those that name something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(`a["` + canary + `"].b[` + canary + `]`)
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			skip := !v.Type().Field(i).IsExported()
			for _, n := range names {
				skip = skip || n == name
			}
			if !skip {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		if v.Type() == reflect.TypeFor[Body]() {
			v.Set(reflect.ValueOf(Body{canary: canary, "deep": []any{map[string]any{"x": canary}}}))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	}
}

// planted masks the canary, whatever a text is.
type planted struct{}

func (planted) Sweep(s string) string      { return strings.ReplaceAll(s, canary, "***") }
func (m planted) Redact(s string) string   { return m.Sweep(s) }
func (m planted) Said(_, s string) string  { return m.Sweep(s) }
func (m planted) Told(_, s string) string  { return m.Sweep(s) }
func (m planted) Value(_, s string) string { return m.Sweep(s) }
func (m planted) Name(_, s string) string  { return m.Sweep(s) }
func (m planted) Own(_, s string) string   { return m.Sweep(s) }

func (planted) ShowMasked(string, string, ...any) {}

func TestRedactReachesEveryText(t *testing.T) {
	var p Plan
	fill(reflect.ValueOf(&p).Elem())
	before, err := json.Marshal(p)
	if err != nil || strings.Count(string(before), canary) < 20 {
		t.Fatalf("the plan is not filled: %s %v", before, err)
	}
	Redact(&p, planted{})
	after, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(after), canary); i >= 0 {
		t.Errorf("not redacted: …%s", after[max(0, i-80):])
	}
}

// TestNamesAreNotHidden: what names objects stays, whatever is secret; a name that holds a secret is a warning, which does not
// repeat it.
func TestNamesAreNotHidden(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("web", "k9x-Pass-77")
	m.AddFor("web", "config")
	m.AddFor("other", "web-5f6c9d")
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	p := Plan{Cluster: "staging", Changes: []Change{
		{Ref: ref("app-k9x-Pass-77"), Action: Create, Instance: "web"},
		{Ref: ref("config"), Action: Update, Instance: "web", Fields: []FieldChange{{Path: "data.config", Old: `"config"`, New: `"web-5f6c9d"`}}},
		{Ref: ref("web-5f6c9d"), Action: Delete, Instance: "web", Why: "delete it"},
		{Ref: ref("config"), Action: Update, Instance: "other", Fields: []FieldChange{{Path: "data.mode", Old: `"config"`, New: `"x"`}}},
	}}
	Redact(&p, m)
	if p.Changes[0].Ref.Name != "app-k9x-Pass-77" || p.Changes[1].Ref.Name != "config" || p.Changes[2].Ref.Name != "web-5f6c9d" || p.Changes[2].Action != Delete {
		t.Errorf("a name was changed: %v", p.Changes)
	}
	if f := p.Changes[1].Fields[0]; f.Path != "data.config" || f.Old != `"***"` {
		t.Errorf("%v", f)
	}
	if f := p.Changes[3].Fields[0]; f.Old != `"config"` {
		t.Errorf("another instance's value hides %v", f)
	}
	if len(p.Findings) != 1 || p.Findings[0].Code != "secret-in-name" || p.Findings[0].Cluster != "staging" || strings.Contains(p.Findings[0].String(), "k9x") {
		t.Errorf("%v", p.Findings)
	}
}

// TestSecretsHideNoWordOfOurs: whatever a secret is, what a plan says by itself stays: actions, codes, reasons and fixes. What
// stands in quotes or brackets there is masked.
func TestSecretsHideNoWordOfOurs(t *testing.T) {
	words := []string{"changed", "delete", "not ready", "immutable field", "an immutable field changed", "was let go, and is declared again", "the kind's schema changed since it was written",
		"fields owned by others", "namespace shop is new", "confirm the number of deletions", "conflict", "foreign", "spec.replicas was set by", "is being deleted"}
	for _, secret := range words {
		m := &redact.Redactor{}
		m.AddFor("web", secret)
		for _, why := range append(words, "changed by somebody since it was written", "fields owned by others: data.k (kubectl)", "is being deleted; created again once it is gone") {
			p := Plan{Changes: []Change{{Action: Update, Code: CodeChanged, Instance: "web", Why: why, Deferred: why}}}
			f := diag.Errorf("immutable", "an immutable field changed: the object has to be deleted and created again")
			what := f.What
			f.Instance, f.Fix = "web", why
			f.Because(why)
			p.Findings = diag.Findings{f}
			Redact(&p, m)
			if ch := p.Changes[0]; ch.Why != why || ch.Deferred != why || ch.Action != Update || ch.Code != CodeChanged || p.Findings[0].Fix != why || p.Findings[0].Why != why || p.Findings[0].Code != "immutable" || p.Findings[0].What != what {
				t.Errorf("%q hides a word of ours in %q: %+v %+v", secret, why, ch, p.Findings)
			}
		}
		p := Plan{Changes: []Change{{Action: Update, Instance: "web", Why: "also takes back data[" + secret + "] from \"" + secret + "\"",
			Fields: []FieldChange{{Path: "data.k", Old: secret, New: "x"}}}}}
		Redact(&p, m)
		if ch := p.Changes[0]; ch.Why != `also takes back data[***] from "***"` || ch.Fields[0].Old != redact.Mask {
			t.Errorf("%q is shown: %+v", secret, ch)
		}
	}
	m := &redact.Redactor{}
	m.AddFor("web", "4711")
	m.AddFor("web", "kX93-pass-word")
	p := Plan{Changes: []Change{{Instance: "web", Why: "set 4711 by kX93-pass-word"}}}
	if Redact(&p, m); p.Changes[0].Why != "set *** by ***" {
		t.Errorf("%+v", p.Changes[0])
	}
}

// TestLayoutHidesNothing: a secret of somebody else, or a credential that a server chose, that is a value with our quotes, brackets and arrows
// around it, hides nothing of a plan, neither there nor in the last mask over what is printed.
func TestLayoutHidesNothing(t *testing.T) {
	const path = "spec.template.spec.containers[web].args"
	before := map[string]any{"spec": map[string]any{"args": []any{"--anonymous-auth=false"}, "url": "http://good.example.com", "port": int64(80)}}
	after := map[string]any{"spec": map[string]any{"args": []any{"--anonymous-auth=true"}, "url": "http://evil.example.com", "port": int64(81)}}
	for _, evil := range []string{`"http://evil.example.com"`, path, `["--anonymous-auth=false"] -> ["--anonymous-auth=true"]`, `["--anonymous-auth=true"]`, `"new":"\"http://evil.example.com\""`} {
		for name, learn := range map[string]func(*redact.Redactor){"sent": func(m *redact.Redactor) { m.AddSent(evil) }, "of another": func(m *redact.Redactor) { m.AddFor("eve", evil) }} {
			m := redact.New("k9x-Pass-77")
			learn(m)
			o := object.Object{Instance: "web", Body: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": after["spec"]}}
			p := Plan{Changes: []Change{{Ref: o.Ref(), Action: Update, Instance: "web", Fields: append(FieldChanges(o, before, after, m.Redact, object.Setters{}),
				FieldChange{Path: path, Old: `["--anonymous-auth=false"]`, New: `["--anonymous-auth=true","k9x-Pass-77"]`})}}}
			Redact(&p, m)
			data, err := json.Marshal(p.Changes[0].Fields)
			if err != nil {
				t.Fatal(err)
			}
			lines := string(data) + "\n"
			for _, f := range p.Changes[0].Fields {
				lines += "  " + f.Path + "  " + f.Old + " -> " + f.New + "\n"
			}
			got := m.Sweep(lines)
			for _, text := range []string{`"path":"` + path, "  " + path + "  ", "--anonymous-auth=false", "--anonymous-auth=true", "http://good.example.com", "http://evil.example.com", "spec.url", `\"http://evil`} {
				if strings.Count(got, text) < strings.Count(lines, text) || !strings.Contains(lines, text) {
					t.Errorf("%s %s hides %s in\n%s\nof\n%s", evil, name, text, got, lines)
				}
			}
			if strings.Contains(got, "k9x") {
				t.Errorf("a secret is shown: %s", got)
			}
		}
	}
}

// TestWhyOfFindings: a Why of ours keeps its words, whatever a secret is called, and hides what stands in it as a name or a value does; one
// that somebody else said, or that something was written behind, is masked whole.
func TestWhyOfFindings(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("web", "nobody knows whether it is there")
	m.AddFor("web", "kX93-pass-word")
	ours, said := diag.Errorf("x", "what"), diag.Errorf("x", "what")
	ours.Instance, said.Instance = "web", "web"
	ours.Because(`nobody knows whether it is there; "nobody knows whether it is there", kX93-pass-word`)
	more := ours
	more.Why += ": nobody knows whether it is there"
	said.Why = "nobody knows whether it is there"
	for want, f := range map[string]diag.Finding{`nobody knows whether it is there; "***", ***`: ours, `***; "***", ***: ***`: more, "***": said} {
		if got := RedactFindings(diag.Findings{f}, m)[0].Why; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFindingsTellTheirWhy: what a plan finds by itself says why in a sentence of its own.
func TestFindingsTellTheirWhy(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	m := &redact.Redactor{}
	for _, secret := range []string{"exists already, managed by somebody", "nobody knows whether it is there; forgotten, it would come back with the kind, in no record"} {
		m.AddFor("web", secret)
	}
	for name, in := range map[string]Input{
		"somebody else's": {Desired: []Desired{{Ref: ref, Instance: "web"}}, Live: map[object.Ref]Live{ref: {Found: true, UID: "u", Foreign: "somebody"}}},
		"not served":      {Inventory: []InventoryEntry{{Ref: ref, UID: "u", Instance: "web"}}, Live: map[object.Ref]Live{ref: {Unserved: true}}},
	} {
		p := Compute(in)
		if len(p.Findings) != 1 {
			t.Fatalf("%s: %v", name, p.Findings)
		}
		why := p.Findings[0].Why
		if Redact(p, m); p.Findings[0].Why != why || why == "" {
			t.Errorf("%s: %q, want %q", name, p.Findings[0].Why, why)
		}
	}
}

// TestPathsInWhatGivesRights: in objects that give rights, the path of who and what is shown, whoever calls it secret; a key that may be
// anybody's text is masked as everywhere.
func TestPathsInWhatGivesRights(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("web", "k9x-Pass-77")
	ref := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop", Name: "r"}
	p := Plan{Changes: []Change{{Ref: ref, Action: Update, Instance: "web", Fields: []FieldChange{
		{Path: "metadata.annotations.k9x-Pass-77", New: `"x"`},
		{Path: `metadata.annotations["k9x-Pass-77"]`, New: `"x"`},
		{Path: "metadata.labels.k9x-Pass-77", New: `"x"`},
		{Path: "rules[k9x-Pass-77].verbs", New: `["get"]`},
	}}}}
	Redact(&p, m)
	var got []string
	for _, f := range p.Changes[0].Fields {
		got = append(got, f.Path)
	}
	want := []string{"metadata.annotations.***", `metadata.annotations["***"]`, "metadata.labels.k9x-Pass-77", "rules[k9x-Pass-77].verbs"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
