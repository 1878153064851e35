package order

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
)

// itemsOf reads "instance stage" headers and YAML documents.
func itemsOf(t *testing.T, text string) []Item {
	t.Helper()
	var out []Item
	for _, doc := range strings.Split(text, "\n---\n") {
		var body map[string]any
		if err := yaml.Unmarshal([]byte(doc), &body); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		instance, _ := body["instance"].(string)
		stage, _ := body["stage"].(float64)
		delete(body, "instance")
		delete(body, "stage")
		if instance == "" {
			instance = "app"
		}
		ref := object.Object{Body: body}.Ref()
		out = append(out, Item{Ref: ref, Instance: instance, Stage: int(stage), Body: body, Waits: health.WaitableObject(ref, body)})
	}
	return out
}

func plurals(gk schema.GroupKind) string { return strings.ToLower(gk.Kind) + "s" }

const fullSet = `
{apiVersion: v1, kind: Namespace, metadata: {name: ns}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
 spec: {group: example.com, names: {plural: widgets, kind: Widget}, scope: Namespaced, versions: [{name: v1, served: true}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: ns}}
---
{apiVersion: v1, kind: Service, metadata: {name: op, namespace: ns}, spec: {selector: {app: op}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: ns}, spec: {template: {metadata: {labels: {app: op, x: z}}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: ns}, spec: {template: {metadata: {labels: {app: other}}}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook},
 webhooks: [{clientConfig: {service: {namespace: ns, name: op}}, rules: [{apiGroups: ["*"], resources: [widgets, configmaps, deployments]}]}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: elsewhere},
 webhooks: [{clientConfig: {service: {namespace: far, name: away}}, rules: [{apiGroups: ["*"], resources: ["*"]}]}]}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns}}
---
{apiVersion: foreign.io/v1, kind: Thing, metadata: {name: free, namespace: ns}}`

// orderCases are sets with the order that their writes must and must not have.
var orderCases = []struct {
	name, set string
	depends   map[string][]string
	noWait    bool
	// before are "a < b", not are "a !< b": a does not have to come before b.
	before, not []string
	reason      string
}{
	{name: "classes", set: fullSet, before: []string{
		"write Namespace/ns < write ConfigMap/ns/config", "ready CustomResourceDefinition/widgets.example.com < write Widget/ns/w",
		"ready CustomResourceDefinition/widgets.example.com < write ConfigMap/ns/config",
		"write ConfigMap/ns/config < write Service/ns/op", "write Service/ns/op < write Deployment/ns/op",
		"ready Deployment/ns/op < write ValidatingWebhookConfiguration/hook", "write ValidatingWebhookConfiguration/hook < write Widget/ns/w",
		"write Deployment/ns/op < write MutatingWebhookConfiguration/elsewhere",
	}, not: []string{
		"ready Deployment/ns/other < write ValidatingWebhookConfiguration/hook",
		"write MutatingWebhookConfiguration/elsewhere < write Thing/ns/free",
		"write ValidatingWebhookConfiguration/hook < write Thing/ns/free",
	}, reason: "the webhook comes after its own backend and before the custom resources it matches, not before its ancestors"},
	{name: "without waiting", set: fullSet, noWait: true, before: []string{
		"ready CustomResourceDefinition/widgets.example.com < write Widget/ns/w", "ready Deployment/ns/op < write ValidatingWebhookConfiguration/hook",
	}, not: []string{"ready Deployment/ns/other < write Widget/ns/w"}, reason: "what writing needs is waited for all the same"},
	{name: "stages", set: `
{stage: 1, apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: ns}}
---
{stage: 1, apiVersion: v1, kind: Namespace, metadata: {name: ns}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: early, namespace: ns}}`,
		before: []string{"ready Deployment/ns/early < write ConfigMap/ns/late", "write Namespace/ns < write Deployment/ns/early"},
		reason: "a stage after the one before is ready; a namespace before everything in it, whatever its stage"},
	{name: "instances", set: `
{instance: db, apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: ns}}
---
{instance: api, apiVersion: v1, kind: ConfigMap, metadata: {name: api, namespace: ns}}
---
{instance: api, apiVersion: v1, kind: Namespace, metadata: {name: ns}}
---
{instance: web, apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: ns}}`,
		depends: map[string][]string{"api": {"db"}, "web": {"elsewhere"}},
		before:  []string{"ready StatefulSet/ns/db < write ConfigMap/ns/api", "write Namespace/ns < write StatefulSet/ns/db"},
		not:     []string{"ready StatefulSet/ns/db < write ConfigMap/ns/web"},
		reason:  "a dependent instance's namespace may be needed by what it depends on"},
	{name: "a webhook whose backend depends on it", set: `
{instance: a, apiVersion: v1, kind: Service, metadata: {name: op, namespace: ns}, spec: {selector: {app: op}}}
---
{instance: a, apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: ns}, spec: {template: {metadata: {labels: {app: op}}}}}
---
{instance: b, apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook},
 webhooks: [{clientConfig: {service: {namespace: ns, name: op}}, rules: [{apiGroups: ["*"], resources: ["*"]}]}]}`,
		depends: map[string][]string{"a": {"b"}}, before: []string{"write ValidatingWebhookConfiguration/hook < write Deployment/ns/op"},
		reason: "what the user says wins over what would be safer; no cycle"},
	{name: "an ancestor of its own webhook", set: `
{apiVersion: v1, kind: Service, metadata: {name: op, namespace: ns}, spec: {selector: {app: op}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: ns}, spec: {template: {metadata: {labels: {app: op}}}}}
---
{stage: 1, apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook},
 webhooks: [{clientConfig: {service: {namespace: ns, name: op}}, rules: [{apiGroups: [example.com], resources: [widgets]}]}]}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: early, namespace: ns}}
---
{stage: 2, apiVersion: example.com/v1, kind: Widget, metadata: {name: late, namespace: ns}}`,
		before: []string{"write Widget/ns/early < write ValidatingWebhookConfiguration/hook", "write ValidatingWebhookConfiguration/hook < write Widget/ns/late"},
		reason: "the edge from the webhook to its own ancestor is dropped"},
	{name: "conversion", set: `
{apiVersion: v1, kind: Service, metadata: {name: op, namespace: ns}, spec: {selector: {app: op}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: ns}, spec: {template: {metadata: {labels: {app: op}}}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
 spec: {group: example.com, names: {plural: widgets, kind: Widget}, conversion: {webhook: {clientConfig: {service: {namespace: ns, name: op}}}}}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns}}`,
		before: []string{"ready Deployment/ns/op < write Widget/ns/w", "write CustomResourceDefinition/widgets.example.com < write Deployment/ns/op"},
		reason: "the definition early, its objects after the workload that converts them"},
	{name: "aggregated API", set: `
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: ns}, spec: {selector: {app: api}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: ns}, spec: {template: {metadata: {labels: {app: api}}}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.agg.example}, spec: {group: agg.example, service: {namespace: ns, name: api}}}
---
{apiVersion: agg.example/v1, kind: Flavor, metadata: {name: f, namespace: ns}}`,
		before: []string{"ready Deployment/ns/api < write APIService/v1.agg.example", "ready APIService/v1.agg.example < write Flavor/ns/f"},
		reason: "objects of an aggregated API after it is available"},
	{name: "bindings", set: `
{instance: a, apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: one, namespace: ns}, roleRef: {kind: Role, name: web}}
---
{instance: a, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: all}, roleRef: {kind: ClusterRole, name: web}}
---
{instance: a, apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: two, namespace: ns}, roleRef: {kind: ClusterRole, name: web}}
---
{instance: b, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}}
---
{instance: b, apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web, namespace: ns}}
---
{instance: b, apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web, namespace: far}}`,
		before: []string{"write Role/ns/web < write RoleBinding/ns/one", "write ClusterRole/web < write ClusterRoleBinding/all", "write ClusterRole/web < write RoleBinding/ns/two"},
		not:    []string{"write Role/far/web < write RoleBinding/ns/one", "write Role/ns/web < write RoleBinding/ns/two"},
		reason: "who may not bind is refused a binding whose role is not there"},
	{name: "a binding before its role", set: `
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web, namespace: ns}, roleRef: {kind: Role, name: web}}
---
{stage: 1, apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web, namespace: ns}}`,
		before: []string{"write RoleBinding/ns/web < write Role/ns/web"}, reason: "stages win; no cycle"},
}

func TestOrderOfWrites(t *testing.T) {
	for _, c := range orderCases {
		t.Run(c.name, func(t *testing.T) {
			o, err := Writes(Input{Items: itemsOf(t, c.set), Depends: c.depends, Wait: !c.noWait, Plural: plurals})
			if err != nil {
				t.Fatal(err)
			}
			check(t, o, c.before, c.not, c.reason)
		})
	}
}

func TestOrderOfRemovals(t *testing.T) {
	set := fullSet + `
---
{instance: app, stage: 1, apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: ns}}
---
{instance: web, apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}}
---
{instance: web, apiVersion: example.com/v1, kind: Widget, metadata: {name: of-web, namespace: ns}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: op, namespace: ns}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: op, namespace: ns}, roleRef: {kind: Role, name: op}}`
	o, err := Removals(Input{Items: itemsOf(t, set), Depends: map[string][]string{"web": {"app"}}, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	check(t, o, []string{
		"remove ValidatingWebhookConfiguration/hook < remove Widget/ns/w", "remove ValidatingWebhookConfiguration/hook < remove Deployment/ns/web",
		"remove Widget/ns/w < remove Deployment/ns/op", "remove Deployment/ns/op < remove Service/ns/op", "remove Service/ns/op < remove ConfigMap/ns/config",
		"remove ConfigMap/ns/config < remove CustomResourceDefinition/widgets.example.com", "remove CustomResourceDefinition/widgets.example.com < remove Namespace/ns",
		"remove ConfigMap/ns/late < remove Widget/ns/w", "remove Deployment/ns/web < remove ConfigMap/ns/late",
		"remove Widget/ns/of-web < remove Deployment/ns/op",
		"remove Deployment/ns/op < remove RoleBinding/ns/op", "remove RoleBinding/ns/op < remove Role/ns/op",
	}, nil, "dependants first, custom resources before controllers and definitions, namespaces last")
}

// What goes first is gone before anything is written, whatever else there is.
func TestOrderOfWhatGoesFirst(t *testing.T) {
	gone := object.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy", Name: "deny"}
	o, err := Writes(Input{Items: itemsOf(t, fullSet), First: []object.Ref{gone}, Wait: true, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	check(t, o, []string{"remove ValidatingAdmissionPolicy/deny < write Namespace/ns", "remove ValidatingAdmissionPolicy/deny < write Widget/ns/w",
		"remove ValidatingAdmissionPolicy/deny < write MutatingWebhookConfiguration/elsewhere"}, nil, "it would refuse them")
}

// A ClusterRole that is filled from others goes before those, in whatever instance they are.
func TestOrderOfAggregatedRoles(t *testing.T) {
	items := itemsOf(t, `
{instance: all, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, aggregationRule: {}}
---
{instance: all, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: same}}
---
{instance: web, apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}}
---
{instance: web, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}}`)
	for i := range items {
		items[i].Aggregates = items[i].Body["aggregationRule"] != nil
	}
	o, err := Removals(Input{Items: items, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	check(t, o, []string{"remove ClusterRole/all < remove ClusterRole/same", "remove ClusterRole/all < remove ClusterRole/web"}, nil, "it would be made again when one of them goes")
	if o, err = Removals(Input{Items: items, Depends: map[string][]string{"web": {"all"}}, Plural: plurals}); err != nil {
		t.Fatal(err)
	}
	check(t, o, []string{"remove ClusterRole/web < remove ClusterRole/all"}, nil, "what depends on its instance goes before all the same")
}

// check compares an order with "a < b" lines, whose nodes are written as "kind Kind/namespace/name".
func check(t *testing.T, o *Order, before, not []string, reason string) {
	t.Helper()
	keys := map[string]string{}
	for k, st := range o.Steps {
		if st.Kind != Barrier {
			verb, _, _ := strings.Cut(k, " ")
			keys[verb+" "+st.Ref.Slash()] = k
		}
	}
	reaches := func(line string) bool {
		a, b, _ := strings.Cut(line, " < ")
		if keys[b] == "" || keys[a] == "" && strings.HasPrefix(a, "write") {
			t.Fatalf("no such node: %s", line)
		}
		return keys[a] != "" && o.Graph.Reaches(keys[a], keys[b])
	}
	for _, line := range before {
		if !reaches(line) {
			t.Errorf("missing: %s (%s)", line, reason)
		}
	}
	for _, line := range not {
		if reaches(line) {
			t.Errorf("too strict: %s (%s)", line, reason)
		}
	}
}

func TestOrderIsStable(t *testing.T) {
	items := itemsOf(t, fullSet)
	first, err := Writes(Input{Items: slices.Clone(items), Wait: true, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(items)
	second, err := Writes(Input{Items: items, Wait: true, Plural: plurals})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := first.Graph.Order(nil)
	b, _ := second.Graph.Order(nil)
	if !slices.Equal(a, b) {
		t.Errorf("the order depends on the order of the input:\n%q\n%q", a, b)
	}
}
