package redact

import (
	"encoding/base64"
	"testing"
)

// TestAddKept: what somebody else called a secret is hidden, unless what is left shown would be hidden by it, in any of the forms of
// a value or as a part.
func TestAddKept(t *testing.T) {
	var r Redactor
	r.Leave("cluster-admin", "system:serviceaccount:default:k3j4h5g6j7w8")
	r.AddKept("web", []string{"cluster-admin", "s3cr3t-Kx81vQ", "ster-adm", "k3j4h5g6j7w8", base64.StdEncoding.EncodeToString([]byte("cluster-admin"))})
	for text, want := range map[string]string{"cluster-admin": "cluster-admin", "pw s3cr3t-Kx81vQ": "pw " + Mask, "system:serviceaccount:default:k3j4h5g6j7w8": "system:serviceaccount:default:k3j4h5g6j7w8"} {
		if got := r.Value("web", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	r.AddFor("web", "cluster-admin") // what we know ourselves is
	if got := r.Value("web", "cluster-admin"); got != Mask {
		t.Errorf("%q", got)
	}
	var none *Redactor
	none.Leave("x")
	none.AddKept("web", []string{"x"})
}
