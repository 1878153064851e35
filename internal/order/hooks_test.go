package order

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

const hookedSet = `
{instance: db, apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: ns}}
---
{instance: api, apiVersion: v1, kind: Namespace, metadata: {name: ns}}
---
{instance: api, apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
 spec: {group: example.com, names: {plural: widgets, kind: Widget}, scope: Namespaced, versions: [{name: v1, served: true}]}}
---
{instance: api, apiVersion: v1, kind: ConfigMap, metadata: {name: api, namespace: ns}}
---
{instance: api, stage: 1, apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: ns}}
---
{instance: web, apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: ns}}
---
{instance: far, apiVersion: v1, kind: ConfigMap, metadata: {name: far, namespace: ns}}`

func hook(instance string, e object.HookPhase, name string, discard bool) Hook {
	return Hook{Ref: object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: name}, Instance: instance, Event: e, Discard: discard}
}

// apiDepends: api needs db, web needs api.
var apiDepends = map[string][]string{"api": {"db"}, "web": {"api"}}

var hookOrders = []struct {
	name        string
	removal     bool
	in          Input
	before, not []string
	reason      string
}{
	{name: "around an installation", in: Input{Wait: true, Depends: apiDepends, Ends: map[string]object.HookPhase{"api": object.PostInstall, "db": object.PostInstall},
		Hooks: []Hook{hook("api", object.PreInstall, "one", true), hook("api", object.PreInstall, "two", true),
			hook("api", object.PostInstall, "after", true), hook("api", object.Test, "test", true)}},
		before: []string{
			"ready StatefulSet/ns/db < run pre-install one", "pass db post-install < run pre-install one",
			"write Namespace/ns < run pre-install one", "ready CustomResourceDefinition/widgets.example.com < run pre-install one",
			"run pre-install one < run pre-install two", "run pre-install two < pass api pre-install",
			"pass api pre-install < discard pre-install two", "discard pre-install two < discard pre-install one",
			"pass api pre-install < write ConfigMap/ns/api", "write ConfigMap/ns/api < write Deployment/ns/api",
			"ready Deployment/ns/api < run post-install after", "discard pre-install one < run post-install after",
			"run post-install after < pass api post-install", "pass api post-install < run test test", "run test test < pass api test",
			"pass api test < discard test test", "run test test < write ConfigMap/ns/web", "discard post-install after < write ConfigMap/ns/web",
		}, not: []string{"discard pre-install one < write ConfigMap/ns/api", "run pre-install one < write ConfigMap/ns/far", "write ConfigMap/ns/far < run test test"},
		reason: "what an instance needs, its hooks before, its objects, its hooks after, its tests, what needs it"},
	{name: "tests wait for readiness also where nothing else does", in: Input{Hooks: []Hook{hook("api", object.Test, "test", false), hook("db", object.PostUpgrade, "after", false)}},
		before: []string{"ready Deployment/ns/api < run test test", "write StatefulSet/ns/db < run post-upgrade after"},
		not:    []string{"ready StatefulSet/ns/db < run post-upgrade after"}, reason: "a test of what is not ready tests nothing"},
	{name: "an instance of hooks alone", in: Input{Wait: true, Depends: map[string][]string{"jobs": {"db"}, "web": {"jobs"}}, Ends: map[string]object.HookPhase{"jobs": object.PostUpgrade},
		Hooks: []Hook{hook("jobs", object.PreUpgrade, "one", false)}},
		before: []string{"ready StatefulSet/ns/db < run pre-upgrade one", "run pre-upgrade one < pass jobs post-upgrade", "pass jobs post-upgrade < write ConfigMap/ns/web"},
		reason: "dependencies hold for it too"},
	{name: "around a rollback", in: Input{Wait: true, Depends: apiDepends, Ends: map[string]object.HookPhase{"api": object.PostRollback},
		Hooks: []Hook{hook("api", object.PreRollback, "one", true), hook("api", object.PostRollback, "after", false)}},
		before: []string{
			"ready StatefulSet/ns/db < run pre-rollback one", "pass api pre-rollback < write ConfigMap/ns/api", "pass api pre-rollback < discard pre-rollback one",
			"ready Deployment/ns/api < run post-rollback after", "run post-rollback after < pass api post-rollback", "pass api post-rollback < write ConfigMap/ns/web",
		}, reason: "as around an upgrade"},
	{name: "around a removal", removal: true, in: Input{Depends: apiDepends, Ends: map[string]object.HookPhase{"api": object.PostDelete},
		Hooks: []Hook{hook("api", object.PreDelete, "one", true), hook("api", object.PostDelete, "after", true)}},
		before: []string{
			"remove ConfigMap/ns/web < run pre-delete one", "pass api pre-delete < remove Deployment/ns/api", "remove ConfigMap/ns/api < run post-delete after",
			"pass api post-delete < discard post-delete after", "discard post-delete after < remove Namespace/ns",
			"pass api pre-delete < discard pre-delete one", "discard pre-delete one < run post-delete after",
			"run post-delete after < remove StatefulSet/ns/db", "run post-delete after < remove Job/ns/left", "remove Job/ns/left < remove Namespace/ns",
		}, not: []string{"pass api pre-delete < remove ValidatingWebhookConfiguration/api"}, reason: "what needs it goes first, what it needs last; its namespace when no hook needs it any more"},
	{name: "a removal that nothing else waits for", removal: true, in: Input{Hooks: []Hook{hook("api", object.PreDelete, "one", true)}},
		before: []string{"pass api pre-delete < remove ValidatingWebhookConfiguration/api"}, reason: "its webhooks still work while its hooks run"},
	{name: "a webhook that has to go before what goes before its hooks", removal: true, in: Input{Depends: apiDepends,
		Hooks: []Hook{hook("db", object.PreDelete, "one", true)}},
		before: []string{"remove ConfigMap/ns/api < run pre-delete one", "pass db pre-delete < remove StatefulSet/ns/db", "remove ValidatingWebhookConfiguration/db < remove ConfigMap/ns/web"},
		reason: "webhooks are gone before anything they could refuse"},
}

const webhookOf = `
---
{instance: api, apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: api}}
---
{instance: db, apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: db}}
---
{instance: api, apiVersion: batch/v1, kind: Job, metadata: {name: left, namespace: ns}}`

func TestOrderOfHooks(t *testing.T) {
	for _, c := range hookOrders {
		t.Run(c.name, func(t *testing.T) {
			c.in.Items, c.in.Plural = itemsOf(t, hookedSet), plurals
			build := Writes
			if c.removal {
				build = Removals
				c.in.Items = itemsOf(t, hookedSet+webhookOf)
				c.in.Items[len(c.in.Items)-1].Left = true
			}
			o, err := build(c.in)
			if err != nil {
				t.Fatal(err)
			}
			checkHooks(t, o, c.before, c.not, c.reason)
		})
	}
}

// checkHooks is check with the nodes of hooks as "run EVENT NAME", "discard EVENT NAME" and "pass INSTANCE EVENT".
func checkHooks(t *testing.T, o *Order, before, not []string, reason string) {
	t.Helper()
	keys := map[string]string{}
	for k, st := range o.Steps {
		verb, _, _ := strings.Cut(k, " ")
		switch st.Kind {
		case Run, Discard:
			keys[verb+" "+string(st.Event)+" "+st.Ref.Name] = k
		case Pass:
			keys[k] = k
		case Write, Ready, Remove:
			keys[verb+" "+st.Ref.Slash()] = k
		}
	}
	for _, lines := range []struct {
		want bool
		of   []string
	}{{true, before}, {false, not}} {
		for _, line := range lines.of {
			a, b, _ := strings.Cut(line, " < ")
			if reaches := keys[a] != "" && keys[b] != "" && o.Graph.Reaches(keys[a], keys[b]); reaches != lines.want {
				t.Errorf("%s: %t (%s)", line, reaches, reason)
			}
		}
	}
}

// TestOrderOfAnUntouchedInstance: a bundle without hooks is ordered as if there were none anywhere.
func TestOrderOfAnUntouchedInstance(t *testing.T) {
	o, err := Writes(Input{Items: itemsOf(t, fullSet), Wait: true, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	for k, st := range o.Steps {
		if st.Kind == Run || st.Kind == Pass || st.Kind == Discard || strings.Contains(k, "/begin") {
			t.Errorf("a node too many: %s", k)
		}
	}
}
