package redact

import (
	"strings"
	"testing"
	"time"
)

func TestURLsAreHidden(t *testing.T) {
	for in, want := range map[string]string{
		"proxy http://me:pw@proxy:3128/ down":             "proxy http://***@proxy:3128/ down",
		"https://token@host/x":                            "https://***@host/x",
		`{"url":"chart+https://u:p@h/r"}`:                 `{"url":"chart+https://***@h/r"}`,
		"postgres://app:p%40ss@db:5432/x":                 "postgres://app:***@db:5432/x",
		"postgres://app:p@ssX1x@db:5432/x":                "postgres://app:***@db:5432/x",
		"https://ada:p@s@s@host/x@y":                      "https://***@host/x@y",
		"https://ada:pa/ss@host/x":                        "https://***@host/x",
		"amqp://app:12/s3@mq:5672/v":                      "amqp://app:12/s3@mq:5672/v", // a host and its port
		"amqp://app:1a/s3@mq:5672/v":                      "amqp://app:***@mq:5672/v",
		"https://a@h,https://b@k oci://r:5000/x@sha256:1": "https://***@h,https://***@k oci://r:5000/x@sha256:1",
		"redis://:pw@host":                                "redis://:***@host",
		"ssh://git@host/x, git@host:x":                    "ssh://git@host/x, git@host:x",
		"https://host/a@b and https://h:8/x@y":            "https://host/a@b and https://h:8/x@y",
		"mail a@b: see https://host":                      "mail a@b: see https://host",
		"https://***@host":                                "https://***@host",
		"GET https://s3/b/k?X-Amz-Date=1&X-Amz-Signature=ab%2Fc&X-Amz-Expires=60: 403": "GET https://s3/b/k?X-Amz-Date=1&X-Amz-Signature=***&X-Amz-Expires=60: 403",
		"https://h/x?X-Amz-Security-Token=t1&x-goog-signature=t2#access_token=t3":      "https://h/x?X-Amz-Security-Token=***&x-goog-signature=***#access_token=***",
		"(https://a.blob/c?sv=1&sig=a=b?c/d;e), https://b/?page=2":                     "(https://a.blob/c?sv=1&sig=***), https://b/?page=2",
		`{"u":"https://h/x?a=b\u0026sig=s1\u0026c=d\nsig=e"}`:                          `{"u":"https://h/x?a=b\u0026sig=***\u0026c=d\nsig=e"}`,
		"https://h/x?a=1&amp;sig=s&amp;b=2 /v2/x?to=https://y/?token=t":                "https://h/x?a=1&amp;sig=***&amp;b=2 /v2/x?to=https://y/?token=***",
		"https://h/x?client%5Fsecret=s&api-key=k&user[password]=p&token":               "https://h/x?client%5Fsecret=***&api-key=***&user[password]=***&token",
		"jdbc:sqlserver://h:1433/x;user=sa;password=pw":                                "jdbc:sqlserver://h:1433/x;user=sa;password=***",
		"https://h/x?design=1&keys=2&tokens=3&sig=&monkey=4 sig=5; a?token=6&token=7":  "https://h/x?design=1&keys=2&tokens=3&sig=&monkey=4 sig=5; a?token=6&token=7",
	} {
		if got := New().Redact(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if got := New("pw").Sweep(in); New().Sweep(got) != got {
			t.Errorf("%s: not the same again: %s", in, got)
		}
	}
}

// TestCredentials: in keys of sources a word stays by which an address may choose, and everything that can be a token goes.
func TestCredentials(t *testing.T) {
	for in, want := range map[string]string{
		"helm https://h/c?key=a api":                  "helm https://h/c?key=a api",
		"https://h/c?page=2&Key=stable&code=eu-west":  "https://h/c?page=2&Key=stable&code=eu-west",
		"https://h/c?key=AIzaSyA1b2C3d4E5f6":          "https://h/c?key=***",
		"https://h/c?code=hunter27&key=b#auth=basic":  "https://h/c?code=***&key=b#auth=basic",
		"https://h/c?token=a&apikey=b&sig=c&pass=d":   "https://h/c?token=***&apikey=***&sig=***&pass=***",
		"https://u:a@h/c?X-Amz-Security-Token=a&pwd=": "https://***@h/c?X-Amz-Security-Token=***&pwd=",
		"https://key=a@h/c":                           "https://***@h/c",
	} {
		if got := Credentials(in); got != want || Credentials(got) != got {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if strings.Contains(in, "key=") && !strings.Contains(Addresses(in), "***") {
			t.Errorf("%s: Addresses shows it", in)
		}
	}
}

// However many addresses and parameters a text has, each is looked at once.
func TestQueriesAreLinear(t *testing.T) {
	for _, part := range []string{"?", "#;", "/?&", "/?a", "/?token=x&", "/?a=\\u0026", "://?", ";token"} {
		text := strings.Repeat(part, 1<<20/len(part)) + "=/?sig=x"
		begin := time.Now()
		New().Sweep(text)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%q takes %s", part, took)
		}
	}
}
