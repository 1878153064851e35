//go:build corpus

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/testfleet"
)

// TestCorpus delivers a folder of manifests that nobody here wrote (HAWSER_CORPUS) to three clusters with `manifests`:
// first apply, unchanged, one change, a foreign edit, delete. What the product says is printed, to be read.
// `make corpus DIR=...` runs it; the folder is not part of the repository.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("HAWSER_CORPUS")
	if dir == "" {
		t.Fatal("HAWSER_CORPUS names no folder: make corpus DIR=...")
	}
	fleetUp, err := testfleet.Start(testfleet.Options{Clusters: clusters, Workloads: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleetUp.Close() })
	b := newBench(t)
	copyTree(t, dir, filepath.Join(b.dir, "corpus"))
	fleet := fleetUp.FleetFile()
	step := func(title string, code int, args ...string) result {
		args = append(args, "--fleet", fleet)
		r := b.want(code, args...)
		fmt.Printf("\n# %s\n$ hawser %s\n%s%s(exit %d, %.1f s)\n", title, strings.Join(args, " "), r.Stderr, r.Stdout, r.Code, r.Elapsed.Seconds())
		return r
	}
	step("plan", 0, "plan", "-f", "corpus")
	step("first apply", 0, "apply", "-f", "corpus", "--yes", "--wait=false")
	offsets := map[string]int64{}
	for _, c := range clusters {
		offsets[c] = fleetUp.AuditOffset(t, c)
	}
	step("the same again", 0, "apply", "-f", "corpus", "--yes", "--wait=false")
	for _, c := range clusters {
		if w := writes(fleetUp.Audit(t, c, offsets[c])); len(w) > 0 {
			t.Errorf("%s: the unchanged apply writes:\n%s", c, show(w))
		}
	}
	b.write("corpus/zz-extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: monitoring}\ndata: {a: \"1\"}\n")
	step("one more object", 0, "apply", "-f", "corpus", "--yes", "--wait=false", "--diff")
	c := restClientOf(t, fleetUp, clusters[1])
	err = c.Patch(types.MergePatchType).AbsPath("/api/v1/namespaces/monitoring/configmaps/extra").Param("fieldManager", "kubectl-edit").
		Body([]byte(`{"data":{"a":"2"}}`)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
	r := step("a foreign edit on one cluster", 0, "plan", "-f", "corpus")
	if !strings.Contains(r.Stdout, "kubectl-edit") {
		t.Error("the plan does not say who edited")
	}
	step("corrected", 0, "apply", "-f", "corpus", "--yes", "--wait=false")
	r = step("status", 4, "status", "corpus")
	if !strings.Contains(r.Stdout, "APIService v1beta1.metrics.k8s.io: not available") {
		t.Error("the one object that cannot get ready is not named with its reason")
	}
	step("delete", 0, "delete", "corpus", "--yes")
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
