package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

// What is declared no longer, and stays since somebody has changed it or applies it too, is told as that, with who has it: it was
// planned as "unset".
func TestDroppedFieldsThatStay(t *testing.T) {
	const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours, w: ours, v: ours}"
	const password = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: NS}\ndata: {x: b3Vycw==, w: b3Vycw==}"
	by := func(manager, edit string) func(t *testing.T, ns string) {
		return func(t *testing.T, ns string) { patch(t, manager, configMaps, ns, "a", edit) }
	}
	for name, c := range map[string]struct {
		text, without string
		others        func(t *testing.T, ns string)
		fields        []string
		warns         string
		data          string
	}{
		"nobody has them": {text: settings, without: ", w: ours", others: func(*testing.T, string) {},
			fields: []string{`data.w "ours" `}, data: "map[v:ours x:ours]"},
		"changed by hand": {text: settings, without: ", w: ours", others: by("kubectl-edit", `{"data":{"w":"theirs"}}`),
			fields: []string{`data.w "theirs" "theirs" stays kubectl-edit`}, warns: "data.w: kubectl-edit", data: "map[v:ours w:theirs x:ours]"},
		"one of two changed by hand": {text: settings, without: ", w: ours, v: ours", others: by("kubectl-edit", `{"data":{"w":"theirs"}}`),
			fields: []string{`data.v "ours" `, `data.w "theirs" "theirs" stays kubectl-edit`}, warns: "data.w: kubectl-edit", data: "map[w:theirs x:ours]"},
		"applied by another one too": {text: settings, without: ", w: ours", others: func(t *testing.T, ns string) {
			foreignApply(t, "other", "configmaps", false, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {w: ours}")[0])
		}, fields: []string{`data.w "ours" "ours" stays other`}, warns: "data.w: other", data: "map[v:ours w:ours x:ours]"},
		"another key is theirs": {text: settings, without: ", w: ours", others: by("kubectl-edit", `{"data":{"y":"theirs"}}`),
			fields: []string{`data.w "ours" `}, data: "map[v:ours x:ours y:theirs]"},
		"a withdrawn password": {text: password, without: ", w: b3Vycw==", others: func(t *testing.T, ns string) {
			patch(t, "kubectl-edit", secrets, ns, "a", `{"data":{"w":"dGhlaXJz"}}`)
		}, fields: []string{`data.w hidden stays kubectl-edit`}, warns: "data.w: kubectl-edit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := testfleet.Get(), connect(t)
			ns := f.Namespace(t, one)
			b := newBundle(t)
			b.opts.Diff = true
			b.apply(t, s, objs(t, ns, c.text)...)
			c.others(t, ns)
			text := strings.Replace(c.text, c.without, "", 1)
			p, bodies := b.plan(t, s, objs(t, ns, text))
			var fields []string
			for _, f := range only(t, p).Fields {
				words := []string{f.Path, f.Old, f.New}
				if f.Hidden {
					words = []string{f.Path, "hidden"}
				}
				if f.Stays {
					words = append(words, "stays", f.Manager)
				}
				fields = append(fields, strings.Join(words, " "))
			}
			if slices.Sort(fields); !slices.Equal(fields, c.fields) {
				t.Errorf("fields %q, want %q", fields, c.fields)
			}
			warned := ""
			for _, w := range p.Findings {
				if w.Code == "field-stays" && w.Fix != "" {
					path, _, _ := strings.Cut(w.What, ":")
					who, _, _ := strings.Cut(w.Why, " ")
					warned += path + ": " + who
				}
			}
			if warned != c.warns || p.Findings.HasErrors() {
				t.Errorf("warned of %q, want %q: %v", warned, c.warns, p.Findings)
			}
			mustOK(t, b.execute(t.Context(), s, p, bodies))
			if c.data != "" && data(t, ns, "a") != c.data {
				t.Errorf("data %s, want %s", data(t, ns, "a"), c.data)
			}
			b.unchanged(t, s, objs(t, ns, text)...)
			if ch := p.Changes[0]; ch.Action != plan.Update {
				t.Errorf("%+v", ch)
			}
		})
	}
}

// What is declared anew and is there already, as somebody has it with the same value, is no new field: nothing is said of it.
func TestDeclaredAnewAndThere(t *testing.T) {
	for kind, c := range map[string]struct{ data, more, edit string }{
		"ConfigMap": {"x: ours", ", q: theirs, z: new", `{"data":{"q":"theirs"}}`},
		"Secret":    {"x: b3Vycw==", ", q: dGhlaXJz, z: bmV3", `{"data":{"q":"dGhlaXJz"}}`},
	} {
		f, s := testfleet.Get(), connect(t)
		ns := f.Namespace(t, one)
		b := newBundle(t)
		b.opts.Diff = true
		text := "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: a, namespace: NS}\ndata: {" + c.data
		b.apply(t, s, objs(t, ns, text+"}")...)
		patch(t, "kubectl-patch", map[string]schema.GroupVersionResource{"ConfigMap": configMaps, "Secret": secrets}[kind], ns, "a", c.edit)
		p, bodies := b.plan(t, s, objs(t, ns, text+c.more+"}"))
		if fields := only(t, p).Fields; len(fields) != 1 || fields[0].Path != "data.z" || fields[0].Added != (kind == "Secret") {
			t.Errorf("%s: %+v", kind, fields)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		b.unchanged(t, s, objs(t, ns, text+c.more+"}")...)
	}
}

// What the API server keeps, or fills in, does not go with its declaration; replicas are kept for whoever scales.
func TestDroppedFieldsWithDefaults(t *testing.T) {
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: NS}\nspec:\n  type: NodePort\n  sessionAffinity: ClientIP\n  ports: [{port: 80, targetPort: 8080}]\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: NS}\nspec:\n  replicas: 2\n  minReadySeconds: 1\n  selector: {matchLabels: {a: a}}\n" +
		"  template:\n    metadata: {labels: {a: a}}\n    spec: {containers: [{name: a, image: a, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: FallbackToLogsOnError}]}\n"
	for name, c := range map[string]struct {
		text    string
		without map[string]string
		fields  []string
	}{
		"filled in": {service, map[string]string{"  sessionAffinity: ClientIP\n": "", ", targetPort: 8080": ""}, []string{`spec.ports[80].targetPort 8080 80`, `spec.sessionAffinity "ClientIP" "None"`}},
		"kept": {deployment, map[string]string{", terminationMessagePath: /dev/termination-log, terminationMessagePolicy: FallbackToLogsOnError": "", "  replicas: 2\n": "", "  minReadySeconds: 1\n": ""},
			[]string{`spec.minReadySeconds 1 `, `spec.replicas 2 2 stays`, `spec.template.spec.containers[a].terminationMessagePath "/dev/termination-log" "/dev/termination-log" stays`,
				`spec.template.spec.containers[a].terminationMessagePolicy "FallbackToLogsOnError" "File"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := testfleet.Get(), connect(t)
			ns := f.Namespace(t, one)
			b := newBundle(t)
			b.adjust = func(req *cluster.ExecuteRequest) { req.Wait = false }
			b.opts.Diff = true
			b.apply(t, s, objs(t, ns, c.text)...)
			text := c.text
			for part := range c.without {
				text = strings.Replace(text, part, "", 1)
			}
			p, bodies := b.plan(t, s, objs(t, ns, text))
			var fields []string
			for _, f := range only(t, p).Fields {
				fields = append(fields, f.Path+" "+f.Old+" "+f.New+map[bool]string{true: " stays"}[f.Stays])
			}
			if !slices.Equal(fields, c.fields) {
				t.Errorf("fields %q, want %q", fields, c.fields)
			}
			mustOK(t, b.execute(t.Context(), s, p, bodies))
		})
	}
}
