package redact

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"
)

// TestAddKept: what somebody else called a secret is hidden, unless what is left shown would be hidden by it, in any of the forms of
// a value or as a part.
func TestAddKept(t *testing.T) {
	var r Redactor
	r.Leave("cluster-admin", "system:serviceaccount:default:k3j4h5g6j7w8")
	r.AddKept(map[string][]string{"web": {"cluster-admin", "s3cr3t-Kx81vQ", "ster-adm", "k3j4h5g6j7w8", base64.StdEncoding.EncodeToString([]byte("cluster-admin"))}})
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
	none.AddKept(map[string][]string{"web": {"x"}})
}

// TestKeptOfOneCluster: what is left shown later is so too, of many values those alone that hide it are not believed, and other
// instances' claims are no different.
func TestKeptOfOneCluster(t *testing.T) {
	var r Redactor
	values := []string{"registry.example.com/shop/web:1.5.0-next7z", "six-zz91", "s3cr3t-Kx81vQ"}
	for i := range 3000 {
		values = append(values, fmt.Sprintf("Kx81vQ-%d-s3cr3t", i))
	}
	r.AddKept(map[string][]string{"forged": values})
	images := []string{"registry.example.com/shop/web:1.5.0-next7z", "--v=six-zz91"}
	if !r.Knows() || r.Redact(images[0]) != Mask {
		t.Fatal("what nobody shows is not hidden")
	}
	r.Leave(images...)
	for _, text := range append(images, "refused: registry.example.com/shop/web:1.5.0-next7z") {
		for _, instance := range []string{"forged", "web"} {
			if got := r.Value(instance, text); got != text {
				t.Errorf("%s: %q is shown as %q", instance, text, got)
			}
		}
	}
	for _, text := range []string{"s3cr3t-Kx81vQ", "Kx81vQ-2999-s3cr3t"} {
		if got := r.Redact(text); got != Mask {
			t.Errorf("%q is shown", got)
		}
	}
	r.AddFor("web", "six-zz91")
	if got := r.Value("web", images[1]); got != "--v="+Mask {
		t.Errorf("what the files say is secret is shown: %q", got)
	}
}

// TestManyFalseClaims: however many of them there are, it takes no time to speak of.
func TestManyFalseClaims(t *testing.T) {
	var r Redactor
	var values []string
	for i := range 2000 {
		values = append(values, fmt.Sprintf("Kx81vQ-%d-shown", i))
	}
	start := time.Now()
	r.Leave(values...)
	r.AddKept(map[string][]string{"web": values})
	if got := r.Redact(values[7]); got != values[7] || time.Since(start) > time.Minute {
		t.Errorf("%q after %s", got, time.Since(start))
	}
}
