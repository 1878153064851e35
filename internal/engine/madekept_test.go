package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
)

// What was made up is not made anew where everything that knew it is gone from hawser-system, as long as objects carry the
// bundle's marks.
func TestMadeLostWithRecord(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.applied(r.request())
	_, kept, _ := r.made()
	secrets := r.admin.CoreV1().Secrets(object.SystemNamespace)
	all, err := secrets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, s := range all.Items {
		if strings.HasPrefix(s.Name, "hawser-"+object.OwnerID("", "", r.name)) {
			gone++
			if err := secrets.Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if gone < 2 {
		t.Fatalf("%d Secrets of the bundle", gone)
	}
	next := r.again(t)
	if got := codes(next.plan(next.request())); !slices.Contains(got, "kept-values-lost") {
		t.Errorf("findings %v", got)
	}
	if _, err := next.apply(next.request()); err == nil {
		t.Error("applied")
	}
	if _, now, _ := r.made(); now != kept {
		t.Error("a password that was in use is another")
	}
	req := next.request()
	req.Rotate = chance.Rotation{"app"}
	next.applied(req)
	if _, now, _ := r.made(); now == kept {
		t.Error("not made anew on purpose")
	}
}

// An instance that is given another name keeps what was made up for it; where nobody can tell whose it was, nothing is made
// anew over it.
func TestMadeRenamed(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.applied(r.request())
	found, kept, token := r.made()
	rename := func(names ...string) {
		text := "bundle:\n  apiVersion: v1alpha1\n  name: " + r.name + "\n  instances:\n"
		for _, name := range names {
			text += "    " + name + ":\n      namespace: " + r.name + "\n      helm: {chart: ./chart}\n      values: {text: one}\n"
		}
		r.write("bundle.yaml", text)
	}
	rename("database")
	next := r.again(t)
	req := next.request()
	n := 0
	req.ConfirmDelete = &n
	next.applied(req)
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("a renamed instance got other passwords")
	}
	if fp := next.plan(next.request()); !fp.settled() {
		t.Errorf("not settled: %+v", fp.Counts())
	}
	r.write("app.yaml", r.configMap("other", "a: b"))
	rename("db")
	data, err := os.ReadFile(filepath.Join(r.dir, "bundle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("bundle.yaml", string(data)+"    other:\n      namespace: "+r.name+"\n      manifests: {paths: [app.yaml]}\n")
	next = r.again(t)
	if fp := next.plan(next.request()); !slices.Contains(codes(fp), "kept-values-moved") {
		t.Errorf("findings %v %+v", codes(fp), fp.Counts())
	}
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("other passwords")
	}
}

// An instance that moves to another bundle of the same files takes along what was made up for it.
func TestMadeMovesBetweenBundles(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	two := func(first, second string) {
		instance := map[string]string{"app": "    app:\n      namespace: " + r.name + "\n      helm: {chart: ./chart}\n      values: {text: one}\n",
			"x": "    x:\n      namespace: " + r.name + "\n      manifests: {paths: [x.yaml]}\n", "y": "    y:\n      namespace: " + r.name + "\n      manifests: {paths: [y.yaml]}\n"}
		head := func(name, instances string) string {
			text := "  " + name + ":\n    apiVersion: v1alpha1\n    name: " + name + "\n    instances:\n"
			for _, i := range strings.Fields(instances) {
				text += "  " + strings.ReplaceAll(strings.TrimSuffix(instance[i], "\n"), "\n", "\n  ") + "\n"
			}
			return text
		}
		r.write("bundle.yaml", "bundles:\n"+head(r.name, first)+head(r.name+"-b", second))
		r.write("x.yaml", r.configMap("first", "a: b"))
		r.write("y.yaml", r.configMap("second", "a: b"))
	}
	run := func(bundle string) {
		t.Helper()
		next := r.again(t)
		req := next.request()
		n := 0
		req.Bundle, req.Among, req.ConfirmDelete = bundle, []string{r.name, bundle}, &n
		next.applied(req)
	}
	two("app x", "y")
	run(r.name)
	run(r.name + "-b")
	found, kept, token := r.made()
	two("x", "y app")
	run(r.name + "-b")
	run(r.name)
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("an instance that moved got other passwords")
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "bundle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("bundle.yaml", strings.ReplaceAll(string(data), r.name+"-b:\n    apiVersion: v1alpha1\n    name: "+r.name+"-b", r.name+"-c:\n    apiVersion: v1alpha1\n    name: "+r.name+"-c"))
	run(r.name + "-c")
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("a renamed bundle made other passwords")
	}
}

// An instance moves and its bundle leaves the files: the former bundle is deleted first, which hands over, and the other one
// takes the objects and what was made up without being asked to adopt; without a fleet, where nothing tells of the delete,
// when it is asked to.
func TestMadeMovesWithTheDeleteOfItsBundle(t *testing.T) {
	t.Parallel()
	for _, fleet := range []bool{true, false} {
		r := chartRig(t, madeTemplates)
		if fleet {
			r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters: {c: {kubeContext: "+here+"}}\n")
		}
		r.write("y.yaml", r.configMap("second", "a: b"))
		app := "      app: {namespace: " + r.name + ", helm: {chart: ./chart}, values: {text: one}}\n"
		head := func(name string) string {
			return "  " + name + ":\n    apiVersion: v1alpha1\n    name: " + name + "\n    instances:\n"
		}
		other := head(r.name+"-b") + "      y: {namespace: " + r.name + ", manifests: {paths: [y.yaml]}}\n"
		r.write("bundle.yaml", "bundles:\n"+head(r.name)+app+other)
		run := func(bundle string, adopt bool) {
			t.Helper()
			next := r.again(t)
			req := next.request()
			req.Bundle, req.Adopt = bundle, adopt
			next.applied(req)
		}
		run(r.name, false)
		run(r.name+"-b", false)
		found, kept, token := r.made()

		r.write("bundle.yaml", "bundles:\n"+other+app)
		next := r.again(t)
		gone := next.request()
		gone.Bundle = r.name
		left, err := next.Plan(t.Context(), gone.For(Delete))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(left.run.close)
		next.carried(left, gone)
		run(r.name+"-b", !fleet)
		if a, b, c := r.made(); a != found || b != kept || c != token {
			t.Errorf("fleet %t: other passwords", fleet)
		}
		last := r.again(t)
		req := last.request()
		req.Bundle = r.name + "-b"
		if fp := last.plan(req); !fp.settled() {
			t.Errorf("fleet %t: not settled: %+v", fleet, fp.Counts())
		}
	}
}

// What is gone back to before an instance was renamed has its passwords by the former name, and the files of then have nothing to do.
func TestMadeRenamedAndBack(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.applied(r.request())
	found, kept, token := r.made()
	former, err := os.ReadFile(filepath.Join(r.dir, "bundle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  instances:\n    database:\n      namespace: "+r.name+"\n      helm: {chart: ./chart}\n      values: {text: one}\n")
	next, n := r.again(t), 0
	req := next.request()
	req.ConfirmDelete = &n
	next.applied(req)
	next = r.again(t)
	req = next.back("1")
	req.ConfirmDelete = &n
	next.rolledBack(req)
	r.write("bundle.yaml", string(former))
	next = r.again(t)
	if fp := next.plan(next.request()); len(codes(fp)) > 0 || fp.Counts().Writes() > 0 {
		t.Errorf("the files of then: %v %+v", codes(fp), fp.Counts())
	}
	next.applied(next.request())
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("other passwords")
	}
}
