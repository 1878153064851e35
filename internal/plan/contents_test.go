package plan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

var (
	teamNS    = object.Ref{Kind: "Namespace", Name: "team"}
	widgetCRD = object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.x.dev"}
)

func inTeam(group, kind, name, uid string, owners ...string) Content {
	return Content{Ref: object.Ref{Group: group, Kind: kind, Namespace: "team", Name: name}, UID: uid, Owners: owners}
}

func byCluster(c Content) Content { c.ByCluster = true; return c }

func deletes(r object.Ref, uid string) Change {
	return Change{Action: Delete, Ref: r, UID: uid, Code: CodeDropped}
}

// TestInUse: a Namespace or definition goes only when everything in it goes by itself; what stays is named by kind and
// by whose it is, and what could not be looked at is never taken for nothing.
func TestInUse(t *testing.T) {
	deployment := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "api"}
	service := object.Ref{Kind: "Service", Namespace: "team", Name: "api"}
	config := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "ours"}
	metrics := object.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1beta1.metrics.k8s.io"}
	by := func(c Content, who string) Content { c.By = who; return c }
	for name, tt := range map[string]struct {
		changes  []Change
		kept     []InventoryEntry
		contents map[object.Ref]Contents
		want     string // what and why of the findings, "" for none
	}{
		"nothing that holds others goes": {changes: []Change{deletes(config, "1")}},
		"never looked at":                {changes: []Change{deletes(teamNS, "n")}, want: "not everything in it can be looked at: its contents were not looked at"},
		"empty":                          {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {}}},
		"an error while looking": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {
			Unseen: []string{"secrets cannot be listed: forbidden"}}}, want: "not everything in it can be looked at: secrets cannot be listed: forbidden"},
		"a server that does not answer": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Silent: []object.Ref{metrics}}},
			want: "not everything in it can be looked at: the API server of v1beta1.metrics.k8s.io does not answer"},
		"its registration goes too": {changes: []Change{deletes(metrics, "m"), deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Silent: []object.Ref{metrics}}}},
		"its registration goes too, with contents": {changes: []Change{deletes(metrics, "m"), deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {
			Silent: []object.Ref{metrics}, Items: []Content{inTeam("", "Secret", "s", "1")}}}, want: "1 object that would be lost with it: 1 Secret: s"},
		"its registration goes too, and one stays": {changes: []Change{deletes(metrics, "m"), deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {
			Silent: []object.Ref{metrics, object.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1.metrics.k8s.io"}}}}, want: "the API server of v1.metrics.k8s.io does not answer"},
		"its registration is let go": {changes: []Change{{Action: Release, Ref: metrics, UID: "m"}, deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Silent: []object.Ref{metrics}}},
			want: "the API server of v1beta1.metrics.k8s.io does not answer"},
		"something else of its name goes": {changes: []Change{deletes(object.Ref{Kind: "ConfigMap", Namespace: "team", Name: metrics.Name}, "m"), deletes(teamNS, "n")},
			contents: map[object.Ref]Contents{teamNS: {Silent: []object.Ref{metrics}}}, want: "the API server of v1beta1.metrics.k8s.io does not answer"},
		"what the cluster puts there": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Items: []Content{
			inTeam("", "ServiceAccount", "default", "1"), inTeam("", "ConfigMap", "kube-root-ca.crt", "2"), inTeam("", "Event", "x.17", "3"),
			inTeam("", "Secret", "default-token-x", "4", "1")}}}},
		"what a distribution puts there": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Items: []Content{
			byCluster(inTeam("", "ServiceAccount", "deployer", "1")), byCluster(inTeam("", "ConfigMap", "istio-ca-root-cert", "2"))}}}},
		"somebody's of such a name": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Items: []Content{
			inTeam("", "ServiceAccount", "deployer", "1"), byCluster(inTeam("", "ServiceAccount", "other", "2"))}}},
			want: "2 objects that would be lost with it: 2 ServiceAccounts: deployer, other"},
		"what goes with what goes": {changes: []Change{deletes(teamNS, "n"), deletes(deployment, "d"), deletes(service, "s")},
			contents: map[object.Ref]Contents{teamNS: {Items: []Content{
				inTeam("", "Pod", "api-1-x", "p", "r"), inTeam("apps", "ReplicaSet", "api-1", "r", "d"), inTeam("apps", "Deployment", "api", "d"),
				inTeam("", "Service", "api", "s"), inTeam("", "Endpoints", "api", "e"), inTeam("discovery.k8s.io", "EndpointSlice", "api-x", "es", "s")}}}},
		"one of two owners stays": {changes: []Change{deletes(teamNS, "n"), deletes(deployment, "d")}, contents: map[object.Ref]Contents{teamNS: {
			Items: []Content{inTeam("", "Secret", "shared", "1", "d", "other")}}}, want: "1 object that would be lost with it: 1 Secret: shared"},
		"Endpoints of a Service that is not ours": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {
			Items: []Content{inTeam("", "Endpoints", "db", "1")}}}, want: "1 object that would be lost with it: 1 Endpoints: db"},
		"everybody else's": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Items: []Content{
			by(inTeam("", "ConfigMap", "b", "1"), "Helm release team/x"), by(inTeam("", "ConfigMap", "a", "2"), "Helm release team/x"),
			by(inTeam("", "Secret", "s", "3"), "Hawser bundle other"), inTeam("", "PersistentVolumeClaim", "data-db-0", "4")}}},
			want: "4 objects that would be lost with it: 2 ConfigMaps of Helm release team/x: a, b; 1 PersistentVolumeClaim: data-db-0; 1 Secret of Hawser bundle other: s"},
		"ours that is let go": {changes: []Change{deletes(teamNS, "n"), {Action: Release, Ref: config, UID: "1", Why: "annotated to be kept"}},
			contents: map[object.Ref]Contents{teamNS: {Items: []Content{inTeam("", "ConfigMap", "ours", "1")}}},
			want:     "1 object that would be lost with it: 1 ConfigMap let go (annotated to be kept): ours"},
		"ours that stays declared": {changes: []Change{deletes(widgetCRD, "c")}, kept: []InventoryEntry{{Ref: object.Ref{Group: "x.dev", Kind: "Widget", Namespace: "team", Name: "w"}}},
			contents: map[object.Ref]Contents{widgetCRD: {Items: []Content{inTeam("x.dev", "Widget", "w", "1")}}},
			want:     "1 object that would be lost with it: 1 Widget still in the bundle: team/w"},
		"only marked": {changes: []Change{deletes(teamNS, "n")}, contents: map[object.Ref]Contents{teamNS: {Items: []Content{
			{Ref: config, UID: "1", Marked: true}}}}, want: "1 ConfigMap with our marks, which the record does not know: ours"},
		"the object planned was replaced": {changes: []Change{deletes(teamNS, "n"), deletes(config, "old")}, contents: map[object.Ref]Contents{teamNS: {
			Items: []Content{inTeam("", "ConfigMap", "ours", "new")}}}, want: "1 object that would be lost with it"},
		"recreated, with what is declared in it": {changes: []Change{{Action: Recreate, Ref: widgetCRD, UID: "c"}}, contents: map[object.Ref]Contents{widgetCRD: {
			Items: []Content{inTeam("x.dev", "Widget", "w", "1")}}}, want: "1 object that would be lost with it: 1 Widget: team/w"},
		"custom objects that go, and their children": {changes: []Change{deletes(widgetCRD, "c"), deletes(object.Ref{Group: "x.dev", Kind: "Widget", Namespace: "team", Name: "w"}, "1")},
			contents: map[object.Ref]Contents{widgetCRD: {Items: []Content{inTeam("x.dev", "Widget", "w", "1"), inTeam("x.dev", "Widget", "child", "2", "1"),
				{Ref: object.Ref{Group: "x.dev", Kind: "Widget", Name: "going"}, UID: "3", Terminating: true}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range InUse(&Plan{Changes: tt.changes, Kept: tt.kept}, tt.contents) {
				got = append(got, f.What+": "+f.Why)
				if !strings.Contains(f.Fix, "prune=disabled") && !strings.Contains(f.Fix, "undo") {
					t.Errorf("no way out is said: %q", f.Fix)
				}
			}
			if text := strings.Join(got, "\n"); (tt.want == "") != (text == "") || !strings.Contains(text, tt.want) {
				t.Errorf("found\n %q\nwant\n %q", text, tt.want)
			}
		})
	}
}

// TestUnseenContentsBlock: Compute refuses the deletion of a Namespace of which nobody says what is in it.
func TestUnseenContentsBlock(t *testing.T) {
	in := Input{Owner: "me", Inventory: []InventoryEntry{{Ref: teamNS, Version: "v1", UID: "n"}},
		Live: map[object.Ref]Live{teamNS: {Found: true, UID: "n", ApplyHash: "o", OwnerLabel: "me"}}}
	if p := Compute(in); !p.Findings.HasErrors() {
		t.Error("a Namespace that nobody looked into is deleted")
	}
	in.Contents = map[object.Ref]Contents{teamNS: {}}
	if p := Compute(in); p.Findings.HasErrors() {
		t.Errorf("an empty Namespace is refused: %v", p.Findings)
	}
	if got := Holders(Compute(in)); len(got) != 1 || got[0] != teamNS {
		t.Errorf("to be looked into: %v", got)
	}
}

// TestStillInUse: right before the deletion only what holds something is looked into, by itself: what came since is named.
func TestStillInUse(t *testing.T) {
	a, b := object.Ref{Kind: "Namespace", Name: "a"}, object.Ref{Kind: "Namespace", Name: "b"}
	ours, theirs := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "ours"}, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "theirs"}
	p := &Plan{Changes: []Change{{Action: Delete, Ref: a, UID: "a"}, {Action: Delete, Ref: b, UID: "b"}, {Action: Delete, Ref: ours, UID: "o"}}}
	looked := 0
	look := func(items ...Content) func([]object.Ref) map[object.Ref]Contents {
		return func(refs []object.Ref) map[object.Ref]Contents {
			looked++
			if len(refs) != 1 || refs[0] != a {
				t.Errorf("looked at %v", refs)
			}
			return map[object.Ref]Contents{a: {Items: items}}
		}
	}
	if f := StillInUse(p, p.Changes[0], look(Content{Ref: ours, UID: "o"})); f != nil {
		t.Errorf("what goes too: %v", f)
	}
	if f := StillInUse(p, p.Changes[0], look(Content{Ref: ours, UID: "o"}, Content{Ref: theirs, UID: "t", By: "kubectl"})); f == nil || !strings.Contains(f.Why, "1 ConfigMap of kubectl: theirs") {
		t.Errorf("what came since: %v", f)
	}
	if looked != 2 || StillInUse(p, p.Changes[2], look()) != nil || looked != 2 {
		t.Error("a ConfigMap holds nothing")
	}
}

// TestRolesOfTheBundle: the roles with which a bundle is delivered, and their bindings, hold no Namespace that is deleted, where they have the printed
// names; others do, and so do those that are annotated to be kept. A definition, and a Namespace that is made anew, take nothing with them.
func TestRolesOfTheBundle(t *testing.T) {
	const group = "rbac.authorization.k8s.io"
	kept := inTeam(group, "Role", "hawser-shop", "1")
	kept.Keep = true
	for name, tt := range map[string]struct {
		holder object.Ref
		action Action
		in     []Content
		held   string // what holds it, "" for nothing
	}{
		"as printed": {in: []Content{inTeam(group, "Role", "hawser-shop", "1"), inTeam(group, "RoleBinding", "hawser-shop", "2"),
			inTeam(group, "Role", "hawser-shop-delete", "3"), inTeam(group, "RoleBinding", "hawser-shop-delete", "4")}},
		"of another name":     {in: []Content{inTeam(group, "RoleBinding", "ci", "1"), inTeam(group, "Role", "hawser-shop", "2")}, held: "1 RoleBinding: ci"},
		"of another bundle":   {in: []Content{inTeam(group, "Role", "hawser-other", "1")}, held: "1 Role: hawser-other"},
		"of another kind":     {in: []Content{inTeam("", "ConfigMap", "hawser-shop", "1")}, held: "1 ConfigMap: hawser-shop"},
		"of another group":    {in: []Content{inTeam("x.dev", "Role", "hawser-shop", "1")}, held: "1 Role: hawser-shop"},
		"annotated to stay":   {in: []Content{kept}, held: "1 Role annotated to be kept: hawser-shop"},
		"of a definition":     {holder: widgetCRD, in: []Content{inTeam(group, "Role", "hawser-shop", "1")}, held: "1 Role: team/hawser-shop"},
		"the Namespace stays": {action: Recreate, in: []Content{inTeam(group, "Role", "hawser-shop", "1")}, held: "1 Role: hawser-shop"},
	} {
		ch := deletes(teamNS, "n")
		if tt.holder != (object.Ref{}) {
			ch.Ref = tt.holder
		}
		if tt.action != "" {
			ch.Action = tt.action
		}
		p := &Plan{Bundle: "shop", Changes: []Change{ch}}
		got := ""
		if f := StillInUse(p, ch, func([]object.Ref) map[object.Ref]Contents { return map[object.Ref]Contents{ch.Ref: {Items: tt.in}} }); f != nil {
			got = f.Why
		}
		if got != tt.held {
			t.Errorf("%s: held by %q, want %q", name, got, tt.held)
		}
	}
}
