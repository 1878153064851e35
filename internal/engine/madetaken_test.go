package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// What a bundle from elsewhere made with its passwords is not adopted with others; when both bundles are taken over in one run of
// one set of files, objects and passwords go from one to the other. Alone, the other bundle does not get them.
func TestMadeTakenOverFromElsewhere(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	for _, dir := range []string{"one/", "alone/", "both/"} {
		r.write(dir+"chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
		r.write(dir+"chart/templates/a.yaml", madeTemplates)
	}
	head := func(name string) string {
		return fmt.Sprintf("  %[1]s:\n    apiVersion: v1alpha1\n    name: %[1]s\n    instances: ", name)
	}
	app := fmt.Sprintf("{app: {namespace: %s, helm: {chart: ./chart}, values: {text: one}}}\n", r.name)
	first, second := r.name, r.name+"-b"
	one := r.write("one/bundle.yaml", "bundles:\n"+head(first)+app)
	alone := r.write("alone/bundle.yaml", "bundles:\n"+head(second)+app)
	both := r.write("both/bundle.yaml", "bundles:\n"+head(first)+"{}\n"+head(second)+app)
	request := func(rig *rig, file, bundle string) Request {
		req := rig.request()
		docs(&req).Files, req.Bundle = []string{file}, bundle
		return rig.confirming(&req)
	}
	r.applied(request(r, one, first))
	found, kept, token := r.made()

	next := r.again(t)
	adopt := request(next, alone, second)
	adopt.Adopt = true
	moved := func(fs diag.Findings) (fix string) {
		if i := slices.IndexFunc(fs, func(f diag.Finding) bool { return f.Code == "kept-values-moved" }); i >= 0 {
			fix = fs[i].Fix
		}
		return fix
	}
	if fix := moved(next.plan(adopt).Findings); !strings.Contains(fix, "--take-over") {
		t.Errorf("adopted alone: %q", fix)
	}
	for _, bundle := range []string{second, first} {
		next = r.again(t)
		req := request(next, both, bundle)
		req.TakeOver, req.Among = true, []string{first, second}
		next.carried(next.plan(req), req)
	}
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("other passwords")
	}
	last := r.again(t)
	if fp := last.plan(request(last, both, second)); !fp.settled() {
		t.Errorf("not settled: %+v", fp.Counts())
	}
}
