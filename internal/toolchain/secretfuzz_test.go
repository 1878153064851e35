package toolchain

import (
	"bytes"
	"testing"
)

// FuzzHoldsSecret: whatever a file holds, looking into it ends, and a Secret in clear in front of anything is found.
func FuzzHoldsSecret(f *testing.F) {
	const secret = "apiVersion: v1\nkind: Secret\ndata: {a: YQ==}\n---\n"
	for _, text := range []string{"a: &a {<<: *a, kind: Secret}", "{\"kind\": \"Secret\"}{", "\xff\xfeS", "{{ Secret }}", "kind: SecretList\nitems: &a [*a]", "a: &a [*a]\n<<: *a\nkind: Secret"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		holdsSecret(data, false)
		if bytes.Contains(data, []byte("{{")) {
			return // of a template what it writes itself counts, and it may write anything
		}
		if !holdsSecret(append([]byte(secret), data...), true) {
			t.Errorf("%q hides the Secret before it", data)
		}
	})
}
