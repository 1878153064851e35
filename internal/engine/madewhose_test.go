package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// madeRig is a rig with a chart whose Secret has a value that it makes up and one that the bundle has made up.
func madeRig(t *testing.T) *rig {
	r := chartRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}-pw'}\n"+
		"stringData: {chart: '{{ randAlphaNum 20 }}', value: '{{ .Values.p }}'}\n")
	r.write("x.yaml", r.configMap("mx", "a: b"))
	r.write("y.yaml", r.configMap("my", "a: b"))
	return r
}

// declares writes a file of bundles: "a: INSTANCE=RELEASE ...", where the bundle a is r.name-a. Every bundle has a further
// instance, of manifests.
func (r *rig) declares(bundles ...string) {
	r.t.Helper()
	text := "bundles:\n"
	for _, b := range bundles {
		name, instances, _ := strings.Cut(b, ":")
		text += "  " + r.name + "-" + name + ":\n    apiVersion: v1alpha1\n    name: " + r.name + "-" + name + "\n    instances:\n" +
			"      m" + name + ":\n        namespace: " + r.name + "\n        manifests: {paths: [" + map[string]string{"a": "x", "b": "y"}[name] + ".yaml]}\n"
		for _, in := range strings.Fields(instances) {
			in, rel, _ := strings.Cut(in, "=")
			text += "      " + in + ":\n        namespace: " + r.name + "\n        helm: {chart: ./chart, releaseName: " + rel +
				"}\n        values: {p: {generate: {length: 16}}}\n"
		}
	}
	r.write("bundle.yaml", text)
}

// does applies a bundle in a process of its own, or with "delete" deletes it.
func (r *rig) does(bundle string, rotate ...string) error {
	r.t.Helper()
	next := r.again(r.t)
	return next.doing(bundle, rotate...)
}

func (r *rig) doing(bundle string, rotate ...string) error {
	r.t.Helper()
	verb, bundle, deletes := strings.Cut(bundle, " ")
	if !deletes {
		bundle = verb
	}
	req := r.request()
	req.Bundle, req.Rotate = r.name+"-"+bundle, chance.Rotation(rotate)
	if deletes {
		req.Operation = Delete
	}
	fp, err := r.Plan(r.t.Context(), r.confirming(&req))
	if err != nil {
		return err
	}
	r.t.Cleanup(fp.run.close)
	_, err = r.Apply(r.t.Context(), fp, req)
	return err
}

// password is what the Secret of a Helm release holds.
func (r *rig) password(rel string) string {
	r.t.Helper()
	s, err := r.admin.CoreV1().Secrets(r.name).Get(r.t.Context(), rel+"-pw", metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(s.Data["chart"]) + " " + string(s.Data["value"])
}

// step is one change of the files, and what is done then.
type madeStep struct {
	files   []string
	does    []string // bundles to apply; "delete b"; "a rotate db"
	refused string   // the code of the refusal of the last one
}

// madeStories are cases of TestMadeWhose.
var madeStories = []struct {
	reason string
	steps  []madeStep
}{
	{"to another bundle rotated and back", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a", "b"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"a", "b", "b rotate db"}, ""},
		{[]string{"a:db=rel", "b:"}, []string{"a", "b"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"b", "a"}, ""},
	}},
	{"and the other bundle is done first", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a", "b"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"b", "a", "b rotate db"}, ""},
		{[]string{"a:db=rel", "b:"}, []string{"b", "a", "a rotate db"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"a", "b"}, ""},
	}},
	{"and the first bundle was never done in between", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a", "b"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"b", "b rotate db"}, ""},
		{[]string{"a:db=rel", "b:"}, []string{"a", "b"}, ""},
	}},
	{"a name that was used before", []madeStep{
		{[]string{"a:blue=r1 green=r2"}, []string{"a"}, ""},
		{[]string{"a:green=r2"}, []string{"a"}, ""},
		{[]string{"a:blue=r2"}, []string{"a"}, ""},
	}},
	{"a name that was used before and nothing comes along", []madeStep{
		{[]string{"a:blue=r1 green=r2"}, []string{"a"}, ""},
		{[]string{"a:green=r2"}, []string{"a"}, ""},
		{[]string{"a:blue=r1"}, []string{"a"}, "kept-values-doubtful"},
	}},
	{"two names are swapped", []madeStep{
		{[]string{"a:d1=r1 d2=r2"}, []string{"a"}, ""},
		{[]string{"a:d1=r2 d2=r1"}, []string{"a"}, "kept-values-moved"},
		{[]string{"a:tmp=r1 d2=r2"}, []string{"a"}, ""},
		{[]string{"a:tmp=r1 d1=r2"}, []string{"a"}, ""},
		{[]string{"a:d2=r1 d1=r2"}, []string{"a"}, ""},
	}},
	{"one is renamed after others were dropped", []madeStep{
		{[]string{"a:b=r1 c=r2 d=r3"}, []string{"a"}, ""},
		{[]string{"a:c=r2"}, []string{"a"}, ""},
		{[]string{"a:cc=r2"}, []string{"a"}, ""},
	}},
	{"the former bundle is deleted first", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a", "b", "a rotate db"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"delete a", "b"}, ""},
	}},
	{"the former bundle is deleted when it has let go", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"a", "delete a", "b"}, ""},
	}},
	{"the former bundle is deleted last", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a"}, ""},
		{[]string{"a:", "b:db=rel"}, []string{"b", "b rotate db", "delete a", "b"}, ""},
	}},
	{"the former bundle is to be deleted and the instance has another name", []madeStep{
		{[]string{"a:db=rel", "b:"}, []string{"a"}, ""},
		{[]string{"a:", "b:database=rel"}, []string{"delete a"}, "kept-values-moved"},
		{[]string{"a:", "b:db=rel"}, []string{"delete a", "b"}, ""},
	}},
}

// What is in use is never replaced by what is kept of an instance that went, and goes with its instance: to another bundle
// and back, to a name that was used before, and past instances that were dropped.
func TestMadeWhose(t *testing.T) {
	t.Parallel()
	for _, c := range madeStories {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			r := madeRig(t)
			live := map[string]string{}
			for i, s := range c.steps {
				r.declares(s.files...)
				for j, what := range s.does {
					bundle, rotate, rotates := strings.Cut(what, " rotate ")
					err := r.does(bundle, slices.DeleteFunc([]string{rotate}, func(x string) bool { return x == "" })...)
					if want := j == len(s.does)-1 && s.refused != ""; (err != nil) != want || want && !strings.Contains(refusalOf(err), s.refused) {
						t.Fatalf("step %d, %s: %v", i, what, err)
					}
					for _, rel := range []string{"rel", "r1", "r2", "r3"} {
						now := r.password(rel)
						if was := live[rel]; was != "" && now != "" && (was != now) != rotates {
							t.Fatalf("step %d, %s: %s has another password", i, what, rel)
						}
						live[rel] = now
					}
				}
			}
			if len(live["rel"]+live["r2"]) < 30 {
				t.Error("nothing was made")
			}
		})
	}
}

// refusalOf has the codes of what refuses.
func refusalOf(err error) string {
	out := ""
	if refused, ok := errors.AsType[*fleetplan.RefusedError](err); ok {
		for _, f := range refused.Findings {
			out += f.Code + " "
		}
	}
	return out
}

// unwritable is a store that keeps made-up values and takes no records, as where a run is killed in between.
type unwritable struct {
	release.Store
	release.Keeper
}

func (unwritable) Put(context.Context, release.Record, []object.Object, release.RecordVersion) (release.RecordVersion, error) {
	return "", errors.New("no records today")
}

// A rename that was kept and never recorded can be taken back, and goes on.
func TestMadeRenameKilled(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"gone", "gone", "dby", "dby"} {
		back := i%2 == 0
		r := madeRig(t)
		r.declares("a:dbx=rel" + map[string]string{"gone": " gone=r1"}[name])
		if err := r.does("a"); err != nil {
			t.Fatal(err)
		}
		r.declares("a:dbx=rel")
		if err := r.does("a"); err != nil {
			t.Fatal(err)
		}
		was := r.password("rel")
		r.declares("a:" + name + "=rel")
		killed := r.again(t)
		killed.Records = opened(func(s *cluster.Session, name string) release.Store {
			store := inTheCluster(nil, nil)(s, name)
			return unwritable{store, store.(release.Keeper)}
		})
		if err := killed.doing("a"); err == nil {
			t.Fatal("recorded")
		}
		if back {
			r.declares("a:dbx=rel")
		}
		for range 2 {
			if err := r.does("a"); err != nil {
				t.Fatalf("%s, back %t: %v", name, back, err)
			}
			if now := r.password("rel"); now != was {
				t.Errorf("%s, back %t: another password", name, back)
			}
		}
	}
}

// A rotation that a Secret would not follow, because it is created once, is refused before anything is kept.
func TestRotateOneOff(t *testing.T) {
	t.Parallel()
	r := madeRig(t)
	r.declares("a:db=rel")
	chart := func(meta string) {
		r.write("chart/templates/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}-pw'"+meta+"}\n"+
			"stringData: {chart: '{{ randAlphaNum 20 }}', value: '{{ .Values.p }}'}\n---\n"+
			"apiVersion: v1\nkind: Secret\nmetadata: {name: r1-pw}\nstringData: {value: '{{ .Values.p }}'}\n")
	}
	chart(", annotations: {hawser.dev/one-off: enabled}")
	if err := r.does("a"); err != nil {
		t.Fatal(err)
	}
	was, client := r.password("rel"), r.password("r1")
	err := r.does("a", "db")
	if got := refusalOf(err); got != "kept-values-one-off " {
		t.Fatalf("refused for %q: %v", got, err)
	}
	if refused, _ := errors.AsType[*fleetplan.RefusedError](err); !refused.Findings[0].Pos.IsValid() || !strings.Contains(refused.Findings[0].Object, "rel-pw") {
		t.Errorf("%+v", refused.Findings[0])
	}
	if err := r.does("a"); err != nil {
		t.Fatal(err)
	}
	if r.password("rel") != was || r.password("r1") != client {
		t.Error("a refused rotation changed something")
	}
	chart("")
	if err := r.does("a", "db"); err != nil {
		t.Fatal(err)
	}
	if now := r.password("rel"); now == was || !strings.HasSuffix(now, r.password("r1")) {
		t.Error("two passwords")
	}
}

// undeletable is a store whose records stay, as where a delete is killed after it has forgotten what was made up.
type undeletable struct {
	release.Store
	release.Keeper
}

func (undeletable) Delete(context.Context, string, release.RecordVersion) error {
	return errors.New("no deletion today")
}

// A delete that was killed when nothing but the record was left does not stand in the way of the next apply or delete.
func TestMadeDeleteKilled(t *testing.T) {
	t.Parallel()
	r := madeRig(t)
	r.declares("a:db=rel")
	for _, next := range []string{"a", "delete a", "a"} {
		if err := r.does("a"); err != nil {
			t.Fatal(err)
		}
		killed := r.again(t)
		killed.Records = opened(func(s *cluster.Session, name string) release.Store {
			store := inTheCluster(nil, nil)(s, name)
			return undeletable{store, store.(release.Keeper)}
		})
		if err := killed.doing("delete a"); err == nil {
			t.Fatal("deleted")
		}
		if r.password("rel") != "" {
			t.Fatal("the Secret is there")
		}
		if err := r.does(next); err != nil {
			t.Fatalf("%s: %v", next, err)
		}
		if now := r.password("rel"); next == "a" && len(now) != 37 {
			t.Errorf("made %d characters", len(now))
		}
	}
}

// lateRig is a rig of an instance db, whose chart takes a value of src and makes up a password.
func lateRig(t *testing.T) (r *rig, write func(v, meta, more string)) {
	r = chartRig(t, "")
	return r, func(v, meta, more string) {
		r.write("x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: src-"+v+", annotations: {hawser.dev/prune: disabled}}\ndata: {v: "+v+"}\n")
		r.write("chart/templates/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: rel-pw"+meta+"}\nstringData: {chart: '{{ randAlphaNum 20 }}', value: '{{ .Values.v }}'}\n")
		r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"-a\n  instances:\n    src: {namespace: "+r.name+", manifests: {paths: [x.yaml]}}\n"+
			"    db:\n      namespace: "+r.name+"\n      helm: {chart: ./chart, releaseName: rel}\n      values: {v: {from: {instance: src, object: v1/ConfigMap/src-"+v+", path: data.v}}}\n"+more)
	}
}

// What is made up only when values of others are known is guarded as anything else is, before anything is written.
func TestMadeLateIsGuarded(t *testing.T) {
	t.Parallel()
	r, write := lateRig(t)
	write("one", "", "")
	if err := r.does("a"); err != nil {
		t.Fatal(err)
	}
	was := r.password("rel")
	write("two", "", "")
	if err := r.does("a"); err != nil || strings.Fields(r.password("rel"))[0] != strings.Fields(was)[0] {
		t.Fatalf("%q, %q: %v", was, r.password("rel"), err)
	}
	write("three", ", annotations: {hawser.dev/one-off: enabled}", "")
	if err := r.does("a", "db"); refusalOf(err) != "kept-values-one-off " {
		t.Errorf("a rotation past a one-off Secret: %v", err)
	}
	write("three", "", "")
	secrets := r.admin.CoreV1().Secrets(object.SystemNamespace)
	all, err := secrets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Items {
		if strings.HasPrefix(s.Name, "hawser-"+object.OwnerID("", "", r.name+"-a")) {
			if err := secrets.Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	was = r.password("rel")
	if err := r.does("a"); !strings.Contains(refusalOf(err), "kept-values-lost") || r.password("rel") != was {
		t.Errorf("%q, %q: %v", was, r.password("rel"), err)
	}
	if err := r.does("a", "db"); err != nil || strings.Fields(r.password("rel"))[0] == strings.Fields(was)[0] {
		t.Errorf("a rotation with the record lost, %q, %q: %v", was, r.password("rel"), err)
	}
}

// A rotation of what is suspended is refused: it would forget what its objects hold.
func TestRotateSuspended(t *testing.T) {
	t.Parallel()
	r, write := lateRig(t)
	write("one", "", "")
	if err := r.does("a"); err != nil {
		t.Fatal(err)
	}
	was := r.password("rel")
	write("one", "", "      suspend: true\n")
	if err := r.does("a", "db"); err == nil || !strings.Contains(err.Error(), "db is suspended") {
		t.Errorf("rotated: %v", err)
	}
	write("two", "", "")
	if err := r.does("a"); err != nil {
		t.Fatal(err)
	}
	if now := r.password("rel"); strings.Fields(now)[0] != strings.Fields(was)[0] {
		t.Error("another password")
	}
}
