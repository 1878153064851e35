package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestNoDigestOfASecretIsTold: in JSON a change has the digest of what is known to hold no secret, or a keyed one.
func TestNoDigestOfASecretIsTold(t *testing.T) {
	body := func(kind string, sensitive ...string) object.Scoped {
		return object.Scoped{Object: object.Object{Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "b"},
			"data": map[string]any{"pin": "4711"}}, Sensitive: sensitive}, Namespaced: true}
	}
	for name, c := range map[string]struct {
		d     Desired
		keyed bool
		told  bool
	}{
		"a ConfigMap":                 {DesiredOf(body("ConfigMap")), false, true},
		"a Secret":                    {DesiredOf(body("Secret")), false, false},
		"a ConfigMap with a secret":   {DesiredOf(body("ConfigMap", "data.pin")), false, false},
		"what is known by its record": {DesiredFrom(InventoryEntry{Ref: body("ConfigMap").Ref(), Digest: "sha256:1"}), false, false},
		"a Secret, keyed":             {DesiredOf(body("Secret")), true, true},
	} {
		if c.keyed {
			c.d.Digest = KeyedPrefix + "1"
		}
		p := Compute(Input{Desired: []Desired{c.d}})
		if len(p.Changes) == 0 || p.Changes[0].Digest != c.d.Digest {
			t.Fatalf("%s: %+v", name, p.Changes)
		}
		text, err := json.Marshal(p)
		if err != nil || strings.Contains(string(text), c.d.Digest) != c.told {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		var read Plan
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(&read); err != nil || string(again) != string(text) {
			t.Errorf("%s: it is told as %s after it was read", name, again)
		}
	}
}
