package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testseed"
)

// paired reads "+ConfigMap ns/name" and "-ConfigMap ns/name" (":instance" behind it), and tells the pairs.
func paired(t *testing.T, texts ...string) []string {
	t.Helper()
	var changes []Change
	for _, text := range texts {
		c := Change{Action: Create, Code: CodeNew, Instance: "app"}
		if text[0] == '-' {
			c.Action, c.Code = Delete, CodeDropped
		}
		kind, name, _ := strings.Cut(text[1:], " ")
		name, instance, named := strings.Cut(name, ":")
		if named {
			c.Instance = instance
		}
		ns, name, _ := strings.Cut(name, "/")
		c.Ref = object.Ref{Kind: kind, Namespace: ns, Name: name}
		switch kind {
		case "Job", "CronJob":
			c.Ref.Group = "batch"
		case "Deployment", "StatefulSet":
			c.Ref.Group = "apps"
		}
		changes = append(changes, c)
	}
	pair(changes)
	var out []string
	for _, c := range changes {
		if c.Replaces != nil {
			out = append(out, c.Replaces.Name+" -> "+c.Ref.Name)
		}
		if c.Replaces != nil && c.ReplacedBy != nil {
			t.Errorf("%s replaces and is replaced", c.Ref)
		}
	}
	slices.Sort(out)
	return out
}

// TestPair: what is made and what goes is one change where names differ in a version or digest alone, and nobody else
// could be meant.
func TestPair(t *testing.T) {
	for name, tt := range map[string]struct {
		changes, want string
	}{
		"Kustomize's digest":               {"-ConfigMap a/app-config-6g2h7kf8mt,+ConfigMap a/app-config-bt98k2m4c7", "app-config-6g2h7kf8mt -> app-config-bt98k2m4c7"},
		"one without a digit":              {"-ConfigMap a/app-bcdfghkmtb,+ConfigMap a/app-bt98k2m4c7", "app-bcdfghkmtb -> app-bt98k2m4c7"},
		"a Secret":                         {"-Secret a/s-6g2h7kf8mt,+Secret a/s-bt98k2m4c7", "s-6g2h7kf8mt -> s-bt98k2m4c7"},
		"versions":                         {"-ConfigMap a/app-v11,+ConfigMap a/app-v12", "app-v11 -> app-v12"},
		"versions of several parts":        {"-ConfigMap a/app-1.9,+ConfigMap a/app-1.10.0", "app-1.9 -> app-1.10.0"},
		"a digest in hexadecimal":          {"-ConfigMap a/app-0ff1ce0,+ConfigMap a/app-1a2b3c4", "app-0ff1ce0 -> app-1a2b3c4"},
		"one of figures alone":             {"-ConfigMap a/app-1234567,+ConfigMap a/app-1a2b3c4", "app-1234567 -> app-1a2b3c4"},
		"the next Job":                     {"-Job a/migrate-1,+Job a/migrate-2", "migrate-1 -> migrate-2"},
		"two of other names":               {"-ConfigMap a/a-v1,+ConfigMap a/a-v2,-ConfigMap a/b-v1,+ConfigMap a/b-v2", "a-v1 -> a-v2 b-v1 -> b-v2"},
		"words":                            {"-ConfigMap a/app-production,+ConfigMap a/app-monitoring", ""},
		"hexadecimal words":                {"-ConfigMap a/app-facade,+ConfigMap a/app-decade", ""},
		"a version and a digest":           {"-ConfigMap a/app-v1,+ConfigMap a/app-bt98k2m4c7", ""},
		"digests of other lengths":         {"-ConfigMap a/app-0ff1ce0a,+ConfigMap a/app-1a2b3c4", ""},
		"another base":                     {"-ConfigMap a/app-v1,+ConfigMap a/api-v2", ""},
		"no base":                          {"-ConfigMap a/v1,+ConfigMap a/v2", ""},
		"another namespace":                {"-ConfigMap a/app-v1,+ConfigMap b/app-v2", ""},
		"another kind":                     {"-ConfigMap a/app-v1,+Secret a/app-v2", ""},
		"another instance":                 {"-ConfigMap a/app-v1:x,+ConfigMap a/app-v2:y", ""},
		"two are made":                     {"-ConfigMap a/app-v1,+ConfigMap a/app-v2,+ConfigMap a/app-v3", ""},
		"two go":                           {"-ConfigMap a/app-v1,-ConfigMap a/app-v2,+ConfigMap a/app-v3", ""},
		"one fits both ways":               {"-ConfigMap a/app-12345,+ConfigMap a/app-v9,+ConfigMap a/app-1a2b3", ""},
		"one goes":                         {"-ConfigMap a/app-v1", ""},
		"what keeps running is no content": {"-StatefulSet a/db-v1,+StatefulSet a/db-v2,-Deployment a/w-1,+Deployment a/w-2", ""},
		"nor is data":                      {"-PersistentVolumeClaim a/d-1,+PersistentVolumeClaim a/d-2,-Namespace /t-1,+Namespace /t-2", ""},
	} {
		if got := strings.Join(paired(t, strings.Split(tt.changes, ",")...), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPairNotOthers: hooks, what somebody deleted, and what is let go are never paired.
func TestPairNotOthers(t *testing.T) {
	made := Change{Action: Create, Code: CodeNew, Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "c-v2"}}
	gone := Change{Action: Delete, Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "c-v1"}}
	for name, change := range map[string]func(a, b *Change){
		"a hook":              func(a, _ *Change) { a.Hook = &HookTask{} },
		"a hook that goes":    func(_, b *Change) { b.Hook = &HookTask{} },
		"deleted by somebody": func(a, _ *Change) { a.Code = CodeGone },
		"let go":              func(_, b *Change) { b.Action = Release },
		"in conflict":         func(a, _ *Change) { a.Action = Conflict },
	} {
		a, b := made, gone
		change(&a, &b)
		changes := []Change{a, b}
		pair(changes)
		if changes[0].Replaces != nil || changes[1].ReplacedBy != nil {
			t.Errorf("%s is paired: %+v", name, changes)
		}
	}
}

// TestPairProperties: whatever is made and goes, and in whatever order it stands, pairs are one to one, of one kind,
// namespace and instance, each side makes or deletes, and nothing else of the changes is touched.
func TestPairProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testseed.From(t), 2))
	ends := []string{"v1", "v2", "12345", "1a2b3", "bt98k2m4c7", "6g2h7kf8mt", "web"}
	for range 3000 {
		var changes []Change
		for n := rnd.IntN(9); n > 0; n-- {
			c := Change{Action: []Action{Create, Delete, Update}[rnd.IntN(3)], Code: CodeNew, Instance: string(rune('x' + rnd.IntN(2)))}
			c.Ref = object.Ref{Kind: []string{"ConfigMap", "Secret"}[rnd.IntN(2)], Namespace: "ns",
				Name: fmt.Sprintf("%c-%s", 'a'+rune(rnd.IntN(2)), ends[rnd.IntN(len(ends))])}
			if !slices.ContainsFunc(changes, func(o Change) bool { return o.Ref == c.Ref }) {
				changes = append(changes, c)
			}
		}
		mirrored := slices.Clone(changes)
		slices.Reverse(mirrored)
		before := (&Plan{Changes: changes}).Count()
		pair(changes)
		pair(mirrored)
		slices.Reverse(mirrored)
		if (&Plan{Changes: changes}).Count() != before {
			t.Fatal("pairing changes what is counted")
		}
		by := map[object.Ref]Change{}
		for _, c := range changes {
			by[c.Ref] = c
		}
		for i, c := range changes {
			if (c.Replaces == nil) != (mirrored[i].Replaces == nil) || c.Replaces != nil && *c.Replaces != *mirrored[i].Replaces {
				t.Fatalf("the order decides: %+v", changes)
			}
			if c.Replaces == nil {
				continue
			}
			gone := by[*c.Replaces]
			if c.Action != Create || gone.Action != Delete || gone.ReplacedBy == nil || *gone.ReplacedBy != c.Ref || gone.Instance != c.Instance ||
				gone.Ref.Kind != c.Ref.Kind || gone.Ref.Name[:2] != c.Ref.Name[:2] {
				t.Fatalf("%s and %s: %+v", c.Ref, gone.Ref, changes)
			}
		}
	}
}

// TestTellPairs: the fields are those in which the contents differ; the name is none, and Secrets are masked.
func TestTellPairs(t *testing.T) {
	made, gone := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "c-v2"}, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "c-v1"}
	secretMade, secretGone := object.Ref{Kind: "Secret", Namespace: "a", Name: "s-v2"}, object.Ref{Kind: "Secret", Namespace: "a", Name: "s-v1"}
	p := &Plan{Changes: []Change{{Action: Create, Ref: made, Replaces: &gone}, {Action: Delete, Ref: gone, ReplacedBy: &made},
		{Action: Create, Ref: secretMade, Replaces: &secretGone}, {Action: Create, Ref: object.Ref{Kind: "ConfigMap", Name: "alone"}}}}
	body := func(r object.Ref, x string) object.Object {
		return object.Object{Body: map[string]any{"apiVersion": "v1", "kind": r.Kind, "metadata": map[string]any{"name": r.Name, "namespace": "a"},
			"data": map[string]any{"x": x, "same": "1"}}}
	}
	p.TellPairs(map[object.Ref]object.Object{gone: body(gone, "1"), secretGone: body(secretGone, "p")},
		map[object.Ref]object.Object{made: body(made, "2"), secretMade: body(secretMade, "q")}, func(s string) string { return s })
	if f := p.Changes[0].Fields; len(f) != 1 || f[0].Path != "data.x" || f[0].Old != `"1"` || f[0].New != `"2"` {
		t.Errorf("%+v", f)
	}
	if f := p.Changes[2].Fields; len(f) != 1 || f[0].Path != "data.x" || !f[0].Hidden || f[0].Old+f[0].New != "" {
		t.Errorf("%+v", f)
	}
	if len(p.Changes[1].Fields)+len(p.Changes[3].Fields) > 0 || !p.Pairs() {
		t.Errorf("%+v", p.Changes)
	}
}

// TestDescribe: what is made is told whole, once for each hook, and nothing else is.
func TestDescribe(t *testing.T) {
	r := object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}
	p := &Plan{Changes: []Change{{Action: Create, Ref: r}, {Action: Recreate, Ref: r, Hook: &HookTask{}}, {Action: Update, Ref: r}, {Action: Recreate, Ref: r},
		{Action: Create, Ref: object.Ref{Kind: "X"}}}}
	p.Describe(map[object.Ref]object.Object{r: {Body: map[string]any{"kind": "Secret", "data": map[string]any{"k": "eA=="}}}}, func(s string) string { return s })
	for i, c := range p.Changes {
		if (c.Content != nil) != (i < 2) {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if data := p.Changes[0].Content["data"].(map[string]any); data["k"] != "***" {
		t.Errorf("%v", data)
	}
	var b Body
	if err := b.UnmarshalJSON([]byte(`{"n": 9007199254740993}`)); err != nil || b["n"] != int64(9007199254740993) {
		t.Errorf("%v %v", b, err)
	}
}
