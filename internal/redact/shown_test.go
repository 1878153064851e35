package redact

import (
	"strings"
	"testing"
	"time"
)

// TestShow: what stands where nothing is secret is shown by the last mask too, whole and for who does not take the secret itself; a part
// of it, and a secret elsewhere, stay hidden.
func TestShow(t *testing.T) {
	r := New()
	r.AddFor("note", "eve-9f8xkq@evil.example.com")
	r.AddFor("note", "registry.example/e:v1-9f8xkq7")
	r.AddFor("note", "9f8xkq7zz-And-More")
	r.AddFor("note", "CN=ev3-9f8xkq7, O=x")
	r.AddFor("pay", "pay-own-7f3a91c2")
	r.Show("", "eve-9f8xkq@evil.example.com", "CN=ev3-9f8xkq7, O=x", "pay-own-7f3a91c2-rbac")
	r.Show("pay", "registry.example/e:v1-9f8xkq7", "registry.example/pay-own-7f3a91c2")
	for text, want := range map[string]string{
		`subjects[eve-9f8xkq@evil.example.com]  + {"kind":"User","name":"eve-9f8xkq@evil.example.com"}`: "",
		`{"path":"subjects","new":"{\"name\":\"eve-9f8xkq@evil.example.com\"}"}`:                        "",
		`{"new":"{\"name\":\"CN=ev3-9f8xkq7, O=x\"}"}`:                                                  "",
		`name: "CN=ev3-9f8xkq7, O=x"`:                                                                   "",
		"subjects[CN=ev3-9f8xkq7, O=x]":                                                                 "",
		"  image   registry.example/e:v1-9f8xkq7\n":                                                     "",
		`image "nginx:1" -> "registry.example/e:v1-9f8xkq7"`:                                            "",
		"pulls registry.example/e:v1-9f8xkq7@sha256:00":                                                 "pulls " + Mask + "@sha256:00",
		"pw=9f8xkq7zz-And-More":                                                                         "pw=" + Mask,
		"image registry.example/pay-own-7f3a91c2":                                                       "image registry.example/" + Mask,
		"who pay-own-7f3a91c2-rbac":                                                                     "",
	} {
		if want == "" {
			want = text
		}
		if got := r.Sweep(text); got != want {
			t.Errorf("%s\nis shown as %s", text, got)
		}
	}
	if got := r.Redact("eve-9f8xkq@evil.example.com"); got != Mask {
		t.Errorf("what others say is shown as %s", got)
	}
	var none *Redactor
	none.Show("x", "y")
}

// TestShowIsLinear: a line of megabytes with the secret in it everywhere takes no time to speak of.
func TestShowIsLinear(t *testing.T) {
	r := New("9f8xkq7zz-And-More")
	r.Show("", "eve-9f8xkq7zz-And-More")
	start := time.Now()
	got := r.Sweep(strings.Repeat("x9f8xkq7zz-And-More", 1<<16))
	if strings.Contains(got, "And-More") || time.Since(start) > time.Minute {
		t.Errorf("%d bytes after %s", len(got), time.Since(start))
	}
}
