package plan

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestLostRecord: what carries our marks is ours again, compared before it is written; what is not declared any more
// stays and is named, and the next plan prunes it, but no namespace. No install hook runs a second time.
func TestLostRecord(t *testing.T) {
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "ns", Name: name} }
	app, old, hook := ref("ConfigMap", "app"), ref("ConfigMap", "old"), ref("Job", "init")
	space := object.Ref{Kind: "Namespace", Name: "ns"}
	marked := func(uid string) Live {
		return Live{Found: true, UID: uid, ResourceVersion: "1", Own: "o-" + uid, OwnerLabel: "me"}
	}
	in := Input{Bundle: "shop", Owner: "me", Inputs: map[string]string{"web": "i"},
		Desired: []Desired{{Ref: app, Version: "v1", Instance: "web", Digest: "d"},
			{Ref: hook, Version: "v1", Instance: "web", Digest: "h", Hook: &object.Hook{Events: []object.Event{object.PreInstall}}}},
		Live: map[object.Ref]Live{app: marked("1"), old: marked("2"), space: marked("3")}}
	if !Lost(in) {
		t.Error("the release is not noticed")
	}
	if Lost(Input{Owner: "other", Desired: in.Desired, Live: in.Live}) {
		t.Error("somebody else's objects are taken for a lost release")
	}
	kept := marked("1")
	kept.Keep = true
	left := Input{Owner: "me", Desired: []Desired{{Ref: space, OwnNamespace: true}, {Ref: app}}, Live: map[object.Ref]Live{space: marked("3"), app: kept}}
	if Lost(left) {
		t.Error("what a delete leaves there is taken for a lost release")
	}
	if got := Deletable([]Owned{FromMarks(space, "v1", "web", marked("3")), FromMarks(app, "v1", "web", kept), FromMarks(old, "v1", "web", marked("2"))}); len(got) != 1 || got[0].Ref != old {
		t.Errorf("a delete would have deleted %+v", got)
	}
	in.Rebuilt = true
	for r, l := range in.Live {
		in.Owned = append(in.Owned, FromMarks(r, "v1", "web", l))
	}
	if needs := NeedsPreview(in); len(needs) != 1 || needs[0].Ref != app {
		t.Errorf("asked about: %+v", needs)
	}
	in.Previews = map[object.Ref]Preview{app: {NoOp: true}}
	p := Compute(in)
	if !p.Empty() || !p.Rebuilt || len(p.Kept) != 3 || len(p.Events) > 0 {
		t.Errorf("%+v", p)
	}
	i := slices.IndexFunc(p.Findings, func(f diag.Finding) bool { return f.Code == CodeLostRecord })
	if i < 0 || !strings.Contains(p.Findings[i].String(), "ConfigMap ns/old") || p.Findings.HasErrors() {
		t.Fatalf("said: %v", p.Findings)
	}

	in.Rebuilt, in.Owned = false, p.Kept
	next := map[object.Ref]Action{}
	for _, ch := range Compute(in).Changes {
		next[ch.Ref] = ch.Action
	}
	if next[old] != Delete || next[space] != Release || next[app] != "" {
		t.Errorf("after that: %+v", next)
	}
}

// A delete of a bundle without a record: what carries its marks is named; where nobody could look and hawser.lock says that
// it was delivered nobody knows; else there is nothing.
func TestLostAtDelete(t *testing.T) {
	left := Owned{Ref: object.Ref{Kind: "Namespace", Name: "team"}, OwnNamespace: true}
	marked := Owned{Ref: object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "a"}}
	unseen := diag.Findings{NotLookedAt(map[string]string{"secrets": "forbidden", "configmaps": "forbidden, too"}, []string{"team"})}
	if why := unseen[0].Why; why != "configmaps, secrets: forbidden, too; namespaces asked: team" {
		t.Error(why)
	}
	for name, tt := range map[string]struct {
		marked    []Owned
		unseen    diag.Findings
		delivered bool
		want      string
	}{
		"marked":                {[]Owned{left, marked}, unseen, false, "1 object with its marks"},
		"nothing":               {[]Owned{left}, nil, true, ""},
		"unseen, and delivered": {nil, unseen, true, "is unknown"},
		"unseen":                {nil, unseen, false, ""},
	} {
		got := LostAtDelete("shop", tt.marked, tt.unseen, tt.delivered)
		if (tt.want == "") != (len(got) == 0) || len(got) > 0 && !strings.Contains(got[0].What, tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
