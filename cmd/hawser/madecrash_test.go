package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testseed"
)

// TestDeleteOfMadeValuesKilled kills the deletion of a bundle with a made-up password before and after each of its
// requests. The next apply goes through: with the same password where the Secret was still there.
func TestDeleteOfMadeValuesKilled(t *testing.T) {
	t.Parallel()
	l := emptyLane(t, clusters[0], "crashmade")
	l.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	l.write("chart/templates/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {p: '{{ randAlphaNum 20 }}'}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
	l.write("v1.yaml", fmt.Sprintf("bundle:\n  apiVersion: v1alpha1\n  name: %s\n  instances:\n    app: {helm: {chart: ./chart}, namespace: %[1]s}\n", l.name))
	remove := []string{"delete", l.name, "--kubeconfig", l.config, "--kube-context", l.cluster, "--yes"}
	was := ""
	l.want(0, l.apply(1)...)
	died, lost := 0, 0
	step, first := testseed.Deaths(t, 7)
	for at := 1 + first; ; at += step {
		reached := false
		for _, after := range []bool{false, true} {
			if was = l.password(); len(was) < 20 {
				t.Fatalf("request %d: password of %d characters", at, len(was))
			}
			if l.diesAt(remove, at, after) {
				reached, died = true, died+1
			}
			l.proxy.arm(0, false, nil)
			left := l.password()
			if r := l.bench.run(l.apply(1)...); r.Code != 0 {
				t.Fatalf("request %d (after=%t): %s", at, after, r)
			}
			switch now := l.password(); {
			case left != "" && now != was:
				t.Fatalf("request %d (after=%t): a Secret that was there got another password", at, after)
			case left == "":
				lost++
			}
		}
		if !reached {
			break
		}
	}
	if died < 8 || lost == 0 { // of every sixth
		t.Errorf("%d points, %d of them without the Secret", died, lost)
	}
	l.want(0, remove...)
	l.nothingLeft(0)
}

// password is what the Secret of the lane holds, "" without one.
func (l *crashLane) password() string {
	l.t.Helper()
	items := list(l.t, l.client, "api/v1/namespaces/"+l.name+"/secrets", object.LabelOwner+"="+object.OwnerID("", "", l.name))
	if len(items) == 0 {
		return ""
	}
	text, err := l.client.Get().AbsPath("api/v1/namespaces/" + l.name + "/secrets/" + items[0].Metadata.Name).DoRaw(l.t.Context())
	var s struct{ Data map[string]string }
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Data["p"]
}
