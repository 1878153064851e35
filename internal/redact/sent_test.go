package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A credential that was sent is hidden whole in every form, and nothing that it tells of.
func TestSent(t *testing.T) {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	jwt := part(`{"alg":"RS256","kid":"k1d9x8y7z6"}`) + "." + part(`{"iss":"https://oidc.example.com/id/ABC1239F","access":[{"name":"org/app2go"}],"sub":"ci-bot7x"}`) + "." + part("\x01\x02\x03 signature 9\xff")
	for _, sent := range []string{jwt, "hunter2-x9", "a-token-of-words", "Pa$$w0rd&=x"} {
		r := New()
		r.AddSent(sent)
		for name, form := range map[string]string{"plain": sent, "base64": base64.StdEncoding.EncodeToString([]byte(sent)), "in a header, in base64": base64.StdEncoding.EncodeToString([]byte("Bearer " + sent)),
			"hex": hex.EncodeToString([]byte(sent)), "percent": url.QueryEscape(sent), "small": strings.ToLower(sent)} {
			for purpose, mask := range map[string]func(string) string{"Sweep": r.Sweep, "Redact": r.Redact} {
				if want := "you said *** there"; purpose == "Sweep" && sent == "a-token-of-words" {
					continue // it could be a name
				} else if got := mask("you said " + form + " there"); got != want {
					t.Errorf("%s of %s: %s: %s", name, sent, purpose, got)
				}
			}
		}
	}
	r := New()
	for _, sent := range []string{jwt, "", "admin", "demo", "swordfish", "true", "4711"} {
		r.AddSent(sent)
	}
	for _, text := range []string{"oci://registry.example/org/app2go", "ci-bot7x", "k1d9x8y7z6", "https://oidc.example.com/id/ABC1239F", "admin of demo", "swordfish, true, 4711"} {
		if got := r.Value("web", text) + r.Sweep(text); got != text+text {
			t.Errorf("%s is hidden: %s", text, got)
		}
	}
	// What is a secret besides is taken apart as ever, also after it was sent.
	r.AddSent(`{"key":"hunter2-x9"}`)
	if r.Add(`{"key":"hunter2-x9"}`); r.Sweep("hunter2-x9") != Mask {
		t.Error("a secret that was sent is not taken apart")
	}
	(*Redactor)(nil).AddSent("nobody knows")
}

// TestSentThatIsChosen: whoever gives a credential (a token server, who writes a kubeconfig) hides by it nothing that a plan shows: words, names,
// addresses, and our own layout around them; a token as it is made by chance is hidden everywhere.
func TestSentThatIsChosen(t *testing.T) {
	for _, chosen := range []string{`"http://good.example.com"`, "spec.template.spec.containers[web].args", `["--anonymous-auth=false"] -> ["--anonymous-auth=true"]`, "no longer in the bundle", "registry.example.com/shop/web:2.1"} {
		r := New()
		r.AddSent(chosen)
		r.ShowMasked("web", "spec.template.spec.containers[web].args", `["--anonymous-auth=false"]`, `["--anonymous-auth=true"]`)
		for name, got := range map[string]string{"Sweep": r.Sweep("  x: " + chosen), "Value": r.Value("web", "  x: "+chosen), "Told": r.Told("web", "  x: "+chosen)} {
			if got != "  x: "+chosen {
				t.Errorf("%s hides %s", name, got)
			}
		}
		if got := r.Redact("you sent " + chosen); got != "you sent ***" {
			t.Errorf("what a server gives back is shown: %s", got)
		}
	}
	for _, token := range []string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "abcdef.0123456789abcdef", "glpat-x9f8kq7zzQw3", `k9$"x[Qz!m2 4`, "kofimerudatapola", "qwmzpkdlsrtyhgfvbncx", "KofiMeRuDaTaPoLaXeQi", "QWMZPKDLSRTYHGFV"} {
		r := New()
		r.AddSent(token)
		for name, got := range map[string]string{"Sweep": r.Sweep("x: " + token), "Value": r.Value("web", "x: "+token), "Told": r.Told("web", "x: "+token), "Redact": r.Redact("x: " + token)} {
			if got != "x: ***" {
				t.Errorf("%s shows %s", name, got)
			}
		}
	}
}

// TestManySent: the credentials of thousands of clusters, each known when the next one comes, are found, and take no time to speak of.
func TestManySent(t *testing.T) {
	r, start := New(), time.Now()
	sent := func(i int) string {
		return fmt.Sprintf("eyJhbGciOiJSUzI1NiJ9.%032d.abcdefghijklmnopqrstuvwxyz0123456789%d", i*7919, i)
	}
	const many = 2000
	var told sync.WaitGroup
	for first := range 4 {
		told.Go(func() {
			for i := first; i < many; i += 4 {
				r.AddSent(sent(i))
				if got := r.Sweep("you said " + sent(i)); got != "you said "+Mask {
					t.Errorf("%d is shown as %s", i, got)
				}
			}
		})
	}
	told.Wait()
	if long := strings.Repeat("x", often) + sent(7) + " " + sent(many-1); !strings.HasSuffix(r.Sweep(long), "x"+Mask+" "+Mask) || !strings.HasSuffix(r.Sweep(long), Mask+" "+Mask) {
		t.Error("not found in a long text")
	}
	if n := len(r.sent.lists); n != 1 {
		t.Errorf("%d lists after much was masked", n)
	}
	if took := time.Since(start); took > time.Minute {
		t.Error(took)
	}
}
