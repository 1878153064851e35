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

// TestShowInsideOfSecrets: a secret that was chosen so that it holds what is shown, with our own layout around it, hides nothing of that; what
// else it hides stays hidden.
func TestShowInsideOfSecrets(t *testing.T) {
	for _, c := range []struct{ secret, text, want string }{
		{`"nginx:1" -> "evil.example/miner:7"`, `  spec.image   "nginx:1" -> "evil.example/miner:7"`, `evil.example/miner:7`},
		{`"new": "\"evil.example/miner:7\""`, `{"new": "\"evil.example/miner:7\""}`, `evil.example/miner:7`},
		{`+ {"apiGroup":"rbac","name":"eve@evil.example"}`, `  subjects  + {"apiGroup":"rbac","name":"eve@evil.example"}`, `eve@evil.example`},
		{`subjects[eve@evil.example]`, `  subjects[eve@evil.example]  "a" -> "b"`, `eve@evil.example`},
		{`- ConfigMap default/pay-db-7f3a91`, `  - ConfigMap default/pay-db-7f3a91  no longer in the bundle`, `pay-db-7f3a91`},
		{`pay-db-7f3a91`, `  - ConfigMap default/pay-db-7f3a91  no longer in the bundle`, ` ConfigMap default/pay-db-7f3a91 `},
		{`nspace-7f3a91`, `  + RoleBinding nspace-7f3a91/rb-eve-7f3a91`, `nspace-7f3a91/rb-eve`},
		{`prod-eu-7f3a91`, `wave=1 cluster=prod-eu-7f3a91`, `cluster=prod-eu-7f3a91`},
		{`a9f8xkq7zz`, `{"new": "\"true ` + strings.Repeat("x", 5000) + ` || 'a9f8xkq7zz'\""}`, `a9f8xkq7zz`},
		{"s3cr3t-pay-db-7f3a91", `- ConfigMap default/s3cr3t-pay-db-7f3a91`, ""},
		{"s3cr3t/pay-db-7f3a91/x77-1f", `at s3cr3t/pay-db-7f3a91/x77-1f`, "at " + Mask},
	} {
		r := New()
		r.AddFor("eve", c.secret)
		r.Show("", "evil.example/miner:7", "nginx:1", "eve@evil.example", "pay-db-7f3a91", "default/pay-db-7f3a91", "nspace-7f3a91", "prod-eu-7f3a91", "rb-eve-7f3a91",
			"true &&\n  || 'a9f8xkq7zz' == 'a9f8xkq7zz' &&\n  x", "true "+strings.Repeat("x", 5000)+" || 'a9f8xkq7zz'")
		got := r.Sweep(c.text)
		if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, c.secret) || strings.Contains(got, "s3cr3t") || strings.Contains(got, "x77-1f") {
			t.Errorf("%s hides of\n%s\n%s", c.secret, c.text, got)
		}
	}
}

// TestShowInSentences: what is deleted is named in sentences, too, whoever chose a secret that equals it; what others say of no instance is masked.
func TestShowInSentences(t *testing.T) {
	r := New()
	r.AddFor("eve", "nspace-5f3a91")
	r.Show("", "nspace-5f3a91")
	for name, mask := range map[string]func(string, string) string{"Said": r.Said, "Told": r.Told} {
		for _, text := range []string{"on cluster a: deletes Namespace nspace-5f3a91", "kubectl annotate namespace nspace-5f3a91 x=y"} {
			if got := mask("web", text); got != text {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestShowMasked: what a plan left of its fields is shown whatever layout somebody put around it in a secret; what became secret since is hidden,
// and no word of a secret is found out by having it in a field.
func TestShowMasked(t *testing.T) {
	const path = "spec.template.spec.containers[web].args"
	line := `  ` + path + `  ["--anonymous-auth=false","--x=http://good.example.com"] -> ["--anonymous-auth=true"]`
	document := `{"path":"` + path + `","new":"\"http://good.example.com\""}`
	for _, evil := range []string{path, `["--anonymous-auth=false","--x=http://good.example.com"] -> ["--anonymous-auth=true"]`, `"--anonymous-auth=true"`, `"\"http://good.example.com\""`, `containers[web].args`, "    - http://good.example.com"} {
		r := New()
		r.AddFor("eve", evil)
		r.ShowMasked("pay", path, `["--anonymous-auth=false","--x=http://good.example.com"]`, `["--anonymous-auth=true"]`, `"http://good.example.com"`)
		got := r.Sweep(line) + "\n" + r.Sweep(document) + "\n" + r.Sweep("args:\n    - http://good.example.com\n")
		for _, text := range []string{path + "  ", "--anonymous-auth=false", "--x=http://good.example.com", "--anonymous-auth=true", `"path":"` + path, "http://good.example.com", "http://good.example.com\n"} {
			if !strings.Contains(got, text) {
				t.Errorf("%s hides %s in\n%s", evil, text, got)
			}
		}
	}
	r := New("horse x9f8-kq7 staple")
	r.ShowMasked("pay", "data.horse", `"horse"`, `"of pay 7f3a91c2"`)
	for text, want := range map[string]string{"said horse x9f8-kq7 staple": "said " + Mask, "of pay 7f3a91c2": "of pay 7f3a91c2"} {
		if got := r.Sweep(text); got != want {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	r.AddFor("late", "7f3a91c2")
	if got := r.Sweep("of pay 7f3a91c2"); got != "of pay "+Mask {
		t.Errorf("what became secret is shown: %s", got)
	}
	(*Redactor)(nil).ShowMasked("x", "y", `"z"`)
}

// TestShowIsLinear: a line of megabytes with the secret in it everywhere takes no time to speak of.
func TestShowIsLinear(t *testing.T) {
	r := New("9f8xkq7zz-And-More")
	r.Show("", "eve-9f8xkq7zz-And-More")
	for _, text := range []string{strings.Repeat("x9f8xkq7zz-And-More", 1<<16), strings.Repeat("a ", 1<<19) + "9f8xkq7zz-And-More"} {
		start := time.Now()
		got := r.Sweep(text)
		if strings.Contains(got, "And-More") || time.Since(start) > time.Minute {
			t.Errorf("%d bytes after %s", len(got), time.Since(start))
		}
	}
}

// TestShownOfOthers: what is shown of one instance opens no secret of the instance that is spoken about, a common word, too; of others it does.
func TestShownOfOthers(t *testing.T) {
	r := New()
	r.AddFor("pay", "sunshine")
	r.AddFor("pay", "x9f8-kq7zz")
	r.ShowMasked("web", "spec.mode", `"sunshine"`)
	r.Show("web", "x9f8-kq7zz", "sunshine")
	for _, c := range []struct{ about, text, want string }{
		{"pay", `the password "sunshine" is too weak`, `the password "` + Mask + `" is too weak`},
		{"web", `the mode "sunshine" is unknown`, ""},
		{"", `the mode "sunshine" is unknown`, ""},
		{"pay", `the image "x9f8-kq7zz" is not there`, `the image "` + Mask + `" is not there`},
		{"web", `the image "x9f8-kq7zz" is not there`, ""},
		{"", `the image "x9f8-kq7zz" is not there`, ""},
	} {
		if c.want == "" {
			c.want = c.text
		}
		for name, mask := range map[string]func(string, string) string{"Said": r.Said, "Told": r.Told} {
			if got := mask(c.about, c.text); got != c.want {
				t.Errorf("%s of %q: %s", name, c.about, got)
			}
		}
	}
	r.Show("", "sunshine") // a name of a cluster
	if got := r.Told("pay", `on "sunshine"`); got != `on "sunshine"` {
		t.Errorf("what is never masked: %s", got)
	}
}

// TestLateSecretsOfWhatIsLeft: numbers, and texts with dots in a path, that became secret after they were shown are hidden.
func TestLateSecretsOfWhatIsLeft(t *testing.T) {
	r := New()
	r.AddFor("eve", `{"pin":47114711}`)
	r.AddFor("eve", `spec.hosts[s3cr3t.x9f8-kq7.example].port`)
	r.ShowMasked("web", "spec.hosts[s3cr3t.x9f8-kq7.example].port", `{"pin":47114711}`)
	r.AddFor("pay", "47114711")
	r.AddFor("pay", "s3cr3t.x9f8-kq7.example")
	for _, text := range []string{`  x: {"pin":47114711}`, "  spec.hosts[s3cr3t.x9f8-kq7.example].port  1"} {
		if got := r.Sweep(text); strings.Contains(got, "4711") || strings.Contains(got, "x9f8-kq7") {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	r = New()
	r.ShowMasked("web", `spec.hosts[pay.shop.local].port`)
	r.AddFor("web", "pay.shop.local")
	if got := r.isShown("", "spec.hosts[pay.shop.local].port"); got != never {
		t.Errorf("a name with dots that became secret is shown: %d", got)
	}
}

// TestPositionsAreShown: the line and the column where something stands in a file are no secret, whichever number is one; what else is behind a colon may be.
func TestPositionsAreShown(t *testing.T) {
	r := New()
	r.AddFor("pay", "007")
	r.AddFor("pay", "12")
	r.AddFor("pay", "4711")
	for text, want := range map[string]string{
		"conflicting values (mod/timoni.cue:7:12)": "",
		"b.yaml:4711: wrong":                       "",
		"at chart/templates/a.tpl:12:4711":         "",
		"the pin is 4711":                          "the pin is " + Mask,
		"db:4711 and b.yaml: 4711":                 "db:" + Mask + " and b.yaml: " + Mask,
		"b.yaml:12:4711:4711":                      "b.yaml:12:4711:" + Mask,
	} {
		if want == "" {
			want = text
		}
		for name, mask := range map[string]func(string, string) string{"Said": r.Said, "Told": r.Told} {
			if got := mask("pay", text); got != want {
				t.Errorf("%s: %q is shown as %q, want %q", name, text, got, want)
			}
		}
	}
}
