package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// script is a txtar input in YAML: lists instead of maps keyed by objects.
type script struct {
	Owner   string
	Desired []Desired
	Owned   []InventoryEntry
	Live    []struct {
		Ref object.Ref
		Live
	}
	Previews []struct {
		Ref object.Ref
		Preview
	}
	Contents []struct {
		Ref object.Ref
		Contents
	}
	Schema          map[string]string
	NamespaceExists map[string]bool
	Lives           map[string]HookState
	Inputs, Unended map[string]string
	Open, Undone    bool
	Options         Options
}

func (s script) input() Input {
	in := Input{Cluster: "c1", Bundle: "shop", Owner: "me", Desired: s.Desired, Inventory: s.Owned, Open: s.Open, Undone: s.Undone, Options: s.Options, HookStates: s.Lives, Inputs: s.Inputs, Unended: s.Unended,
		Live: map[object.Ref]Live{}, Previews: map[object.Ref]Preview{}, Schema: s.Schema, NamespaceExists: s.NamespaceExists,
		Contents: map[object.Ref]Contents{}}
	for i := range s.Desired {
		s.Desired[i].Open = !s.Desired[i].Ref.IsSecret()
	}
	for _, l := range s.Live {
		l.Found = true
		in.Live[l.Ref] = l.Live
	}
	for _, p := range s.Previews {
		in.Previews[p.Ref] = p.Preview
	}
	for _, c := range s.Contents {
		in.Contents[c.Ref] = c.Contents
	}
	return in
}

func TestCompute(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s script
			if err := yaml.UnmarshalStrict(ar.Files[0].Data, &s); err != nil {
				t.Fatalf("input: %v", err)
			}
			p := Compute(s.input())
			for i := range p.Changes {
				p.Changes[i].InFile = true
			}
			got, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if *update {
				ar.Files = append(ar.Files[:1], txtar.File{Name: "plan.json", Data: got})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 || !bytes.Equal(got, ar.Files[1].Data) {
				var want []byte
				if len(ar.Files) > 1 {
					want = ar.Files[1].Data
				}
				t.Errorf("%s: %s\nplan differs (-want +got):\n%s", file, ar.Comment, cmp.Diff(string(want), string(got)))
			}
		})
	}
}

func TestNeedsPreview(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	in := Input{Owner: "o", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "new", Namespaced: true}},
		Inventory: []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ResourceVersion: "1", Digest: "old", ApplyHash: "e"}},
		Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o"}}}
	for name, tt := range map[string]struct {
		options Options
		want    int
	}{
		"a changed declaration costs no dry run":        {Options{}, 0},
		"fields are shown":                              {Options{Diff: true}, 1},
		"only the API server knows what is immutable":   {Options{Recreate: true}, 1},
		"only the API server knows who owns the fields": {Options{Adopt: true}, 1},
	} {
		in.Options = tt.options
		if got := len(NeedsPreview(in)); got != tt.want {
			t.Errorf("%s: %d previews, want %d", name, got, tt.want)
		}
	}
	in.Options = Options{}
	in.Live[ref] = Live{Found: true, UID: "u", ResourceVersion: "2", ApplyHash: "taken", OwnerLabel: "o"}
	if got := len(NeedsPreview(in)); got != 1 {
		t.Errorf("changed here and by somebody else: %d previews, want 1", got)
	}
	in.Live[ref] = Live{Found: true, UID: "u", ResourceVersion: "2", ApplyHash: "e", OwnerLabel: "o"}
	if got := len(NeedsPreview(in)); got != 0 {
		t.Errorf("changed here, and its status moved: %d previews, want 0", got)
	}
	in.Live[ref] = Live{Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o", Shared: true}
	if got := len(NeedsPreview(in)); got != 1 {
		t.Errorf("changed here, and others own fields of it: %d previews, want 1", got)
	}
	in.Live[ref] = Live{Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o"}
	in.Desired[0].Fixed, in.Inventory[0].Fixed = "now", "then"
	if got := len(NeedsPreview(in)); got != 1 {
		t.Errorf("something changed that may not: %d previews, want 1", got)
	}
	in.Desired[0].Fixed = "then"
	if got := len(NeedsPreview(in)); got != 0 {
		t.Errorf("nothing changed that may not: %d previews, want 0", got)
	}
}

// What an answer makes of a change is tried with the request that it leads to, and that answer is what is shown.
func TestPreviewedTriesWhatItLeadsTo(t *testing.T) {
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "a"}
	in := Input{Owner: "o", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "new", Namespaced: true, Replicas: true}},
		Inventory: []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ResourceVersion: "1", Digest: "old", ApplyHash: "e", Replicas: true}},
		Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o", Shared: true, ReplicasOwner: "kubectl-patch"}}}
	var asked []bool
	Previewed(&in, func(needs, _ []Change) map[object.Ref]Preview {
		asked = append(asked, needs[0].Force)
		if !needs[0].Force {
			return map[object.Ref]Preview{ref: {Conflicts: []FieldConflict{{Path: "spec.replicas", Manager: "kubectl-patch", Ours: true}}}}
		}
		return map[object.Ref]Preview{ref: {Force: true, Checked: true, Fields: []FieldChange{{Path: "spec.replicas", Old: "5", New: "2"}}}}
	})
	p := Compute(in)
	if len(asked) != 2 || asked[0] || !asked[1] || len(p.Changes) != 1 || !p.Changes[0].Force || !p.Changes[0].Checked ||
		p.Changes[0].Why != "also takes back spec.replicas from kubectl-patch" || len(p.Changes[0].Fields) != 1 {
		t.Errorf("asked %v: %+v", asked, p.Changes)
	}
	in.Previews = nil
	Previewed(&in, func(needs, _ []Change) map[object.Ref]Preview {
		if !needs[0].Force {
			return map[object.Ref]Preview{ref: {Conflicts: []FieldConflict{{Path: "spec.replicas", Manager: "kubectl-patch", Ours: true}}}}
		}
		return map[object.Ref]Preview{ref: {Force: true, Immutable: true}}
	})
	if p := Compute(in); p.Changes[0].Action != Recreate || !p.Findings.HasErrors() {
		t.Errorf("the second answer is not heard: %+v", p)
	}
}

// What is annotated to be kept is not deleted to be created again, whatever was allowed, unless the bundle took its own
// annotation away.
func TestRecreateOfKept(t *testing.T) {
	ref := object.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "data"}
	for name, tt := range map[string]struct {
		declares, declared, live, refused bool
	}{
		"not kept":                       {false, false, false, false},
		"annotated by somebody":          {false, false, true, true},
		"declared to be kept":            {true, true, true, true},
		"the bundle's own is taken away": {false, true, true, false},
	} {
		in := Input{Owner: "me", Desired: []Desired{{Ref: ref, Digest: "new", Keep: tt.declares}}, Inventory: []InventoryEntry{{Ref: ref, UID: "u", ApplyHash: "e", Digest: "old", Keep: tt.declared}},
			Live:    map[object.Ref]Live{ref: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me", Keep: tt.live}},
			Options: Options{Recreate: true}, Previews: map[object.Ref]Preview{ref: {Immutable: true}}}
		p := Compute(in)
		if len(p.Changes) != 1 || p.Changes[0].Action != Recreate || p.Findings.HasErrors() != tt.refused {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
		if tt.refused && !strings.Contains(p.Findings[0].String(), "prune=disabled") {
			t.Errorf("%s: %v", name, p.Findings)
		}
	}
}
