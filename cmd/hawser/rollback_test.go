package main

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// TestRollbackStory: a bad release stops at the canary of the first wave; rollback takes back there what was done, costs the
// clusters that never got it nothing, and history and status say so. The same files go forward again.
func TestRollbackStory(t *testing.T) {
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, "soak: 3s", "soak: 1s").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	good := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: good}\n"
	b.write("app.yaml", good)
	b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	b.write("app.yaml", strings.Replace(good, "good", "bad", 1)+"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {a: b}}, "+
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: example.com/web:bad}]}}}\n")
	if r := b.run("apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y", "--timeout", "2s"); r.Code == 0 {
		t.Fatalf("the bad release went through: %s", r)
	}
	guarded := b.want(5, "rollback", ns, "--fleet", "fleet.yaml", "-y")
	if all := guarded.Stdout + guarded.Stderr; !strings.Contains(all, "back to release 1 (") || !strings.Contains(all, "--confirm-delete=1") {
		t.Errorf("%s", guarded)
	}
	back := b.want(0, "rollback", ns, "--fleet", "fleet.yaml", "-y", "--confirm-delete", "1", "-m", "incident-731")
	if !strings.Contains(back.Stdout, "Rolled back "+ns) || !strings.Contains(back.Stdout, "0 created, 1 changed, 1 deleted") {
		t.Errorf("%s", back)
	}
	shown := b.want(0, "history", ns, "--fleet", "fleet.yaml")
	if !strings.Contains(shown.Stdout, "rollback to 1 (") || !strings.Contains(shown.Stdout, "incident-731") || !strings.Contains(shown.Stdout, "1/3") {
		t.Errorf("%s", shown)
	}
	status := b.want(0, "status", ns, "--fleet", "fleet.yaml")
	if strings.Count(status.Stdout, "rollback to 1 (") != 1 {
		t.Errorf("%s", status)
	}
	ahead := b.want(0, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml")
	if !strings.Contains(ahead.Stdout, "Deployment "+ns+"/web") {
		t.Errorf("%s", ahead)
	}
	b.write("app.yaml", good)
	b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
}
