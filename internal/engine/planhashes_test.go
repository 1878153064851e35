package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPlanFileKeysHashes: the hash of managed fields that have a secret for a key is keyed in a plan file, and still tells what we declared from what moved.
func TestPlanFileKeysHashes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const pin = "hk4471-pin"
	manifests := func(k string) string {
		return r.configMap("a", pin+": "+k) + r.configMap("b", "plain: "+k)
	}
	r.write("bundle.yaml", r.bundle(manifests("one")))
	r.applied(r.request())
	r.Redactor.Add(pin)
	r.write("app.yaml", manifests("two"))
	req := r.request()
	fp := r.plan(req)
	if shown, err := json.Marshal(fp.FleetPlan); err != nil || strings.Contains(string(shown), "applyHash") {
		t.Errorf("the hashes are shown: %s %v", shown, err)
	}
	text := r.save(fp)
	if all, keyed := strings.Count(text, `"applyHash"`), strings.Count(text, `"applyHash": "keyed:`); keyed != 1 || all != 2 {
		t.Errorf("%d of %d hashes are keyed: %s", keyed, all, text)
	}
	r.patch("carol", "ConfigMap", "a", `{"metadata":{"annotations":{"hers":"1"}}}`)
	if _, err := r.loadSaved(text); err != nil {
		t.Errorf("others wrote what is theirs: %v", err)
	}
	r.patch("bob", "ConfigMap", "a", `{"data":{"`+pin+`":"bob"}}`)
	_, err := r.loadSaved(text)
	refusedFor(t, err, "since")
}
