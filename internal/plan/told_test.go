package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
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

// TestNoHashOfKeysIsTold: the hashes of managed fields, which hold keys and items of sets, are told by no output, by a file as they are where none of those
// is secret, and keyed where one is; a file that was keyed says the same of what moved.
func TestNoHashOfKeysIsTold(t *testing.T) {
	same := func(saved, now string) bool { return saved == now || saved == KeyedPrefix+now }
	for _, keys := range []bool{false, true} {
		now := Change{Action: Adopt, Digest: "sha256:1", ForeignDigest: "sha256:2", ApplyHash: "own-1", FormerEntries: "their-1", ResourceVersion: "1"}
		if text, err := json.Marshal(now); err != nil || strings.Contains(string(text), "own-1") || strings.Contains(string(text), "their-1") {
			t.Errorf("told: %s, %v", text, err)
		}
		filed := now
		if keys { // as it is where a key goes that the declared object does not have any more
			filed.Fields = []FieldChange{{Path: "data." + redact.Mask, Hidden: true}}
		}
		filed.Keyed(keys, false, false, func(digest string) string { return KeyedPrefix + digest })
		text, err := json.Marshal(filed)
		if err != nil || strings.Contains(string(text), `"own-1"`) == keys || strings.Contains(string(text), `"their-1"`) == keys || !strings.Contains(string(text), "own-1") {
			t.Errorf("keys %t: %s, %v", keys, text, err)
		}
		var read Change
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(read); err != nil || string(again) != string(text) {
			t.Errorf("keys %t: it is told as %s after it was read", keys, again)
		}
		for what, moved := range map[string]bool{"": false, "a status": false, "ours": true, "theirs": true} {
			ch := now
			switch what {
			case "a status":
				ch.ResourceVersion = "2"
			case "ours":
				ch.ResourceVersion, ch.ApplyHash = "2", "own-2"
			case "theirs":
				ch.ResourceVersion, ch.FormerEntries = "2", "their-2"
			}
			if got := read.MovedSince(ch, same); got != moved {
				t.Errorf("keys %t, %s: moved %t", keys, what, got)
			}
		}
	}
}
