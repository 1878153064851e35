package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

// found are the findings of a plan for its only cluster.
func (p *Prepared) found() diag.Findings { return p.Clusters[0].Plan.Findings }

// there are the ConfigMaps of a rig's namespace by what they hold.
func (r *rig) there() (out []string) {
	r.t.Helper()
	all, err := r.admin.CoreV1().ConfigMaps(r.name).List(r.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=hawser"})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range all.Items {
		out = append(out, o.Name+"="+o.Data["uri"])
	}
	slices.Sort(out)
	return out
}

// An instance that fails in a later step stops what depends on it and what takes its values, over the steps, and nothing else; nothing is deleted then.
func TestFailedStopsWhatDependsOnIt(t *testing.T) {
	t.Parallel()
	conn := "helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}"
	r := takers(t, `    one: {namespace: NS, `+conn+`}
    two: {namespace: NS, `+conn+`}
    three: {namespace: NS, dependsOn: [one], `+conn+`}
    four: {namespace: NS, dependsOn: [two], helm: {chart: ./chart}, values: {uri: {from: {instance: two, object: v1/ConfigMap/two, path: data.uri}}}}
    five: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: one, object: v1/ConfigMap/one, path: data.uri}}}}
`)
	bundle := r.read("bundle.yaml")
	r.write("old.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {uri: old}\n")
	r.write("bundle.yaml", strings.Replace(bundle, "[db.yaml]", "[db.yaml, old.yaml]", 1)[:strings.Index(bundle, "    one:")+len(", old.yaml")])
	r.applied(r.request())
	r.write("chart/templates/refuse.yaml", "{{ if and (eq .Release.Name \"one\") (eq .Values.uri \"postgres://two\") }}{{ fail \"not this one\" }}{{ end }}\n")
	r.write("db.yaml", strings.Replace(r.read("db.yaml"), "//db", "//two", 1))
	r.write("bundle.yaml", bundle)
	out, err := r.Apply(r.t.Context(), r.plan(r.request()), r.request())
	if err == nil || out.Clusters[0].Result != fleetplan.Failed || !strings.Contains(fmt.Sprintf("%+v", out.Clusters), "not this one") {
		t.Fatalf("%v %+v", err, out)
	}
	want := []string{"conn=postgres://two", "four=postgres://two", "old=old", "two=postgres://two"}
	if got := r.there(); !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	r.write("chart/templates/refuse.yaml", "")
	r.applied(r.request())
	want = []string{"conn=postgres://two", "five=postgres://two", "four=postgres://two", "one=postgres://two", "three=postgres://two", "two=postgres://two"}
	if got := r.there(); !slices.Equal(got, want) {
		t.Errorf("then there are %v, want %v", got, want)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}

// What takes a value of a suspended instance that is not there is told so in the plan, and waits for nothing; what is there is taken.
func TestValueOfASuspendedInstance(t *testing.T) {
	t.Parallel()
	r := takers(t, "    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}\n")
	r.applied(r.request())
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "db: {", "db: {suspend: true, ", 1))
	if fp := r.plan(r.request()); !fp.settled() || len(fp.found()) > 0 {
		t.Errorf("what it has made is not taken: %v", fp.found())
	}
	if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "conn", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Plan(t.Context(), r.request())
	if text := fmt.Sprint(err); !strings.Contains(text, "one takes a value of ConfigMap "+r.name+"/conn") || !strings.Contains(text, "is suspended") {
		t.Errorf("planned with %s", text)
	}
}

// A key that another instance takes, and that the object is declared without, is found in the plan, though it is there until then; what somebody else
// has put into the object stays, and is taken.
func TestTakenKeyThatIsDeclaredNoLonger(t *testing.T) {
	t.Parallel()
	r := takers(t, "    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}\n")
	r.applied(r.request())
	r.write("db.yaml", strings.Replace(r.read("db.yaml"), "uri:", "url:", 1))
	if text := fmt.Sprint(r.plan(r.request()).found().Err()); !strings.Contains(text, "uri") || !r.plan(r.request()).found().HasErrors() {
		t.Errorf("planned with %q", text)
	}
	live, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "conn", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Data["uri"] = "postgres://else"
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if fs := r.plan(r.request()).found(); fs.HasErrors() {
		t.Errorf("what somebody else keeps is not taken: %s", fs)
	}
}
