package main

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testseed"
)

// TestApprovalFromAnotherTerminal: a release that changes the last wave alone ends before it, somebody approves it, and the same command
// goes on with it, under the same number; history tells who did. One that was aborted does not come.
func TestApprovalFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, "soak: 3s", "soak: 1s", "{groups: [last]}", "{name: prod, groups: [last], approval: manual}").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: v}\n")
	apply := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
	first := b.want(3, apply...)
	if !strings.Contains(first.Stdout+first.Stderr, "ended before wave 2: wave 2 (prod) waits for an approval") || !strings.Contains(first.Stdout+first.Stderr, " ended result=waiting succeeded=") || !strings.Contains(first.Stdout+first.Stderr, "hawser approve "+ns+" --fleet fleet.yaml") {
		t.Errorf("%s", first)
	}
	if r := b.want(5, "approve", ns, "--fleet", "fleet.yaml"); !strings.Contains(r.Stderr, "say it with -y") {
		t.Errorf("%s", r)
	}
	b.want(3, apply...)
	if r := b.want(0, "approve", ns, "--fleet", "fleet.yaml", "-y", "-m", "CHG-1234"); !strings.Contains(r.Stdout, "Release 1 of "+ns+" is approved on 1 cluster.") {
		t.Errorf("%s", r)
	}
	b.want(0, apply...)
	b.want(0, apply...)
	shown := b.want(0, "history", "show", "1", "--bundle", ns, "--fleet", "fleet.yaml")
	if !strings.Contains(shown.Stdout, "decided: approved wave 2 (prod) by ") || !strings.Contains(shown.Stdout, "CHG-1234") || strings.Contains(shown.Stdout, "not in this release") {
		t.Errorf("%s", shown)
	}
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: w}\n")
	b.want(3, apply...)
	b.want(0, "abort", ns, "--fleet", "fleet.yaml", "-y")
	if r := b.want(1, "approve", ns, "--fleet", "fleet.yaml", "-y"); !strings.Contains(r.Stderr, "was aborted by ") {
		t.Errorf("%s", r)
	}
	b.want(0, "rollback", ns, "--fleet", "fleet.yaml", "-y") // wants no approval
	b.want(0, "delete", ns, "--fleet", "fleet.yaml", "-y")
}

// TestApprovalKilledAtEveryRequest kills the run that comes to a wave that waits, the approval of it, and the run that goes on, before and
// after each of their requests; run again each ends as it would have, and the release is delivered once, with one approval, which is one decision.
func TestApprovalKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	l := emptyLane(t, clusters[0], "crashword")
	l.write("fleet.yaml", fmt.Sprintf("fleet: {apiVersion: v1alpha1, name: %s, clusters: {%s: {group: a, kubeContext: %[2]s}}, rollout: {waves: [{groups: [a], approval: manual}]}}\n", l.name, l.cluster))
	l.write("b.yaml", fmt.Sprintf("bundle: {apiVersion: v1alpha1, name: %s, instances: {app: {namespace: %[1]s, manifests: {paths: [app.yaml]}}}}\n", l.name))
	on := []string{"--fleet", "fleet.yaml", "--kubeconfig", l.config, "-y"}
	apply, approve := append([]string{"apply", "-f", "b.yaml"}, on...), append([]string{"approve", l.name}, on...)
	died := 0
	again := func(args []string, at int, after bool, ends int, fine string) {
		if l.ends = ends; l.diesAt(args, at, after) {
			died++
		}
		l.proxy.arm(0, false, nil)
		if r := l.bench.run(args...); r.Code != ends && !strings.Contains(r.Stderr, fine) {
			t.Fatalf("request %d (after=%t): run again: %s", at, after, r)
		}
	}
	step, first := testseed.Deaths(t, 9)
	for at, n := 1+first, 0; ; at += step {
		before := died
		for _, after := range []bool{false, true} {
			n++
			l.write("app.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: \"%d\"}\n", n))
			again(apply, at, after, 3, "no such thing")
			again(approve, at, after, 0, "was approved already")
			again(apply, at, after, 0, "no such thing")
			r := l.want(0, append([]string{"history", "show", fmt.Sprint(n), "--bundle", l.name, "-o", "json"}, on[:4]...)...)
			if strings.Count(r.Stdout, `"wave": "wave 1 (a)"`) != 2 || strings.Count(r.Stdout, `"in": true`) != 1 {
				t.Fatalf("request %d (after=%t): %s", at, after, r)
			}
		}
		if died == before {
			break
		}
	}
	if died < 10 {
		t.Errorf("only %d points were tried", died)
	}
	l.want(0, append([]string{"delete", l.name}, on...)...)
	l.nothingLeft(0)
}

// TestApprovalsOfTwoWaves: a script that approves the wave that waits is refused where another one wants an approval, too; the one that names its wave can be run again, and
// approves nothing else.
func TestApprovalsOfTwoWaves(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, "{groups: [first], canary: 1, soak: 3s}", "{name: one, groups: [first], approval: manual}", "{groups: [last]}", "{name: two, groups: [last], approval: manual}").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: v}\n")
	apply := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
	approves := func(code int, says string, args ...string) {
		t.Helper()
		if r := b.want(code, append([]string{"approve", ns, "--fleet", "fleet.yaml", "-y"}, args...)...); !strings.Contains(r.Stdout+r.Stderr, says) {
			t.Errorf("%s lacks %q", r, says)
		}
	}
	b.want(3, apply...)
	approves(5, "--wave 1")
	approves(1, "wave 2 waits for no approval", "--wave", "2")
	approves(0, "is approved on 2 clusters", "--wave", "1")
	approves(0, "wave 1 (one) was approved already by ", "--wave", "1")
	b.want(3, apply...)
	approves(0, "It has come to every cluster that waited for that", "--wave", "1")
	b.want(3, apply...) // the second one still waits
	approves(0, "is approved on 1 cluster")
	approves(0, "wave 2 (two) was approved already by ")
	b.want(0, apply...)
	b.want(0, "delete", ns, "--fleet", "fleet.yaml", "-y")
}
