package kube

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/secret"
)

// The function stands for the session of a cluster; a real one is asked in the tests of the command.
func TestGet(t *testing.T) {
	s := New("vault", func(_ context.Context, namespace, name string) (map[string][]byte, error) {
		if namespace != "vault" || name != "db" {
			return nil, errors.New("Secret " + namespace + "/" + name + ": not found")
		}
		return map[string][]byte{"password": []byte("hunter2"), "tls.key": []byte("key\n"), "raw": {0xff}, "none": {}}, nil
	})
	for _, c := range []struct{ reason, ref, want, err string }{
		{"a key", "ref://db/password", "hunter2", ""},
		{"a key with a dot, byte for byte", "ref://db/tls.key", "key\n", ""},
		{"no such key", "ref://db/pass", "", `the Secret vault/db has no key "pass"; it has the keys none, password, raw, tls.key`},
		{"no such Secret", "ref://web/password", "", "Secret vault/web: not found"},
		{"no text", "ref://db/raw", "", "bytes, not text"},
		{"an empty key", "ref://db/none", "", `the Secret vault/db: the key "none" is empty`},
		{"no key", "ref://db", "", "the key is missing: ref://db/KEY"},
		{"no name", "ref://a/b/c", "", "cannot be the name of a Secret"},
		{"a version", "ref://db/password?version=3", "", "no versions"},
	} {
		ref, err := secret.ParseRef(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), ref)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.reason, got, err, c.want, c.err)
		}
	}
}
