package redact

import "testing"

// TestHostsOfAddresses: where an address leads that authenticates by its user is no secret: the name of a Service with a digit in it stays to be read. What stands
// for the password, the user's token and what else is in the address do not, also where they are in the host.
func TestHostsOfAddresses(t *testing.T) {
	for _, c := range []struct{ secret, text, want string }{
		{"postgres://app:p4ssw0rd-x@pg2-catalog.nm3.svc:5432/orders", "+ Service nm3/pg2-catalog on pg2-catalog.nm3.svc", "+ Service nm3/pg2-catalog on pg2-catalog.nm3.svc"},
		{"postgres://app:p4ssw0rd-x@pg2-catalog.nm3.svc:5432/orders", "with p4ssw0rd-x", "with " + Mask},
		{"DATABASE_URL=mongodb://app:p4ssw0rd-x@mongo-7a.shop:27017,mongo-7b.shop:27017/orders?replicaSet=rs0", "StatefulSet mongo-7a, mongo-7b.shop", "StatefulSet mongo-7a, mongo-7b.shop"},
		{"https://k3y9f8xkq7@o4711x9.ingest.example.com/7731", "o4711x9 of k3y9f8xkq7", "o4711x9 of " + Mask},
		{"postgres://app:pg2-catalog@pg2-catalog/orders", "pg2-catalog", Mask},
		{"https://hooks.example.com/t4711x9f8/k3y9f8xkq7", "k3y9f8xkq7", Mask},
		{`{"url":"postgres://app:p4ssw0rd-x@pg2-catalog/orders","key":"pg2-catalog-k3y"}`, "pg2-catalog and pg2-catalog-k3y", "pg2-catalog and " + Mask},
		{"redirect=https://ci:p4ssQz8@git.example.com&code_verifier=abcSecret99zz", "abcSecret99zz p4ssQz8", Mask + " " + Mask},
		{"amqp://u:p4ssQz8x@mail:587&sig=S1gx99zzk7", "S1gx99zzk7", Mask},
		{"https://u:p4ssQz8x@host:S1gx99zzk7/x", "S1gx99zzk7", Mask},
		{"https://ci:p4ssQz8x@git.example.com,S1gx99zzk7", "S1gx99zzk7", Mask},
		{"https://u:p4ssQz8x@host=S1gx99zzk7", "S1gx99zzk7", Mask},
	} {
		if got := New(c.secret).Sweep(c.text); got != c.want {
			t.Errorf("%s: %q is shown as %q, want %q", c.secret, c.text, got, c.want)
		}
	}
}
